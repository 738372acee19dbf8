"""One writer, many callers: savepoints, shared commits, failures that stay their caller's own; one owner per file."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as driver
import pytest
import sqlalchemy as sa

from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import StorageFull, Unavailable
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, PageRequest, Seq
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.opening import open_database, sqlite_url
from codexmem.kernel.store.sqlite import engine as sqlite
from codexmem.kernel.store.sqlite.group_commit import MAX_GROUP, GroupCommit
from tests._support import services
from tests._support.waiting import eventually

NOTES = frozenset({Kind.NOTE})
ME = WriteContext("test")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = sqlite.plain_engine(tmp_path / "plain.db")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER UNIQUE)")
    yield engine
    engine.dispose()


class Commits:
    """Counts commits and can make one fail."""

    def __init__(self, table: sa.Engine) -> None:
        self.count = 0
        self.fail_next = False
        self.group = GroupCommit(table.connect, self._before, lambda: None)

    def _before(self, connection: sa.Connection) -> None:
        self.count += 1
        if self.fail_next:
            self.fail_next = False
            raise sa.exc.OperationalError("COMMIT", None, driver.OperationalError("database or disk is full"))

    def insert(self, x: int) -> None:
        with self.group.member() as connection:
            connection.exec_driver_sql(f"INSERT INTO t VALUES ({x})")


def stored(table: sa.Engine) -> list[int]:
    with table.connect() as connection:
        return list(connection.exec_driver_sql("SELECT x FROM t ORDER BY x").scalars())


def together(*calls: Any) -> list[BaseException | None]:
    """Run the calls at once, all waiting until the first holds the connection."""
    outcomes: list[BaseException | None] = [None] * len(calls)

    def run(place: int, call: Any) -> None:
        try:
            call()
        except BaseException as error:
            outcomes[place] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes


def behind(commits: Commits, x: int, others: int) -> Any:
    """A caller that keeps its turn until so many others wait for theirs."""

    def call() -> None:
        with commits.group.member() as connection:
            eventually(lambda: commits.group._waiting >= others)
            connection.exec_driver_sql(f"INSERT INTO t VALUES ({x})")

    return call


def test_callers_that_wait_share_one_commit(table: sa.Engine) -> None:
    commits = Commits(table)
    assert together(behind(commits, 0, 7), *[lambda x=x: commits.insert(x) for x in range(1, 8)]) == [None] * 8
    assert stored(table) == list(range(8))
    assert commits.count == 1


def test_a_group_has_a_largest_size(table: sa.Engine) -> None:
    commits = Commits(table)
    callers = MAX_GROUP + 10
    together(behind(commits, 0, callers), *[lambda x=x: commits.insert(x) for x in range(1, callers + 1)])
    assert len(stored(table)) == callers + 1
    assert commits.count >= 2


def test_a_caller_that_fails_takes_back_its_own_work_only(table: sa.Engine) -> None:
    commits = Commits(table)

    def fail() -> None:
        with commits.group.member() as connection:
            connection.exec_driver_sql("INSERT INTO t VALUES (99)")
            raise KeyError("mine")

    outcomes = together(behind(commits, 0, 3), fail, lambda: commits.insert(1), lambda: commits.insert(0))
    assert stored(table) == [0, 1]
    assert [type(outcome) for outcome in outcomes] == [type(None), KeyError, type(None), sa.exc.IntegrityError]


def test_nobody_is_told_success_when_the_commit_fails(table: sa.Engine) -> None:
    commits = Commits(table)
    commits.fail_next = True
    outcomes = together(behind(commits, 0, 3), *[lambda x=x: commits.insert(x) for x in range(1, 4)])
    assert all(isinstance(outcome, sa.exc.OperationalError) for outcome in outcomes)
    assert stored(table) == []
    commits.insert(5)  # and the next caller starts afresh
    assert stored(table) == [5]


def test_when_sqlite_rolls_everything_back_the_whole_group_has_failed(table: sa.Engine) -> None:
    # A full disk makes SQLite drop the transaction under our feet; a ROLLBACK of our own would only mask why.
    commits = Commits(table)

    def disk_full() -> None:
        with commits.group.member() as connection:
            connection.exec_driver_sql("ROLLBACK")
            raise sa.exc.OperationalError("INSERT", None, driver.OperationalError("database or disk is full"))

    outcomes = together(behind(commits, 0, 1), disk_full)
    assert all(isinstance(outcome, sa.exc.OperationalError) for outcome in outcomes)
    assert stored(table) == []
    commits.insert(6)
    assert stored(table) == [6]


def test_numbers_of_a_failed_commit_are_counted_again(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = services.build(sqlite_database)
    draft = MemoryDraft(Kind.NOTE, State(content="x", attrs=NoteAttrs()), Origin.AGENT)
    assert real.memories.remember(draft, ME).seq == 1
    numbers = sqlite_database.engine._numbers  # type: ignore[attr-defined]
    write = numbers.write
    full = sa.exc.OperationalError("COMMIT", None, driver.OperationalError("database or disk is full"))

    def fail(connection: sa.Connection) -> None:
        monkeypatch.setattr(sqlite_database.engine._commits, "_before_commit", write)  # type: ignore[attr-defined]
        raise full

    monkeypatch.setattr(sqlite_database.engine._commits, "_before_commit", fail)  # type: ignore[attr-defined]
    with pytest.raises(StorageFull):
        real.memories.remember(draft, ME)
    assert real.memories.remember(draft, ME).seq == 2
    assert len(real.memories.page(Filter(NOTES), PageRequest()).items) == 2


def test_a_number_is_not_given_twice_after_its_memory_is_forgotten_and_the_store_reopened(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "codexmem.db")
    draft = MemoryDraft(Kind.NOTE, State(content="x", attrs=NoteAttrs()), Origin.AGENT)
    seqs = []
    for _ in range(3):
        db = open_database(url)
        real = services.build(db)
        seqs.append(real.memories.remember(draft, ME).seq)
        real.history.forget([seqs[-1]], ME)
        db.close()
    assert seqs == [1, 2, 3]


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_forgotten_text_is_in_no_byte_of_the_store(tmp_path: Path) -> None:
    db = open_database(sqlite_url(tmp_path / "codexmem.db"))
    real = services.build(db)
    secret = "canary-5b1e-" + "秘密" * 2000
    made = real.memories.remember(MemoryDraft(Kind.NOTE, State(content=secret, attrs=NoteAttrs()), Origin.AGENT), ME)
    real.memories.append(Seq(made.seq), NOTES, "canary-5b1e-tail", ME)
    real.memories.change(Seq(made.seq), NOTES, lambda state: State(content="short", attrs=state.attrs), ME)
    assert b"canary-5b1e" in _bytes(tmp_path)
    real.history.forget([made.seq], ME)
    assert b"canary-5b1e" not in _bytes(tmp_path)
    assert "秘密秘密".encode() not in _bytes(tmp_path)
    db.close()


def test_a_second_process_is_refused_with_the_owner_named_and_takes_over_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "codexmem.db"
    hold = (
        "import sys, time; from codexmem.kernel.store.opening import open_database;"
        "store = open_database(sys.argv[1]); print('open', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", hold, sqlite_url(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(Unavailable, match=rf"in use by another codexmem process \(pid {holder.pid}\)"):
            open_database(sqlite_url(path))
    finally:
        holder.kill()
        holder.communicate()
    open_database(sqlite_url(path)).close()


def test_closing_leaves_one_file_and_works_from_any_thread(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "codexmem.db")
    db = open_database(url)
    services.build(db).memories.remember(
        MemoryDraft(Kind.NOTE, State(content="x", attrs=NoteAttrs()), Origin.AGENT), ME
    )
    with db.reading() as tx:
        tx.connection.exec_driver_sql("SELECT 1")
    closing = threading.Thread(target=db.close)
    closing.start()
    closing.join()
    assert not list(tmp_path.glob("*-wal"))
    open_database(url).close()


def test_an_unfixed_sqlite_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "sqlite_version_info", (3, 51, 2))
    with pytest.raises(Unavailable, match="can corrupt its file"):
        open_database(sqlite_url(tmp_path / "codexmem.db"))


def test_every_connection_is_durable_and_checked(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as tx:
        pragma = {name: tx.connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in
                  ("journal_mode", "synchronous", "foreign_keys", "trusted_schema", "secure_delete")}  # fmt: skip
    assert pragma == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "trusted_schema": 0,
        "secure_delete": 1,
    }
    with sqlite_database.reading() as tx, pytest.raises(sa.exc.OperationalError, match="readonly"):
        tx.connection.exec_driver_sql("DELETE FROM memories")
