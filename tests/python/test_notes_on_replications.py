"""Notes on replications that are too few, or all alike."""

import celltrain as ct
from celltrain.comparison import vary
from celltrain.comparison.variants import Variants
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.notes.advice.alike import ALIKE, MEASURED_ALIKE
from celltrain.sweeps.precision import Lack, imprecise, lacking


def test_points_that_until_stopped_before_they_were_nearly_normal_are_noted(scenario: ct.Scenario) -> None:
    """Their intervals are narrow, but the rule that stops a point asks for more than that."""
    grid = {"switch.buffer": ["100 cells", "200 cells"]}
    until = {"metric": "goodput", "rel-ci": "99 %", "confidence": 0.5, "max-replications": 4}
    found = ct.sweep(scenario, grid=grid, replications=4, until=until)
    assert imprecise(found) == []
    assert lacking(found) == {Lack.CONFIDENCE: [0, 1]}
    assert (
        "at 2 of 2 points, first at switch.buffer = 100 cells, goodput is precise enough after "
        "4 replications, the most that until allows, but a confidence of 50 % takes at least 15, and up to "
        "50 where the values are skewed; set a larger until.max-replications"
    ) in found.notes
    enough = ct.sweep(scenario, grid=grid, replications=4, until={**until, "max-replications": 50})
    assert max(enough.points["replications"]) <= 50
    assert lacking(enough) == {}


def test_points_whose_metric_is_undefined_when_until_stops_are_noted(scenario: ct.Scenario) -> None:
    """No transfer completes in so short a run: there is no interval of which half could be too wide."""
    traffic = {"kind": "finite", "bytes": "100 MB"}
    until = {"metric": "fct_mean", "rel-ci": "10 %", "max-replications": 4}
    grid = {"switch.buffer": ["100 cells", "200 cells"]}
    found = ct.sweep(scenario.with_({"traffic": traffic}), grid=grid, replications=4, until=until)
    assert imprecise(found) == [0, 1]
    assert lacking(found) == {Lack.VALUES: [0, 1]}
    (note,) = (line for line in found.notes if "until.metric" in line)
    assert note.startswith("at 2 of 2 points, first at switch.buffer = 100 cells, ")
    assert "is undefined in a replication, so there is no mean after 4 replications, the most that" in note


def test_replications_that_are_no_more_than_one_are_noted(scenario: ct.Scenario) -> None:
    """Where sources start at once and nothing else is drawn, an interval of 0 is no certainty."""
    fixed = scenario.with_({"traffic.start": "0 s", "tie-break": "port-id"})
    word = "every replication gave the same results"

    def noted(lines: list[str]) -> list[str]:
        return [line for line in lines if word in line]

    assert noted(advice(ct.run(fixed))) != []
    assert noted(advice(ct.run(fixed, replications=1))) == []
    assert noted(advice(ct.run(scenario))) == []
    starts = {"drawn": {"traffic.start": "0 ms .. 5 ms"}, "fixed": {}}
    (line,) = noted(advice_on_variants(ct.compare(fixed, starts)))
    assert line.startswith(f"under fixed: {word}")
    grid = {"traffic.start": ["0 ms .. 5 ms", "0 s"]}
    (line,) = noted(advice_on_sweep(ct.sweep(fixed, grid=grid)))
    assert line.startswith(f"at 1 of 2 points, first at traffic.start = 0 s, {word}")
    assert noted(advice_on_sweep(ct.sweep(fixed, grid=grid, replications=1))) == []


DRAWN_ALIKE = f"{MEASURED_ALIKE.partition('; ')[0]}; set a longer duration"
"""What is said where starts are drawn already."""


def test_the_start_that_is_not_drawn_is_the_one_to_write(scenario: ct.Scenario) -> None:
    """That of all flows is not read where each has its own."""
    own = [{"name": name, "start": "1 ms"} for name in "12"]
    fixed = scenario.with_({"tie-break": "port-id", "flow": own})
    (note,) = (line for line in advice(ct.run(fixed)) if "gave the same results" in line)
    assert 'set flow.0.start = "0 s .. 10 ms" for replications that differ' in note


