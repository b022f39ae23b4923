"""BBR's draft: its statements on made-up numbers, and the arithmetic of its text."""

import pytest

from celltrain import papers
from celltrain.papers.functions import setting
from celltrain.verdicts import Verdict
from made_up import verdict

PAPER = papers.describe("draft-ietf-ccwg-bbr")
CLAIMS = [claim.id for claim in PAPER.claims]


def as_stated(table: str, column: str, row: str) -> float:
    """Numbers of which the draft would be right."""
    cubic = column.startswith("CUBIC")
    if row == "goodput":
        return {"Table 2": 2.0, "Table 9": 30.0 if cubic else 80.0}.get(table, 25.0)
    if row == "mean delay":
        return {"Table 11": 10.0 if column == "marks" else 60.0}.get(table, 300.0 if cubic else 50.0)
    if row == "round trips of startup":
        return {"10 Mbit/s": 4.0, "100 Mbit/s": 8.0, "1000 Mbit/s": 11.0}[column]
    if row == "mean completion time":
        return 200.0 if cubic else 80.0
    return {
        "utilisation": 98.0,
        "goodput of the other": 25.0,
        "lost packets": 0.5,
        "fairness index": 0.97,
        "queue that grows": 0.0,
    }.get(row, 1.0)


def otherwise(table: str, column: str, row: str) -> float:
    """Numbers of which it would be wrong throughout."""
    cubic = column.startswith("CUBIC")
    if row == "goodput":
        return {"Table 2": 8.0, "Table 9": 70.0 if cubic else 80.0}.get(table, 40.0)
    if row == "mean delay":
        return {"Table 11": 60.0 if column == "marks" else 50.0}.get(table, 60.0 if cubic else 50.0)
    if row == "mean completion time":
        return 80.0 if cubic else 200.0
    return {
        "utilisation": 60.0,
        "goodput of the other": 8.0,
        "lost packets": 4.0,
        "fairness index": 0.5,
        "round trips of startup": 40.0,
        "queue that grows": 1.0,
    }.get(row, 3.0)


@pytest.mark.parametrize("claim", CLAIMS)
def test_statements_hold_on_numbers_made_for_them_and_fail_on_others(claim: str) -> None:
    assert verdict(PAPER, claim, as_stated) is Verdict.SUPPORTED
    assert verdict(PAPER, claim, otherwise) is Verdict.CONTRADICTED


def test_there_are_ten_statements() -> None:
    assert len(CLAIMS) >= 10


def test_the_price_of_probing_is_that_of_the_formula() -> None:
    """Section 5.3.4.2: throughput = (200ms*0.5*BBR.bw + (5s - 200ms)*BBR.bw) / 5s = 0.98 * BBR.bw."""
    price = PAPER.folder.published["Table 5", "4 BDP", "utilisation"].value
    assert price == pytest.approx(100 * (0.2 * 0.5 + (5 - 0.2)) / 5)


def round_trip(scenario: str) -> float:
    """Propagation there and back, in seconds."""
    delays = ("link.access.delay", "link.delay", "link.exit.delay")
    return 2 * sum(setting(PAPER.folder.scenario(scenario), key) for key in delays)


@pytest.mark.parametrize(("scenario", "parts"), [("base.toml", 2), ("beside.toml", 1)])
def test_buffers_hold_what_they_say(scenario: str, parts: int) -> None:
    described = PAPER.folder.scenario(scenario)
    bdp = round_trip(scenario) * setting(described, "link.rate") / (8 * 1500)
    held = float(described.to_dict()["switch"]["buffer"].removesuffix(" packets"))
    assert held == pytest.approx(parts * bdp, abs=1)


def test_the_path_beside_reno_is_that_of_the_example() -> None:
    """Section 5.3.3.8.1: BDP = 25Mbps * 30 ms / (1514 bytes) ~= 62 packets, for one of two connections."""
    assert round_trip("beside.toml") == pytest.approx(0.030)
    share = setting(PAPER.folder.scenario("beside.toml"), "link.rate") / 2
    assert share * 0.030 / (8 * 1514) == pytest.approx(62, abs=0.5)


def test_the_time_that_reno_needs_is_that_of_the_cause() -> None:
    """Section 5.3.3.8.3: BDP * RTT = 25Mbps * .030 sec / (1514 bytes) * 0.030 sec = 1.9secs."""
    (claim,) = (one for one in PAPER.claims if one.id == "video-beside-bbr")

    def seconds(rtt: float) -> float:
        return 25e6 * rtt / (8 * 1514) * rtt

    assert f"Its {seconds(0.030):.1f} s" in claim.cause
    assert f"the round trip is 50 ms, at which that takes {seconds(0.050):.0f} s" in claim.cause
