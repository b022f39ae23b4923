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
from celltrain.sweeps import load_plan, plan, plan_file

if TYPE_CHECKING:
    from conftest import Cli

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("scenarios", "papers", "benches", "docs/fabrics", "tests/kernel")
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
        load_plan(place)


N_SOURCE = '[topology]\nkind = "n-source"\nsources = 2\n'
HEAD = 'schema = 1\nname = "x"\nduration = "1 s"\n'
FAULTS = {
    "a missing key": ("", 'schema = 1\nname = "x"\n' + N_SOURCE),
    "a missing table": ("", HEAD),
    "an unknown key": ("", HEAD + 'wram-up = "1 s"\n' + N_SOURCE),
    "a number without its unit": ("duration", 'schema = 1\nname = "x"\nduration = 1\n' + N_SOURCE),
    "text without its unit": ("duration", 'schema = 1\nname = "x"\nduration = "1"\n' + N_SOURCE),
    "text for a number": ("seed", HEAD + 'seed = "1"\n' + N_SOURCE),
    "no replication": ("replications", HEAD + "replications = 0\n" + N_SOURCE),
    "a misspelt order": ("tie-break", HEAD + 'tie-break = "rnd"\n' + N_SOURCE),
    "a misspelt topology": ("topology/kind", HEAD + '[topology]\nkind = "n-sorce"\nsources = 2\n'),
    "no kind of topology": ("topology", HEAD + "[topology]\nsources = 2\n"),
    "no sources": ("topology/sources", HEAD + '[topology]\nkind = "n-source"\nsources = 0\n'),
    "a key of the topology is missing": ("topology", HEAD + '[topology]\nkind = "n-source"\n'),
    "a key of another topology": ("topology", HEAD + N_SOURCE + "switches = 3\n"),
    "a number as text": (
        "topology/switches",
        HEAD + '[topology]\nkind = "parking-lot"\nswitches = "4"\nsources = 5\n',
    ),
    "a link without its end": (
        "topology/link/0",
        HEAD + '[topology]\nkind = "graph"\nnode = [{name = "a", kind = "host"}]\nlink = [{from = "a"}]\n',
    ),
    "a misspelt kind of node": (
        "topology/node/0/kind",
        HEAD + '[topology]\nkind = "graph"\nnode = [{name = "a", kind = "hots"}]\nlink = []\n',
    ),
    "a misspelt pattern": (
        "topology/pattern",
        HEAD + '[topology]\nkind = "fat-tree"\nk = 4\npattern = "inkast"\n',
    ),
    "an unknown unit": ("link/rate", HEAD + N_SOURCE + '[link]\nrate = "155 MB"\n'),
    "a misspelt key of a table": ("link", HEAD + N_SOURCE + '[link]\nrte = "1 Mbit/s"\n'),
    "a share above one": ("link/loss", HEAD + N_SOURCE + "[link]\nloss = 2\n"),
    "a misspelt framing": ("link/framing", HEAD + N_SOURCE + '[link]\nframing = "frames"\n'),
    "a key of a nested table is missing": (
        "link/burst-loss",
        HEAD + N_SOURCE + "[link]\nburst-loss = { p = 0.1 }\n",
    ),
    "a buffer without its unit": ("switch/buffer", HEAD + N_SOURCE + "[switch]\nbuffer = 20\n"),
    "a misspelt policy": (
        "switch/discard/policy",
        HEAD + N_SOURCE + '[switch.discard]\npolicy = "edp"\n',
    ),
    "an unknown parameter of a policy": (
        "switch/discard/epd",
        HEAD + N_SOURCE + '[switch.discard]\npolicy = "epd"\nepd = { limit = "80 %" }\n',
    ),
    "a level that is a number": (
        "switch/discard/epd/threshold",
        HEAD + N_SOURCE + '[switch.discard]\npolicy = "epd"\nepd = { threshold = 0.8 }\n',
    ),
    "a misspelt discipline": (
        "switch/scheduler/discipline",
        HEAD + N_SOURCE + '[switch.scheduler]\ndiscipline = "wqf"\n',
    ),
    "a misspelt allocator": (
        "switch/allocator/algorithm",
        HEAD + N_SOURCE + '[switch.allocator]\nalgorithm = "erika"\n',
    ),
    "a misspelt stack": ("tcp/stack", HEAD + N_SOURCE + '[tcp]\nstack = "cubik"\n'),
    "text for a truth value": ("tcp/ecn", HEAD + N_SOURCE + '[tcp]\necn = "yes"\n'),
    "a misspelt category": ("vc/category", HEAD + N_SOURCE + '[vc]\ncategory = "ubrr"\n'),
    "a misspelt kind of traffic": ("traffic/kind", HEAD + N_SOURCE + '[traffic]\nkind = "greddy"\n'),
    "a key of other traffic": (
        "traffic",
        HEAD + N_SOURCE + '[traffic]\nkind = "greedy"\nrate = "1 Mbit/s"\n',
    ),
    "a key of the traffic is missing": ("traffic", HEAD + N_SOURCE + '[traffic]\nkind = "cbr"\n'),
    "a rate without its unit": ("traffic/rate", HEAD + N_SOURCE + '[traffic]\nkind = "cbr"\nrate = 3\n'),
    "a misspelt distribution of sizes": (
        "traffic/size/kind",
        HEAD + N_SOURCE + '[traffic]\nkind = "short-flows"\nload = 0.1\nsize = { kind = "paretto" }\n',
    ),
    "traffic of a flow": (
        "flow/0/traffic/kind",
        HEAD + N_SOURCE + '[[flow]]\nname = "1"\ntraffic = { kind = "cbrr", rate = "1 Mbit/s" }\n',
    ),
    "a flow without a name": ("flow/0", HEAD + N_SOURCE + '[[flow]]\nstart = "1 s"\n'),
    "the policy of a port": (
        "port/0/discard/policy",
        HEAD + N_SOURCE + '[[port]]\nfrom = "switch1"\nto = "switch2"\ndiscard = { policy = "edp" }\n',
    ),
    "a misspelt choice of delays": (
        "measures/delays",
        HEAD + N_SOURCE + '[measures]\ndelays = "some"\n',
    ),
    "a sweep of nothing": ("sweep", HEAD + N_SOURCE + "[sweep]\nreplications = 3\n"),
    "a sweep over one value": (
        "sweep/grid/switch.buffer",
        HEAD + N_SOURCE + '[sweep.grid]\n"switch.buffer" = "100 cells"\n',
    ),
}
"""What is wrong: where the schema has to find it, and a file with that fault alone."""


