"""Opening a store to look at it: nothing is made, taken or changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codexmem.kernel.model.errors import NotFound, NotReady, Unavailable
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.opening import open_database, open_reading, sqlite_url
from tests._support.indexing import Indexed
from tests._support.vectors import table as vectors_of

pytestmark = pytest.mark.sqlite


def test_a_reader_sees_what_the_owner_commits_and_cannot_write(sqlite_database: Database, tmp_path: Path) -> None:
    owner = Indexed(sqlite_database, vectors_of(sqlite_database))
    first = owner.remember("one")
    reader = open_reading(sqlite_url(tmp_path / "codexmem.db"))
    try:
        table = MemoryTable(reader)
        kinds = frozenset({first.kind})
        assert set(table.many([first.seq], kinds)) == {first.seq}
        with reader.reading():
            second = owner.remember("two")
            assert set(table.many([first.seq, second.seq], kinds)) <= {first.seq, second.seq}
        assert set(table.many([first.seq, second.seq], kinds)) == {first.seq, second.seq}
        for write in (reader.transaction, reader.dispatching):
            with pytest.raises(RuntimeError, match="opened for reading"), write():
                pass
        with pytest.raises(RuntimeError, match="opened for reading"):
            reader.engine.scour()
    finally:
        reader.close()


def test_a_reader_takes_no_lock(sqlite_template: Path, tmp_path: Path) -> None:
    path = tmp_path / "codexmem.db"
    shutil.copyfile(sqlite_template, path)
    reader = open_reading(sqlite_url(path))
    try:
        assert not path.with_suffix(".lock").exists()
        open_database(sqlite_url(path)).close()
    finally:
        reader.close()


def test_only_a_store_that_is_there_sound_and_current_is_read(sqlite_template: Path, tmp_path: Path) -> None:
    path = tmp_path / "codexmem.db"
    with pytest.raises(NotFound, match="no store at"):
        open_reading(sqlite_url(path))
    assert not path.exists()
    path.write_bytes(b"")
    with pytest.raises(NotReady, match="schema is empty"):
        open_reading(sqlite_url(path))
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(Unavailable, match="cannot be read"):
        open_reading(sqlite_url(path))
    shutil.copyfile(sqlite_template, path)
    db = open_database(sqlite_url(path))
    with db.transaction() as tx:
        tx.connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    db.close()
    with pytest.raises(NotReady, match="this program needs"):
        open_reading(sqlite_url(path))


@pytest.mark.postgresql
def test_on_postgresql_it_is_the_ordinary_store(postgres_url: str) -> None:
    reader = open_reading(postgres_url)
    try:
        with acting_as("looking"), reader.reading() as tx:
            assert tx.tenant == "looking"
    finally:
        reader.close()
