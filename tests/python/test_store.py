"""The store of runs: what is whole is found again, whatever happened to the rest."""

import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import celltrain as ct
from celltrain.experiment import Task, simulate
from celltrain.files.locking import locked
from celltrain.results import Record, core_version
from celltrain.runs.entry import TABLES, Entry, entries_of
from celltrain.runs.listing import listing
from celltrain.runs.store import FILE, Store, remove

SCENARIOS = Path(__file__).parents[2] / "scenarios"
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
    """Adds the entries to the store of a folder, and returns its path."""
    folder.mkdir(exist_ok=True)
    store = Store(folder, SEED)
    for entry in entries:
        store.append(of_key(entry, key))
    store.seal()
    store.close()
    return folder / FILE


def found(folder: Path, key: str = "key") -> list[int]:
    with closing(Store(folder, SEED)) as store:
        return [replication for replication in range(10) if (key, replication) in store]


def test_what_is_written_is_read_back(
    tasks: list[Task], records: list[Record], entries: list[Entry], tmp_path: Path
) -> None:
    together = entries_of(tasks[:3], records[:3])
    assert len(together) == 1, "runs that count the same things share an entry"
    fill(tmp_path, [*together, entries[3]])
    store = Store(tmp_path, SEED)
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


def test_runs_of_a_closed_store_are_refused_with_a_sentence(entries: list[Entry], tmp_path: Path) -> None:
    fill(tmp_path, entries)
    store = Store(tmp_path, SEED)
    store.close()
    with pytest.raises(ct.InputError, match=r"runs\.sqlite is closed: .* while their folder is claimed"):
        store.stretch("key", 0, 1)


def test_neighbours_in_an_entry_are_read_together(
    tasks: list[Task], records: list[Record], entries: list[Entry], tmp_path: Path
) -> None:
    [three] = entries_of(tasks[:3], records[:3])
    fill(tmp_path, [three, entries[3]])
    store = Store(tmp_path, SEED)
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
    store = Store(tmp_path, SEED)
    assert store.stretch("key", 0, 9).runs[0].fingerprint == entries[0].runs[0].fingerprint
    store.close()


def test_runs_are_found_by_scenario_and_seed(entries: list[Entry], tmp_path: Path) -> None:
    fill(tmp_path, entries[:1], key="one")
    fill(tmp_path, entries[1:2], key="two")
    assert (found(tmp_path, "one"), found(tmp_path, "two")) == ([0], [1])
    with closing(Store(tmp_path, SEED + 1)) as store:
        assert ("one", 0) not in store


def test_what_was_recorded_is_part_of_the_key(scenario: ct.Scenario) -> None:
    plain = Task(scenario, SEED, 0)
    keys = [task.key for task in (plain, replace(plain, trace=True), replace(plain, events=True))]
    assert keys == [scenario.key, f"{scenario.key} trace", f"{scenario.key} events"]


def test_a_record_is_read_back_as_it_was(scenario: ct.Scenario, tmp_path: Path) -> None:
    tasks = [Task(scenario, SEED, replication, trace=True, events=True) for replication in range(2)]
    records = [simulate(task) for task in tasks]
    assert records[1].series
    assert records[1].events["t"]
    fill(tmp_path, entries_of(tasks, records))
    with closing(Store(tmp_path, SEED)) as store:
        for record in records:
            assert repr(store.record("key", record.replication)) == repr(record), "NaN is not equal to itself"
            assert store.record("key", record.replication, series=False).series == []


def test_a_scenario_without_a_switch_is_read_back(tmp_path: Path) -> None:
    """Frames without rows still have to say so."""
    bare = ct.load(SCENARIOS / "teaching" / "one-connection.toml").with_(
        {"duration": "100 ms", "warm-up": "0 s"}
    )
    task = Task(bare, SEED, 0)
    record = simulate(task)
    fill(tmp_path, entries_of([task], [replace(record, ports={}, flows={})]))
    with closing(Store(tmp_path, SEED)) as store:
        assert store.record("key", 0) == replace(record, ports={}, flows={})


def left_by_a_kill(folder: Path, entries: list[Entry]) -> tuple[bytes, bytes]:
    """The file and the log of writes as a process leaves them that is killed behind its last write."""
    folder.mkdir()
    store = Store(folder, SEED)
    for entry in entries:
        store.append(of_key(entry, "key"))
    log = (folder / f"{FILE}-wal").read_bytes()
    return (folder / FILE).read_bytes(), log


@pytest.mark.slow
def test_a_log_of_writes_cut_anywhere_keeps_every_whole_batch(entries: list[Entry], tmp_path: Path) -> None:
    file, log = left_by_a_kill(tmp_path / "killed", entries)
    assert len(log) > 10_000
    seen = set()
    for number, cut in enumerate([*range(0, len(log), 1511), len(log)]):
        place = tmp_path / str(number)
        place.mkdir()
        (place / FILE).write_bytes(file)
        (place / f"{FILE}-wal").write_bytes(log[:cut])
        have = found(place)
        assert have == list(range(len(have))), "what was written first is there first"
        seen.add(len(have))
        fill(place, entries)
        assert found(place) == [0, 1, 2, 3], "and the store can be written on"
    assert seen == {0, 1, 2, 3, 4}


