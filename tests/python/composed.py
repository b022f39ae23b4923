"""What is made of the results of scenarios that nobody planned: tables, notes, reports, pictures, folders.

    cd crates/network && python ../../tests/python/composed.py FOLDER [--only FILE] [--seed S]

`make soak-experiments` draws the scenarios, whose paths begin in that folder. Each is run, compared with a
changed one and swept over two of its keys; whatever can be written, drawn or said of that is, and what is
written is read again. Failures are errors other than `celltrain.Error`, warnings, results that are not read
as they were written, and text that no author would write: a NaN, "1 cells", two spaces.
"""

from __future__ import annotations

import argparse
import html
import random
import re
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import celltrain as ct
from celltrain.comparison import Comparison
from celltrain.report import comparison_report, run_report
from celltrain.report.sweep import sweep_report
from celltrain.results import Result
from celltrain.sweeps import Sweep
from celltrain.text import json_text

CHANGES: dict[str, Sequence[object]] = {
    "seed": [3, 4],
    "duration": ["20 ms", "90 ms"],
    "warm-up": ["0 s", "3 ms"],
    "sample": ["1 ms", "100 us"],
    "tie-break": ["random", "port-id"],
    "switch.buffer": ["3 cells", "100 cells", "40 packets", "9 kB", "unlimited"],
    "switch.discard.policy": ["tail-drop", "epd", "red", "codel", "dualpi2", "fq-codel", "abs-push-out"],
    "switch.scheduler.discipline": ["fifo", "round-robin", "wfq"],
    "link.delay": ["0 s", "1 us", "20 ms"],
    "link.rate": ["1.5 Mbit/s", "155.52 Mbit/s", "10 Gbit/s"],
    "link.loss": [0.01, 0.3],
    "tcp.stack": ["linux", "sack", "linux-bbr", "prague", "reno"],
    "tcp.mss": ["100 B", "8960 B"],
    "tcp.ecn": [True, False],
    "traffic.start": ["0 s", "19.9 ms", "0 s .. 30 ms"],
    "traffic.kind": ["greedy"],
    "traffic.rate": ["20 kbit/s", "3 Mbit/s"],
    "measures.delays": ["all", "tcp"],
}
"""Keys that are changed if the scenario can have them, and values that are drawn."""

ODD = re.compile(
    r"(?<![\w.])(?:nan|NaN|None|inf|Infinity)(?!\w)"
    r'|(?<![\d.,"])1 (?:cells|flows|packets|frames|bytes|runs|replications|ports|transfers|requests|points|'
    r"variants|segments|links|hosts|switches|VCs|groups|others|samples|timeouts)\b"
    r"|(?<=\S)  (?=\S)|(?<![\w.])[-−]0(?:\.0*)?(?![\d.])|(?<![ .])[.,;:](?!\.\.)[.,;]|[.,;:] [.,;](?![.\w])"
    r"|\(\s|\s\)|\[object|<built-in|Estimate\("
)
"""What no sentence has."""


class Failures:
    """What failed, by where it did."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def add(self, place: str, kind: str, detail: str) -> None:
        self.kinds[kind] += 1
        if self.kinds[kind] <= 2:
            print(f"FAILED {place}: {kind}\n{detail}\n", flush=True)

    def attempt(self, place: str, what: str, make: Callable[[], Any]) -> Any:
        """What `make` gives; None if it fails or refuses."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return make()
        except ct.Error as error:
            self.refused[f"{what}: {re.sub(r'[0-9.]+', '#', str(error))[:90]}"] += 1
            self.read(place, f"refusal of {what}", str(error))
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{what}: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
            self.add(place, kind, traceback.format_exc(limit=-6))
        return None

    def read(self, place: str, what: str, said: str) -> None:
        """Looks for what no author would write."""
        for found in ODD.finditer(said):
            around = said[max(0, found.start() - 80) : found.end() + 80]
            self.add(place, f"{what}: {found[0]!r}", f"... {around} ...")

    def same(self, place: str, what: str, one: object, other: object) -> None:
        if one != other:
            parts = _difference(str(one), str(other))
            self.add(place, f"{what}: differs when it is read again", parts)


def _difference(one: str, other: str) -> str:
    """The surroundings of the first place where two texts differ."""
    pairs = enumerate(zip(one, other, strict=False))
    place = next((place for place, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))
    around = slice(max(0, place - 100), place + 200)
    return f"{one[around]}\n-- other --\n{other[around]}"


