"""File names that are made of other names, such as those of hosts, which may hold anything."""

import os
import re
import sys
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote

__all__ = ["MOST", "file_stem", "misnamed"]

MOST = 100
"""Characters of a stem: what stands before and behind it finds room in the 255 bytes of a name."""

_DIGEST = 8
"""Bytes of the digest in a stem that was cut."""

_MINDED = re.compile(r"\.|(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
"""Names that hide a file, or that stand for a device on Windows, whatever their end is."""


def file_stem(name: str) -> str:
    """A name as the stem of a file that no file system minds; other names give other stems."""
    stem = quote(name, safe="", errors="surrogateescape")
    if _MINDED.match(stem):
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    if len(stem) <= MOST:
        return stem
    digest = blake2b(name.encode(errors="surrogateescape"), digest_size=_DIGEST).hexdigest()
    return f"{stem[: MOST - len(digest) - 1]}-{digest}"


def misnamed(place: Path) -> str | None:
    """Why Polars would not find a file, which takes names in UTF-8 alone; None where it finds it."""
    try:
        whole = str(place.absolute())
    except OSError:  # the current folder is gone, and nothing is found in it
        return None
    if _is_named_in_utf_8(whole):
        return None
    if (encoding := sys.getfilesystemencoding()) != "utf-8":
        return f"names of files are {encoding} in this locale: set PYTHONUTF8=1"
    where = "" if not _is_named_in_utf_8(str(place)) else " of the folder above it"
    return f"the name{where} is not UTF-8"


def _is_named_in_utf_8(name: str) -> bool:
    """Whether the system knows a name by what it is in UTF-8."""
    try:
        return name.encode() == os.fsencode(name)
    except UnicodeEncodeError:
        return False
