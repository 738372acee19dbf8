"""A recording through an adapter tells the same as the run did, however its bytes were cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codexmem.codecli.agents.choosing import choose
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    Injection,
    Launch,
    LineEffects,
    PreparedAgent,
    ToolDecided,
    ToolStarted,
    UserPrompt,
    Wiring,
)
from codexmem.codecli.cli.replay import Replay
from codexmem.codecli.configuration import CommandConfig, Config
from codexmem.codecli.recording import Recorder, read
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

DENIED = ToolDecision(Verdict.DENY, "不行", rule="test")


def recorded(path: Path, argv: tuple[str, ...], pieces: list[tuple[str, bytes]], code: int | None = 0) -> Path:
    recorder = Recorder(path, Launch(argv, {"TERM": "xterm"}, "/srv/shop"))
    for stream, piece in pieces:
        recorder.wrote(stream, piece)
    if code is not None:
        recorder.ended(code)
    else:
        recorder._close("")
    return path


def replayed(path: Path, adapter: str = "auto", stream_format: str = "auto") -> tuple[Replay, list[Happening], bytes]:
    recording = read(path)
    config = Config(codecli=CommandConfig(adapter=adapter, stream_format=stream_format))
    replay = Replay(recording, choose(config, recording.launch), lambda _: DENIED)
    happenings: list[Happening] = []
    shown = b""
    for moment in replay.seen():
        happenings += moment.happenings
        shown += moment.shown
    return replay, happenings, shown


def test_plain_text_is_shown_as_it_was_and_read_for_markers(tmp_path: Path) -> None:
    said = 'Looking…\nTOOL_REQUEST: {"tool": "Bash", "arguments": {"command": "ls"}}\n完成。'.encode()
    pieces = [
        ("stdin", b"typed"),
        *(("stdout", said[at : at + 7]) for at in range(0, len(said), 7)),
        ("stderr", b"warn\n"),
    ]
    replay, happenings, shown = replayed(recorded(tmp_path / "r.jsonl", ("someagent", "go"), pieces))
    assert shown == said + b"warn\n"
    assert (replay.code, replay.seconds > 0) == (0, True)
    requests = [each.request for each in happenings if isinstance(each, ToolDecided | ToolStarted)]
    assert [(request.tool, request.command, request.from_text) for request in requests] == [("Bash", "ls", True)]
    assert "".join(each.text for each in happenings if isinstance(each, AgentMessage)) == "Looking…\n完成。"


@pytest.mark.parametrize("size", [1, 5, 4096])
def test_events_of_codex_tell_the_same_however_they_were_cut(size: int, tmp_path: Path) -> None:
    lines = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "ls"}},
        {"type": "item.completed", "item": {"id": "i1", "type": "command_execution", "command": "ls", "exit_code": 0,
                                            "status": "completed"}},
        {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "有三个文件。"}},
        {"type": "turn.completed", "usage": {}},
    ]  # fmt: skip
    said = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    pieces = [("stdout", said[at : at + size]) for at in range(0, len(said), size)]
    path = recorded(tmp_path / "r.jsonl", ("codex", "exec", "--json", "列出文件"), pieces)
    replay, happenings, shown = replayed(path)
    assert shown == said
    assert [type(each).__name__ for each in happenings] == ["ToolStarted", "ToolEnded", "AgentMessage", "TurnEnded"]
    (turn,) = replay.observed.turns
    assert (turn.asked, turn.said.text().strip(), turn.ok) == ("列出文件", "有三个文件。", True)


def test_a_recording_that_was_cut_off_still_tells_what_it_has(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", ("someagent",), [("stdout", b"half a line")], code=None)
    replay, happenings, _ = replayed(path)
    assert replay.code is None
    assert [each.text for each in happenings if isinstance(each, AgentMessage)] == ["half a line"]


class Caller:
    """A dialogue of its own: says what it is asked in capitals, and asks about a tool at each `!`."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    def open(self, prompt: str | None) -> LineEffects:
        self._wiring.recall(prompt or "")
        return LineEffects(to_agent=(b"hello\n",), happenings=(UserPrompt(prompt or ""),))

    def from_person(self, line: bytes) -> LineEffects:
        return LineEffects(to_agent=(line,), happenings=(UserPrompt(line.decode().strip()),))

    def from_agent(self, line: bytes) -> LineEffects:
        if line.startswith(b"!"):
            request = ToolRequest(line[1:].decode().strip())
            return LineEffects(to_agent=(b"no\n",), happenings=(ToolDecided(request, self._wiring.decide(request)),))
        return LineEffects(to_person=(line.upper(),), happenings=(AgentMessage(line.decode()),))


class Calling:
    """Its adapter."""

    name = "calling"

    def __init__(self, *, leads: bool) -> None:
        self._leads = leads

    def prompt_of(self, launch: Launch) -> str | None:
        return launch.argv[-1] if self._leads else None

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        return PreparedAgent(launch, self.prompt_of(launch) or "", Caller(wiring), leads=self._leads)


def test_a_conversation_is_shown_as_a_person_saw_it(tmp_path: Path) -> None:
    pieces = [("stdin", b"hello\n"), ("stdout", b"one\n!Ba"), ("stderr", b"log\n"), ("stdout", b"sh\ntwo")]
    recording = read(recorded(tmp_path / "r.jsonl", ("agent", "列出文件"), pieces))
    replay = Replay(recording, Calling(leads=True), lambda _: DENIED)
    moments = list(replay.seen())
    assert b"".join(moment.shown for moment in moments if moment.stream == "stdout") == b"ONE\nTWO"
    assert b"".join(moment.shown for moment in moments if moment.stream == "stderr") == b"log\n"
    happenings = [happening for moment in moments for happening in moment.happenings]
    assert happenings == [
        UserPrompt("列出文件"), AgentMessage("one\n"), ToolDecided(ToolRequest("Bash"), DENIED), AgentMessage("two"),
    ]  # fmt: skip
    (turn,) = replay.observed.turns
    assert (turn.asked, turn.said.text()) == ("列出文件", "one\ntwo")
    assert replay.observed.decisions == {"deny": 1}


def test_what_a_persons_program_sent_is_part_of_the_conversation(tmp_path: Path) -> None:
    pieces = [
        ("person", "第一".encode()),
        ("person", b"\n"),
        ("stdout", b"one\n"),
        ("person", b"2\n"),
        ("stdout", b"two\n"),
    ]
    recording = read(recorded(tmp_path / "r.jsonl", ("agent",), pieces))
    replay = Replay(recording, Calling(leads=False), lambda _: DENIED)
    happenings = [happening for moment in replay.seen() for happening in moment.happenings]
    assert happenings == [
        UserPrompt(""),
        UserPrompt("第一"),
        AgentMessage("one\n"),
        UserPrompt("2"),
        AgentMessage("two\n"),
    ]
