"""Backup and restore on SQLite: consistent under writers, all or nothing if interrupted, strict about damage."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pysqlite3.dbapi2 as sqlite
import pytest

from codexmem.app import open_core
from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument, NotFound, NotReady, Unavailable
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store import archive, inspection
from codexmem.kernel.store.backup import BackupTarget, Damaged
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.opening import open_database, sqlite_url
from codexmem.operations.transfer import Transfer, tell_notices
from codexmem.settings import load
from tests.services.restoring import ROOT, STEPS, fill, fill_and_die, restore_and_die, texts_in, transfer_of

pytestmark = pytest.mark.sqlite

OLD = [f"old {n}" for n in range(40)]
NEW = [f"new {n}" for n in range(20)]
BACKUPS_UNDER_WRITERS = 20

# Four writers; a line on standard output is an acknowledgement.
_WRITERS = """
import sys, threading
from pathlib import Path
from tests.services import restoring as r
stop = threading.Event()
lock = threading.Lock()
def write(memories, writer):
    n = 0
    while not stop.is_set():
        r.note(memories, f"w{writer} {n}")
        with lock:
            print(f"{writer} {n}", flush=True)
        n += 1
with r.remembering(Path(sys.argv[1])) as memories:
    threads = [threading.Thread(target=write, args=(memories, w)) for w in range(4)]
    for t in threads: t.start()
    sys.stdin.read()
    stop.set()
    for t in threads: t.join()
