"""The last turns of a project: few, recent, redacted, and for their owner alone."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from codexmem.codecli.turns import KEPT, RecentTurn, RecentTurns
from codexmem.kernel.model.redaction import redact

HOUR = 3_600_000
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def test_the_last_ones_come_back_newest_first(tmp_path: Path) -> None:
    turns = RecentTurns(str(tmp_path), "shop", "/w", redact)
    assert turns.recent(0) == []
    for n in range(5):
        turns.add(RecentTurn(n * HOUR, f"run-{n}", f"问题 {n}", f"answer {n}"))
    assert [turn.asked for turn in turns.recent(4 * HOUR)] == ["问题 4", "问题 3"]
    assert turns.recent(40 * HOUR) == []
    assert RecentTurns(str(tmp_path), "other", "/w", redact).recent(0) == []
    assert RecentTurns(str(tmp_path), "shop", "/v", redact).recent(0) == []


def test_secrets_are_masked_and_the_file_is_private(tmp_path: Path) -> None:
    turns = RecentTurns(str(tmp_path / "new"), "shop", "/w", redact)
    turns.add(RecentTurn(1, "r", "x " * 700 + SECRET, SECRET + " y" * 700))
    (path,) = (tmp_path / "new" / "turns").iterdir()
    assert SECRET[:12] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    turns = RecentTurns(str(tmp_path), "shop", "/w", str)
    for n in range(300):
        turns.add(RecentTurn(n, "r", "问" * 1_500, f"{n} " + "答" * 1_500))
    (path,) = (tmp_path / "turns").iterdir()
    assert path.stat().st_size < 400 << 10
    assert len(path.read_bytes().splitlines()) >= KEPT
    assert turns.recent(300)[0].at_ms == 299


def test_a_broken_file_or_no_place_is_no_problem(tmp_path: Path) -> None:
    turns = RecentTurns(str(tmp_path), "shop", "/w", str)
    turns.add(RecentTurn(1, "r", "kept"))
    (path,) = (tmp_path / "turns").iterdir()
    path.write_bytes(b"garbage\n" + path.read_bytes() + b'{"half": \n' + json.dumps([1]).encode())
    assert [turn.asked for turn in turns.recent(1)] == ["kept"]
    (tmp_path / "file").write_text("")
    RecentTurns(str(tmp_path / "file"), "shop", "/w", str).add(RecentTurn(1, "r", "x"))
