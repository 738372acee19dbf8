"""Looking again at what a project knows: merged, superseded and raised in one delta, which undo takes back exactly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.consolidation import random_life
from codexmem.capture.consolidation import CONSOLIDATE
from codexmem.kernel.jobs.job_kind import JobContext
from codexmem.kernel.model.approval import PROPOSED
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.job import Job, JobStatus, NewJob
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import Database
from tests._support import capturing
from tests._support.capturing import Capturing
from tests._support.model_server import memory_answer

ME = WriteContext("test")
TEXTS = (
    "The dev server listens on port 5179.", "开发服务器监听端口 5179。", "Deploys run on Monday.",
    "Deploys run on Tuesday now.",
    "Please write tests in pytest style.", "Again: tests in pytest style, please.", "Redis holds the sessions.",
    "The build needs NODE_ENV=test.",
)  # fmt: skip


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database, asked=True)


def remembered(here: Capturing, text: str, origin: Origin = Origin.MODEL) -> Memory:
    state = State(text, ObservationAttrs(concepts=("rule",)), project="demo", type="decision", title=text)
    return here.base.memories.remember(MemoryDraft(Kind.OBSERVATION, state, origin), ME)


def looks_again(here: Capturing, *operations: dict[str, Any]) -> str | None:
    """One look, with what the model says to it; the delta's name."""
    blank = {"keep": "", "drop": [], "rests_on": [], "kind": "rule", "title": "", "text": "", "reason": "because"}
    here.model.says = lambda _: json.dumps({"reason": "", "operations": [blank | each for each in operations]})
    here.queue.enqueue(NewJob(CONSOLIDATE, {"project": "demo"}))
    (job,) = [each for each in here.queue.list(JobStatus.QUEUED) if each.kind == CONSOLIDATE]
    done = here.consolidation.look_again(job, JobContext(job, 60.0))
    here.queue.cancel(job.id)
    with here.db.transaction():
        if done.effect is not None:
            done.effect()
    return next((delta.id for delta in here.base.history.deltas_of("project:demo")), None)


def stands(here: Capturing, memory: Memory) -> Memory:
    return here.base.memories.get(Seq(memory.seq), frozenset({Kind.OBSERVATION}))


def test_what_says_the_same_becomes_one_and_undo_brings_all_back(here: Capturing) -> None:
    made = [remembered(here, text) for text in TEXTS[:4]]
    made += [remembered(here, text, Origin.HUMAN) for text in TEXTS[4:6]]
    made += [remembered(here, text) for text in TEXTS[6:]]
    before = [stands(here, each).state for each in made]
    delta = looks_again(
        here,
        {
            "op": "merge",
            "keep": "K1",
            "drop": ["K2"],
            "title": "Port 5179",
            "text": "The dev server listens on port 5179.",
        },
        {"op": "supersede", "keep": "K4", "drop": ["K3"]},
        {
            "op": "rule",
            "rests_on": ["K5", "K6"],
            "title": "Tests in pytest style",
            "text": "Write tests in pytest style.",
        },
    )
    assert delta is not None
    port, chinese, monday, tuesday = (stands(here, each) for each in made[:4])
    assert (port.state.title, port.state.links) == ("Port 5179", (("supersedes", chinese.seq),))
    assert (chinese.state.status, monday.state.status) == (Status.DEPRECATED, Status.DEPRECATED)
    assert tuesday.state.links == (("supersedes", monday.seq),)
    new = here.memories(Kind.OBSERVATION)[-1]
    assert (new.state.title, new.origin) == ("Tests in pytest style", Origin.MODEL)
    assert "K8 (rule): The build needs NODE_ENV=test." in here.model.asked[-1]
    here.base.history.rollback_delta(delta, Mode.STRICT, ME)
    assert [stands(here, each).state for each in made] == before
    assert here.memories(Kind.OBSERVATION)[-1].seq == made[-1].seq


def test_a_rule_that_no_person_said_waits_as_a_discovery(here: Capturing) -> None:
    for text in TEXTS:
        remembered(here, text)
    rule = {"op": "rule", "rests_on": ["K5", "K6"], "title": "Tests in pytest style", "text": TEXTS[4]}
    assert looks_again(here, rule) is not None
    state = here.memories(Kind.OBSERVATION)[-1].state
    assert (state.title, state.type, state.marks) == ("Tests in pytest style", "discovery", PROPOSED)


def test_what_a_person_said_goes_only_for_what_a_person_said(here: Capturing) -> None:
    first = remembered(here, TEXTS[0], Origin.HUMAN)
    made = [remembered(here, text) for text in TEXTS[1:]]
    looks_again(here, {"op": "merge", "keep": "K2", "drop": ["K1"]}, {"op": "merge", "keep": "K1", "drop": ["K2"],
                "title": "Other words", "text": "The dev server listens on port 5179."})  # fmt: skip
    person = stands(here, first)
    assert (person.state.status, person.state.content, person.state.title) == (Status.ACTIVE, TEXTS[0], TEXTS[0])
    assert stands(here, made[0]).state.status is Status.DEPRECATED


@pytest.mark.parametrize("wrong", [
    {"op": "merge", "keep": "K99", "drop": ["K1"]}, {"op": "merge", "keep": "K1", "drop": ["K1", "K77"]},
    {"op": "rule", "rests_on": ["K5"], "title": "Tests in pytest style", "text": "Write tests in pytest style."},
    {"op": "rule", "rests_on": ["K5", "K6"], "title": "Use tabs of 8", "text": "Tabs have 8 spaces in src/a.py."},
    {"op": "explode", "keep": "", "drop": ["K1"]},
])  # fmt: skip
def test_what_the_memories_do_not_bear_is_not_done(here: Capturing, wrong: dict[str, Any]) -> None:
    made = [remembered(here, text) for text in TEXTS]
    assert looks_again(here, wrong) is None
    assert [stands(here, each).version for each in made] == [1] * len(made)


def test_what_was_often_confirmed_counts_more(here: Capturing) -> None:
    made = [remembered(here, text) for text in TEXTS]
    here.base.memories.count([made[0].seq], valid=4)
    assert looks_again(here) is not None
    assert [stands(here, each).state.confidence for each in made[:2]] == [0.9, 0.5]
    assert stands(here, made[0]).version == 2


def test_little_is_left_alone_and_much_is_looked_at_once(here: Capturing) -> None:
    remembered(here, TEXTS[0])
    assert looks_again(here, {"op": "merge", "keep": "K1", "drop": ["K2"]}) is None
    assert here.model.asked == []

    def answer(prompt: str) -> str:
        return json.dumps(memory_answer([2], title="It is done.", text="It is done."))

    here.model.says = answer
    for name in ("a", "b"):
        here.say("Do it", session=name)
        here.intake.summarize(HookReport(name, message="It is done."))
        here.run(all_of_them=True)
        here.run(all_of_them=True)
    waiting: list[Job] = [each for each in here.queue.list(JobStatus.QUEUED) if each.kind == CONSOLIDATE]
    assert [each.payload for each in waiting] == [{"project": "demo"}]


def test_random_looks_are_taken_back_exactly(here: Capturing) -> None:
    for seed in range(12):
        assert random_life(here, seed, project=f"random-{seed}") == []
