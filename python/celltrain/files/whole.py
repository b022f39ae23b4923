"""Files that are whole or absent: written under a temporary name, which an error or interrupt removes."""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

__all__ = ["DISK_ERRORS", "TEMPORARY", "write_text_whole", "write_whole"]

DISK_ERRORS = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EACCES", "EPERM")
    if hasattr(errno, name)
}
"""What a disk says that is full, gone or not ours. Connections fail with other numbers."""

TEMPORARY = re.compile(r"\..*\.\d+\.part(\.\w+)?")
"""The names of files on their way."""

MOST_OF_STEM = 40
"""Characters of its own name in that of a file on its way, which may be no longer than a system allows."""


def write_whole(target: Path, writer: Callable[[Path], object]) -> None:
    """Has `writer` write a temporary file beside `target`, then gives it that name.

    Raises:
        OSError: it cannot be written; an error of the system names `target`.
    """
    # The suffix stays last because picture writers choose the format by it.
    name = f".{target.stem[:MOST_OF_STEM]}.{os.getpid()}.part{target.suffix}"
    # Polars takes "~" in front of a relative path for the home folder.
    temporary = target.with_name(name).absolute()
    try:
        try:
            writer(temporary)
            temporary.replace(target)
        except OSError as error:
            # Python names what it opens, here a file that nobody knows, and no file where a disk is full.
            # Errors of Polars have a text alone.
            if error.errno is None or error.filename not in (None, str(temporary)):
                raise
            raise OSError(error.errno, error.strerror, str(target)) from error
        finally:
            temporary.unlink(missing_ok=True)
    except KeyboardInterrupt:
        # Polars raises an interrupt, and then Python does, which was told of it too: now, if not above.
        temporary.unlink(missing_ok=True)
        raise


def write_text_whole(target: Path, content: str) -> None:
    """Writes a text file (UTF-8), whole or not at all."""
    write_whole(target, lambda temporary: temporary.write_text(content, encoding="utf-8"))
