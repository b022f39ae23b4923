"""Running a sweep: what its folder lacks is simulated, then the frames are made of everything."""

import shutil
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path, PurePath
from tempfile import mkdtemp
from typing import Any

from celltrain import _core, arguments
from celltrain.errors import Defect, InputError, ScenarioError
from celltrain.experiment import MAX_RUNS, Progress
from celltrain.files import folder
from celltrain.results import provenance
from celltrain.runs.entry import Entry, Held
from celltrain.runs.executors import Cluster, check_where, open_backend
from celltrain.runs.making import make
from celltrain.runs.store import Store
from celltrain.scenario import Scenario
from celltrain.sweeps.agenda import Agenda
from celltrain.sweeps.axes import shown as value_shown
from celltrain.sweeps.frames import FrameWriter, frame_writer
from celltrain.sweeps.plan import Plan, Until, make_plan
from celltrain.sweeps.plan_file import load_plan
from celltrain.sweeps.result import KIND, Sweep
from celltrain.tables import is_kept
from celltrain.text import counted, joined

__all__ = ["replaced", "run_plan", "sweep"]

KEPT = "their runs are kept, and the earlier plan brings them back"
"""What becomes of the runs of points that are left out."""


def sweep(
    scenario: Scenario,
    *,
    grid: Mapping[str, Any] | None = None,
    zip: Mapping[str, Any] | None = None,  # noqa: A002 - the word of the plan file
    replications: int | None = None,
    seed: int | None = None,
    until: Until | Mapping[str, Any] | None = None,
    trace: bool = False,
    name: str | None = None,
    measures: Sequence[str] = (),
    executor: Executor | Cluster | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    yes: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Runs a scenario at every point of a grid, and goes on where an earlier call was stopped.

        ct.sweep(
            ct.load("scenario.toml"),
            grid={
                "switch.discard.policy": ["epd", "espd"],
                "switch.buffer": "200 cells .. 800 cells step 200 cells",
            },
            replications=10,
            out="results/buffers",
        ).table("goodput")

    Args:
        scenario: what is varied.
        grid: for each dotted key a list of values, or a range as text; all combinations are run.
        zip: as `grid`, but the keys vary together, so that all have equally many values.
        replications: replications of a point; the scenario's own number by default.
        seed: the master seed of all points; the scenario's own by default.
        until: run more replications of a point until an interval is narrow enough.
        trace: measure also what needs a trace; no series are kept.
        name: the name of the sweep; the scenario's by default.
        measures: the metrics of the summary that tables, report and pictures show, by name or title; the
            usual ones by default. The frames have all.
        executor: an executor of `concurrent.futures` or a `dask.distributed.Client`; threads by default.
        jobs: threads, or how many batches an executor works on at once. Results do not depend on it.
        out: the folder of the results; a temporary one, which goes with the returned object, by default.
        overwrite: take a folder that holds another experiment.
        yes: run more than 100 000 runs.
        progress: called as runs end.

    Raises:
        InputError: the plan or the folder cannot be used; nothing was run.
        Defect: every run found celltrain wrong. Where only some did, the others are kept, and
            `Sweep.defects` has those.
    """
    plan = make_plan(
        scenario,
        grid=grid,
        zip=zip,
        replications=replications,
        seed=seed,
        until=until,
        trace=trace,
        name=name,
    )
    return run_plan(
        plan,
        measures=measures,
        executor=executor,
        jobs=jobs,
        out=out,
        overwrite=overwrite,
        yes=yes,
        progress=progress,
    )


def run_plan(
    plan: Plan,
    *,
    measures: Sequence[str] = (),
    executor: Executor | Cluster | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    yes: bool = False,
    progress: Progress | None = None,
    note: folder.Note = warnings.warn,
    finish: "Callable[[Sweep, folder.Folder], None] | None" = None,
) -> Sweep:
    """Runs a plan; see `sweep` for the arguments it shares.

    Args:
        plan: what to run.
        measures: the metrics that tables, report and pictures show.
        executor: where to run it.
        jobs: threads, or how many batches an executor works on at once.
        out: the folder of the results.
        overwrite: take a folder that holds another experiment.
        yes: run more than 100 000 runs.
        progress: called as runs end.
        note: told what a user should know although it is no error.
        finish: writes more files into the folder before it is complete.
    """
    check_where(executor, progress)
    confirmed = arguments.truth("yes", yes)
    if plan.most_runs > MAX_RUNS and not confirmed:
        raise InputError(
            f"the sweep can need {plan.most_runs:,} runs ({plan.points:,} points), more than {MAX_RUNS:,}: "
            "confirm it with --yes, or yes=True"
        )
    keys = plan.keys()
    plan.check_metric(jobs)
    shown = plan.check_measures(arguments.names("measures", measures, "goodput"), jobs)
    earlier = None if out is None else _earlier(arguments.path("out", out))
    with (
        _place(out) as place,
        folder.claim(
            place, KIND, plan.scenario.key, asked={"seed": plan.seed}, overwrite=overwrite, note=note
        ) as target,
    ):
        target.about = {"name": plan.name, "seed": plan.seed, "celltrain": _core.__version__}
        if earlier is not None and (said := replaced(earlier, plan)):
            note(said)
        target.write_text("scenario.toml", plan.scenario.to_toml())
        target.write_text("plan.toml", plan.to_toml("scenario.toml"))
        tables = [*plan.tables()]
        if far := [name for name, _ in tables if not is_kept(name)]:
            note(_not_kept(far))
        for name, file in tables:
            if is_kept(name):
                target.write_bytes(PurePath(name).as_posix(), file.read_bytes())
        began = time.perf_counter()
        store = target.store(plan.seed)
        agenda = Agenda(plan, keys, store)
        with frame_writer(plan, keys, agenda, store, target) as frames:
            with open_backend(executor, jobs) as backend:
                make(
                    agenda,
                    _kept_in(store),
                    backend,
                    progress,
                    keeps=out is not None,
                    after=frames.advance,
                )
            frames.finish()
        defects = _defects(plan, keys, agenda)
        if defects and not frames.runs:
            raise defects[0][1]
        found = Sweep(place, _manifest(plan, frames, defects, time.perf_counter() - began, shown))
        # Pictures and report show every point.
        if finish is not None and not defects:
            finish(found, target)
        target.finish(found.manifest)
    if out is None:
        weakref.finalize(found, shutil.rmtree, place, ignore_errors=True)
    return found


def _earlier(place: Path) -> Plan | None:
    """The plan that a folder has already, complete or not; None where it has none that can be read."""
    with suppress(InputError, ScenarioError, OSError), warnings.catch_warnings(action="ignore"):
        return load_plan(place / "plan.toml")
    return None


def _not_kept(names: Sequence[str]) -> str:
    """What a user should know of files of which a folder has no copy."""
    lie = "does not lie" if len(names) == 1 else "do not lie"
    return (
        f"{joined(names)} {lie} in the plan's folder as .csv: the results have no copy, and their "
        "plan.toml cannot be run without"
    )


def replaced(earlier: Plan, plan: Plan) -> str:
    """What happens to the points that a folder has of an earlier plan; nothing where all of them stay.

    Nothing is said of a plan with another scenario or seed: such a folder is only overwritten on request.
    """
    is_other = (earlier.scenario.key, earlier.seed) != (plan.scenario.key, plan.seed)
    if is_other or max(earlier.points, plan.points) > MAX_RUNS:
        return ""
    had = f"this folder has {counted(earlier.points, 'point')} of an earlier plan"
    if {*earlier.parameters} != {*plan.parameters}:
        return f"{had}, which varies {joined(earlier.parameters)}: all of them are replaced; {KEPT}"
    points = {_settings(plan, point) for point in range(plan.points)}
    kept = sum(_settings(earlier, point) in points for point in range(earlier.points))
    gone, new = earlier.points - kept, plan.points - kept
    if not gone:
        return ""
    stay = f"{kept:,} stay{'s' if kept == 1 else ''}"
    left_out = f"{gone:,} {_are(gone)} left out"
    return f"{had}: {stay}, {left_out}{f', and {new:,} {_are(new)} new' if new else ''}; {KEPT}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _settings(plan: Plan, point: int) -> tuple[tuple[str, str], ...]:
    """The settings of a point, whatever the order of the axes."""
    return tuple(sorted((key, value_shown(value)) for key, value in plan.settings(point).items()))


def _kept_in(store: Store) -> Callable[[Entry | Held], None]:
    def keep(part: Entry | Held) -> None:
        assert isinstance(part, Entry), "no run of a sweep captures packets"
        store.append(part)

    return keep


def _defects(plan: Plan, keys: Sequence[str], agenda: Agenda) -> list[tuple[int, Defect]]:
    """The runs that found celltrain wrong, with the numbers of their points, in order."""
    return [
        (point, agenda.defects[key, replication])
        for point, key in enumerate(keys)
        if agenda.defects
        for replication in range(agenda.replications(key))
        if (key, replication) in agenda.defects
    ]


def _manifest(
    plan: Plan,
    frames: FrameWriter,
    defects: Sequence[tuple[int, Defect]],
    wall_time: float,
    measures: Sequence[str],
) -> dict[str, Any]:
    """What the manifest says of the whole sweep; `wall_time` is that of this session, in seconds."""
    origin = provenance((), wall_time)
    del origin["fingerprints"], origin["reused"]  # there may be very many, and the frame has them
    return {
        "kind": KIND,
        "key": plan.scenario.key,
        "name": plan.name,
        **origin,
        "cell_hops": frames.cell_hops,
        "fingerprint": frames.fingerprint,
        "seed": plan.seed,
        "parameters": plan.parameters,
        "numeric": {one.column: one.unit for one in plan.quantities.values()},
        "axes": [axis.to_dict() for axis in plan.axes],
        "points": plan.points,
        "replications": plan.replications,
        "runs": frames.runs,
        "defects": [
            {"point": point, "settings": plan.settings(point), **defect.to_dict()}
            for point, defect in defects
        ],
        "until": None if plan.until is None else plan.until.to_dict(),
        "measures": list(measures) or None,
        "resolved": True,
        "scenario": plan.scenario.resolved(),
        "scenario_toml": plan.scenario.to_toml(),
        "metrics": frames.metrics,
        "units": frames.units,
        **_units_of_points(frames),
    }


def _units_of_points(frames: FrameWriter) -> dict[str, Any]:
    """The units of columns at each point, where they differ."""
    if len(frames.unit_kinds) < 2:
        return {}
    return {"unit_kinds": frames.unit_kinds, "units_of_points": frames.units_of_points}


@contextmanager
def _place(out: str | PathLike[str] | None) -> Iterator[Path]:
    """The folder of the results; a temporary one is removed when an error leaves the block."""
    if out is not None:
        yield arguments.path("out", out)
        return
    place = Path(mkdtemp(prefix="celltrain-"))
    try:
        yield place
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