"""


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def logged(data_dir: Path, type: EventType) -> list[dict[str, object]]:
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    try:
        found = EventTable(db).of_type(type.value, from_ms=0, to_ms=2**62, limit=100)
        return [event.payload or {} for event in found]
    finally:
        db.close()


def restored_elsewhere(folder: Path, elsewhere: Path) -> list[str]:
    transfer_of(elsewhere).restore(folder)
    return texts_in(elsewhere)


def test_a_backup_is_a_private_folder_with_a_manifest_that_vouches_for_it(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    made = transfer_of(tmp_path).backup()
    assert made.folder.parent == tmp_path / "backups"
    assert re.fullmatch(r"codexmem-\d{8}T\d{6}\.\d{3}Z", made.folder.name)
    assert sorted(path.name for path in made.folder.iterdir()) == ["manifest.json", "store.db"]
    assert (mode(made.folder), mode(made.copy), mode(made.folder / "manifest.json")) == (0o700, 0o600, 0o600)
    manifest = json.loads((made.folder / "manifest.json").read_text())
    assert manifest["counts"]["memories"] == len(OLD)
    assert manifest["sha256"] == archive.sha256(made.copy)
    assert (manifest["engine"], manifest["version"]) == ("sqlite", "test")
    assert transfer_of(tmp_path).verify(made.folder) == made
    assert restored_elsewhere(made.folder, tmp_path / "elsewhere") == sorted(OLD)


def test_a_backup_changes_nothing_in_the_store_and_is_told_by_its_next_owner(tmp_path: Path) -> None:
    fill_and_die(tmp_path, OLD)
    before = {path.name: archive.sha256(path) for path in tmp_path.iterdir() if path.name.endswith((".db", "-wal"))}
    made = transfer_of(tmp_path).backup()
    after = {path.name: archive.sha256(path) for path in tmp_path.iterdir() if path.name.endswith((".db", "-wal"))}
    assert before == after
    assert made.manifest.counts["memories"] == len(OLD)
    db = open_database(sqlite_url(tmp_path / "codexmem.db"))
    try:
        assert tell_notices(db, tmp_path) == 1
        assert tell_notices(db, tmp_path) == 0
    finally:
        db.close()
    [event] = logged(tmp_path, EventType.STORE_BACKED_UP)
    assert (event["backup"], event["memories"]) == (made.folder.name, len(OLD))


def test_backups_under_writers_restore_to_a_prefix_of_what_was_acknowledged(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    acked = dict.fromkeys(range(4), -1)
    program = subprocess.Popen(
        [sys.executable, "-c", _WRITERS, str(data_dir)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": f"{ROOT}/src"},
    )  # fmt: skip
    assert program.stdout is not None

    def listen() -> None:
        assert program.stdout is not None
        for line in program.stdout:
            writer, n = map(int, line.split())
            acked[writer] = n

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        while min(acked.values()) < 2:
            assert program.poll() is None
        made = []
        for _ in range(BACKUPS_UNDER_WRITERS):
            before = dict(acked)
            made.append((before, transfer_of(data_dir).backup().folder))
    finally:
        # Not communicate(): that would read from the same pipe as the listener.
        assert program.stdin is not None
        program.stdin.close()
        listener.join()
        program.stdout.close()
        program.wait()
    assert program.returncode == 0
    for number, (before, folder) in enumerate(made):
        held: dict[int, set[int]] = {writer: set() for writer in range(4)}
        for text in restored_elsewhere(folder, tmp_path / f"restored-{number}"):
            writer, n = map(int, text.removeprefix("w").split())
            held[writer].add(n)
        for writer, numbers in held.items():
            assert numbers == set(range(len(numbers))), "a later write without an earlier one"
            assert before[writer] < len(numbers), "an acknowledged write is missing"
            assert len(numbers) <= acked[writer] + 1, "a write that never was"
    assert sum(max(before.values()) for before, _ in made) > 0


def test_restoring_keeps_the_former_state_and_tells_of_it(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    chosen = transfer_of(tmp_path).backup()
    fill(tmp_path, OLD)
    restored = transfer_of(tmp_path).restore(chosen.folder)
    assert texts_in(tmp_path) == sorted(NEW)
    assert restored.kept is not None
    assert restored_elsewhere(restored.kept, tmp_path / "elsewhere") == sorted(NEW + OLD)
    [event] = logged(tmp_path, EventType.STORE_RESTORED)
    assert (event["backup"], event["kept"]) == (chosen.folder.name, restored.kept.name)
    assert not (tmp_path / "codexmem.restoring").exists()


def test_restoring_works_where_there_is_no_store_yet(tmp_path: Path) -> None:
    fill(tmp_path / "a", NEW)
    made = transfer_of(tmp_path / "a").backup()
    restored = transfer_of(tmp_path / "b").restore(made.folder)
    assert restored.kept is None
    assert texts_in(tmp_path / "b") == sorted(NEW)
    assert mode(tmp_path / "b" / "codexmem.db") == 0o600


@pytest.mark.parametrize("step", STEPS)
def test_a_restore_killed_at_any_step_leaves_the_old_store_or_the_new_one(step: str, tmp_path: Path) -> None:
    fill(tmp_path / "source", NEW)
    chosen = transfer_of(tmp_path / "source").backup()
    data_dir = tmp_path / "data"
    fill_and_die(data_dir, OLD)
    assert (data_dir / "codexmem.db-wal").stat().st_size > 0
    restore_and_die(data_dir, chosen.folder, step)
    found = texts_in(data_dir)
    assert found == (sorted(NEW) if step in {"switched", "released"} else sorted(OLD))
    # And nothing that was left lying about stands in the way of doing it again.
    transfer_of(data_dir).restore(chosen.folder)
    assert texts_in(data_dir) == sorted(NEW)


def test_a_store_in_use_is_not_restored(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    db = open_database(sqlite_url(tmp_path / "codexmem.db"))
    try:
        with pytest.raises(Unavailable, match="in use by another codexmem process") as caught:
            transfer_of(tmp_path).restore(made.folder)
        assert str(os.getpid()) in caught.value.message
        assert caught.value.hint
    finally:
        db.close()
    assert [path.name for path in (tmp_path / "backups").iterdir()] == [made.folder.name]


def test_a_reader_keeps_the_old_store_in_place(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    made = transfer_of(tmp_path).backup()
    fill(tmp_path, NEW)
    reader = sqlite.connect(str(tmp_path / "codexmem.db"), isolation_level=None)
    try:
        reader.execute("PRAGMA journal_mode=WAL")
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM memories").fetchone()[0] == len(OLD + NEW)
        with pytest.raises(Unavailable, match="another program is reading"):
            transfer_of(tmp_path).restore(made.folder)
    finally:
        reader.close()
    assert texts_in(tmp_path) == sorted(OLD + NEW)


@pytest.mark.slow
def test_flipped_bits_and_truncation_are_refused_and_change_nothing(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    fill(tmp_path, OLD)
    seeded = random.Random(17)
    refused = 0
    for name in ("store.db", "manifest.json"):
        path = made.folder / name
        whole = path.read_bytes()
        for number in range(60):
            if number % 3:
                place = seeded.randrange(len(whole) * 8)
                broken = bytearray(whole)
                broken[place // 8] ^= 1 << place % 8
                path.write_bytes(broken)
            else:
                path.write_bytes(whole[: seeded.randrange(len(whole))])
            with pytest.raises(Damaged) as caught:
                transfer_of(tmp_path).restore(made.folder)
            assert caught.value.details["reason"] in {"backup_damaged", "integrity"}
            refused += 1
        path.write_bytes(whole)
    assert refused == 120
    assert texts_in(tmp_path) == sorted(NEW + OLD)
    transfer_of(tmp_path).restore(made.folder)
    assert texts_in(tmp_path) == sorted(NEW)


def test_a_manifest_that_vouches_for_a_broken_store_is_not_believed(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    broken = bytearray(made.copy.read_bytes())
    broken[4096:12288] = os.urandom(8192)
    made.copy.write_bytes(broken)
    forged = replace(made.manifest, sha256=archive.sha256(made.copy))
    (made.folder / "manifest.json").write_bytes(forged.dumped())
    with pytest.raises(Damaged):
        transfer_of(tmp_path).restore(made.folder)
    assert texts_in(tmp_path) == sorted(NEW)


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    transfer = transfer_of(tmp_path)
    with pytest.raises(NotFound):
        transfer.restore(tmp_path / "nothing")
    link = tmp_path / "link"
    link.symlink_to(made.folder)
    with pytest.raises(NotFound):
        transfer.restore(link)
    real = made.copy.rename(made.folder / "aside")
    made.copy.symlink_to(real)
    with pytest.raises(Damaged, match="not a regular file"):
        transfer.restore(made.folder)
    made.copy.unlink()
    os.mkfifo(made.copy)
    with pytest.raises(Damaged, match="not a regular file"):
        transfer.restore(made.folder)
    made.copy.unlink()
    with pytest.raises(Damaged, match="missing"):
        transfer.restore(made.folder)


def test_a_backup_of_a_newer_program_or_another_engine_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    newer = replace(made.manifest, schema="9999")
    (made.folder / "manifest.json").write_bytes(newer.dumped())
    with pytest.raises(NotReady, match="newer codexmem"):
        transfer_of(tmp_path).restore(made.folder)
    (made.folder / "manifest.json").write_bytes(made.manifest.dumped())
    other = Transfer(BackupTarget("postgresql://nobody@127.0.0.1:1/x"), tmp_path, SystemClock(), version="test")
    with pytest.raises(InvalidArgument, match="of a sqlite store"):
        other.restore(made.folder)


def test_a_store_beyond_reading_is_set_aside_and_replaced(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    fill_and_die(tmp_path, OLD)
    store = tmp_path / "codexmem.db"
    store.write_bytes(b"not a database" * 1000)
    raw = store.read_bytes()
    restored = transfer_of(tmp_path).restore(made.folder)
    assert texts_in(tmp_path) == sorted(NEW)
    assert restored.kept is not None
    assert restored.kept.name.endswith("-damaged")
    assert (restored.kept / "codexmem.db").read_bytes() == raw
    assert (restored.kept / "codexmem.db-wal").exists()


def test_a_target_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    target = tmp_path / "mine"
    target.mkdir()
    (target / "precious").write_text("x")
    with pytest.raises(Conflict):
        transfer_of(tmp_path).backup(target)
    assert [path.name for path in target.iterdir()] == ["precious"]
    assert transfer_of(tmp_path).backup(tmp_path / "deep" / "new").folder.is_dir()


def test_there_must_be_a_store_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no store"):
        transfer_of(tmp_path).backup()
    assert not list((tmp_path / "backups").glob("*"))


def test_a_failing_backup_leaves_nothing_behind(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    (tmp_path / "codexmem.db").write_bytes(b"junk" * 5000)

    with pytest.raises(CodexmemError):
        transfer_of(tmp_path).backup()
    assert not [path for path in (tmp_path / "backups").iterdir() if path.name.startswith("codexmem")]
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_store_is_kept_before_its_schema_is_upgraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert transfer_of(tmp_path).before_upgrade() is None
    fill(tmp_path, NEW)
    assert transfer_of(tmp_path).before_upgrade() is None
    with monkeypatch.context() as patched:
        patched.setattr(inspection, "expected_schema", lambda: "9999")
        kept = transfer_of(tmp_path).before_upgrade()
    assert kept is not None
    assert kept.folder.name.endswith(f"-schema-{kept.manifest.schema}")
    assert restored_elsewhere(kept.folder, tmp_path / "elsewhere") == sorted(NEW)


def test_what_a_killed_backup_or_restore_left_is_cleared_away(tmp_path: Path) -> None:
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    orphan = tmp_path / "backups" / ".codexmem-of-yesterday.unfinished"
    orphan.mkdir()
    (orphan / "store.db").write_bytes(b"half")
    with archive.unfinished(tmp_path / "backups" / "at-work") as at_work:
        (at_work / "store.db").write_bytes(b"half")
        transfer_of(tmp_path).backup()
        assert not orphan.exists()
        assert at_work.exists()
    restore_and_die(tmp_path, made.folder, "prepared")
    assert (tmp_path / "codexmem.restoring").exists()
    open_core(load({"data_dir": str(tmp_path)}, {})).close()
    assert not (tmp_path / "codexmem.restoring").exists()
    assert texts_in(tmp_path) == sorted(NEW)


@pytest.mark.slow
def test_progress_is_told_in_steps(tmp_path: Path) -> None:
    fill(tmp_path, [f"{n} " + "x" * 20_000 for n in range(600)])
    told: list[tuple[int, int]] = []
    transfer_of(tmp_path).backup(progress=lambda done, total: told.append((done, total)))
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_the_newest_backup_is_known(tmp_path: Path) -> None:
    assert transfer_of(tmp_path).newest_ms() is None
    fill(tmp_path, NEW)
    made = transfer_of(tmp_path).backup()
    (tmp_path / "backups" / "junk").mkdir()
    assert transfer_of(tmp_path).newest_ms() == made.manifest.created_ms
