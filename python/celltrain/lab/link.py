"""The page of the lab in this installation, and links that open it with a scenario."""

import base64
import json
import zlib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["PAGE", "fragment"]

PAGE = Path(__file__).resolve().parent / "page" / "index.html"
"""The page, as a part of the package: `make lab` puts it there, and a wheel takes it along."""


def fragment(name: str, toml: str | None = None, set_: Sequence[tuple[str, str]] = (), at: int = 0) -> str:
    """The part of an address behind `#` that opens the lab with a scenario.

    The browser keeps a fragment to itself: no server sees it. The format is in `docs/how-to/use-the-lab.md`.

    Args:
        name: The name to show; without `toml`, that of a scenario that the lab brings along.
        toml: The text of the scenario, which extends no other.
        set_: Keys of the scenario and their values, as with `--set`.
        at: The moment to show, in picoseconds.
    """
    state: dict[str, object] = {"scenario": name}
    if toml is not None:
        state["toml"] = toml
    state |= {"set": [list(pair) for pair in set_], "at": at}
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps(state).encode()) + packer.flush()
    return "run=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
