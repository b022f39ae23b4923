"""Running a sweep: what its folder lacks is simulated, then the frames are made of everything."""

import shutil
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from celltrain import _core, folder
from celltrain.errors import Defect, InputError
from celltrain.experiment import MAX_RUNS, Progress, drive
from celltrain.results import core_version, provenance
from celltrain.scenario import Scenario
from celltrain.sweeps.agenda import Agenda
from celltrain.sweeps.executors import Backend, Cluster, open_backend
from celltrain.sweeps.frames import FrameWriter, frame_writer
from celltrain.sweeps.plan import Plan, Until, make_plan
from celltrain.sweeps.result import KIND, Sweep
from celltrain.sweeps.store import Store
from celltrain.sweeps.work import Batch, Done, worker_version

__all__ = ["run_plan", "sweep"]

MAX_BATCH = 1000
"""Runs of one batch, however short they are."""

Note = Callable[[str], None]

_LEFT = "the runs that ended are kept, and the same sweep goes on from there"
"""What an error says that stops a sweep."""


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
        plan, executor=executor, jobs=jobs, out=out, overwrite=overwrite, yes=yes, progress=progress
    )


def run_plan(
    plan: Plan,
    *,
    executor: Executor | Cluster | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    yes: bool = False,
    progress: Progress | None = None,
    note: Note = warnings.warn,
    finish: "Callable[[Sweep, folder.Folder], None] | None" = None,
) -> Sweep:
    """Runs a plan; see `sweep` for the arguments it shares.

    Args:
        plan: what to run.
        executor: where to run it.
        jobs: threads, or how many batches an executor works on at once.
        out: the folder of the results.
        overwrite: take a folder that holds another experiment.
        yes: run more than 100 000 runs.
        progress: called as runs end.
        note: told what a user should know although it is no error.
        finish: writes more files into the folder before it is complete.
    """
    if plan.most_runs > MAX_RUNS and not yes:
        raise InputError(
            f"the sweep can need {plan.most_runs:,} runs ({plan.points:,} points), more than {MAX_RUNS:,}: "
            "say yes if that is meant (--yes, or yes=True)"
        )
    keys = plan.keys()
    plan.check_metric()
    with (
        _place(out) as place,
        folder.claim(
            place, KIND, plan.scenario.key, asked={"seed": plan.seed}, overwrite=overwrite, left=_LEFT
        ) as target,
    ):
        target.about = {"name": plan.name, "seed": plan.seed, "celltrain": _core.__version__}
        target.write_text("scenario.toml", plan.scenario.to_toml())
        target.write_text("plan.toml", plan.to_toml("scenario.toml"))
        began = time.perf_counter()
        with closing(Store(place, plan.seed, plan.trace)) as store:
            _tell_of_others(store, note)
            agenda = Agenda(plan, keys, store)
            with frame_writer(plan, keys, agenda, store, target) as frames:
                with open_backend(executor, jobs) as backend:
                    _run_missing(agenda, store, frames, backend, progress)
                frames.finish()
        defects = _defects(plan, keys, agenda)
        if defects and not frames.runs:
            raise defects[0][1]
        found = Sweep(place, _manifest(plan, frames, defects, time.perf_counter() - began))
        # Pictures and report show every point.
        if finish is not None and not defects:
            finish(found, target)
        target.keep(store.logs())
        target.finish(found.manifest)
    if out is None:
        weakref.finalize(found, shutil.rmtree, place, ignore_errors=True)
    return found


def _run_missing(
    agenda: Agenda, store: Store, frames: FrameWriter, backend: Backend, progress: Progress | None
) -> None:
    """Makes the runs that the store lacks, and keeps each as soon as its batch ends."""
    version = worker_version()
    pace = 0.0  # seconds of a run, about
    cell_hops = done = 0

    def take(count: int) -> Iterator[Batch]:
        # Small batches at the end, so that all workers end together.
        fair = agenda.waiting // (4 * backend.width())
        size = min(int(backend.seconds / pace), fair, MAX_BATCH) if pace else 1
        for _ in range(count):
            if tasks := agenda.take(max(size, 1)):
                yield Batch(tasks, version)

    def take_in(batch: Batch, result: Done) -> None:
        nonlocal pace, cell_hops, done
        for entry in result.entries:
            store.append(entry)
            for run in entry.runs:
                agenda.done(run)
                cell_hops += run.cell_hops
                done += 1
        for key, defect in result.defects:
            agenda.fail(key, defect)
            done += 1
        latest = result.seconds / len(batch.tasks)
        pace = (pace + latest) / 2 if pace else latest
        frames.advance()
        if progress is not None:
            progress(done, agenda.planned, cell_hops)

    try:
        drive(take, backend.submit, take_in, backend.width)
    except ImportError as error:
        raise InputError(f"the workers cannot import what they need: {error}") from error
    except Exception as error:
        if not isinstance(error, BrokenExecutor | CancelledError) and not _is_of_dask(error):
            raise
        raise InputError(f"the workers were lost ({type(error).__name__}: {error}); {_LEFT}") from error


def _is_of_dask(error: Exception) -> bool:
    return type(error).__module__.startswith("distributed.")


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
    plan: Plan, frames: FrameWriter, defects: Sequence[tuple[int, Defect]], wall_time: float
) -> dict[str, Any]:
    """What the manifest says of the whole sweep; `wall_time` is that of this session, in seconds."""
    origin = provenance((), wall_time)
    del origin["fingerprints"]  # there may be very many, and the frame has them
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
        "scenario": plan.scenario.to_dict(),
        "scenario_toml": plan.scenario.to_toml(),
        "metrics": frames.metrics,
        "units": frames.units,
    }


@contextmanager
def _place(out: str | PathLike[str] | None) -> Iterator[Path]:
    """The folder of the results; a temporary one is removed when an error leaves the block."""
    if out is not None:
        yield Path(out)
        return
    place = Path(mkdtemp(prefix="celltrain-"))
    try:
        yield place
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def _tell_of_others(store: Store, note: Note) -> None:
    for version, count in store.others.items():
        note(
            f"{count:,} runs in this folder were made by celltrain {version} and this is {core_version()}: "
            "they are left out and made again"
        )
