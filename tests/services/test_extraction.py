"""Extraction: what jobs make of captured events; on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.capture.job_log import TokenBudget
from codexmem.kernel.events.report import EventReport
from codexmem.kernel.jobs.job_kind import JobContext, Stopped
from codexmem.kernel.llm import rules
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Origin
from codexmem.kernel.store.database import Database
from tests._support import capturing
from tests._support.capturing import Capturing


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def test_a_batch_becomes_observations_that_name_their_events(here: Capturing) -> None:
    begun = here.say("修复登录 bug")
    for number in range(5):
        here.tool(input={"command": "make deploy", "n": number}, response=f"答 {number}")
    assert here.run() == 1
    (memory,) = here.memories(Kind.OBSERVATION)
    attrs = memory.state.attrs
    assert isinstance(attrs, ObservationAttrs)
    assert "make deploy" in memory.state.title
    assert (memory.session, memory.source, memory.origin) == ("s1", f"session:{begun.session}", Origin.TOOL)
    assert (attrs.prompt_number, len(attrs.events)) == (1, 5)
    assert here.model.asked == []  # rules ask nobody
    assert [event.response for event in here.captures.of_session(begun.session, limit=9)[1:]] == [
        f"答 {number}" for number in range(5)
    ]


def test_a_summary_knows_the_turn_it_ends(here: Capturing) -> None:
    here.say("first request")
    here.tool()
    here.say("second request")
    here.tool(input={"n": 2})
    here.intake.summarize(HookReport("s1", message="I did it"))
    here.run()
    (memory,) = here.memories(Kind.SUMMARY)
    attrs = memory.state.attrs
    assert isinstance(attrs, SummaryAttrs)
    assert (attrs.request, attrs.learned, attrs.prompt_number) == ("second request", "I did it", 2)
    assert (memory.state.title, memory.state.content) == ("second request", "I did it")


def test_a_turn_tells_what_it_ran_and_met_whoever_wrote_its_summary(here: Capturing) -> None:
    here.say("deploy it")
    here.tool(input={"command": "STAGE=demo make deploy"}, response={"error": "Error: no such stage as demo"})
    here.tool(input={"command": "STAGE=test make deploy"})
    here.tool("Edit", input={"file_path": "/w/Makefile", "old_string": "a", "new_string": "b"}, cwd="/w")
    here.intake.summarize(HookReport("s1", message="It runs on test now."))
    here.run()
    (memory,) = here.memories(Kind.SUMMARY)
    attrs = memory.state.attrs
    assert isinstance(attrs, SummaryAttrs)
    assert (attrs.commands, attrs.errors) == (("STAGE=test make deploy",), ("Error: no such stage as demo",))
    assert attrs.files_modified == ("Makefile",)
    assert attrs.notes == "Ran: STAGE=test make deploy\nError: no such stage as demo"
    assert memory.state.content == f"It runs on test now.\nEdited Makefile: a → b.\n{attrs.notes}"


def test_a_job_that_runs_twice_remembers_once(here: Capturing) -> None:
    here.say("go")
    here.tool()
    (job,) = here.waiting()
    first = here.extraction.observations(job, JobContext(job, 60.0))
    second = here.extraction.observations(job, JobContext(job, 60.0))
    assert here.memories(Kind.OBSERVATION) == []
    with here.db.transaction():
        assert second.effect is not None
        second.effect()
    assert first.effect is not None  # the run whose job was lost: its effect never happens
    assert len(here.memories(Kind.OBSERVATION)) == 1


def test_who_answered_and_how_long_it_took_is_kept(here: Capturing) -> None:
    here.say("go")
    here.tool()
    here.intake.summarize(HookReport("s1", message="done"))
    here.run()
    assert here.tallies.under("agent.") == here.tallies.under("tokens.") == {}
    timed = _told(here, EventType.EXTRACTION_TIMED)
    assert [event.payload["messageType"] for event in timed] == ["summarize", "observation"]
    assert {"queueWaitMs", "modelMs", "indexMs", "totalMs"} <= timed[0].payload.keys()
    assert [event.payload["by"] for event in _told(here, EventType.MODEL_RESULT)] == ["rules", "rules"]


def test_each_message_of_a_batch_is_timed_from_when_it_came(here: Capturing) -> None:
    here.say("go")
    here.tool(call="1")
    here.base.clock.advance(4_000)
    here.tool(call="2", input={"command": "make test"})
    here.base.clock.advance(6_000)
    here.run()
    timed = [event.payload for event in _told(here, EventType.EXTRACTION_TIMED)]
    assert sorted(each["totalMs"] // 1_000 for each in timed) == [6, 10]
    assert [(each["messageType"], each["events"]) for each in timed] == [("observation", 1)] * 2


@pytest.mark.parametrize("kept_back, counted", [
    ((), {"agent.observation.fallback_used": 2, "agent.summary.fallback_used": 1}),
    (("demo",), {}),  # a person has said that no model is to be asked
])  # fmt: skip
def test_rules_in_place_of_a_model_are_counted(
    database: Database, kept_back: tuple[str, ...], counted: dict[str, int]
) -> None:
    here = capturing.build(database, falls_back=True, kept_back=kept_back)
    here.say("go")
    here.tool(call="1")
    here.tool(call="2", input={"command": "make test"})
    here.intake.summarize(HookReport("s1", message="done"))
    here.run(all_of_them=True)
    assert here.tallies.under("agent.") == counted


def test_a_run_that_fails_is_timed_and_one_that_is_stopped_is_not(
    here: Capturing, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.say("go")
    here.tool()
    (job,) = here.waiting()
    context = JobContext(job, 60.0)
    context.interrupt(Stopped)
    with pytest.raises(Stopped):
        here.extraction.observations(job, context)
    assert _told(here, EventType.EXTRACTION_TIMED) == []

    def broken(*_: object) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(rules, "observations", broken)
    with pytest.raises(RuntimeError, match="out of order"):
        here.extraction.observations(job, JobContext(job, 60.0))
    (timed,) = _told(here, EventType.EXTRACTION_TIMED)
    assert (timed.payload["success"], timed.payload["messageType"]) == (False, "observation")


def test_the_budget_of_a_day_is_shared_and_ends_with_it(here: Capturing) -> None:
    budget = TokenBudget(here.tallies, here.base.clock, 200)
    assert budget.allows(200)
    here.tallies.add({budget.name(): 150})
    assert not budget.allows(51)
    here.base.clock.advance(86_400_000)
    assert budget.allows(200)
    assert TokenBudget(here.tallies, here.base.clock, 0).allows(10**12)


def test_nothing_of_a_session_that_was_forgotten_meanwhile_comes_back(here: Capturing) -> None:
    here.say("go")
    here.tool()
    (job,) = here.waiting()
    done = here.extraction.observations(job, JobContext(job, 60.0))
    here.forgetting.session("s1", WriteContext("test"))
    with here.db.transaction():
        assert done.effect is not None
        done.effect()
    assert here.memories(Kind.OBSERVATION) == []
    assert here.extraction.observations(job, JobContext(job, 60.0)).effect is None


def test_faded_events_leave_nothing_to_extract(here: Capturing) -> None:
    here.say("go")
    here.tool()
    assert here.captures.fade(before_ms=here.base.clock.now_ms() + 1, limit=100) == 2
    here.run(all_of_them=True)
    assert here.memories(Kind.OBSERVATION) == []
    assert str(here.tool()) == "Deduped()"  # that it was captured is still known


def _told(here: Capturing, type: EventType) -> list[Any]:
    return EventReport(here.base.events).newest(type)
