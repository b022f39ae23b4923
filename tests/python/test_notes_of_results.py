"""Results have the notes that the command prints."""

from __future__ import annotations

from html import unescape

import celltrain as ct
from celltrain.notes.advice import advice
from networks import CELLS, PACKETS


def test_results_have_the_notes_that_the_command_prints() -> None:
    scenario = ct.Scenario.from_dict({**CELLS, "tcp": {"ecn": True}})
    (note,) = scenario.notes
    assert "ecn" in note
    found = ct.run(scenario, replications=1)
    assert found.notes == advice(found)
    assert found.notes[0] == note
    assert f"Note: {note}." in unescape(found._repr_html_())
    compared = ct.compare(scenario, ["tail-drop", "ppd"], replications=1)
    assert f"Note: {note}." in unescape(compared._repr_html_())
    swept = ct.sweep(scenario, grid={"switch.buffer": ["300 cells", "400 cells"]}, replications=1)
    assert note in swept.notes
    assert f"Note: {note}." in unescape(swept._repr_html_())


def test_results_of_a_scenario_that_is_not_valid_any_more_have_notes() -> None:
    found = ct.run(ct.Scenario.from_dict(PACKETS), replications=1)
    notes = advice(found)
    found.manifest["scenario_toml"] = found.manifest["scenario_toml"].replace("warm-up", "warmth")
    invalid, *others = advice(found)
    assert "does not take the scenario of these results any more" in invalid
    assert others
    assert len(others) == len(notes)
