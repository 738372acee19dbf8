"""The short form of `just soak-import`: a few made-up sessions, killed in between, repeated and taken back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bench import coding_log, transcripts


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Sessions in the form of the set, of our own making."""
    folder = tmp_path / "coding-sessions"
    folder.mkdir()
    for place, project in enumerate(coding_log.PROJECTS):
        made = [
            {"i": 0, "k": "user", "text": f"We decided to call part {place} the engine of {project}."},
            {"i": 1, "k": "tool", "kind": "shell", "command": f"make part-{place}", "output": "ok", "ok": True},
            {"i": 2, "k": "assistant", "text": f"It is called the engine of {project}."},
        ]
        began = f"2026-03-{place + 1:02d}T10:00:00Z"
        session = {"n": 0, "id": f"s{place}", "project": project, "started_at": began, "items": made}
        with gzip.open(folder / f"{project}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write(json.dumps(session) + "\n")
    return tmp_path


@pytest.mark.timeout(240)
@pytest.mark.slow
def test_all_of_it_comes_once_and_goes_again(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "FIRST_KILL_S", (0.8, 1.2))
    monkeypatch.setattr(transcripts, "LIVE_TURNS", 1)
    figures = transcripts.soak(data, 14, 1, 7)
    assert transcripts.kept(figures), figures
    assert figures["sessions"] == 14
    assert figures["written"] == {"sessions": 14, "turns": 14, "events": 14}


def test_a_lost_or_doubled_memory_is_no_success() -> None:
    good = {"sessions": 3, "written": {"sessions": 3}, **dict.fromkeys(transcripts._MUST_BE_NONE, 0)}
    assert transcripts.kept(good)
    assert not transcripts.kept(good | {"sessions": 2})
    for name in transcripts._MUST_BE_NONE:
        assert not transcripts.kept(good | {name: 1})
