"""Importing transcripts: the same memories as live capture, once each, at their own time, and taken back as one."""

from __future__ import annotations

import json
import re

import pytest

from codexmem.capture.author_queue import AUTHOR
from codexmem.capture.service import Rules
from codexmem.capture.transcripts import SOURCE, ImportedPart, KnownSession, ReportedTurn, TranscriptPart
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.errors import Conflict, InvalidArgument
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, Origin, Status
from codexmem.kernel.model.session import SessionStatus
from codexmem.kernel.store.database import Database
from tests._support import capturing
from tests._support.capturing import Capturing
from tests._support.model_server import memory_answer

LONG_AGO = 1_600_000_000_000  # years before any report that hooks would be believed
MINUTE = 60_000
ME = WriteContext("cli")
DECIDED = "We decided to retry payments five times."


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def turn(prompt: str, *, at: int = LONG_AGO, message: str | None = "It works.", tools: int = 2) -> ReportedTurn:
    """A turn with some commands in it."""
    used = tuple(
        HookReport("", tool="Bash", input={"command": f"make step-{number}"}, response="ok", cwd="/w/demo",
                   call=f"{prompt}-{number}", at_ms=at + number)
        for number in range(tools)
    )  # fmt: skip
    stop = HookReport("", message=message, at_ms=at + MINUTE) if message is not None else None
    return ReportedTurn(HookReport("", prompt=prompt, at_ms=at), used, stop)


def part(
    *turns: ReportedTurn, session: str = "old-1", first: int = 1, ended: bool = True, **more: bool
) -> TranscriptPart:
    return TranscriptPart(session, "codex", "demo", "/w/demo", first, turns, ended, **more)


def told(memories: list[Memory]) -> list[tuple[str, str, int]]:
    return sorted((memory.kind.value, memory.state.content, memory.created_ms) for memory in memories)


def everything(here: Capturing) -> list[Memory]:
    return [memory for kind in (Kind.PROMPT, Kind.OBSERVATION, Kind.SUMMARY) for memory in here.memories(kind)]


def undo(here: Capturing) -> None:
    here.base.history.undo_source(SOURCE, Mode.SAFE, ME)


def test_it_makes_what_live_capture_makes(here: Capturing) -> None:
    now = here.base.clock.now_ms()
    said = turn(f"{DECIDED} Please build it.", at=now - 2 * MINUTE, tools=3)
    here.transcripts.take_in(part(said), ME)
    imported = told(everything(here))

    here.say(said.prompt.prompt, session="live", cwd="/w/demo", at_ms=said.prompt.at_ms)
    for tool in said.tools:
        here.tool(session="live", input=tool.input, call=tool.call, cwd="/w/demo", at_ms=tool.at_ms)
    assert said.stop is not None
    here.intake.summarize(HookReport("live", message=said.stop.message, at_ms=said.stop.at_ms))
    here.run(all_of_them=True)
    live = told([memory for memory in everything(here) if memory.session == "live"])
    # The decision is known already, by the import.
    assert live == [each for each in imported if each[1] != DECIDED]
    assert DECIDED in {content for _, content, _ in imported}


def test_times_and_words_are_those_of_then_and_the_words_are_an_import(here: Capturing) -> None:
    taken = here.transcripts.take_in(part(turn(DECIDED)), ME)
    assert (taken.turns, taken.events) == ({"imported": 1}, 4)
    session = here.sessions.named("old-1")
    assert session is not None
    assert (session.status, session.turn) == (SessionStatus.COMPLETED, 1)
    assert (session.started_ms, session.ended_ms) == (LONG_AGO, LONG_AGO + MINUTE)
    made = everything(here)
    assert {memory.created_ms - LONG_AGO <= MINUTE for memory in made} == {True}
    assert {memory.source for memory in made} == {SOURCE}
    origins = {memory.state.content: memory.origin for memory in made if memory.kind is not Kind.SUMMARY}
    assert origins[DECIDED] is Origin.IMPORT
    assert sum(taken.memories.values()) == len(made)
    assert not here.waiting()  # nothing waits in line behind what is captured live


def test_secrets_and_private_words_stay_out(here: Capturing) -> None:
    secret = "ghp_" + "a1B2" * 9
    words = (
        turn(f"use {secret} here"),
        turn("<private>all of it</private>", at=LONG_AGO + MINUTE),
        turn("<private></private>"),
    )
    taken = here.transcripts.take_in(part(*words), ME)
    assert sum(taken.turns.values()) == 3
    kept = here.memories(Kind.PROMPT)
    assert not any(secret in memory.state.content or "all of it" in memory.state.content for memory in everything(here))
    assert "use" in kept[0].state.content


def test_nothing_comes_twice_and_a_grown_transcript_goes_on(here: Capturing) -> None:
    first, second = turn("find the port"), turn("change the port", at=LONG_AGO + 2 * MINUTE)
    here.transcripts.take_in(part(first), ME)
    before = len(everything(here))
    again = here.transcripts.take_in(part(first), ME)
    assert again == ImportedPart(None, {"known": 1})
    assert len(everything(here)) == before
    grown = here.transcripts.take_in(part(first, second), ME)
    assert grown.turns == {"known": 1, "imported": 1}
    assert here.transcripts.known(["old-1", "nobody"]) == {"old-1": KnownSession(2, imported=True)}


