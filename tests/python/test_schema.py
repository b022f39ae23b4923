"""The JSON schemas: what is shipped is valid, what plans refuse is not, and they know the keys of sweeps."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import _core
from celltrain.experiment import MAX_RUNS
from celltrain.sweeps import plan

if TYPE_CHECKING:
    from conftest import Cli

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("scenarios", "papers")
    for path in (ROOT / folder).rglob("*.toml")
    if path.name not in ("paper.toml", "tried.toml")
)
SCENARIO: dict[str, Any] = json.loads(_core.schema())
PLAN: dict[str, Any] = json.loads(_core.plan_schema())

BASE = 'schema = 1\nname = "x"\nduration = "1 s"\n[topology]\nkind = "n-source"\nsources = 2\n'
GRID = '[sweep.grid]\n"switch.buffer" = ["100 cells", "200 cells"]\n'


def problems(text: str) -> list[str]:
    """What the schema of its kind has against a file."""
    content = tomllib.loads(text)
    schema = PLAN if "scenario" in content else SCENARIO
    return [problem.message for problem in jsonschema.Draft7Validator(schema).iter_errors(content)]


def test_the_schemas_are_schemas(cli: Cli) -> None:
    for schema, words in ((SCENARIO, ()), (PLAN, ("--plan",))):
        jsonschema.Draft7Validator.check_schema(schema)
        assert json.loads(cli("schema", *words).out) == schema
    for name, schema in (("celltrain", SCENARIO), ("plan", PLAN)):
        assert json.loads((ROOT / f"schema/{name}.schema.json").read_text(encoding="utf-8")) == schema


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_is_shipped_is_valid(file: Path) -> None:
    assert problems(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        BASE + GRID,
        'extends = "other.toml"\n' + GRID,
        'scenario = "other.toml"\nname = "buffers"\nseed = 3\n' + GRID,
        BASE
        + '[sweep]\nreplications = 5\ntrace = true\n[sweep.zip]\n"link.delay" = "1 ms .. 64 ms times 2"\n',
        BASE + '[sweep]\nuntil = { metric = "throughput", rel-ci = "2 %", confidence = 0.9 }\n' + GRID,
        BASE + '[sweep.grid]\nseeds = [1, 2.5, true, ["a", "b"]]\n',
    ],
)
def test_sweeps_are_valid(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    "text",
    [
        GRID,
        BASE.replace('duration = "1 s"\n', "") + GRID,
        BASE + "[sweep]\nreplications = 5\n",
        BASE + GRID + "[sweep.girds]\n",
        BASE + "[sweep.grid]\n",
        BASE + '[sweep.grid]\n"switch.buffer" = []\n',
        BASE + '[sweep.grid]\n"switch.buffer" = "100 cells"\n',
        BASE + "[sweep.grid]\nseed = [1, 2]\n",
        BASE + '[sweep]\nuntil = { metric = "throughput" }\n' + GRID,
        BASE + '[sweep]\nuntil = { metric = "throughput", rel-ci = 2 }\n' + GRID,
        BASE + "[sweep]\nreplications = 0\n" + GRID,
        'scenario = "other.toml"\n',
        'scenario = "other.toml"\nduration = "1 s"\n' + GRID,
    ],
)
def test_what_a_plan_refuses_is_not_valid(text: str, tmp_path: Path) -> None:
    assert problems(text)
    (tmp_path / "other.toml").write_text(BASE, encoding="utf-8")
    place = tmp_path / "plan.toml"
    place.write_text(text, encoding="utf-8")
    with pytest.raises((ct.InputError, ct.ScenarioError)):
        plan.load_plan(place)


def test_the_schema_knows_what_plans_know() -> None:
    sweep, until = (PLAN["definitions"][name] for name in ("Sweep", "Until"))
    assert set(PLAN["properties"]) == set(plan._TOP_KEYS)
    assert set(sweep["properties"]) == set(plan._SWEEP_KEYS)
    assert set(until["properties"]) == set(plan._UNTIL_KEYS)
    assert until["properties"]["confidence"]["default"] == plan.CONFIDENCE
    assert until["properties"]["max-replications"]["default"] == plan.MAX_REPLICATIONS
    assert until["properties"]["max-replications"]["maximum"] == MAX_RUNS
    assert sweep["properties"]["replications"]["maximum"] == MAX_RUNS
    assert SCENARIO["definitions"]["Sweep"] == sweep


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_is_shipped_names_its_schema_to_editors(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    kind = "plan" if "scenario" in tomllib.loads(text) else "celltrain"
    first, _, _ = text.partition("\n")
    assert first.startswith("#:schema "), f"its first line is #:schema and the path of {kind}.schema.json"
    named = (file.parent / first.removeprefix("#:schema ")).resolve()
    assert named == ROOT / "schema" / f"{kind}.schema.json"


def test_schemas_have_an_identifier_that_needs_no_host() -> None:
    identifiers = [SCENARIO["$id"], PLAN["$id"]]
    assert len(set(identifiers)) == 2
    assert all(one.startswith("urn:celltrain:") for one in identifiers)
