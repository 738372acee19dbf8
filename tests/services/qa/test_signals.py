"""Reports about answers: each counts once, is learned from, and moves an item only as far as evidence goes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import Mode
from codexmem.kernel.model.memory import Counters, Status
from codexmem.kernel.model.query import Id
from codexmem.kernel.store.database import Database, acting_as
from codexmem.qa.model import belief
from codexmem.qa.model.belief import Belief, Signal
from codexmem.qa.model.items import KINDS
from codexmem.qa.model.validation import QaReference, ValidationReport, trial
from codexmem.qa.service.evidence import HitOutcome
from codexmem.qa.store import Beliefs
from tests._support.asking import DAY_MS, ME, PROJECT, Asked

QUESTION, ANSWER = "What is the default port?", "It is port 8080."


def counters(here: Asked, qa_id: str) -> Counters:
    return here.memory(qa_id).counters


def test_what_is_shown_and_used_is_counted_and_believed(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    assert here.hit(QaReference(qa_id, shown=True, used=False)) == HitOutcome(1, 0, ())
    passed_over = here.item(qa_id).confidence
    assert passed_over < 0.5
    assert here.used(qa_id) == HitOutcome(1, 0, ())
    assert here.item(qa_id).confidence > 0.5
    assert counters(here, qa_id) == Counters(shown=2, used=1)
    assert here.memory(qa_id).version == 1  # counting is no version


def test_a_repeated_report_of_one_message_counts_once(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    first = QaReference(qa_id, shown=True, used=False, message="run-1", context="injected:system")
    assert here.hit(first, first) == HitOutcome(1, 1, ())
    # The same message says more later: that is news, and the rest is not.
    assert here.used(qa_id, "run-1") == HitOutcome(1, 0, ())
    assert here.used(qa_id, "run-1") == HitOutcome(0, 1, ())
    assert here.used(qa_id, "run-2") == HitOutcome(1, 0, ())
    assert counters(here, qa_id) == Counters(shown=2, used=2)


def test_a_report_without_a_message_always_counts(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    for _ in range(3):
        here.used(qa_id)
    assert counters(here, qa_id) == Counters(shown=3, used=3)


def test_ids_that_the_project_does_not_have_are_told_and_change_nothing(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    deleted = here.add("How do I leave?", "Press Escape twice.")
    here.real.memories.delete(Id(deleted), KINDS, ME)
    reference = QaReference(qa_id, shown=True, used=True)
    unknown = [QaReference(each, shown=True, used=False) for each in ("qa-x", deleted, "qa-x")]
    assert here.hit(reference, *unknown) == HitOutcome(1, 0, ("qa-x", deleted))
    assert here.hit(reference, project="elsewhere") == HitOutcome(0, 0, (qa_id,))
    assert here.hit() == HitOutcome(0, 0, ())


def test_what_neither_shows_nor_uses_is_taken_and_counts_nothing(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    assert here.hit(QaReference(qa_id, shown=False, used=False, message="m")) == HitOutcome(1, 0, ())
    assert counters(here, qa_id) == Counters()


def test_old_notes_of_signals_go_as_new_ones_come(here: Asked, database: Database) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    for number in range(6):
        here.used(qa_id, f"old-{number}")
    here.real.clock.advance(91 * DAY_MS)
    for number in range(4):
        here.used(qa_id, f"new-{number}")
    assert Beliefs(database).forget_signals(here.real.clock.now_ms() - 90 * DAY_MS, 100) == 0
    assert here.used(qa_id, "old-0") == HitOutcome(1, 0, ())  # past its time, so it is news
    assert here.used(qa_id, "new-0") == HitOutcome(0, 1, ())


def test_enough_evidence_validates_and_enough_against_it_deprecates(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    seen = [here.tried(qa_id, success=True).item.status for _ in range(4)]
    assert seen[0] is Status.CANDIDATE
    assert seen[-1] is Status.VALIDATED
    wrong = here.add("Where is the log?", "In the folder logs.")
    statuses = [here.tried(wrong, success=False).item.status for _ in range(12)]
    assert statuses[0] is Status.CANDIDATE
    assert statuses[-1] is Status.DEPRECATED
    assert counters(here, qa_id) == Counters(valid=4)
    assert counters(here, wrong) == Counters(invalid=12)


def test_use_alone_validates_in_time(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    for number in range(12):
        here.used(qa_id, f"run-{number}")
    assert here.memory(qa_id).state.status is Status.VALIDATED


def test_a_strong_report_moves_one_step_at_once(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    first = here.tried(qa_id, success=True, strong=True)
    assert (first.before, first.item.status) == (Status.CANDIDATE, Status.VALIDATED)


def test_a_strong_report_that_all_others_speak_against_decides_nothing(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    for _ in range(3):
        here.tried(qa_id, success=True, strong=True)
    mistaken = here.tried(qa_id, success=False, strong=True)
    assert (mistaken.before, mistaken.item.status) == (Status.VALIDATED, Status.VALIDATED)
    assert mistaken.item.confidence < 1
    steps = [here.tried(qa_id, success=False, strong=True).item.status for _ in range(6)]
    # More of them than ever spoke for it do, one step at a time.
    assert steps[-1] is Status.DEPRECATED
    assert Status.CANDIDATE in steps


def test_a_report_that_decides_nothing_is_logged_and_not_learned(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    told = trial(success=None, result="skipped", strength=None, strong=None)
    outcome = here.qa.signals.validate(PROJECT, ValidationReport(qa_id, told), ME)
    assert (outcome.item.confidence, counters(here, qa_id)) == (0.5, Counters())
    (event,) = here.real.events.of_type(EventType.QA_SIGNAL.value, from_ms=0, to_ms=2**62, limit=10)
    assert event.payload == {"signals": ["undecided"], "actor": "test"}


def test_a_report_from_long_ago_weighs_less(here: Asked) -> None:
    fresh, stale = here.add(QUESTION, ANSWER), here.add("Where is the log?", "In the folder logs.")
    told = trial(success=True, result=None, strength=None, strong=None)
    long_ago = here.real.clock.now_ms() - 360 * DAY_MS
    here.qa.signals.validate(PROJECT, ValidationReport(fresh, told), ME)
    here.qa.signals.validate(PROJECT, ValidationReport(stale, told, long_ago), ME)
    ahead = ValidationReport(stale, trial(success=None, result="unknown", strength=None, strong=None), 2**60)
    here.qa.signals.validate(PROJECT, ahead, ME)
    assert 0.5 < here.item(stale).confidence < here.item(fresh).confidence


def test_an_unknown_item_is_told(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    for name, project in (("qa-x", PROJECT), (qa_id, "elsewhere"), ("", PROJECT)):
        with pytest.raises(NotFound) as refused:
            here.tried(name, success=True, project=project)
        assert refused.value.hint is not None


def test_a_move_is_a_version_of_a_delta_that_can_be_taken_back(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    here.tried(qa_id, success=True, strong=True)
    (delta,) = here.real.history.deltas_of(f"qa:{qa_id}")
    (version, _) = here.real.history.versions(Id(qa_id), KINDS)
    assert (delta.cause, version.delta, version.note) == ("validate", delta.id, "candidate to validated: validate")
    learned = here.item(qa_id).confidence
    here.real.history.rollback_delta(delta.id, Mode.SAFE, ME)
    assert here.memory(qa_id).state.status is Status.CANDIDATE
    assert here.item(qa_id).confidence == pytest.approx(learned)  # what was learned stays


def test_what_is_logged_of_a_report_has_no_secrets_and_is_bounded(here: Asked) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    facts: dict[str, object] = {"source": "ci", "context": f"token {secret}", "payload": {"log": "x" * 10_000}}
    told = trial(success=True, result=None, strength=0.5, strong=None)
    here.qa.signals.validate(PROJECT, ValidationReport(qa_id, told, facts=facts), ME)
    here.hit(QaReference(qa_id, shown=True, used=False, context={"where": [secret, "<private>x</private>"]}))
    events = here.real.events.of_type(EventType.QA_SIGNAL.value, from_ms=0, to_ms=2**62, limit=10)
    assert len(events) == 2
    assert secret not in str(events)
    assert "private" not in str(events)
    assert "not kept" in str(events)
    assert {event.subject for event in events} == {f"memory:{here.memory(qa_id).seq}"}


def test_forgetting_an_item_forgets_what_was_learned_and_heard(here: Asked, database: Database) -> None:
    qa_id = here.add(QUESTION, ANSWER)
    here.used(qa_id, "run-1")
    seq = here.memory(qa_id).seq
    assert seq in Beliefs(database).of([seq])
    assert here.real.history.forget([seq], ME) == 1
    assert Beliefs(database).of([seq]) == {}
    assert Beliefs(database).forget_signals(2**60, 10) == 0
    events = here.real.events.of_type(EventType.QA_SIGNAL.value, from_ms=0, to_ms=2**62, limit=10)
    assert [event.payload for event in events] == [None]


def test_reports_at_once_are_all_counted_and_learned(here: Asked, database: Database, tenant: str) -> None:
    items = [here.add(f"What is the port of service{number}?", f"It is port {number}.") for number in range(3)]

    def report(number: int) -> None:
        with acting_as(tenant):
            # In another order each time: whoever holds one must never wait for another in a circle.
            turned = items[number % 3 :] + items[: number % 3]
            here.hit(*(QaReference(each, shown=True, used=False, message=f"run-{number // 2}") for each in turned))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(report, range(40)))
    expected = Belief()
    for _ in range(20):
        expected = belief.learn(expected, Signal.SHOWN, strength=1.0, now_ms=here.real.clock.now_ms())
    for qa_id in items:
        assert counters(here, qa_id) == Counters(shown=20)
        seq = here.memory(qa_id).seq
        assert Beliefs(database).of([seq])[seq].belief.bad == pytest.approx(expected.bad, rel=1e-3)


def test_trials_at_once_are_all_counted_and_learned(here: Asked, tenant: str) -> None:
    qa_id = here.add(QUESTION, ANSWER)

    def report(number: int) -> None:
        with acting_as(tenant):
            here.tried(qa_id, success=number % 4 != 0, strength=0.4)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(report, range(32)))
    assert counters(here, qa_id) == Counters(valid=24, invalid=8)
    weight = belief.weight(Signal.CONFIRMED, 0.4)
    expected = belief.confidence(Belief(24 * weight, 8 * weight, 0), prior=0.5, now_ms=0)
    assert here.item(qa_id).confidence == pytest.approx(expected, rel=1e-3)
