"""The script that looks for quotations in the text that they are from: `tests/papers/quotations.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "papers" / "quotations.py"

RFC = """
1.  Introduction

   A queue that is full adds delay and
   nothing else.  It holds 1.5 packets.

5.  Rules

5.1.  Queues

   A queue MUST be short, adding 5-
   15 ms at most.
"""

SCAN = """
The EPD\u00fe push-out scheme minimizes the

Table 2

99.51 99.72

difference of throughput by 35\u201340% under 3\\*RTT.
"""
"""What a machine makes of a page: a thorn for a plus, a table between the columns, an escaped star."""

DRAFT = """
# Introduction

A queue that is full adds delay.

# Rules

## Queues {#queues}

A queue MUST be short.
"""


@pytest.mark.parametrize(
    ("text", "place", "quote", "said"),
    [
        (RFC, "section 5.1, Table 1", "adding 5-15 ms at most", ""),
        (RFC, "section 5", "A queue MUST be short", ""),
        (RFC, "5.1-short", "A queue MUST be short", ""),
        (RFC, "section 1", "A queue MUST be short", "not in section 1, but in 5.1: A queue MUST be short"),
        (RFC, "section 5.1", "A queue is full", "not in the text: A queue is full"),
        (RFC, "abstract", "adds delay and nothing else", ""),
        (DRAFT, "section 2.1", "A queue MUST be short", ""),
        (SCAN, "page 1", "The EPD+push-out scheme minimizes the difference of throughput", ""),
        (SCAN, "page 1", "by 35-40% under 3*RTT", ""),
        (
            SCAN,
            "page 1",
            "push-out scheme minimizes difference",
            "not in the text: push-out scheme minimizes",
        ),
        (SCAN, "page 1", "push-out scheme minimizes the throughput", "not in the text: push-out scheme"),
        (SCAN, "page 1", "push-out scheme minimizes the 99.51", "not in the text: push-out scheme"),
        (DRAFT, "section 2.1", "A queue that is full", "not in section 2.1, but in 1: A queue that is full"),
    ],
)
def test_a_quotation_stands_in_its_section(
    text: str, place: str, quote: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "paper.toml").write_text(f'[[claim]]\nquote = "{quote}"\nplace = "{place}"\n')
    (tmp_path / "text").write_text(text)
    words = [sys.executable, str(SCRIPT), "paper.toml", "text"]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, said in found.stdout) == (1 if said else 0, True), found


def test_a_quotation_that_a_list_fills_in_is_looked_for_once_per_entry(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(RFC)
    (tmp_path / "paper.toml").write_text(
        '[constants]\nsaid = [{ words = "adds delay" }, { words = "is empty" }]\n'
        '[[claim]]\nover = "said"\nquote = "{words}"\nplace = "section 1"\n'
    )
    words = [sys.executable, str(SCRIPT), "paper.toml", "text"]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.stdout == "text: not in the text: is empty\n1 of 2 quotations stand in text\n"