def test_a_session_that_was_captured_live_is_one_session(here: Capturing) -> None:
    here.say("find the port", session="old-1")
    before = told(everything(here))
    assert here.transcripts.take_in(part(turn("find the port")), ME).turns == {"captured": 1}
    assert told(everything(here)) == before
    assert here.transcripts.known(["old-1"]) == {"old-1": KnownSession(1, imported=False)}


def test_what_is_said_live_after_an_import_is_not_imported(here: Capturing) -> None:
    here.transcripts.take_in(part(turn("find the port")), ME)
    here.say("change the port", session="old-1")
    resumed = part(turn("find the port"), turn("change the port", at=LONG_AGO + MINUTE))
    assert here.transcripts.take_in(resumed, ME).turns == {"known": 1, "captured": 1}


def test_an_excluded_project_is_not_imported(database: Database) -> None:
    here = capturing.build(database, Rules(excluded_projects=("/w/*",)))
    assert here.transcripts.take_in(part(turn("find the port")), ME).turns == {"excluded": 1}
    assert here.sessions.named("old-1") is None


def test_undo_takes_all_of_it_back_and_only_that(here: Capturing) -> None:
    here.say("We decided to retry payments three times.", session="live")
    here.intake.summarize(HookReport("live", message="Noted."))
    here.run(all_of_them=True)
    before = [(memory.seq, memory.state, memory.counters) for memory in everything(here)]
    taken = here.transcripts.take_in(part(turn(DECIDED), turn("and build it", at=LONG_AGO + MINUTE)), ME)
    other = part(turn("something else", at=LONG_AGO + 3 * MINUTE), session="old-2")
    assert here.transcripts.take_in(other, ME, delta=taken.delta).delta == taken.delta
    assert len(everything(here)) > len(before)
    undo(here)
    assert [(memory.seq, memory.state, memory.counters) for memory in everything(here)] == before
    # What was taken back does not come again by itself.
    assert here.transcripts.take_in(part(turn(DECIDED)), ME).turns == {"known": 1}


def test_an_earlier_decision_does_not_replace_a_later_one(here: Capturing) -> None:
    here.say("We decided to retry payments three times.", session="live")
    here.intake.summarize(HookReport("live", message="Noted."))
    here.run(all_of_them=True)
    here.transcripts.take_in(part(turn(DECIDED)), ME)
    standing = [memory for memory in here.memories(Kind.OBSERVATION) if memory.state.type == "decision"]
    assert [memory.state.content for memory in standing] == ["We decided to retry payments three times."]
    assert standing[0].state.status is Status.ACTIVE


def test_a_later_decision_of_a_transcript_replaces_an_earlier_one(here: Capturing) -> None:
    later = turn("We decided to retry payments seven times.", at=LONG_AGO + 9 * MINUTE)
    here.transcripts.take_in(part(turn(DECIDED), later), ME)
    standing = [memory.state.content for memory in here.memories(Kind.OBSERVATION) if memory.state.type == "decision"]
    assert standing == ["We decided to retry payments seven times."]


def test_the_delta_of_something_else_is_refused(here: Capturing) -> None:
    other = here.base.history.open_delta("import:other", "import", ME).id
    with pytest.raises(InvalidArgument, match="not of this import"):
        here.transcripts.take_in(part(turn("find the port")), ME, delta=other)
    taken = here.transcripts.take_in(part(turn("find the port")), ME)
    assert taken.delta is not None
    here.base.history.rollback_delta(taken.delta, Mode.SAFE, ME)
    with pytest.raises(Conflict, match="was undone"):
        here.transcripts.take_in(part(turn("again"), session="old-2"), ME, delta=taken.delta)


def _remembers_the_port(prompt: str) -> str:
    numbers = [int(each) for each in re.findall(r"^\[\[(?:person|agent|event) (\d+)", prompt, re.MULTILINE)]
    said = "The dev server listens on port 5179."
    return json.dumps(memory_answer(numbers, title=said, text=said, kind="how-to"))


def test_the_writer_is_asked_about_it_only_if_that_is_wanted_and_belongs_to_the_import(database: Database) -> None:
    here = capturing.build(database, asked=True)
    here.model.says = _remembers_the_port
    here.transcripts.take_in(part(turn("Which port?"), session="unasked"), ME)
    assert not here.waiting()
    long = [turn(f"Which port {number}?", at=LONG_AGO + number * MINUTE) for number in range(45)]
    long[0] = turn("Which port?", message="The dev server listens on port 5179.")
    taken = here.transcripts.take_in(part(*long, asks_writer=True), ME)
    while here.run(all_of_them=True):
        pass
    written = [memory for memory in here.memories(Kind.OBSERVATION) if memory.origin is Origin.MODEL]
    assert [(memory.source, memory.created_ms // 10**9) for memory in written] == [(SOURCE, LONG_AGO // 10**9)]
    asked = "\n".join(here.model.asked)
    assert "Which port 1?" in asked
    assert "Which port 44?" in asked  # the session is longer than what is asked about at once
    undo(here)
    assert not [memory for memory in here.memories(Kind.OBSERVATION) if memory.origin is Origin.MODEL]
    assert taken.delta is not None


def test_nothing_is_asked_about_what_was_taken_back(database: Database) -> None:
    here = capturing.build(database, asked=True)
    taken = here.transcripts.take_in(part(turn("Which port?"), asks_writer=True), ME)
    assert [job.kind for job in here.waiting()] == [AUTHOR]
    assert taken.delta is not None
    here.base.history.rollback_delta(taken.delta, Mode.SAFE, ME)
    here.run(all_of_them=True)
    assert not here.model.asked
