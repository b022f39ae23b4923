"""The sources that the package runs from: their revision, and a checksum of those in Python."""

import subprocess
from functools import cache
from hashlib import blake2b
from pathlib import Path

__all__ = ["source_digest", "source_revision"]


@cache
def source_revision() -> str | None:
    """The git revision of the source tree this package runs from, "-dirty" when changed; None outside one."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None


@cache
def source_digest() -> str:
    """The checksum of the package's Python sources, committed or not."""
    place = Path(__file__).parent
    files = {str(file.relative_to(place)): file.read_bytes() for file in sorted(place.rglob("*.py"))}
    return blake2b(repr(files).encode(), digest_size=16).hexdigest()
