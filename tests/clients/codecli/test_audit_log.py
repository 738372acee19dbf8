"""The audit log on disk: whatever is done to it is found and named, and what a crash leaves is not taken for a lie."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.audit_harm import HARMS
from codexmem.audit import chain as audit_row
from codexmem.codecli.audit_log import AuditLog
from codexmem.kernel.model.errors import Unavailable

TRIALS = 200
ROWS = 60


def row(number: int) -> dict[str, Any]:
    fields = {"kind": "request", "tool": "Bash", "arguments": {"command": f"echo {number} 测试"}, "decision": "allow"}
    return audit_row.stamped(fields, 1_767_225_600_000 + number, f"run-{number % 3}", "p")


def filled(folder: Path, count: int = ROWS, **more: Any) -> AuditLog:
    log = AuditLog(folder, sync=lambda _: None, **more)
    for number in range(count):
        log.append(row(number))
    return log


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    return filled(tmp_path / "audit")


def test_what_was_written_is_read_again_in_both_directions(log: AuditLog) -> None:
    assert log.verify().rows == ROWS
    assert log.verify().ok
    assert [each["seq"] for each in log.rows()] == list(range(1, ROWS + 1))
    assert [each["seq"] for each in log.rows(after=57)] == [58, 59, 60]
    assert [each["seq"] for each in log.newest()] == list(range(ROWS, 0, -1))
    assert next(log.rows())["arguments"] == {"command": "echo 0 测试"}


def test_only_its_owner_can_read_it(log: AuditLog) -> None:
    assert stat.S_IMODE(log.folder.stat().st_mode) == 0o700
    for path in log.folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.clause("001 §5.4", "rows that were changed, removed, moved or cut off are found, and the first is named")
def test_every_harm_is_found_and_its_first_row_named(log: AuditLog) -> None:
    dice = random.Random(6)
    text = log.path.read_bytes()
    lines = text.splitlines()
    for trial in range(TRIALS):
        harm = HARMS[trial % len(HARMS)]
        harmed, at = harm(lines, dice)
        log.path.write_bytes(b"".join(line + b"\n" for line in harmed))
        found = log.verify()
        assert not found.ok, (trial, harm)
        assert found.bad is not None
        assert found.bad.seq == at + 1, (trial, harm, found)
    log.path.write_bytes(text)
    assert log.verify().ok


def test_a_file_cut_anywhere_is_found(log: AuditLog) -> None:
    text = log.path.read_bytes()
    for place in random.Random(3).sample(range(len(text)), 50):
        log.path.write_bytes(text[:place])
        found = log.verify()
        assert found.bad is not None
        assert found.bad.seq == text[:place].count(b"\n") + 1


def test_harm_stays_found_after_more_was_written(tmp_path: Path) -> None:
    dice = random.Random(11)
    for number, harm in enumerate(HARMS):
        log = filled(tmp_path / str(number), 20)
        harmed, at = harm(log.path.read_bytes().splitlines(), dice)
        log.path.write_bytes(b"".join(line + b"\n" for line in harmed))
        for more in range(3):
            log.append(row(100 + more))
        found = log.verify()
        assert found.bad is not None, harm
        assert found.bad.seq == at + 1, harm


@pytest.mark.parametrize("gone,problem", [("head.json", "no head"), ("key", "no key")])
def test_without_its_head_or_key_nothing_is_called_good(log: AuditLog, gone: str, problem: str) -> None:
    (log.folder / gone).unlink()
    found = log.verify()
    assert found.bad is not None
    assert found.bad.problem == problem
    log.append(row(1))
    assert not log.verify().ok, "a new head or key does not make it good again"


def test_cutting_rows_off_and_removing_the_head_leaves_a_mark(log: AuditLog) -> None:
    log.path.write_bytes(b"".join(log.path.read_bytes().splitlines(keepends=True)[:50]))
    (log.folder / "head.json").unlink()
    log.append(row(1))
    found = log.verify()
    assert found.bad is not None
    assert (found.bad.problem, found.bad.seq) == ("headless", 51)


def test_an_old_head_does_not_hide_what_came_after_it_was_changed(log: AuditLog) -> None:
    head = (log.folder / "head.json").read_bytes()
    log.append(row(61))
    (log.folder / "head.json").write_bytes(head)
    assert log.verify().ok, "a crash between the row and the head leaves exactly this"
    forged = json.loads(head)
    forged["head"][0] = 30
    (log.folder / "head.json").write_bytes(json.dumps(forged).encode())
    found = log.verify()
    assert found.bad is not None
    assert found.bad.problem == "no head"


@pytest.mark.parametrize("left", [1, 40, -2])
def test_a_line_that_a_crash_left_unfinished_is_told_and_accounted_for(log: AuditLog, left: int) -> None:
    before = log.path.read_bytes()
    head = (log.folder / "head.json").read_bytes()
    log.append(row(99))
    last = log.path.read_bytes()[len(before) :]
    log.path.write_bytes(before + last[:left])
    (log.folder / "head.json").write_bytes(head)
    assert (log.verify().ok, log.verify().notes) == (True, ("unfinished",))
    log.append(row(100))
    log.append(row(101))
    found = log.verify()
    assert (found.ok, found.notes, found.rows) == (True, (), ROWS + 3)
    told = [each for each in log.rows() if each["kind"] == "recovered"]
    assert [each["problem"] for each in told] == ["unfinished"]
    text = log.path.read_bytes()
    log.path.write_bytes(text.replace(last[:left] + b"\n", last[:left] + b"x\n", 1))
    assert not log.verify().ok, "what was left is accounted for to the letter"


def test_a_row_that_the_head_missed_is_taken_in(log: AuditLog) -> None:
    head = (log.folder / "head.json").read_bytes()
    log.append(row(61))
    (log.folder / "head.json").write_bytes(head)
    assert log.append(row(62)) == 62
    assert (log.verify().ok, log.verify().rows) == (True, 62)


def test_garbage_that_somebody_added_is_found(log: AuditLog) -> None:
    with log.path.open("ab") as file:
        file.write(b'{"seq":61,"prev":"00","tool":"Bash","hash":"00"}\n')
    assert not log.verify().ok


def test_a_large_log_goes_on_in_another_file_with_the_chain(tmp_path: Path) -> None:
    log = filled(tmp_path / "audit", 100, largest=4_000, kept=1_000)
    files = log.files()
    assert len(files) > 5
    assert (log.verify().ok, log.verify().rows) == (True, 100)
    assert [each["seq"] for each in log.rows(after=40)] == list(range(41, 101))
    assert [each["seq"] for each in log.newest()] == list(range(100, 0, -1))
    text = files[2].read_bytes()
    files[2].write_bytes(text.replace(b"echo", b"Echo", 1))
    found = log.verify()
    assert found.bad is not None
    assert (found.bad.file, found.bad.problem) == (files[2].name, "altered")
    files[2].unlink()
    found = log.verify()
    assert found.bad is not None
    assert found.bad.problem == "missing"


def test_the_oldest_files_go_and_the_chain_says_where_it_begins(tmp_path: Path) -> None:
    log = filled(tmp_path / "audit", 100, largest=4_000, kept=3)
    assert len(log.files()) == 3
    first = next(log.rows())["seq"]
    assert first > 1
    assert (log.verify().ok, log.verify().rows) == (True, 101 - first)
    log.files()[0].unlink()
    assert not log.verify().ok


_WRITER = """
import sys
from pathlib import Path
from codexmem.codecli.audit_log import AuditLog
log = AuditLog(Path(sys.argv[1]), largest=8_000)
for number in range(25):
    log.append({"kind": "request", "run_id": sys.argv[2], "tool": "Bash" * 40, "number": number})