KILLED_BEHIND_SEAL = """
import os, sys
from pathlib import Path
from celltrain.runs.listing import listing
from celltrain.runs.store import Store
store = Store(Path(sys.argv[1]), 7)
store.prune()
os._exit(0)
"""


def test_a_journal_that_a_killed_process_left_goes(entries: list[Entry], tmp_path: Path) -> None:
    """In exclusive mode SQLite keeps a finished journal until it closes the file."""
    file = fill(tmp_path, entries)
    journal = tmp_path / f"{FILE}-journal"
    subprocess.run([sys.executable, "-c", KILLED_BEHIND_SEAL, str(tmp_path)], check=True)
    assert journal.exists(), "the test is about something"
    assert found(tmp_path) == [0, 1, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_journal_of_an_unfinished_change_is_rolled_back(entries: list[Entry], tmp_path: Path) -> None:
    file = fill(tmp_path / "whole", entries)
    (tmp_path / "killed").mkdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("UPDATE batches SET summary = zeroblob(100000), celltrain = 'none'")
        for name in (FILE, f"{FILE}-journal"):
            (tmp_path / "killed" / name).write_bytes((tmp_path / "whole" / name).read_bytes())
        connection.execute("ROLLBACK")
    assert (tmp_path / "killed" / FILE).read_bytes() != file.read_bytes(), "the change has begun"
    with closing(Store(tmp_path / "killed", SEED)) as store:
        assert [("key", number) in store for number in range(4)] == [True] * 4
        assert store.damaged == 0
    assert [path.name for path in (tmp_path / "killed").iterdir()] == [FILE]


@pytest.mark.slow
def test_each_flipped_bit_costs_what_it_touches_and_no_more(entries: list[Entry], tmp_path: Path) -> None:
    """What is found is as it was written; a run that is not counts as one that was never made."""
    file = fill(tmp_path / "whole", entries)
    whole = file.read_bytes()
    wanted = [(run.fingerprint, entry.frames["summary"]) for entry in entries for run in entry.runs]
    draws, lost = random.Random(17), 0
    for number in range(150):
        place = tmp_path / "flipped"
        place.mkdir(exist_ok=True)
        remove(place / FILE)
        bit = draws.randrange(8 * len(whole))
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        (place / FILE).write_bytes(changed)
        with closing(Store(place, SEED)) as store:
            for replication, (fingerprint, summary) in enumerate(wanted):
                if ("key", replication) in store:
                    found = store.stretch("key", replication, replication + 1)
                    assert found.runs[0].fingerprint == fingerprint, number
                    assert found.rows("summary").equals(summary), number
                else:
                    lost += 1
    assert lost > 100


def test_a_file_that_is_no_store_is_replaced(entries: list[Entry], tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"SQLite format 3\0 it is not")
    with closing(Store(tmp_path, SEED)) as store:
        assert store.damaged == 1
        assert "damaged" in store.notes()[0]
        store.append(of_key(entries[0], "key"))
    assert found(tmp_path) == [0]
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as other, other:
        other.execute("CREATE TABLE batches (id INTEGER, something TEXT)")
    (tmp_path / "other.sqlite").replace(tmp_path / FILE)
    assert found(tmp_path) == []


@pytest.mark.parametrize("changed", ["id INTEGER PRIMAQY", "id IOTEGER PRIMARY", "hd INTEGER PRIMARY"])
def test_a_store_whose_schema_is_damaged_is_replaced(
    entries: list[Entry], tmp_path: Path, changed: str
) -> None:
    """Rows without numbers of their own cannot be found again."""
    file = fill(tmp_path, entries[:2])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA writable_schema = 1")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'id INTEGER PRIMARY', ?)", (changed,))
    with pytest.raises(ct.InputError, match=r"runs\.sqlite is damaged"):
        listing(tmp_path)
    with closing(Store(tmp_path, SEED)) as store:
        assert store.damaged == 1
        store.append(of_key(entries[0], "key"))
    assert found(tmp_path) == [0]


def test_a_link_is_not_followed(entries: list[Entry], tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere", entries[:1])
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / FILE).symlink_to(tmp_path / "elsewhere" / FILE)
    with pytest.raises(ct.InputError, match="is a link"):
        Store(tmp_path / "here", SEED)


