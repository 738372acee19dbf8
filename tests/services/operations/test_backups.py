"""Backups made and checked while the store is open: by one name each, one at a time, and true about damage."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, StorageFull
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store.archive import Backup, Progress
from codexmem.operations.service.backups import BackupEntry, Backups, Making, StoreCommands
from codexmem.operations.service.dashboard import Disk
from codexmem.operations.transfer import Transfer
from tests._support.waiting import eventually
from tests.services.restoring import fill, texts_in, transfer_of

pytestmark = pytest.mark.sqlite


class Slow:
    """Copies that wait in the middle until they may go on, and then fail if they are to."""

    def __init__(self, real: Transfer) -> None:
        self._real = real
        self.go = threading.Event()
        self.fails: Exception | None = None

    @property
    def root(self) -> Path:
        return self._real.root

    def fresh(self) -> Path:
        return self._real.fresh()

    def verify(self, folder: Path) -> Backup:
        return self._real.verify(folder)

    def backup(self, to: Path | None = None, *, progress: Progress = lambda done, total: None) -> Backup:
        progress(1, 4)
        assert self.go.wait(10)
        if self.fails is not None:
            raise self.fails
        return self._real.backup(to, progress=progress)


@pytest.fixture
def copies(tmp_path: Path) -> Transfer:
    fill(tmp_path, ["端口是 37877", "two"])
    return transfer_of(tmp_path)


@pytest.fixture
def backups(copies: Transfer, tmp_path: Path) -> Backups:
    commands = StoreCommands(("--data-dir", str(tmp_path)), copies.root)
    return Backups(copies, commands, SystemClock())


@contextmanager
def slowly(copies: Transfer) -> Iterator[tuple[Slow, Backups]]:
    slow = Slow(copies)
    try:
        yield slow, Backups(slow, StoreCommands(), SystemClock())
    finally:
        slow.go.set()


def made(backups: Backups) -> BackupEntry:
    kept = backups.make(wait_s=20)
    assert isinstance(kept, BackupEntry)
    return kept


def test_a_backup_is_made_listed_checked_and_restorable(backups: Backups, copies: Transfer, tmp_path: Path) -> None:
    kept = made(backups)
    assert kept.backup is not None
    assert (kept.cause, kept.verified, kept.backup.manifest.counts["memories"]) == ("manual", None, 2)
    found = backups.verify(kept.name)
    assert (found.ok, found.problem) == (True, None)
    (listed,) = Backups(copies, StoreCommands(), SystemClock()).shelf().kept  # as another process sees it
    assert (listed.name, listed.verified) == (kept.name, found)
    command = backups.commands.restore(kept.name)
    assert command == f"codexmem restore {copies.root / kept.name} --data-dir {tmp_path}"
    fill(tmp_path, ["three"])
    copies.restore(copies.root / kept.name)
    assert texts_in(tmp_path) == ["two", "端口是 37877"]
    causes = [each.cause for each in backups.shelf().kept]
    assert causes == ["restore", "manual"]


def test_damage_is_found_and_told(backups: Backups, copies: Transfer) -> None:
    kept = made(backups)
    backups.verify(kept.name)
    store = copies.root / kept.name / "store.db"
    raw = bytearray(store.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    store.write_bytes(raw)
    found = backups.verify(kept.name)
    assert (found.ok, found.problem is not None) == (False, True)
    (listed,) = backups.shelf().kept
    assert listed.verified == found
    (copies.root / kept.name / "manifest.json").write_text("{}")
    (unreadable,) = backups.shelf().kept
    assert (unreadable.backup, unreadable.problem is not None) == (None, True)


def test_a_check_holds_for_the_bytes_that_were_checked(backups: Backups, copies: Transfer) -> None:
    kept = made(backups)
    backups.verify(kept.name)
    known = copies.root / ".verified.json"
    told = json.loads(known.read_bytes())
    told[kept.name]["sha256"] = "0" * 64
    known.write_text(json.dumps(told))
    assert backups.shelf().kept[0].verified is None
    known.write_text("no json")
    assert backups.shelf().kept[0].verified is None


@pytest.mark.parametrize("name", ["..", ".", "../x", "a/b", "/etc", ".verified.json", "", "x" * 200, "a\\b", "a\nb"])
def test_names_that_are_none_are_refused(backups: Backups, name: str) -> None:
    with pytest.raises(InvalidArgument):
        backups.verify(name)


def test_only_folders_of_ours_are_backups(backups: Backups, copies: Transfer, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    copies.root.mkdir(exist_ok=True)
    (copies.root / "linked").symlink_to(outside)
    (copies.root / "file").write_text("x")
    (copies.root / ".codexmem-x.unfinished").mkdir()
    assert backups.shelf().kept == ()
    for name in ("linked", "file", "codexmem-nowhere"):
        with pytest.raises(NotFound):
            backups.verify(name)


def test_one_at_a_time_and_told_how_far(copies: Transfer) -> None:
    with slowly(copies) as (slow, backups):
        begun = backups.make(wait_s=0.2)
        assert isinstance(begun, Making)
        assert (begun.status, begun.done, begun.total) == ("running", 1, 4)
        with pytest.raises(Conflict):
            backups.make(wait_s=0.1)
        assert backups.shelf().making == begun
        slow.go.set()
        eventually(lambda: backups.shelf().making is None)
        assert [each.name for each in backups.shelf().kept] == [begun.name]


def test_a_failure_is_told_until_the_next_try(copies: Transfer) -> None:
    with slowly(copies) as (slow, backups):
        slow.fails = StorageFull("no room", hint="free some space")
        backups.make(wait_s=0.05)
        slow.go.set()
        eventually(lambda: (backups.shelf().making or Making("", 0)).status == "failed")
        making = backups.shelf().making
        assert making is not None
        assert (making.error, making.hint) == ("no room", "free some space")
        with pytest.raises(StorageFull):
            backups.make(wait_s=10)
        slow.fails = None
        made(backups)
        assert backups.shelf().making is None


def test_a_store_that_tenants_share_has_none_here() -> None:
    backups = Backups(None, StoreCommands(), SystemClock())
    assert (backups.available, backups.shelf().kept) == (False, ())
    for act in (backups.make, lambda: backups.verify("x")):
        with pytest.raises(Conflict) as refused:
            act()
        assert "codexmem backup" in (refused.value.hint or "")


def test_a_place_that_may_not_be_told_is_not(copies: Transfer) -> None:
    told = StoreCommands().restore("codexmem-1")
    assert told == 'codexmem restore "$CODEXMEM_DATA_DIR/backups/codexmem-1"'
    assert str(copies.root) not in told


def test_room_is_measured_now_and_then_and_only_so_far(tmp_path: Path) -> None:
    (tmp_path / "backups" / "one").mkdir(parents=True)
    (tmp_path / "backups" / "one" / "store").write_bytes(b"x" * 100)
    (tmp_path / "store").write_bytes(b"x" * 10)
    (tmp_path / "loop").symlink_to(tmp_path)
    now = [0.0]
    disk = Disk(tmp_path, "backups", now_s=lambda: now[0])
    room = disk.room()
    assert (room.backups, room.truncated) == (100, False)
    assert room.total >= 110
    (tmp_path / "more").write_bytes(b"x" * 1_000)
    assert disk.room() == room
    now[0] = 31.0
    assert disk.room().total == room.total + 1_000
    assert Disk(tmp_path, "backups", most=2).room().truncated