def leaves(problem: Any) -> list[Any]:
    """What an editor shows of a problem: the faults in all forms that were tried."""
    return [leaf for one in problem.context for leaf in leaves(one)] if problem.context else [problem]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_once_and_in_its_place(name: str) -> None:
    place, text = FAULTS[name]
    found = jsonschema.Draft7Validator(SCENARIO).iter_errors(tomllib.loads(text))
    places = ["/".join(map(str, leaf.absolute_path)) for problem in found for leaf in leaves(problem)]
    assert places == [place]


@pytest.mark.parametrize("name", FAULTS)
def test_the_command_refuses_what_the_schema_refuses(name: str, tmp_path: Path) -> None:
    file = tmp_path / "faulty.toml"
    file.write_text(FAULTS[name][1], encoding="utf-8")
    with pytest.raises((ct.InputError, ct.ScenarioError)):
        load_plan(file) if "[sweep" in FAULTS[name][1] else ct.load(file)


def test_editors_show_what_a_name_means() -> None:
    stack = SCENARIO["definitions"]["Stack"]
    assert stack["enum"][0] == "newreno"
    assert len(stack["x-taplo"]["docs"]["enumValues"]) == len(stack["enum"])


def test_editors_complete_the_keys_of_every_kind() -> None:
    topology = SCENARIO["definitions"]["Topology"]
    assert {"sources", "switches", "k", "node", "link"} <= set(topology["properties"])


def test_the_schema_knows_what_plans_know() -> None:
    sweep, until = (PLAN["definitions"][name] for name in ("Sweep", "Until"))
    assert set(PLAN["properties"]) == set(plan_file._TOP_KEYS)
    assert set(sweep["properties"]) == set(plan_file._SWEEP_KEYS)
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
