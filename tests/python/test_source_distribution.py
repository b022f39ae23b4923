"""The source distribution holds what the module is compiled from."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_files_that_are_compiled_in_are_included() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        included = tomllib.load(file)["tool"]["maturin"]["include"]
    patterns = [one["path"] for one in included if isinstance(one, dict) and one["format"] == "sdist"]
    there = {path for pattern in patterns for path in ROOT.glob(pattern)}
    compiled_in = {
        (source.parent / name).resolve()
        for source in (ROOT / "crates" / "python" / "src").rglob("*.rs")
        for name in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', source.read_text("utf-8"))
    }
    assert compiled_in, "the workloads of `celltrain bench`"
    assert compiled_in <= there
