"""`codexmem import transcripts`: counted first, imported once, told in both languages, broken off, and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codexmem.agents.transcripts.model import TranscriptTool, TranscriptTurn
from codexmem.capture.cli import transcripts
from codexmem.console.backend import Backend, InProcess
from codexmem.kernel.model.errors import Unavailable
from tests._support.kept_transcripts import kept
from tests.cli.conftest import Call

pytestmark = pytest.mark.sqlite

IMPORT = ("import", "transcripts")


def found(call: Call, query: str) -> list[str]:
    return [each["title"] for each in call("search", query, "--all-projects", "--json").json["results"]]


def test_a_dry_run_counts_and_changes_nothing(call: Call, home: Path, data_dir: Path) -> None:
    kept(home, "s1", "Why does the turbine stall?", "We decided to use valve seven.")
    kept(home, "s2", "Paint it green", project="boat", month=8)
    said = call(*IMPORT, "--dry-run")
    assert said.code == 0
    assert said.out.split() == ["claude-code", "2"]
    assert "project shop: 1" in said.err
    assert "2 sessions from 2026-05-04 to 2026-08-04 would be imported" in said.err
    assert "about 2 questions" in said.err
    assert not data_dir.exists()
    assert "2026-05-04 至 2026-08-04 的 2 个会话" in call(*IMPORT, "--dry-run", "--lang", "zh").err


def test_it_is_imported_once_found_and_taken_back(call: Call, home: Path) -> None:
    kept(home, "s1", "Why does the turbine stall?", "We decided to use valve seven.")
    said = call(*IMPORT, "--json").json
    assert (said["sessions"], said["turns"]) == ({"imported": 1}, {"imported": 2})
    assert said["projects"] == {"shop": 1}
    assert any("valve seven" in title for title in found(call, "which valve did we decide on"))
    again = call(*IMPORT)
    assert "1 session was imported before" in again.err
    assert "0 sessions imported, 0 memories written" in again.err
    assert call("undo", said["source"], "--yes").code == 0
    assert found(call, "which valve did we decide on") == []
    undone = call(*IMPORT)
    assert "to bring back what was undone: codexmem undo delta_" in undone.err
    assert call("undo", call(*IMPORT, "--json").json["undone"], "--yes").code == 0
    assert any("valve seven" in title for title in found(call, "which valve did we decide on"))
    assert call(*IMPORT, "--json").json["undone"] is None


def test_agent_project_and_date_choose(call: Call, home: Path) -> None:
    kept(home, "s1", "Why does the turbine stall?")
    kept(home, "s2", "Paint it green", project="boat", month=8)
    assert call(*IMPORT, "--dry-run", "--json", "--agent", "codex").json["found"] == 0
    assert call(*IMPORT, "--dry-run", "--json", "--project", "boat").json["projects"] == {"boat": 1}
    assert call(*IMPORT, "--dry-run", "--json", "--since", "2126-01-01").json["found"] == 0
    assert call(*IMPORT, "--agent", "nobody").code == 2


@pytest.mark.parametrize("language, said", [("en", "no transcripts were found"), ("zh", "没有找到会话记录")])
def test_nothing_there_is_said(call: Call, data_dir: Path, language: str, said: str) -> None:
    told = call(*IMPORT, "--lang", language)
    assert (told.code, said in told.err) == (0, True)
    assert not data_dir.exists()


def test_questions_need_a_writer(call: Call, home: Path) -> None:
    kept(home, "s1", "Why does the turbine stall?")
    said = call(*IMPORT, "--questions", "5")
    assert said.code == 0
    assert "there is no writer who could be asked" in said.err


def test_one_that_is_broken_off_says_how_to_go_on_and_goes_on(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        kept(home, f"s{number}", f"Why does turbine {number} stall?", month=5 + number)
    sent = 0
    answer = Backend.post

    def failing(store: InProcess, path: str, body: Any, **more: Any) -> Any:
        nonlocal sent
        sent += path == "/api/transcripts"
        if sent == 3:
            raise Unavailable("the server is gone")
        return answer(store, path, body, **more)

    monkeypatch.setattr(Backend, "post", failing)
    said = call(*IMPORT)
    assert said.code != 0
    assert "interrupted; " in said.err
    assert "codexmem undo import:transcripts" in said.err
    monkeypatch.setattr(Backend, "post", answer)
    assert call(*IMPORT, "--json").json["sessions"] == {"known": 2, "imported": 1}


def test_a_long_session_goes_in_parts_and_is_one_session(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "_TURNS", 4)
    kept(home, "s1", *(f"Step {number} of the long way round" for number in range(10)))
    assert call(*IMPORT, "--json").json["turns"] == {"imported": 10}
    assert call(*IMPORT, "--json").json["turns"] == {"known": 10}
    kept(home, "s1", *(f"Step {number} of the long way round" for number in range(11)))
    assert call(*IMPORT, "--json").json["turns"] == {"known": 10, "imported": 1}


def test_a_file_that_cannot_be_read_stops_nothing(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from codexmem.agents.transcripts.finding import READERS

    kept(home, "s1", "Why does the turbine stall?")
    kept(home, "s2", "Paint it green", month=6)
    reader = READERS["claude-code"]
    read = reader.turns

    def turns(file: Any, flaws: Any = None) -> Any:
        if file.session == "s1":
            raise Unavailable("gone meanwhile")
        return read(file, flaws)

    monkeypatch.setattr(type(reader), "turns", lambda _, file, flaws=None: turns(file, flaws))
    said = call(*IMPORT)
    assert said.code == 0
    assert "1 file could not be read" in said.err
    assert "1 session imported" in said.err


def test_work_that_a_command_of_the_agent_began_belongs_to_the_turn_before() -> None:
    tool = TranscriptTool("Bash", {"command": "make"}, "ok")
    said = [
        TranscriptTurn("", 1, (tool,)),
        TranscriptTurn("Build it", 2, (tool,), "Built."),
        TranscriptTurn("", 3, (tool,), "Again.", ended_ms=4, finished=False),
        TranscriptTurn("And now?", 5),
    ]
    joined = list(transcripts._joined(iter(said)))
    assert [(turn.prompt, len(turn.tools), turn.message, turn.finished) for turn in joined] == [
        ("", 1, "", True), ("Build it", 2, "Again.", False), ("And now?", 0, "", True),
    ]  # fmt: skip
