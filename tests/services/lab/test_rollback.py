"""Taking learnings back: exactly, also over later edits; safely; and learning again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import DeltaStatus, Mode, Op, WriteContext
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.memory import Memory, State, Status
from codexmem.kernel.store.database import acting_as
from codexmem.lab.lesson_model import LessonEdit, NewLesson
from codexmem.lab.model import Run
from codexmem.lab.service.learnings import Rollbacks
from tests._support.lab import LabBench
from tests._support.lab_bank import (
    RecipeAgent,
    Script,
    ended_runs,
    finished,
    judge,
    learned,
    lessons,
    said_lessons,
    said_merging,
    states,
    taught,
    teacher,
)
from tests._support.model_server import ModelServer
from tests._support.waiting import eventually
from tests.jobs.stores import TENANT
from tests.services.lab.conftest import Build

# What is told does not depend on the engine; what is restored might.
one_engine = pytest.mark.parametrize("engine_name", ["sqlite"])
BY = WriteContext("lab")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def lab(build: Build, script: Script) -> Iterator[LabBench]:
    with ModelServer(script=script) as server:
        yield build(RecipeAgent(), teacher=teacher(server))


@pytest.fixture
def rollbacks(lab: LabBench) -> Rollbacks:
    return lab.lab.banking.rollbacks


class Story:
    """A bank with a note and an older lesson; a learning that adds, updates and archives."""

    def __init__(self, lab: LabBench, script: Script) -> None:
        self.lab, self.bank = lab, lab.lab.banking.bank
        self.old, self.run = ended_runs(lab, 2)
        self.note = self.bank.add(NewLesson("苯甲酸 benzoic acid: 人工笔记"), BY)
        script.lessons = said_lessons(
            ("benzoic acid helps", "Benzoic acid helps."), ("water harms benzoic acid", "Keep benzoic acid dry.")
        )
        script.merging = said_merging(("add", 0, ""), ("add", 0, ""))
        self.helps, self.harms = self._learn(self.old)
        self.before = states(lab)
        script.lessons = said_lessons(
            ("苯甲酸 helps twice", "Benzoic acid helps twice."), ("benzoic acid wants water", "Benzoic acid: wet it.")
        )
        script.merging = said_merging(
            ("update", 2, "Benzoic acid helps, 两次"), ("add", 0, ""), archive=[(3, 2, "wet")]
        )
        self.added = self._learn(self.run)[0]
        self.after = states(lab)

    def _learn(self, run: Run) -> list[Memory]:
        judge(self.lab.db, run.id, pros="苯甲酸 benzoic acid")
        known = set(lessons(self.lab))
        taught(JobStatus.COMPLETED, learned(self.lab, run))
        return sorted((each for each in lessons(self.lab).values() if each.id not in known), key=lambda each: each.seq)

    @property
    def delta_id(self) -> str:
        return self.lab.lab.banking.rollbacks.deltas(self.run.id)[0][0].delta.id


@pytest.fixture
def story(lab: LabBench, script: Script) -> Story:
    made = Story(lab, script)
    assert made.after[made.helps.id].content == "Benzoic acid helps, 两次"
    assert made.after[made.harms.id].status is Status.ARCHIVED
    return made


def payloads(lab: LabBench, run: Run, type: EventType) -> list[dict[str, Any]]:
    return [event.payload or {} for event in lab.trace(run, type)]


def as_bytes(found: dict[str, State]) -> dict[str, str]:
    return {mem_id: repr(state.to_json()) for mem_id, state in found.items()}


def test_a_delta_says_what_was_done(story: Story, rollbacks: Rollbacks) -> None:
    recorded, after = rollbacks.deltas(story.run.id)
    assert after is None
    assert [(each.delta.cause, each.delta.status) for each in recorded] == [("learn", DeltaStatus.APPLIED)]
    changes = {each.mem_id: each for each in recorded[0].changes}
    assert {mem_id: each.op for mem_id, each in changes.items()} == {
        story.helps.id: Op.UPDATE, story.harms.id: Op.ARCHIVE, story.added.id: Op.ADD
    }  # fmt: skip
    assert changes[story.helps.id].before == story.before[story.helps.id]
    assert changes[story.helps.id].after == story.after[story.helps.id]
    assert changes[story.added.id].before is None


def test_strict_is_exactly_the_state_before_even_over_hand_edits(story: Story, rollbacks: Rollbacks) -> None:
    story.bank.edit(story.helps.id, LessonEdit(content="改过的", role="mof_expert", extra={"by": "李"}), BY)
    story.bank.edit(story.harms.id, LessonEdit(status=Status.ACTIVE), BY)
    story.bank.edit(story.added.id, LessonEdit(content="mine now"), BY)
    done = rollbacks.roll_back(story.run.id, BY, delta_id=story.delta_id, reason="测错了")
    assert as_bytes(states(story.lab)) == as_bytes(story.before)
    assert set(done.restored) == {story.helps.id, story.harms.id, story.added.id}
    assert (done.left, done.delta.status) == ((), DeltaStatus.REVERTED)
    assert lessons(story.lab)[story.added.id].state.status is Status.DELETED
    started = payloads(story.lab, story.run, EventType.RB_ROLLBACK_STARTED)
    assert started == [{"delta_id": done.delta.id, "reason": "测错了", "n_ops": 3}]
    completed = payloads(story.lab, story.run, EventType.RB_ROLLBACK_COMPLETED)
    assert [(each["delta_id"], each["status"]) for each in completed] == [(done.delta.id, "reverted")]
    assert str(done.undone_by).startswith("rbd_")


@one_engine
def test_a_person_who_adds_meanwhile_keeps_that(story: Story, rollbacks: Rollbacks) -> None:
    later = story.bank.add(NewLesson("后来写的"), BY)
    rollbacks.roll_back(story.run.id, BY)
    assert as_bytes(states(story.lab)) == as_bytes(story.before | {later.id: later.state})


@one_engine
def test_rolling_back_twice_is_rolling_back_once(story: Story, rollbacks: Rollbacks) -> None:
    delta_id = story.delta_id
    rollbacks.roll_back(story.run.id, BY, delta_id=delta_id)
    edited = story.bank.edit(story.helps.id, LessonEdit(content="afterwards"), BY)
    again = rollbacks.roll_back(story.run.id, BY, delta_id=delta_id)
    assert (again.undone_by, again.restored) == (None, ())
    assert story.bank.get(story.helps.id).version == edited.version
    assert len(payloads(story.lab, story.run, EventType.RB_ROLLBACK_STARTED)) == 1
    with pytest.raises(NotFound):
        rollbacks.roll_back(story.run.id, BY)


def test_a_rollback_can_be_rolled_back(story: Story, rollbacks: Rollbacks) -> None:
    delta_id = story.delta_id
    undone = rollbacks.roll_back(story.run.id, BY).undone_by
    rollbacks.roll_back(story.run.id, BY, delta_id=undone)
    assert as_bytes(states(story.lab)) == as_bytes(story.after)
    assert rollbacks.deltas(story.run.id)[0][0].delta.status is DeltaStatus.APPLIED
    rollbacks.roll_back(story.run.id, BY, delta_id=delta_id)
    assert as_bytes(states(story.lab)) == as_bytes(story.before)
    causes = [each.delta.cause for each in rollbacks.deltas(story.run.id, cause=None)[0]]
    assert sorted(causes) == ["learn", "rollback", "rollback", "rollback"]


def test_the_first_of_two_learnings_that_touched_a_lesson(story: Story, rollbacks: Rollbacks) -> None:
    """Strict restores what stood before that learning, for each lesson that it touched, and nothing else."""
    first = rollbacks.deltas(story.old.id)[0][0].delta
    preview = rollbacks.preview(story.old.id)
    assert preview.delta == first
    assert preview.later_deltas == [story.delta_id]
    rollbacks.roll_back(story.old.id, BY)
    # The older learning added both; the newer one's own lesson stays.
    assert set(states(story.lab)) == {story.note.id, story.added.id}
    # The newer one taken back brings back what stood before it: what the older one had added.
    rollbacks.roll_back(story.run.id, BY)
    assert as_bytes(states(story.lab)) == as_bytes(story.before)


@one_engine
def test_the_newer_first_leaves_nothing_of_either(story: Story, rollbacks: Rollbacks) -> None:
    rollbacks.roll_back(story.run.id, BY)
    rollbacks.roll_back(story.old.id, BY)
    assert set(states(story.lab)) == {story.note.id}


@one_engine
def test_a_preview_says_what_will_change_and_changes_nothing(story: Story, rollbacks: Rollbacks) -> None:
    story.bank.edit(story.helps.id, LessonEdit(content="改过的"), BY)
    standing = as_bytes(states(story.lab))
    preview = rollbacks.preview(story.run.id, story.delta_id)
    seen = {each.memory.id: each for each in preview.prospects}
    assert set(seen) == {story.helps.id, story.harms.id, story.added.id}
    assert (seen[story.added.id].removes, seen[story.helps.id].removes) == (True, False)
    assert seen[story.helps.id].target == story.before[story.helps.id]
    assert preview.overwritten == [story.helps.id]
    assert [(each.actor, each.delta) for each in seen[story.helps.id].since] == [("lab", None)]
    safe = rollbacks.preview(story.run.id, mode=Mode.SAFE)
    assert [each.memory.id for each in safe.prospects if each.stays] == [story.helps.id]
    assert safe.overwritten == []
    assert as_bytes(states(story.lab)) == standing
    rollbacks.roll_back(story.run.id, BY)
    assert rollbacks.preview(story.run.id, story.delta_id).prospects == ()


def test_safe_leaves_what_a_person_edited_since(story: Story, rollbacks: Rollbacks) -> None:
    mine = story.bank.edit(story.helps.id, LessonEdit(content="改过的"), BY)
    done = rollbacks.roll_back(story.run.id, BY, mode=Mode.SAFE)
    assert (done.left, done.delta.status) == ((story.helps.id,), DeltaStatus.APPLIED)
    assert as_bytes(states(story.lab)) == as_bytes(story.before | {story.helps.id: mine.state})
    # It stands until the rest is taken back too.
    rollbacks.roll_back(story.run.id, BY)
    assert as_bytes(states(story.lab)) == as_bytes(story.before)


def test_roll_back_and_learn_again(story: Story, script: Script, rollbacks: Rollbacks) -> None:
    script.lessons = said_lessons(("benzoic acid: learned anew", "Benzoic acid, 重新学习."))
    script.merging = said_merging(("add", 0, ""))
    done = rollbacks.roll_back(story.run.id, BY, relearn=True)
    assert done.relearning is not None
    assert as_bytes(states(story.lab)) == as_bytes(story.before)
    taught(JobStatus.COMPLETED, finished(story.lab, done.relearning.job_id))
    new = set(states(story.lab)) - set(story.before)
    assert [states(story.lab)[mem_id].content for mem_id in new] == ["Benzoic acid, 重新学习."]
    assert [each.delta.status for each in rollbacks.deltas(story.run.id)[0]] == [
        DeltaStatus.APPLIED, DeltaStatus.REVERTED
    ]  # fmt: skip
    assert payloads(story.lab, story.run, EventType.RB_LEARN_QUEUED)[-1]["reason"] == "relearn"


def test_everybody_at_once(story: Story, script: Script, rollbacks: Rollbacks) -> None:
    """People edit, learnings come, rollbacks take them back, all at the same time: nobody waits for ever or fails."""
    script.merging = lambda _: said_merging(("add", 0, ""), ("add", 0, ""))
    lab, bank, failures = story.lab, story.bank, list[BaseException]()

    def repeat(act: Callable[[], object]) -> None:
        try:
            with acting_as(TENANT):
                for _ in range(20):
                    with suppress(NotFound):  # there may be no learning to take back just now
                        act()
        except BaseException as error:
            failures.append(error)

    acts = [
        lambda: bank.edit(story.note.id, LessonEdit(content=f"手工 {time.monotonic_ns()}"), BY),
        lambda: rollbacks.roll_back(story.run.id, BY, relearn=True),
        lambda: rollbacks.roll_back(story.old.id, BY, relearn=True),
        lambda: lab.lab.banking.learning.queue(story.run.id),
    ]
    threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
    with lab.working(threads=2):
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        eventually(lambda: all(job.ended_ms for run in (story.run, story.old) for job in _jobs(lab, run)))
    assert failures == []
    assert {job.status for run in (story.run, story.old) for job in _jobs(lab, run)} == {JobStatus.COMPLETED}


def _jobs(lab: LabBench, run: Run) -> list[Job]:
    return lab.lab.banking.learning.jobs(run.id, limit=200)


@one_engine
def test_deltas_of_other_runs_are_not_there(story: Story, rollbacks: Rollbacks) -> None:
    for wrong in (story.delta_id, "rbd_nothing"):
        with pytest.raises(NotFound):
            rollbacks.roll_back(story.old.id, BY, delta_id=wrong)
    with pytest.raises(NotFound):
        rollbacks.deltas("run_nowhere")
    assert as_bytes(states(story.lab)) == as_bytes(story.after)


@one_engine
def test_pages_of_deltas(story: Story, rollbacks: Rollbacks) -> None:
    for _ in range(2):
        rollbacks.roll_back(story.run.id, BY, delta_id=rollbacks.deltas(story.run.id, cause=None)[0][0].delta.id)
    every, _ = rollbacks.deltas(story.run.id, cause=None)
    seen, after = [], None
    while True:
        page, after = rollbacks.deltas(story.run.id, cause=None, limit=1, before=after)
        seen += [each.delta.id for each in page]
        if after is None:
            break
    assert seen == [each.delta.id for each in every]
    assert len(seen) == 3
