"""A SQLite file whose schema is damaged so that SQLite's message about it is no text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pysqlite3.dbapi2 as driver
import pytest

from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.kernel.store import archive, backup, inspection, opening
from codexmem.kernel.store.archive import Damaged
from codexmem.kernel.store.sqlite import backup as sqlite

pytestmark = pytest.mark.sqlite


def harm(path: Path) -> None:
    """Make a word of every table's definition no text."""
    raw = bytearray(path.read_bytes())
    at = raw.find(b"CREATE TABLE")
    assert at > 0
    while at > 0:
        raw[at + len("CREATE ")] = 0xDF
        at = raw.find(b"CREATE TABLE", at)
    path.write_bytes(raw)
    with pytest.raises(UnicodeDecodeError):  # what Python's module makes of it
        driver.connect(path).execute("SELECT 1 FROM sqlite_schema")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "codexmem.db"
    opening.open_database(f"sqlite:///{path}").close()
    return path


@pytest.mark.parametrize(
    "look, kind",
    [
        (opening.open_database, Unavailable),
        (opening.open_reading, Unavailable),
        (inspection.schema, Unavailable),
        (inspection.row_counts, Unavailable),
        (lambda url: sqlite.check(Path(url.removeprefix("sqlite:///"))), Damaged),
        (lambda url: backup.create(backup.BackupTarget(url), Path(url.removeprefix("sqlite:///")).parent / "b",
                                   version="1", now_ms=1, progress=lambda done, total: None), Damaged),
    ],
    ids=["open", "read", "schema", "row counts", "check", "back up"],
)  # fmt: skip
def test_whoever_opens_it_is_told_that_it_is_damaged(
    store: Path, look: Callable[[str], object], kind: type[CodexmemError]
) -> None:
    harm(store)
    with pytest.raises(kind, match=r"damaged|malformed") as caught:
        look(f"sqlite:///{store}")
    if kind is Unavailable:
        assert "codexmem doctor" in (caught.value.hint or "")


def test_the_check_of_its_structure_says_so(store: Path) -> None:
    harm(store)
    assert inspection.integrity(f"sqlite:///{store}") == "malformed database schema"


def test_a_damaged_backup_may_hold_what_is_forgotten_and_stops_nobody_from_forgetting(store: Path) -> None:
    root = store.parent / "backups"
    made = backup.create(
        backup.BackupTarget(f"sqlite:///{store}"), root / "codexmem-1", version="1", now_ms=1,
        progress=lambda done, total: None,
    )  # fmt: skip
    assert backup.holding(root, ["some"]) == []
    file = archive.peek(root / "codexmem-1").copy
    file.chmod(0o600)
    harm(file)
    assert backup.holding(root, ["some"]) == [backup.BackupHolding("codexmem-1", made.manifest.created_ms, None)]