"""


def test_wrappers_at_the_same_time_write_one_chain(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "audit")]
    others = [subprocess.Popen([*command, f"run-{number}"]) for number in range(4)]
    assert [each.wait(30) for each in others] == [0, 0, 0, 0]
    log = AuditLog(tmp_path / "audit")
    assert (log.verify().ok, log.verify().rows) == (True, 100)
    assert [each["seq"] for each in log.rows()] == list(range(1, 101))


def test_a_log_that_is_held_elsewhere_says_so(log: AuditLog) -> None:
    import fcntl

    held = os.open(log.folder / "lock", os.O_RDWR)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Unavailable, match="locked by another process"):
            AuditLog(log.folder, wait_s=0.05).append(row(1))
    finally:
        os.close(held)


def test_a_disk_that_fails_says_so(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("a file where the folder should be")
    with pytest.raises(Unavailable, match="cannot be used"):
        AuditLog(tmp_path / "audit").append(row(1))


def test_a_row_is_on_the_disk_before_the_head_knows_it(tmp_path: Path) -> None:
    seen: list[bool] = []
    log = AuditLog(tmp_path / "audit", sync=lambda _: seen.append((tmp_path / "audit" / "head.json").exists()))
    log.append(row(1))
    log.append(row(2))
    assert seen == [False, True]


def test_nothing_there_is_nothing_wrong(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit")
    assert log.verify() == type(log.verify())(0)
    assert list(log.rows()) == list(log.newest()) == []
    assert not (tmp_path / "audit").exists()
