"""The store of a sweep: what is whole is found again, whatever happened to the rest."""

from dataclasses import replace
from pathlib import Path

import pytest

import celltrain as ct
from celltrain.experiment import Task, simulate
from celltrain.results import Record
from celltrain.sweeps import store as store_module
from celltrain.sweeps.entry import TABLES, Entry, entries_of
from celltrain.sweeps.store import Store

SEED = 7


@pytest.fixture(scope="module")
def tasks(scenario: ct.Scenario) -> list[Task]:
    return [Task(scenario, SEED, replication) for replication in range(4)]


@pytest.fixture(scope="module")
def records(tasks: list[Task]) -> list[Record]:
    return [simulate(task) for task in tasks]


@pytest.fixture(scope="module")
def entries(tasks: list[Task], records: list[Record]) -> list[Entry]:
    """An entry for each of the runs."""
    return [entries_of([task], [record])[0] for task, record in zip(tasks, records, strict=True)]


def of_key(entry: Entry, key: str) -> Entry:
    return replace(entry, runs=tuple(run._replace(key=key) for run in entry.runs))


def fill(folder: Path, entries: list[Entry], key: str = "key") -> Path:
    """Writes a log of its own with the entries, and returns its path."""
    store = Store(folder, SEED, trace=False)
    for entry in entries:
        store.append(of_key(entry, key))
    store.close()
    return folder / store.logs()[-1]


def found(folder: Path, key: str = "key") -> list[int]:
    store = Store(folder, SEED, trace=False)
    return [replication for replication in range(10) if (key, replication) in store]


def test_what_is_written_is_read_back(
    tasks: list[Task], records: list[Record], entries: list[Entry], tmp_path: Path
) -> None:
    together = entries_of(tasks[:3], records[:3])
    assert len(together) == 1, "runs that count the same things share an entry"
    fill(tmp_path, [*together, entries[3]])
    store = Store(tmp_path, SEED, trace=False)
    for record in records:
        stretch = store.stretch("key", record.replication, record.replication + 1)
        assert stretch.runs == (("key", record.replication, record.fingerprint, record.cell_hops),)
        assert stretch.entry.units == record.units
        for name in TABLES:
            assert stretch.rows(name).drop("run").equals(record.frame(name)), name
        assert stretch.sample("throughput") == [record.metric("throughput")]
    with pytest.raises(KeyError):
        store.stretch("key", 9, 10)
    with pytest.raises(KeyError):
        store.stretch("other", 0, 1)
    with pytest.raises(KeyError):
        store.stretch("key", 0, 1).sample("troughput")
    store.close()


def test_neighbours_in_an_entry_are_read_together(
    tasks: list[Task], records: list[Record], entries: list[Entry], tmp_path: Path
) -> None:
    [three] = entries_of(tasks[:3], records[:3])
    fill(tmp_path, [three, entries[3]])
    store = Store(tmp_path, SEED, trace=False)
    ends = {
        (first, end): len(store.stretch("key", first, end).runs) for first, end in [(0, 4), (1, 4), (0, 2)]
    }
    assert ends == {(0, 4): 3, (1, 4): 2, (0, 2): 2}
    both = store.stretch("key", 1, 9)
    assert both.sample("goodput") == [record.metric("goodput") for record in records[1:3]]
    assert [run.replication for run in both.first(1).runs] == [1]
    heights = [three.height(place) for place in range(3)]
    assert heights == [record.frame("flows").height + record.frame("ports").height for record in records[:3]]
    store.close()


def test_runs_that_count_different_things_are_apart(tasks: list[Task], records: list[Record]) -> None:
    odd = replace(records[1], ports={**records[1].ports, "rare": [1] * len(records[1].ports["port"])})
    found = entries_of(tasks, [records[0], odd, *records[2:]])
    assert [[run.replication for run in entry.runs] for entry in found] == [[0], [1], [2, 3]]
    assert [entry.runs[0].key for entry in found] == [tasks[0].scenario.key] * 3


def test_a_run_that_is_there_twice_counts_once(entries: list[Entry], tmp_path: Path) -> None:
    fill(tmp_path, entries[:1])
    changed = replace(entries[0], runs=(entries[0].runs[0]._replace(fingerprint="another"),))
    fill(tmp_path, [changed])
    store = Store(tmp_path, SEED, trace=False)
    assert store.stretch("key", 0, 9).runs[0].fingerprint == entries[0].runs[0].fingerprint
    store.close()


def test_runs_are_found_by_scenario_seed_and_trace(entries: list[Entry], tmp_path: Path) -> None:
    fill(tmp_path, entries[:1], key="one")
    fill(tmp_path, entries[1:2], key="two")
    assert (found(tmp_path, "one"), found(tmp_path, "two")) == ([0], [1])
    assert ("one", 0) not in Store(tmp_path, SEED + 1, trace=False)
    assert ("one", 0) not in Store(tmp_path, SEED, trace=True)


def test_a_log_cut_anywhere_keeps_every_whole_entry(entries: list[Entry], tmp_path: Path) -> None:
    log = fill(tmp_path, entries)
    whole = log.read_bytes()
    ends = []  # where each entry ends
    for count in range(1, len(entries) + 1):
        ends.append(len(fill(tmp_path / str(count), entries[:count]).read_bytes()))
    assert ends[-1] == len(whole)
    for cut in [*range(0, len(whole), 97), *ends, *(end - 1 for end in ends)]:
        log.write_bytes(whole[:cut])
        assert found(tmp_path) == [i for i, end in enumerate(ends) if end <= cut], cut


def test_one_damaged_byte_costs_one_entry(entries: list[Entry], tmp_path: Path) -> None:
    log = fill(tmp_path, entries)
    whole = log.read_bytes()
    header = len(fill(tmp_path / "one", entries[:1]).read_bytes()) // 2  # inside the first entry
    for place in range(header, len(whole), 211):
        log.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        assert len(found(tmp_path)) >= len(entries) - 1, place


def test_a_new_session_never_touches_an_old_log(entries: list[Entry], tmp_path: Path) -> None:
    first = fill(tmp_path, entries[:2])
    torn = first.read_bytes()[:-10]
    first.write_bytes(torn)
    second = fill(tmp_path, entries[1:])
    assert first != second
    assert first.read_bytes() == torn
    assert found(tmp_path) == [0, 1, 2, 3]


def test_files_of_somebody_else_do_no_harm(entries: list[Entry], tmp_path: Path) -> None:
    fill(tmp_path, entries[:1])
    (tmp_path / "runs" / "000007.log").write_bytes(b"")
    (tmp_path / "runs" / "000008.log").write_bytes(b"CTR2 no log at all, CTR2\x00")
    (tmp_path / "runs" / "notes.txt").write_text("CTR2")
    assert found(tmp_path) == [0]
    assert fill(tmp_path, entries[1:2]).name == "000009.log"


def test_another_version_is_counted_and_left_out(
    entries: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "core_version", lambda: "0.0.1")
        fill(tmp_path, entries[:3])
    store = Store(tmp_path, SEED, trace=False)
    assert ("key", 0) not in store
    assert store.others == {"0.0.1": 3}
