"""File names that are made of other names, such as those of hosts, which may hold anything."""

import re
from hashlib import blake2b
from urllib.parse import quote

__all__ = ["MOST", "file_stem"]

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
