"""What real agents once said, read by today's adapters: recorded with `python -m tests.agents.recordings`."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.codecli.agents.choosing import choose
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
)
from codexmem.codecli.cli.replay import Replay
from codexmem.codecli.configuration import CommandConfig, Config
from codexmem.codecli.recording import STREAMS, RecordedBytes, read
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict
from tests.agents.recordings import ANSWER, COPYING, COUNTING, FOLDER, PROMPT, SCENES

# What each protocol tells, in order; only where we speak it is the question about the tool part of it.
TOLD = {
    "codex-exec": ("ToolStarted", "ToolEnded", "AgentMessage", "TurnEnded"),
    "codex-app-server": ("UserPrompt", "ToolDecided", "ToolStarted", "ToolEnded", "AgentMessage", "TurnEnded"),
    "qwen-acp": ("UserPrompt", "ToolDecided", "ToolStarted", "ToolEnded", "AgentMessage", "TurnEnded"),
    "qwen-stream-json": ("ToolStarted", "ToolEnded", "AgentMessage", "TurnEnded"),
}


def replayed(path: Path, adapter: str) -> tuple[Replay, list[Happening], list[ToolRequest], bytes]:
    asked: list[ToolRequest] = []

    def decide(request: ToolRequest) -> ToolDecision:
        asked.append(request)
        return ToolDecision(Verdict.ALLOW, "as it was")

    recording = read(path)
    replay = Replay(recording, choose(Config(codecli=CommandConfig(adapter=adapter)), recording.launch), decide)
    moments = list(replay.seen())
    happenings = [happening for moment in moments for happening in moment.happenings]
    return replay, happenings, asked, b"".join(moment.shown for moment in moments if moment.stream == "stdout")


def test_there_is_a_recording_of_every_scene() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == SCENES.keys() == TOLD.keys()


@pytest.mark.parametrize("name", SCENES)
def test_a_real_run_tells_the_same_again(name: str) -> None:
    scene = SCENES[name]
    replay, happenings, asked, shown = replayed(FOLDER / f"{name}.jsonl", scene.adapter)
    kinds = [type(each).__name__ for each in happenings]
    assert tuple(dict.fromkeys(kinds)) == TOLD[name]
    assert replay.code == 0
    (started,) = (each.request for each in happenings if isinstance(each, ToolStarted))
    (ended,) = (each for each in happenings if isinstance(each, ToolEnded))
    assert (ended.ok, ended.call_id) == (True, started.call_id)
    assert "".join(each.text for each in happenings if isinstance(each, AgentMessage)).strip() == ANSWER
    assert [each.ok for each in happenings if isinstance(each, TurnEnded)] == [True]
    decided = [each.request for each in happenings if isinstance(each, ToolDecided)]
    assert asked == decided
    for request in (started, *decided):
        assert (COPYING if name == "qwen-acp" else COUNTING) in request.command
    (turn,) = replay.observed.turns
    assert (turn.asked, turn.said.text().strip(), turn.ok) == (PROMPT, ANSWER, True)
    assert ANSWER.encode() in shown
    if scene.adapter in {"codex-app-server", "acp"}:
        assert [each.text for each in happenings if isinstance(each, UserPrompt)] == [PROMPT]
        assert shown.strip() == ANSWER.encode()  # a person sees the answer, not the protocol


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_real_run_tells_the_same_however_it_is_cut(name: str, size: int, tmp_path: Path) -> None:
    """Pieces end anywhere: the recording is cut anew, down to single bytes within characters."""
    from codexmem.codecli.recording import Recorder

    recording = read(FOLDER / f"{name}.jsonl")
    again = Recorder(tmp_path / "cut.jsonl", recording.launch, adapter=recording.adapter)
    for entry in recording.play():
        if isinstance(entry, RecordedBytes):
            for at in range(0, len(entry.piece), size):
                again.wrote(entry.stream, entry.piece[at : at + size])
        else:
            again.ended(entry.code or 0)
    whole = replayed(FOLDER / f"{name}.jsonl", SCENES[name].adapter)
    cut = replayed(tmp_path / "cut.jsonl", SCENES[name].adapter)
    assert cut[1] == whole[1]
    assert cut[3] == whole[3]


@pytest.mark.parametrize("name", SCENES)
def test_a_recording_says_nothing_about_who_made_it(name: str) -> None:
    path = FOLDER / f"{name}.jsonl"
    assert path.stat().st_size < 64 << 10
    text = path.read_text()
    assert str(Path(__file__).parents[3]) not in text
    recording = read(path)
    assert set(recording.environ) <= {"LANG", "TZ", "TERM"}
    assert {entry.stream for entry in recording.play() if isinstance(entry, RecordedBytes)} <= set(STREAMS)
