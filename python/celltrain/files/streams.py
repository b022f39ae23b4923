"""Files that are streams of this process: standard input, and what a shell makes of `<(...)`.

The files that such a stream names are looked for in the working directory, as none of them is in `/dev`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from celltrain.errors import InputError, ScenarioError

__all__ = ["is_stream", "placed"]

_STREAM = re.compile(r"/dev/(stdin|fd/\d+)|/proc/[^/]+/(task/[^/]+/)?fd/\d+")

STANDING_FOR = Path("<stream>")
"""The name of a stream while it is read: that of a file in the working directory that does not exist."""


def is_stream(path: Path) -> bool:
    """Whether a path names a stream of a process, whatever is behind it."""
    return _STREAM.fullmatch(path.as_posix()) is not None


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """The path from which the files that a file names are found: for a stream one in the working directory.

    Errors have the name of the stream as it was given.
    """
    if not is_stream(path):
        yield path
        return
    name, given = str(STANDING_FOR), str(path)
    try:
        yield STANDING_FOR
    except ScenarioError as error:
        raise ScenarioError(str(error).replace(name, given)) from error
    except InputError as error:
        raise InputError(str(error).replace(name, given)) from error