def test_replications_that_differ_in_nothing_that_is_measured_are_told_so(scenario: ct.Scenario) -> None:
    """Transfers of drawn starts are over before anything is measured: their starts are drawn already."""
    over = scenario.with_(
        {
            "traffic": {"kind": "finite", "bytes": "1 kB", "start": "0 ms .. 2 ms"},
            "duration": "50 ms",
            "warm-up": "49 ms",
        }
    )
    word = "every replication gave the same results"

    def noted(lines: list[str]) -> list[str]:
        return [line for line in lines if word in line]

    found = ct.run(over)
    assert len(set(found.fingerprints)) == found.manifest["replications"] > 1
    assert noted(advice(found)) == [DRAWN_ALIKE]
    grid = {"traffic.start": ["0 ms .. 2 ms", "0 s", "1 ms .. 2 ms"]}
    fixed = over.with_({"tie-break": "port-id"})
    idle, drawn = advice_on_sweep(ct.sweep(fixed, grid=grid))
    assert idle.startswith("at 3 of 3 points, first at traffic.start = 0 ms .. 2 ms, no flow sent anything")
    assert drawn == f"at 2 of 3 points, first at traffic.start = 0 ms .. 2 ms, {DRAWN_ALIKE}"
    grid = {"traffic.start": ["0 s", "0 ms .. 2 ms", "1 ms .. 2 ms"]}
    same, _ = noted(advice_on_sweep(ct.sweep(fixed.with_({"warm-up": "0 s"}), grid=grid)))
    assert same == f"at 1 of 3 points, first at traffic.start = 0 s, {ALIKE}"


def test_an_axis_that_makes_no_difference_is_told_so(scenario: ct.Scenario) -> None:
    """A buffer that never fills is the same as a larger one."""
    slow = {"kind": "cbr", "rate": "1 Mbit/s"}
    wide = scenario.with_({"traffic": slow, "duration": "20 ms", "warm-up": "5 ms"})

    def noted(grid: dict[str, list[object]], **changes: object) -> list[str]:
        found = ct.sweep(wide.with_(changes), grid=grid, replications=2)
        return [line for line in advice_on_sweep(found) if "no difference" in line]

    buffers: list[object] = ["500 cells", "600 cells", "700 cells"]
    rates: list[object] = ["1 Mbit/s", "2 Mbit/s"]
    said = "switch.buffer makes no difference: all 3 values give the same results"
    assert noted({"switch.buffer": buffers}) == [said]
    assert noted({"switch.buffer": buffers, "traffic.rate": rates}) == [said]
    assert noted({"traffic.rate": rates}) == []
    assert noted({"switch.buffer": buffers[:2]})[0].endswith("both values give the same results")
    assert noted({"switch.buffer": ["1 cell", *buffers]}) == []
    assert noted({"switch.buffer": buffers[:1]}) == []
    # Notes on the only point need not say which.
    alone = advice_on_sweep(ct.sweep(wide, grid={"switch.buffer": buffers[:1]}, replications=2))
    assert not [line for line in alone if "of 1 point" in line]
    # Departures are the same, but not what is measured of them.
    assert noted({"warm-up": ["5 ms", "6 ms"]}) == []
    # Nothing happens: no setting can make a difference, and another note says so.
    assert noted({"switch.buffer": buffers}, traffic={**slow, "start": "1 s"}) == []
    zipped = {"switch.buffer": buffers, "traffic.start": ["0 s", "0 ns", "0 us"]}
    (both,) = [line for line in advice_on_sweep(ct.sweep(wide, zip=zipped)) if "no difference" in line]
    assert both == "switch.buffer and traffic.start make no difference: all 3 values give the same results"


def test_a_key_of_variants_that_makes_no_difference_is_told_so(scenario: ct.Scenario) -> None:
    """As an axis of a sweep is."""
    slow = {"kind": "cbr", "rate": "1 Mbit/s"}
    wide = scenario.with_({"traffic": slow, "duration": "20 ms", "warm-up": "5 ms"})

    def noted(variants: Variants, **changes: object) -> list[str]:
        found = ct.compare(wide.with_(changes), variants, replications=2)
        return [line for line in advice_on_variants(found) if "no difference" in line]

    buffers: dict[str, list[object]] = {"switch.buffer": ["500 cells", "600 cells", "700 cells"]}
    rates: dict[str, list[object]] = {"traffic.rate": ["1 Mbit/s", "2 Mbit/s"]}
    said = "switch.buffer makes no difference: all 3 values give the same results"
    assert noted(vary(buffers)) == [said]
    assert noted(vary(buffers | rates)) == [said]
    assert noted(vary(rates)) == []
    both = noted({"small": {"switch.buffer": "500 cells"}, "large": {"switch.buffer": "600 cells"}})
    assert both[0].endswith("both values give the same results")
    # Not all combinations ran, so that it is not known which key it was.
    apart = {"a": {"switch.buffer": "500 cells", "traffic.rate": "1 Mbit/s"}}
    assert noted(apart | {"b": {"switch.buffer": "600 cells", "traffic.rate": "2 Mbit/s"}}) == []
    assert noted({"a": {"switch.buffer": "500 cells"}, "b": {}}) == []
    # Departures are the same, but not what is measured of them.
    assert noted(vary({"warm-up": ["5 ms", "6 ms"]})) == []
    assert noted(vary(buffers), traffic={**slow, "start": "1 s"}) == []