def test_another_version_is_counted_and_left_out(
    entries: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("celltrain.runs.store.core_version", lambda: "0.0.1")
        for name, count in (("several", 3), ("one", 1)):
            (tmp_path / name).mkdir()
            fill(tmp_path / name, entries[:count])
    with closing(Store(tmp_path / "several", SEED)) as store:
        assert ("key", 0) not in store
        assert store.others == {"0.0.1": 3}
        assert "3 runs in this folder were made by celltrain 0.0.1" in store.notes()[0]
    with closing(Store(tmp_path / "one", SEED)) as store:
        (note,) = store.notes()
        assert note.startswith("1 run in this folder was made by celltrain 0.0.1 ")
        assert "it is left out and made again" in note


def fill_up(store: Store, entry: Entry) -> None:
    for number in range(100):
        store.append(of_key(entry, str(number)))


def test_a_store_that_is_full_says_so(entries: list[Entry], tmp_path: Path) -> None:
    with closing(Store(tmp_path, SEED)) as store:
        store.append(of_key(entries[0], "key"))
        store._connection.execute("PRAGMA max_page_count = 1")  # type: ignore[union-attr]
        with pytest.raises(OSError, match="No space left on device"):
            fill_up(store, entries[1])
    assert found(tmp_path) == [0]
    loose = Store(None, SEED)
    loose.append(of_key(entries[0], "key"))
    loose._connection.execute("PRAGMA max_page_count = 1")  # type: ignore[union-attr]
    with pytest.raises(ct.InputError, match=r"cannot keep what the runs measured.*No space.*TMPDIR"):
        fill_up(loose, entries[1])


def test_a_store_of_an_older_version_is_read_and_written_on(
    records: list[Record], entries: list[Entry], tmp_path: Path
) -> None:
    """It may lack a column for what runs record today."""
    file = fill(tmp_path, entries[:2])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE batches DROP COLUMN events")
    before = file.read_bytes()
    assert found(tmp_path) == [0, 1]
    assert file.read_bytes() == before, "reading changes nothing"
    fill(tmp_path, entries[2:])
    assert found(tmp_path) == [0, 1, 2, 3]
    with closing(Store(tmp_path, SEED)) as store:
        assert repr([store.record("key", number) for number in range(4)]) == repr(records)
        assert store.damaged == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="this system does not say who holds a lock")
def test_a_store_that_another_program_holds_names_it(entries: list[Entry], tmp_path: Path) -> None:
    file = fill(tmp_path, entries)
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); "
        "print('held', flush=True); sys.stdin.readline()"
    )
    command = [sys.executable, "-c", code, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ct.InputError, match=rf"runs\.sqlite is in use by process {other.pid} \("):
            Store(tmp_path, SEED)
        other.kill()
    assert found(tmp_path) == [0, 1, 2, 3]


@pytest.mark.parametrize("code", ["SQLITE_FULL", "SQLITE_IOERR", "SQLITE_BUSY", "SQLITE_READONLY"])
def test_a_disk_that_fails_while_a_store_is_opened_takes_no_runs(
    code: str, entries: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing says then that the file is damaged: it stays."""

    def failing(*_: object) -> None:
        error = sqlite3.OperationalError("the disk failed")
        error.sqlite_errorcode = getattr(sqlite3, code)
        raise error

    fill(tmp_path, entries)
    with monkeypatch.context() as patched:
        patched.setattr("celltrain.runs.store.batches", failing)
        with pytest.raises((OSError, ct.InputError), match=r"Errno|in use by"):
            Store(tmp_path, SEED)
    assert found(tmp_path) == [0, 1, 2, 3]


def listed(folder: Path) -> tuple[dict[str, int], int]:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = listing(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before, "listing changes nothing"
    return {version: kept.runs for version, kept in found.versions.items()}, found.damaged


def test_listing_changes_nothing(entries: list[Entry], tmp_path: Path) -> None:
    """Neither in a whole folder, nor beside what a killed process left, nor where a batch is damaged."""
    file = fill(tmp_path / "whole", entries)
    assert listed(file.parent) == ({core_version(): 4}, 0)
    (tmp_path / "killed").mkdir()
    content, log = left_by_a_kill(tmp_path / "open", entries[:3])
    (tmp_path / "killed" / FILE).write_bytes(content)
    (tmp_path / "killed" / f"{FILE}-wal").write_bytes(log)
    (tmp_path / "killed" / ".lock").write_text("process 1 on nowhere")
    assert listed(tmp_path / "killed") == ({core_version(): 3}, 0)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE batches SET about = about || ' ' WHERE id = 2")
    assert listed(file.parent) == ({core_version(): 3}, 1)
    file.write_bytes(b"")
    assert listed(file.parent) == ({}, 0)
    file.write_bytes(b"SQLite format 3\0 it is not")
    with pytest.raises(ct.InputError, match=r"runs\.sqlite is damaged"):
        listed(file.parent)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the lock can only be asked about by a writer")
def test_listing_a_folder_in_use_names_who_uses_it(entries: list[Entry], tmp_path: Path) -> None:
    fill(tmp_path, entries)
    with locked(tmp_path), pytest.raises(ct.InputError, match=rf"is in use by process {os.getpid()} "):
        listing(tmp_path)
    assert listed(tmp_path) == ({core_version(): 4}, 0)
