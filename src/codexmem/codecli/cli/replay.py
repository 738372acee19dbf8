"""`mem-codecli replay`: a recorded run again, to look at or as what adapter, rules and gatekeeper make of it today.

A recording played again: what a person saw, and what today's adapter reads in it. No agent, no memory, no person.

The adapter is prepared as for a run and then fed what was recorded, piece by piece. What it would send to the agent is
let go; what it asks about tools is decided by whoever plays. One piece is held at a time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

import click

from codexmem.codecli import surroundings
from codexmem.codecli.agents.choosing import NAMES, choose
from codexmem.codecli.agents.protocol import (
    Adapter,
    AgentMessage,
    Decide,
    Dialogue,
    Happening,
    Injection,
    LineEffects,
    Noticed,
    OutputWatcher,
    PreparedAgent,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
    Wiring,
)
from codexmem.codecli.child.lines import Splitter
from codexmem.codecli.cli.configured import configured
from codexmem.codecli.configuration import Config
from codexmem.codecli.observed import Observed
from codexmem.codecli.recall import Recalled
from codexmem.codecli.recording import Ended, RecordedBytes, Recording, read
from codexmem.codecli.redactor import Redactor
from codexmem.codecli.remembered_permissions import policy_or_nothing
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.terminal_width import printable
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict
from codexmem.qa.gatekeeper import judging as gatekeeper


@dataclass(frozen=True, slots=True)
class ReplayMoment:
    """One moment: what was shown on which stream (`stdout` or `stderr`), and what happened."""

    at: float
    stream: str = ""
    shown: bytes = b""
    happenings: tuple[Happening, ...] = ()


class Replay:
    """A recording on its way through an adapter; `observed` collects its turns as a run does."""

    def __init__(self, recording: Recording, adapter: Adapter, decide: Decide) -> None:
        self.recording = recording
        self.observed = Observed()
        self.code: int | None = None  # how the agent ended; None if the recording was cut off
        self.seconds = 0.0
        prompt = adapter.prompt_of(recording.launch)
        self._prepared = adapter.prepare(recording.launch, Injection(), Wiring(decide, self._recalled))
        if prompt is not None and self._prepared.dialogue is None:
            self._recalled(prompt)

    def seen(self) -> Iterator[ReplayMoment]:
        """Every moment, in order."""
        reader = _reader(self._prepared)
        for entry in self.recording.play():
            self.seconds = entry.at
            if isinstance(entry, Ended):
                self.code = entry.code
                moments: Iterable[ReplayMoment] = reader.ended(entry.at)
            else:
                moments = reader.passed(entry)
            for moment in moments:
                for happening in moment.happenings:
                    self.observed.tell(happening)
                yield moment

    def _recalled(self, prompt: str) -> Injection:
        self.observed.begin(prompt, Recalled())
        return Injection()


def _reader(prepared: PreparedAgent) -> _Listening | _Watching:
    if prepared.dialogue is not None:
        return _Listening(prepared.dialogue, prepared.prompt if prepared.leads else None)
    return _Watching(prepared.stdout, prepared.stderr)


class _Watching:
    """Output that passed as it was, read on the side."""

    def __init__(self, stdout: OutputWatcher | None, stderr: OutputWatcher | None) -> None:
        self._watchers = {"stdout": stdout, "terminal": stdout, "stderr": stderr}
        self._open = [watcher for watcher in (stdout, stderr) if watcher is not None]

    def passed(self, piece: RecordedBytes) -> Iterator[ReplayMoment]:
        if piece.stream not in self._watchers:
            return  # what the person typed is echoed by a terminal, and else was not shown
        watcher = self._watchers[piece.stream]
        happenings = tuple(watcher.feed(piece.piece)) if watcher is not None else ()
        stream = "stderr" if piece.stream == "stderr" else "stdout"
        yield ReplayMoment(piece.at, stream, piece.piece, happenings)

    def ended(self, at: float) -> Iterator[ReplayMoment]:
        for watcher in self._open:
            yield ReplayMoment(at, happenings=tuple(watcher.close()))


class _Listening:
    """A conversation, in which a person saw what the dialogue let through."""

    def __init__(self, dialogue: Dialogue, prompt: str | None) -> None:
        self._dialogue = dialogue
        self._prompt = prompt
        self._begun = False
        self._person, self._agent = Splitter(), Splitter()

    def passed(self, piece: RecordedBytes) -> Iterator[ReplayMoment]:
        yield from self._opening(piece.at)
        if piece.stream == "stderr":
            yield ReplayMoment(piece.at, "stderr", piece.piece)
        elif piece.stream == "person":
            for line, whole in self._person.feed(piece.piece):
                if whole:
                    yield _seen(piece.at, self._dialogue.from_person(line))
        elif piece.stream == "stdout":
            for line, whole in self._agent.feed(piece.piece):
                yield (
                    _seen(piece.at, self._dialogue.from_agent(line))
                    if whole
                    else ReplayMoment(piece.at, "stdout", line)
                )

    def ended(self, at: float) -> Iterator[ReplayMoment]:
        yield from self._opening(at)
        rest = self._agent.rest()
        if rest:
            yield _seen(at, self._dialogue.from_agent(rest))

    def _opening(self, at: float) -> Iterator[ReplayMoment]:
        if not self._begun:
            self._begun = True
            yield _seen(at, self._dialogue.open(self._prompt))


def _seen(at: float, moves: LineEffects) -> ReplayMoment:
    return ReplayMoment(at, "stdout", b"".join(moves.to_person), moves.happenings)


_SHOWN = 400  # characters of one text in the account for people


@click.command("replay", cls=Command, key="codecli.replay")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@option("--speed", type=click.FloatRange(0, 1000), metavar="X", key="codecli.replay.speed")
@option("--adapter", metavar="NAME", key="codecli.replay.adapter")
@option("--explain", "explains", is_flag=True, key="codecli.replay.explain")
def replay(file: Path, speed: float | None, adapter: str | None, explains: bool) -> None:
    """Play a recording."""
    recording = read(file)
    recorded_with = recording.adapter if recording.adapter in NAMES else None
    config = configured({"codecli.adapter": adapter or recorded_with}).config
    rules = _Rules(config, recording.cwd)
    playing = Replay(recording, choose(config, recording.launch), rules.decide)
    output = current()
    if output.as_json or explains:
        account = _account(playing, config, rules)
        output.result(account, "\n".join(_lines(account)))
    else:
        _play(playing, speed if speed is not None else float(surroundings.is_terminal(1)))
        if playing.code is None:
            output.note(say("codecli.replay.cut"), good=False)


class _Rules:
    """The policy as it is now; nobody is asked, so what it would ask about is told as that."""

    def __init__(self, config: Config, cwd: str) -> None:
        self._policy = policy_or_nothing(config, cwd)

    def decide(self, request: ToolRequest) -> ToolDecision:
        """What a dialogue is answered: a question counts as no, as it does where no person is."""
        decision = self.told(request)
        return (
            replace(decision, verdict=Verdict.DENY, by="no-terminal") if decision.verdict is Verdict.ASK else decision
        )

    def told(self, request: ToolRequest) -> ToolDecision:
        """What the rules say."""
        return self._policy.decide(request)


def _play(playing: Replay, speed: float) -> None:
    start = surroundings.monotonic()
    for moment in playing.seen():
        if speed:
            wait = moment.at / speed - (surroundings.monotonic() - start)
            if wait > 0:
                surroundings.pause(wait)
        if moment.shown:
            sys.stdout.flush()
            _write(2 if moment.stream == "stderr" else 1, moment.shown)


def _write(descriptor: int, shown: bytes) -> None:
    while shown:
        shown = shown[os.write(descriptor, shown) :]


class _JudgedRule(TypedDict):
    name: str
    passed: bool
    why: str


class _JudgedTurn(TypedDict):
    question: str
    writes: bool
    why: str
    mode: str
    rules: list[_JudgedRule]


class _Account(TypedDict):
    recording: str
    argv: list[str]
    adapter: str
    exit_code: int | None  # None: the recording was cut off
    seconds: float
    happenings: list[dict[str, Any]]  # of each: when, what, and what goes with that
    gatekeeper: list[_JudgedTurn]


def _account(playing: Replay, config: Config, rules: _Rules) -> _Account:
    happenings = list(_joined(playing, rules))
    return {
        "recording": str(playing.recording.path),
        "argv": list(playing.recording.argv),
        "adapter": playing.recording.adapter,
        "exit_code": playing.code,
        "seconds": playing.seconds,
        "happenings": happenings,
        "gatekeeper": [_judged(turn.asked, turn.said.text(), config) for turn in playing.observed.turns],
    }


def _joined(playing: Replay, rules: _Rules) -> Iterator[dict[str, Any]]:
    """What happened, with what was said piece by piece put together."""
    pieces: list[str] = []
    began = 0.0
    for moment in playing.seen():
        for happening in moment.happenings:
            if isinstance(happening, AgentMessage):
                began = began if pieces else moment.at
                pieces.append(happening.text)
                continue
            if pieces:
                yield {"at": began, "what": "said", "text": "".join(pieces)}
                pieces = []
            yield {"at": moment.at, **_told(happening, rules)}
    if pieces:
        yield {"at": began, "what": "said", "text": "".join(pieces)}


def _told(happening: Happening, rules: _Rules) -> dict[str, object]:
    match happening:
        case UserPrompt(text) | AgentMessage(text):
            return {"what": "asked", "text": text}
        case ToolStarted(request):
            return {"what": "tool_started", **_request(request, rules.told(request))}
        case ToolDecided(request, decision):
            return {"what": "tool_decided", **_request(request, decision)}
        case ToolEnded(call_id, ok, took_ms):
            return {"what": "tool_ended", "call_id": call_id, "ok": ok, "took_ms": took_ms}
        case TurnEnded(ok, message):
            return {"what": "turn_ended", "ok": ok, "message": message}
        case Noticed(text):
            return {"what": "noticed", "text": text}


def _request(request: ToolRequest, decision: ToolDecision) -> dict[str, object]:
    return {
        "tool": request.tool, "server": request.server, "command": request.command, "paths": list(request.paths),
        "urls": list(request.urls), "call_id": request.call_id, "from_text": request.from_text,
        "risk": request.risk.name.lower() if request.risk else None, "verdict": str(decision.verdict),
        "reason": decision.reason, "rule": decision.rule,
    }  # fmt: skip


def _judged(question: str, answer: str, config: Config) -> _JudgedTurn:
    redact = Redactor(config.redact.level, config.redact.patterns)
    outcome = gatekeeper.judge(
        redact.text(question), redact.text(answer), top_score=None, min_score=config.search.min_score,
        mode=config.gatekeeper.mode,
    )  # fmt: skip
    return {
        "question": question, "writes": outcome.writes, "why": outcome.why, "mode": config.gatekeeper.mode,
        "rules": [{"name": rule.name, "passed": rule.passed, "why": rule.why} for rule in outcome.rules],
    }  # fmt: skip


def _lines(account: _Account) -> Iterator[str]:
    for happening in account["happenings"]:
        at = f"{happening['at']:8.3f}  "
        match happening["what"]:
            case "asked" | "said" as what:
                yield at + say(f"codecli.replay.{what}", text=_short(happening["text"]))
            case "tool_started" | "tool_decided":
                named = happening["command"] or happening["tool"]
                yield at + say(
                    "codecli.replay.tool", tool=_short(named), risk=happening["risk"] or "-",
                    verdict=happening["verdict"], reason=happening["reason"],
                )  # fmt: skip
            case "tool_ended":
                yield at + say("codecli.replay.ended_tool", how=_how(happening["ok"]))
            case "noticed":
                yield at + happening["text"]
            case "turn_ended":
                yield at + say("codecli.replay.turn", how=_how(happening["ok"]))
    for judged in account["gatekeeper"]:
        verdict = say("codecli.replay.writes") if judged["writes"] else say("codecli.replay.writes_not")
        yield say("codecli.replay.gatekeeper", mode=judged["mode"], verdict=verdict)
        yield from (f"    {'+' if rule['passed'] else '-'} {rule['name']}: {rule['why']}" for rule in judged["rules"])
    if account["exit_code"] is None:
        yield say("codecli.replay.cut")
    else:
        yield say("codecli.replay.code", code=account["exit_code"])


def _how(ok: bool) -> str:
    return say("codecli.replay.well") if ok else say("codecli.replay.badly")


def _short(text: str) -> str:
    shown = " ".join(printable(text).split())
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
