"""Capture: turns, privacy, repetition, gathering; on every engine."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from codexmem.capture.service import Completed, Rules, TurnStarted
from codexmem.kernel.events.report import EventReport
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs
from codexmem.kernel.model.capture import Deduped, HookReport, Queued, Skip, Skipped
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database, acting_as
from tests._support import capturing
from tests._support.capturing import Capturing


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def test_prompts_number_the_turns(here: Capturing) -> None:
    first, second = here.say("修复登录"), here.say("now test it")
    assert (first.turn, second.turn) == (1, 2)
    assert first.session == second.session
    assert [memory.state.content for memory in here.memories(Kind.PROMPT)] == ["修复登录", "now test it"]


def test_what_no_person_typed_is_no_prompt(here: Capturing) -> None:
    begun = here.say("Fix the login")
    assert here.say("Read every file", agent="agent-7") == TurnStarted(begun.session, 1, Skip.SUBAGENT)
    told = "<task-notification>\n<task-id>b1</task-id><status>completed</status>\n</task-notification>"
    assert here.say(told) == TurnStarted(begun.session, 1, Skip.EMPTY)
    assert [memory.state.content for memory in here.memories(Kind.PROMPT)] == ["Fix the login"]


def test_the_reason_of_a_hook_that_keeps_an_agent_going_is_no_prompt(here: Capturing) -> None:
    def stop(message: str, *, answers_hook: bool = False) -> None:
        report = HookReport("s1", message=message, answers_hook=answers_hook)
        assert here.intake.summarize(report) == Queued()

    here.say("Fix the login")
    stop("Fixed.")
    here.say("You must always run the tests before you stop.")
    stop("They pass.", answers_hook=True)
    stop("Really.", answers_hook=True)  # again, and the agent reports no other prompt
    here.say("And now the logout")
    stop("Fixed too.")
    stop("Tested too.", answers_hook=True)
    assert [memory.state.content for memory in here.memories(Kind.PROMPT)] == ["Fix the login", "And now the logout"]


def test_a_private_prompt_leaves_its_number_and_nothing_else(here: Capturing) -> None:
    begun = here.say("<private>the password is hunter2</private>")
    assert begun == TurnStarted(begun.session, 1, Skip.PRIVATE)
    (memory,) = here.memories(Kind.PROMPT)
    assert memory.state.content == ""
    assert memory.state.attrs == PromptAttrs(prompt_number=1, private=True)
    assert here.tool() == Skipped(Skip.PRIVATE)
    assert here.intake.summarize(HookReport("s1", message="done")) == Skipped(Skip.PRIVATE)
    assert here.waiting() == []
    here.say("an open one")
    assert here.tool() == Queued()


def test_an_unclosed_private_region_is_private(here: Capturing) -> None:
    here.say("look at this <private>secret until the end")
    (memory,) = here.memories(Kind.PROMPT)
    assert "secret" not in memory.state.content
    assert memory.state.content == "look at this"


def test_private_regions_and_secrets_inside_values_are_not_stored(here: Capturing) -> None:
    here.say("go")
    here.tool(
        input={"command": "echo <private>hidden 机密</private> shown"},
        response={"out": ["key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD", "<private>never closed"]},
    )
    session = here.sessions.named("s1")
    assert session is not None
    _, event = here.captures.of_session(session.id, limit=9)
    kept = str(event)
    assert "shown" in kept
    for secret in ("hidden", "机密", "sk-proj-abcdef", "never closed"):
        assert secret not in kept


def test_of_a_file_that_holds_secrets_only_its_name_is_kept(here: Capturing) -> None:
    begun = here.say("go")
    here.tool("Read", input={"file_path": "/r/.env", "offset": 1}, response="HARMLESS_LOOKING=1")
    _, event = here.captures.of_session(begun.session, limit=9)
    assert event.input == {"file_path": "/r/.env"}
    assert "HARMLESS" not in str(event)


def test_the_same_event_is_captured_once(here: Capturing) -> None:
    here.say("go")
    assert here.tool(input={"a": 1, "b": 2}) == Queued()
    assert here.tool(input={"b": 2, "a": 1}) == Deduped()
    here.say("go on")
    assert here.tool(input={"a": 1, "b": 2}) == Queued()  # another turn, another event


def test_a_call_id_tells_repetitions_whatever_else_differs(here: Capturing) -> None:
    here.say("go")
    assert here.tool(call="call-1", response="partial") == Queued()
    here.say("again")
    assert here.tool(call="call-1", response="whole") == Deduped()
    assert here.tool(call="call-1", session="s2") == Queued()


def test_a_delivery_sent_twice_is_one_event_even_in_a_later_turn(here: Capturing) -> None:
    begun = here.say("go", event="d-1")
    assert here.tool(event="d-2") == Queued()
    here.say("next", event="d-3")
    assert here.say("go", event="d-1") == begun
    assert here.tool(event="d-2") == Deduped()
    assert len(here.memories(Kind.PROMPT)) == 2


def test_a_summary_is_queued_once_per_turn_and_message(here: Capturing) -> None:
    here.say("go")
    stop = HookReport("s1", message="all done")
    assert here.intake.summarize(stop) == Queued()
    assert here.intake.summarize(stop) == Deduped()
    assert here.intake.summarize(HookReport("s1", message="sub", agent="worker-1")) == Skipped(Skip.SUBAGENT)


@pytest.mark.parametrize(
    "tool, told, reason",
    [
        ("TodoWrite", {}, Skip.TOOL),
        ("mcp__codexmem__search", {}, Skip.TOOL),
        ("mcp_codexmem_timeline", {}, Skip.TOOL),
        ("codexmem_save_memory", {}, Skip.TOOL),
        ("MCP:get_observations", {}, Skip.TOOL),
        ("mcp__plugin_codexmem_codexmem__search", {}, Skip.TOOL),
        ("tool_search", {}, Skip.TOOL),
        ("Edit", {"input": {"file_path": "/x/session-memory/a.md"}}, Skip.SESSION_MEMORY),
    ],
)
def test_some_tools_are_not_captured(here: Capturing, tool: str, told: dict[str, Any], reason: Skip) -> None:
    assert here.tool(tool, **told) == Skipped(reason)
    assert here.waiting() == []


def test_which_tools_and_projects_are_left_out_can_be_chosen(database: Database) -> None:
    here = capturing.build(database, Rules(frozenset({"Bash"}), ("/home/*/secret-*", "keep-out")))
    assert here.tool("Bash") == Skipped(Skip.TOOL)
    assert here.tool("TodoWrite") == Queued()
    assert here.tool("Read", cwd="/home/li/secret-plan", session="s2") == Skipped(Skip.PROJECT)
    assert here.tool("Read", cwd="/srv/keep-out", session="s3") == Skipped(Skip.PROJECT)
    assert here.say("hello there", cwd="/srv/keep-out", session="s3").skipped is Skip.PROJECT
    assert here.memories(Kind.PROMPT) == []


def test_events_that_come_close_together_share_a_job(here: Capturing) -> None:
    here.say("go")
    for number in range(7):
        here.tool(input={"n": number})
    full, started = here.waiting()
    now = here.base.clock.now_ms()
    assert full.run_at_ms <= now < started.run_at_ms
    assert len(here.captures.of_job(full.id)) == 5
    assert len(here.captures.of_job(started.id)) == 2


@pytest.mark.parametrize("end", ["prompt", "stop", "complete"])
def test_what_waits_is_sent_off_at_the_end_of_a_turn(here: Capturing, end: str) -> None:
    here.say("go")
    here.tool()
    match end:
        case "prompt":
            here.say("next")
        case "stop":
            here.intake.summarize(HookReport("s1", message="bye"))
        case "complete":
            here.intake.complete("s1")
    waiting = here.waiting()
    assert waiting[0].run_at_ms <= here.base.clock.now_ms()
    here.tool(input={"n": 2})
    assert len(here.captures.of_job(waiting[0].id)) == 1


def test_a_job_that_was_taken_is_not_joined(here: Capturing) -> None:
    here.say("go")
    here.tool(input={"n": 1})
    (job,) = here.waiting()
    here.queue.cancel(job.id)
    here.tool(input={"n": 2})
    (other,) = here.waiting()
    assert other.id != job.id
    assert len(here.captures.of_job(other.id)) == 1


def test_completing_marks_the_session_and_lets_its_queue_drain(here: Capturing) -> None:
    begun = here.say("go")
    here.tool()
    assert here.intake.complete("s1") == Completed(begun.session)
    assert here.intake.complete("s1") == Skipped(Skip.NOT_ACTIVE)
    assert here.intake.complete("unknown") == Skipped(Skip.NOT_ACTIVE)
    assert here.run() == 1
    assert len(here.memories(Kind.OBSERVATION)) == 1
    statuses = [event.payload["status"] for event in _told(here, EventType.SESSION_STATUS)]
    assert statuses == ["completed", "active"]


def test_a_completed_session_that_is_spoken_to_is_active_again(here: Capturing) -> None:
    here.say("go")
    here.intake.complete("s1")
    assert here.say("once more").turn == 2
    assert isinstance(here.intake.complete("s1"), Completed)


def test_what_a_session_is_was_said_first(here: Capturing) -> None:
    here.intake.observe(HookReport("s9", tool="Bash", input={}, response="", cwd="/a"))
    here.say("hi there", session="s9", cwd="/b", platform="codex")
    session = here.sessions.named("s9")
    assert session is not None
    assert (session.project, session.cwd, session.platform) == ("demo", "/a", "codex")


def test_an_event_keeps_the_time_at_which_it_happened(here: Capturing) -> None:
    now = here.base.clock.now_ms()
    here.say("earlier", at_ms=now - 60_000)
    here.say("impossible", at_ms=now + 10**9)
    first, second = here.memories(Kind.PROMPT)
    assert first.created_ms == now - 60_000
    assert second.created_ms < now + 1000


@pytest.mark.parametrize("key", ["", "   ", "x" * 401])
def test_a_session_needs_a_name_that_can_be_kept(here: Capturing, key: str) -> None:
    with pytest.raises(InvalidArgument, match="contentSessionId"):
        here.say("hello", session=key)


def test_two_senders_of_one_event_capture_it_once(here: Capturing) -> None:
    here.say("go")
    tenant = here.db.acting_tenant()
    outcomes: list[object] = []

    def send() -> None:
        with acting_as(tenant):
            outcomes.extend(here.tool(call=f"call-{number}") for number in range(20))

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(Queued()) == 20
    assert outcomes.count(Deduped()) == 40
    here.run(all_of_them=True)
    made = [memory.state.attrs for memory in here.memories(Kind.OBSERVATION)]
    assert sum(len(attrs.events) for attrs in made if isinstance(attrs, ObservationAttrs)) == 20


def _told(here: Capturing, type: EventType) -> list[Any]:
    return EventReport(here.base.events).newest(type)