def words(page: str) -> str:
    """What a page says, a line for each element."""
    page = re.sub(r"(?s)<(style|script|svg|pre)\b.*?</\1>", "\n", page)
    page = re.sub(r"</?(?:a|b|code|em|i|span|strong|sub|sup)\b[^>]*>", "", page)
    return html.unescape(re.sub(r"\s*<[^>]+>\s*", "\n", page))


def pictures_of(result: Result) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "queue", result.plot.queue
    yield "flows", result.plot.flows
    yield "windows", result.plot.windows
    for metric in ("goodput", "cwnd", "retransmitted", "occupancy", "acr", "sampled_delay_mean"):
        yield f"series of {metric}", partial(result.plot.series, metric)
    for metric in ("goodput", "occupancy", "transfer_delay", "flow_completion_time", "fct_mean", "delay"):
        yield f"cdf of {metric}", partial(result.plot.cdf, metric)
    flows = [row[0] for row in result.rows("flows", "flow")]
    for flow in sorted({*flows})[:2]:
        yield "flow", partial(result.plot.flow, flow)


def close(figure: Any) -> str:
    """What a picture says, once it was drawn."""
    import matplotlib.pyplot as plt
    from matplotlib.text import Text

    figure.canvas.draw()
    said = [one.get_text() for one in figure.findobj(Text) if one.get_visible()]
    plt.close(figure)
    return "\n".join(line for line in said if "$" not in line)


def look(path: Path, draw: random.Random, failures: Failures) -> None:
    """Does all that can be done with the scenario in a file."""
    place = path.name
    scenario = failures.attempt(place, "load", lambda: ct.Scenario.from_toml(path.read_text()))
    if scenario is None:
        return
    options: dict[str, Any] = {
        "replications": draw.choice([1, 2, 3]),
        "trace": draw.random() < 0.5,
        "events": draw.random() < 0.3,
        "jobs": 1,
    }
    if draw.random() < 0.5:
        scenario = scenario.with_({"measures.distributions": True})
    result = failures.attempt(place, "run", lambda: ct.run(scenario, **options))
    if result is None:
        return
    look_at_run(place, result, failures)
    look_at_copies(place, scenario, result, failures)
    changes = dict(drawn(scenario, draw))
    if not changes:
        return
    key = draw.choice([*changes])
    one = failures.attempt(
        place,
        "compare",
        lambda: ct.compare(
            scenario,
            {"as it is": {}, **{str(value): {key: value} for value in changes[key]}},
            **asked(result, draw),
            jobs=2,
        ),
    )
    if one is not None:
        look_at_comparison(place, one, failures)
        both = min(len(one.results["as it is"].fingerprints), options["replications"])
        failures.same(
            place, "first variant", one.results["as it is"].fingerprints[:both], result.fingerprints[:both]
        )
    axes = draw.sample([*changes], min(2, len(changes)))
    swept = failures.attempt(
        place,
        "sweep",
        lambda: ct.sweep(scenario, grid={axis: changes[axis] for axis in axes}, replications=2, jobs=1),
    )
    if swept is not None:
        look_at_sweep(place, swept, failures)


def asked(result: Result, draw: random.Random) -> dict[str, Any]:
    """How a scenario like that of a run is compared: by what, and how often it runs."""
    names = [*result.shown()]
    names += [f"goodput of {group.name}" for group in result.by_group()]
    if draw.random() < 0.3:
        return {"until_clear": draw.choice(names), "max_replications": 4}
    chosen = draw.sample(names, min(3, len(names)))
    return {"replications": draw.choice([1, 2, 3]), "measures": chosen if draw.random() < 0.5 else None}


def drawn(scenario: ct.Scenario, draw: random.Random) -> Iterator[tuple[str, list[object]]]:
    """Keys with two values each that the scenario can have."""
    for key in draw.sample([*CHANGES], 8):
        found = []
        for value in draw.sample([*CHANGES[key]], len(CHANGES[key])):
            try:
                _ = scenario.with_({key: value}).notes
            except ct.Error:
                continue
            found.append(value)
        if len(found) > 1:
            yield key, found[:2]


def look_at_run(place: str, result: Result, failures: Failures) -> None:
    everything(place, "run", result, lambda: run_report(result), Result.read, failures)
    for what, make in pictures_of(result):
        picture(place, what, make, failures)
    goodput = result.sample("goodput")
    by_flow = [0.0] * len(goodput)
    for replication, value in result.rows("flows", "replication", "goodput"):
        by_flow[replication] += value
    if any(abs(total - value) > 1e-6 * max(value, 1) for total, value in zip(by_flow, goodput, strict=True)):
        failures.add(place, "goodput is not the sum of its flows", f"{goodput} {by_flow}")


