"""The store of a sweep: what is whole is found again, whatever happened to the rest."""

from pathlib import Path

import pytest

import celltrain as ct
from celltrain.experiment import Task, simulate
from celltrain.results import Record
from celltrain.sweeps import store as store_module
from celltrain.sweeps.store import Entry, Store

SEED = 7


@pytest.fixture(scope="module")
def records(scenario: ct.Scenario) -> list[Record]:
    return [simulate(Task(scenario, SEED, replication)) for replication in range(4)]


def fill(folder: Path, records: list[Record], key: str = "key") -> Path:
    """Writes a log of its own with the records, and returns its path."""
    store = Store(folder, SEED, trace=False)
    for record in records:
        store.append(Entry.of_record(key, SEED, False, record))
    store.close()
    return folder / store.logs()[-1]


def found(folder: Path, key: str = "key") -> list[int]:
    store = Store(folder, SEED, trace=False)
    return [replication for replication in range(10) if (key, replication) in store]


def test_what_is_written_is_read_back(records: list[Record], tmp_path: Path) -> None:
    fill(tmp_path, records)
    store = Store(tmp_path, SEED, trace=False)
    for record in records:
        assert store.read("key", record.replication) == record
    with pytest.raises(KeyError):
        store.read("key", 9)
    with pytest.raises(KeyError):
        store.read("other", 0)
    store.close()


def test_runs_are_found_by_scenario_seed_and_trace(records: list[Record], tmp_path: Path) -> None:
    fill(tmp_path, records[:1], key="one")
    fill(tmp_path, records[1:2], key="two")
    assert (found(tmp_path, "one"), found(tmp_path, "two")) == ([0], [1])
    assert ("one", 0) not in Store(tmp_path, SEED + 1, trace=False)
    assert ("one", 0) not in Store(tmp_path, SEED, trace=True)


def test_a_log_cut_anywhere_keeps_every_whole_entry(records: list[Record], tmp_path: Path) -> None:
    log = fill(tmp_path, records)
    whole = log.read_bytes()
    ends = []  # where each entry ends
    for count in range(1, len(records) + 1):
        ends.append(len(fill(tmp_path / str(count), records[:count]).read_bytes()))
    assert ends[-1] == len(whole)
    for cut in [*range(0, len(whole), 97), *ends, *(end - 1 for end in ends)]:
        log.write_bytes(whole[:cut])
        assert found(tmp_path) == [i for i, end in enumerate(ends) if end <= cut], cut


def test_one_damaged_byte_costs_one_entry(records: list[Record], tmp_path: Path) -> None:
    log = fill(tmp_path, records)
    whole = log.read_bytes()
    header = len(fill(tmp_path / "one", records[:1]).read_bytes()) // 2  # inside the first entry
    for place in range(header, len(whole), 211):
        log.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        assert len(found(tmp_path)) >= len(records) - 1, place


def test_a_new_session_never_touches_an_old_log(records: list[Record], tmp_path: Path) -> None:
    first = fill(tmp_path, records[:2])
    torn = first.read_bytes()[:-10]
    first.write_bytes(torn)
    second = fill(tmp_path, records[1:])
    assert first != second
    assert first.read_bytes() == torn
    assert found(tmp_path) == [0, 1, 2, 3]


def test_files_of_somebody_else_do_no_harm(records: list[Record], tmp_path: Path) -> None:
    fill(tmp_path, records[:1])
    (tmp_path / "runs" / "000007.log").write_bytes(b"")
    (tmp_path / "runs" / "000008.log").write_bytes(b"CTR1 no log at all, CTR1\x00")
    (tmp_path / "runs" / "notes.txt").write_text("CTR1")
    assert found(tmp_path) == [0]
    assert fill(tmp_path, records[1:2]).name == "000009.log"


def test_another_version_is_counted_and_left_out(
    records: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "core_version", lambda: "0.0.1")
        fill(tmp_path, records[:3])
    store = Store(tmp_path, SEED, trace=False)
    assert ("key", 0) not in store
    assert store.others == {"0.0.1": 3}
