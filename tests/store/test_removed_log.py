"""The write-ahead log is removed under an open store: whoever is refused afterwards may pull the plug at once, because
everything acknowledged is in the file by then.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pysqlite3.dbapi2 as driver
import pytest

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.sqlite.engine import SqliteEngine
from tests._support.waiting import eventually

pytestmark = pytest.mark.sqlite
ROWS = 40


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SqliteEngine]:
    engine = SqliteEngine(tmp_path / "store.db")
    with engine.writing(LOCAL) as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER PRIMARY KEY, words TEXT)")
    engine.watch()
    yield engine
    engine.close()


def write(engine: SqliteEngine, x: int) -> None:
    with engine.writing(LOCAL) as connection:
        connection.exec_driver_sql("INSERT INTO t VALUES (?, ?)", (x, "words " * 500))


def pulled(engine: SqliteEngine, tmp_path: Path) -> list[int]:
    """What the file alone holds, as if the process had been killed now."""
    alone = tmp_path / "alone.db"
    shutil.copy(engine.path, alone)
    with closing(driver.connect(alone)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return [x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]


class Refused(threading.Thread):
    """A write that is refused, and what the file alone held just then."""

    def __init__(self, engine: SqliteEngine, tmp_path: Path, x: int = -1) -> None:
        super().__init__(daemon=True)
        self.x = x
        self.engine, self.tmp_path = engine, tmp_path
        self.error: Exception | None = None
        self.held: list[int] = []

    def run(self) -> None:
        try:
            write(self.engine, self.x)
        except Exception as error:
            self.error = error
            self.held = pulled(self.engine, self.tmp_path)


@pytest.mark.parametrize("noticed", ["by the write", "before"])
def test_a_refusal_comes_after_the_rescue(engine: SqliteEngine, tmp_path: Path, noticed: str) -> None:
    upkeep = engine._upkeep
    assert upkeep is not None
    with engine.reading(LOCAL) as older:
        older.exec_driver_sql("SELECT count(*) FROM t").scalar_one()  # whoever reads this holds later pages back
        for x in range(ROWS):
            write(engine, x)
        Path(f"{engine.path}-wal").unlink()
        if noticed == "before":
            threading.Thread(target=upkeep.look, daemon=True).start()
            eventually(upkeep._lock.locked)  # the rescue waits for the reader
        refused = Refused(engine, tmp_path)
        refused.start()
        eventually(upkeep._lock.locked)
        assert refused.is_alive()
    refused.join(60)
    assert isinstance(refused.error, Unavailable)
    assert "write-ahead log was removed" in str(refused.error)
    assert [x for x in refused.held if x >= 0] == list(range(ROWS))


def test_writers_that_wait_do_not_open_another_log(engine: SqliteEngine, tmp_path: Path) -> None:
    for x in range(ROWS):
        write(engine, x)
    Path(f"{engine.path}-wal").unlink()
    writers = [Refused(engine, tmp_path / str(number), -1 - number) for number in range(8)]
    for writer in writers:
        writer.tmp_path.mkdir()
        writer.start()
    for writer in writers:
        writer.join(10)
        assert isinstance(writer.error, Unavailable)
        assert [x for x in writer.held if x >= 0] == list(range(ROWS))


def test_it_does_not_wait_for_ever(engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("codexmem.kernel.store.sqlite.upkeep.RESCUE_S", 0.2)
    with engine.reading(LOCAL) as older:
        older.exec_driver_sql("SELECT count(*) FROM t").scalar_one()
        for x in range(ROWS):
            write(engine, x)
        Path(f"{engine.path}-wal").unlink()
        with pytest.raises(Unavailable, match="write-ahead log was removed"):
            write(engine, -1)
    upkeep = engine._upkeep
    assert upkeep is not None
    upkeep.look()  # goes on trying
    assert [x for x in pulled(engine, tmp_path) if x >= 0] == list(range(ROWS))


def test_whoever_reads_first_is_not_told_of_a_full_disk(engine: SqliteEngine, tmp_path: Path) -> None:
    for x in range(ROWS):
        write(engine, x)
    Path(f"{engine.path}-wal").unlink()
    with (  # a connection that is opened now has another log
        pytest.raises(Unavailable, match="write-ahead log was removed"),
        Database(engine).reading() as transaction,
    ):
        transaction.connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one()
    assert "write-ahead log was removed" in str(engine.trouble())
    assert [x for x in pulled(engine, tmp_path) if x >= 0] == list(range(ROWS))
    with engine.reading(LOCAL) as connection:  # all is in the file now
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == ROWS


def test_a_checkpoint_of_somebody_else_is_waited_for(engine: SqliteEngine, tmp_path: Path) -> None:
    upkeep = engine._upkeep
    assert upkeep is not None

    def moved() -> bool:  # or refused at once, where another connection is just moving pages
        busy, *_ = other.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
        return not busy

    def moves() -> bool:
        with closing(driver.connect(engine.path)) as third:
            busy, *_ = third.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return bool(busy)

    with closing(driver.connect(engine.path, check_same_thread=False, timeout=60)) as other:
        other.execute("SELECT count(*) FROM t").fetchone()
        with engine.reading(LOCAL) as older:
            older.exec_driver_sql("SELECT count(*) FROM t").scalar_one()
            for x in range(ROWS):
                write(engine, x)
            moving = threading.Thread(target=eventually, args=(moved,), daemon=True)
            moving.start()  # waits for the reader, and lets nobody else move pages meanwhile
            eventually(moves)
            Path(f"{engine.path}-wal").unlink()
            looked = threading.Thread(target=upkeep.look, daemon=True)
            looked.start()
            eventually(upkeep._lock.locked)
            assert engine.trouble() is None
        looked.join(60)
        moving.join(60)
    assert "write-ahead log was removed" in str(engine.trouble())
    assert pulled(engine, tmp_path) == list(range(ROWS))