def look_at_copies(place: str, scenario: ct.Scenario, result: Result, failures: Failures) -> None:
    """Other ways to write a scenario are the same one."""
    copies: dict[str, Callable[[], ct.Scenario]] = {
        "its file": lambda: ct.Scenario.from_toml(scenario.to_toml()),
        "its dictionary": lambda: ct.Scenario.from_dict(scenario.to_dict()),
        "all its keys": lambda: ct.Scenario.from_toml(scenario.resolved_toml()),
        "a dictionary of all its keys": lambda: ct.Scenario.from_dict(scenario.resolved()),
    }
    for what, make in copies.items():
        copy = failures.attempt(place, what, make)
        if copy is None:
            failures.add(place, f"{what} is refused", "")
        elif copy.key != scenario.key:
            failures.add(place, f"{what} is another scenario", copy.to_toml())
        else:
            again = failures.attempt(place, f"run of {what}", partial(ct.run, copy, replications=1, jobs=1))
            if again is not None:
                failures.same(place, f"run of {what}", again.fingerprints, result.fingerprints[:1])


def look_at_comparison(place: str, found: Comparison, failures: Failures) -> None:
    everything(place, "comparison", found, lambda: comparison_report(found), Comparison.read, failures)
    for sentence in failures.attempt(place, "sentences", found.sentences) or ():
        failures.read(place, "sentence", sentence)
    picture(place, "compare", found.plot.compare, failures)
    picture(place, "queues", found.plot.queue, failures)
    picture(place, "windows of variants", found.plot.windows, failures)
    for metric in ("goodput", "transfer_delay", "fct_mean"):
        picture(place, f"cdf of {metric}", partial(found.plot.cdf, metric), failures)


def look_at_sweep(place: str, swept: Sweep, failures: Failures) -> None:
    everything(place, "sweep", swept, lambda: sweep_report(swept), Sweep.read, failures)
    for one in swept.measures[:3]:
        picture(place, "sweep picture", partial(swept.plot.sweep, one.name), failures)
    picture(place, "trade-off", swept.plot.trade_off, failures)


def everything(
    place: str,
    what: str,
    found: Any,
    report: Callable[[], str],
    read: Callable[[Any], Any],
    failures: Failures,
) -> None:
    """Says all of something, writes it, reads it again, and says all of that."""
    attempt = failures.attempt
    page = attempt(place, f"report of {what}", report)
    if page is not None:
        failures.read(place, f"report of {what}", words(page))
    failures.read(place, f"repr of {what}", attempt(place, f"repr of {what}", lambda: repr(found)) or "")
    attempt(place, f"html of {what}", found._repr_html_)
    notes = attempt(place, f"notes of {what}", lambda: [*found.notes])
    for note in notes or ():
        failures.read(place, f"note of {what}", note)
    rows = attempt(place, f"numbers of {what}", lambda: numbers(found))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "results"
        if attempt(place, f"folder of {what}", lambda: found.write(folder)) is None:
            return
        again = attempt(place, f"{what} read again", lambda: read(folder))
        if again is None:
            return
        failures.same(place, f"notes of {what}", notes, attempt(place, "notes again", lambda: [*again.notes]))
        failures.same(
            place, f"numbers of {what}", rows, attempt(place, "numbers again", lambda: numbers(again))
        )
        failures.same(place, f"repr of {what}", repr(found), repr(again))


def numbers(found: Any) -> str:
    """The numbers of something, as text."""
    if isinstance(found, Result):
        return "\n".join(
            f"{name}\n{frame.write_json()}" for name, frame in found.frames(series=False).items()
        )
    return json_text(found.to_json())


def picture(place: str, what: str, make: Callable[[], Any], failures: Failures) -> None:
    figure = failures.attempt(place, f"picture {what}", make)
    if figure is not None:
        said = failures.attempt(place, f"drawing {what}", lambda: close(figure))
        failures.read(place, f"picture {what}", said or "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="*.toml")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import matplotlib

    matplotlib.use("agg")
    failures = Failures()
    files = sorted(options.folder.glob(options.only))
    if not files:
        parser.error(f"{options.folder} has no {options.only}")
    for path in files:
        look(path, random.Random(f"{options.seed} {path.name}"), failures)
    print(f"{len(files)} scenarios, {failures.kinds.total()} failures of {len(failures.kinds)} kinds")
    for kind, count in failures.kinds.most_common():
        print(f"{count:7}  {kind}")
    print("refused:")
    for why, count in failures.refused.most_common():
        print(f"{count:7}  {why}")
    sys.exit(bool(failures.kinds))


if __name__ == "__main__":
    main()
