"""Which runs a sweep still needs, in the order in which they are handed out."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from celltrain import statistics
from celltrain.errors import Defect, InputError
from celltrain.experiment import Task
from celltrain.groups import GROUP
from celltrain.registry import OfFlows, of_flows
from celltrain.results.of_flows import has_own, members, owners_of, sample
from celltrain.runs.entry import Run
from celltrain.runs.store import Store, Stretch
from celltrain.sweeps.plan import Plan
from celltrain.verdicts import nearly_normal, spent_confidence

__all__ = ["Agenda"]


class Agenda:
    """The runs of a plan that its store does not have.

    Points that resolve to one scenario ("1 ms" and "1000 us") share their runs. With `until` a scenario's
    interval is looked at whenever a step of replications is complete, whatever else is under way, so how many
    replications it gets depends on what was measured alone.
    """

    def __init__(self, plan: Plan, keys: Sequence[str], store: Store) -> None:
        self._plan = plan
        self._store = store
        self._point = {key: point for point, key in reversed(list(enumerate(keys)))}
        first = [point for point, key in enumerate(keys) if self._point[key] == point]
        self._fresh: Iterator[Task] = chain.from_iterable(self._advance(keys[point]) for point in first)
        self._more: deque[Task] = deque()
        self._targets: dict[str, int] = {}
        """Replications that a scenario gets, where they are more than one step."""
        self._missing: dict[str, int] = {}
        """Runs of a scenario's step that are under way."""
        self._values: dict[str, list[float]] = {}
        """What `until` looks at, of the scenarios that it has not yet settled."""
        self._settled: set[str] = set()
        self.defects: dict[tuple[str, int], Defect] = {}
        """The runs that found celltrain wrong: they are not made again, and do not count."""
        planned = len(first) * plan.replications
        self.planned = planned - sum(
            (key, r) in store for key in self._point for r in range(plan.replications)
        )
        """Runs that are known to be needed and not there at the beginning; grows with `until`."""
        self._taken = 0

    @property
    def waiting(self) -> int:
        """Runs that are known to be needed and not yet handed out."""
        return self.planned - self._taken

    def take(self, count: int) -> list[Task]:
        """The next runs, at most so many; none when nothing is left or all depends on runs under way."""
        later = [self._more.popleft() for _ in range(min(count, len(self._more)))]
        tasks = later + list(islice(self._fresh, count - len(later)))
        self._taken += len(tasks)
        return tasks

    def done(self, run: Run) -> None:
        """Says that the store now has a run."""
        self._end(run.key)

    def fail(self, task: Task, defect: Defect) -> None:
        """Says that the store will not have a run."""
        self.defects[task.key, task.replication] = defect
        self._end(task.key)

    def _end(self, key: str) -> None:
        self._missing[key] -= 1
        if not self._missing[key]:
            del self._missing[key]
            self._more.extend(self._advance(key))

    def replications(self, key: str) -> int:
        """Replications that a scenario gets, as far as is known now."""
        return self._targets.get(key, self._plan.replications)

    def is_settled(self, key: str) -> bool:
        """Whether a scenario will not get more replications than are known now."""
        return self._plan.until is None or key in self._settled

    def _advance(self, key: str) -> Iterable[Task]:
        """The runs that a scenario needs next; none when it has all."""
        while True:
            target = self.replications(key)
            missing = [
                r for r in range(target) if (key, r) not in self._store and (key, r) not in self.defects
            ]
            if missing:
                self._missing[key] = len(missing)
                scenario = self._plan.at(self._point[key])
                return (Task(scenario, self._plan.seed, r, self._plan.trace) for r in missing)
            if self._is_enough(key, target):
                self._values.pop(key, None)
                self._settled.add(key)
                return []
            assert self._plan.until is not None
            self._targets[key] = min(target + self._plan.replications, self._plan.until.max_replications)
            absent = sum((key, r) not in self._store for r in range(target, self._targets[key]))
            self.planned += absent

    def _is_enough(self, key: str, target: int) -> bool:
        until = self._plan.until
        if until is None or any((key, replication) in self.defects for replication in range(target)):
            return True
        values = self._values.setdefault(key, [])
        while len(values) < target:
            try:
                stretch = self._store.stretch(key, len(values), target)
                some = of_flows(until.metric)
                values += stretch.sample(until.metric) if some is None else _of_flows(stretch, some)
            except KeyError:
                raise self._plan.lacks_metric(self._point[key]) from None
        look = -(-target // self._plan.replications)
        found = statistics.estimate(values, spent_confidence(until.confidence, look))
        return target >= until.max_replications or (found.within(until.rel_ci) and nearly_normal(values))


def _of_flows(stretch: Stretch, some: OfFlows) -> list[float]:
    """A measure of a group or a flow in each of some runs.

    Raises:
        KeyError: one of them did not measure it.
    """
    rows = stretch.rows("flows").select("replication", "flow", GROUP, "circuit", some.column.name)
    values: dict[int, list[float]] = {run.replication: [] for run in stretch.runs}
    try:
        chosen = members(some, owners_of(rows.select("flow", GROUP).iter_rows()))
    except InputError:
        raise KeyError(some.name) from None
    for replication, flow, _, circuit, value in rows.iter_rows():
        if flow in chosen and has_own(some, flow, circuit):
            values[replication].append(value)
    return [sample(some, one) for one in values.values()]
