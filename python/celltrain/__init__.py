"""A cell-exact simulator of TCP over ATM-style cell networks.

    import celltrain as ct

    scenario = ct.load("scenario.toml")
    result = ct.run(scenario.with_(switch__discard__policy="espd"), replications=5)
    result.estimates()      # every summary metric with its 95 % interval
    result.flows            # a polars frame: one row per replication and flow
    result.write("results/espd")

Names are imported when they are first used, so `import celltrain` costs nothing.
"""

from importlib import import_module

TYPE_CHECKING = False  # as type checkers read it; `typing` would be most of what this loads
if TYPE_CHECKING:
    from typing import Any

    from celltrain._core import __version__
    from celltrain.comparison import Comparison, compare
    from celltrain.errors import Cancelled, Defect, Error, InputError, ScenarioError
    from celltrain.experiment import run
    from celltrain.papers import PaperResults, reproduce
    from celltrain.reading import collect, read
    from celltrain.registry import disciplines, measures, policies, stacks
    from celltrain.results import Result
    from celltrain.scenario import Scenario, load
    from celltrain.shares import max_min
    from celltrain.sweeps import Sweep, sweep

__all__ = [
    "Cancelled",
    "Comparison",
    "Defect",
    "Error",
    "InputError",
    "PaperResults",
    "Result",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "__version__",
    "collect",
    "compare",
    "disciplines",
    "load",
    "max_min",
    "measures",
    "policies",
    "read",
    "reproduce",
    "run",
    "stacks",
    "sweep",
]

_HOME = {
    "Cancelled": "errors",
    "Comparison": "comparison",
    "Defect": "errors",
    "Error": "errors",
    "InputError": "errors",
    "PaperResults": "papers",
    "Result": "results",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Sweep": "sweeps",
    "__version__": "_core",
    "collect": "reading",
    "compare": "comparison",
    "disciplines": "registry",
    "load": "scenario",
    "read": "reading",
    "max_min": "shares",
    "measures": "registry",
    "policies": "registry",
    "reproduce": "papers",
    "run": "experiment",
    "stacks": "registry",
    "sweep": "sweeps",
}


def __getattr__(name: str) -> "Any":
    if name not in _HOME:
        raise AttributeError(f"module 'celltrain' has no attribute '{name}'")
    value = getattr(import_module(f"celltrain.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
