"""Scripts of the repository that are no part of a package, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

__all__ = ["ROOT", "script"]

ROOT = Path(__file__).parents[2]


def script(path: str) -> ModuleType:
    """The module of a script, by its path from the top of the repository."""
    spec = importlib.util.spec_from_file_location(f"script_{Path(path).stem}", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # data classes look their module up
    spec.loader.exec_module(module)
    return module
