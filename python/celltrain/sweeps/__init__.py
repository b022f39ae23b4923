"""Sweeps: a scenario at every point of a grid, on one machine or many, that go on where they were stopped.

`sweep` runs one; a `Plan` is one written down, in a file or with `make_plan`; a `Sweep` is what came out.
`agenda` hands out the runs, `celltrain.runs` makes and keeps them, and `frames` makes tables of all that is
kept. A `Sweep` is made in layers: `stored` reads the folder, `measured` has the measures, `tables` has the
frames of means, and `result` writes the folder.
"""

from celltrain.sweeps.frames import FRAMES
from celltrain.sweeps.plan import Plan, Until, make_plan
from celltrain.sweeps.plan_file import load_plan
from celltrain.sweeps.result import Sweep
from celltrain.sweeps.run import run_plan, sweep
from celltrain.sweeps.tables import SweepGroup

__all__ = ["FRAMES", "Plan", "Sweep", "SweepGroup", "Until", "load_plan", "make_plan", "run_plan", "sweep"]
