"""The revision of the source tree that the package runs from."""

import subprocess
from functools import cache
from pathlib import Path

__all__ = ["source_revision"]


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
