"""Links that open the lab with a scenario."""

import base64
import json
import zlib

__all__ = ["fragment"]


def fragment(name: str, toml: str) -> str:
    """The part of an address behind `#` that opens the lab with a scenario.

    The browser keeps a fragment to itself: no server sees it.
    """
    state = json.dumps({"scenario": name, "toml": toml, "set": [], "at": 0})
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(state.encode()) + packer.flush()
    return "run=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
