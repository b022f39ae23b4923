"""What pages say beside their blocks: numbers and behaviours in sentences, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import celltrain as ct

PAGES = Path(__file__).parents[2] / "docs"


def said(page: str, sentence: str) -> None:
    """That `page` says `sentence`, however its lines are broken."""
    text = " ".join((PAGES / page).read_text(encoding="utf-8").split())
    assert sentence in text, f"{page} no longer says: {sentence}"


def of_two_connections(**tcp: Any) -> ct.Result:
    """Two greedy connections at the two queues of DualPI2."""
    return ct.run(
        ct.Scenario.from_dict(
            {
                "schema": 1,
                "name": "one kind of TCP at DualPI2",
                "duration": "6 s",
                "warm-up": "3 s",
                "topology": {"kind": "n-source", "sources": 2},
                "link": {
                    "framing": "packets",
                    "rate": "1 Gbit/s",
                    "delay": "1 ms",
                    "trunk": {"rate": "50 Mbit/s", "delay": "5 ms"},
                },
                "switch": {
                    "buffer": "1000 packets",
                    "discard": {"policy": "dualpi2"},
                    "scheduler": {"discipline": "dual-queue"},
                },
                "tcp": tcp,
                "traffic": {"kind": "greedy", "start": "0 ms .. 100 ms"},
            }
        )
    )


def test_dctcp_goes_to_the_classic_queue_of_dualpi2() -> None:
    said("reference/policies.md", "`dctcp` sends ECT(0), so its data go to the classic queue.")
    prague = of_two_connections(stack="prague").estimate("delay_p50")
    dctcp = of_two_connections(**{"stack": "linux", "congestion-control": "dctcp", "ecn": True})
    # The marks of one queue begin at 0.8 ms and are certain at 1.2 ms; the target of the other is 15 ms.
    assert 0.0008 * 0.95 < prague.mean < 0.0012
    assert dctcp.estimate("delay_p50").mean == pytest.approx(0.015, rel=0.1)
