"""Expiry: what nobody speaks for goes, in bounded steps, found by an index, and can be taken back."""

from __future__ import annotations

from codexmem.kernel.model.history import Mode
from codexmem.kernel.model.memory import Status
from codexmem.kernel.store.database import Database
from codexmem.qa.model.validation import QaReference
from codexmem.qa.service.evidence import Expired
from codexmem.qa.store import Beliefs
from tests._support.asking import DAY_MS, ME, PROJECT, Asked

NOTHING = Expired(0, remaining=False, delta=None)


def status(here: Asked, qa_id: str) -> Status:
    return here.memory(qa_id).state.status


def add(here: Asked, number: int = 1) -> str:
    return here.add(f"What is the port of service{number}?", f"It is port {number}.")


def test_a_candidate_that_nothing_speaks_for_expires_after_ninety_days(here: Asked) -> None:
    idle, shown, used = add(here, 1), add(here, 2), add(here, 3)
    here.real.clock.advance(80 * DAY_MS)
    here.hit(QaReference(shown, shown=True, used=False), QaReference(used, shown=True, used=True))
    assert here.qa.expiry.expire(ME) == NOTHING
    here.real.clock.advance(11 * DAY_MS)
    done = here.qa.expiry.expire(ME)
    assert (done.expired, done.remaining) == (2, False)
    # To be shown is nothing that speaks for an item.
    assert [status(here, each) for each in (idle, shown, used)] == [Status.EXPIRED, Status.EXPIRED, Status.CANDIDATE]
    assert here.qa.expiry.expire(ME) == NOTHING


def test_what_was_validated_expires_after_a_year_without_use(here: Asked) -> None:
    kept, gone = add(here, 1), add(here, 2)
    for qa_id in (kept, gone):
        here.tried(qa_id, success=True, strong=True)
    here.real.clock.advance(300 * DAY_MS)
    here.used(kept)
    assert here.qa.expiry.expire(ME) == NOTHING
    here.real.clock.advance(66 * DAY_MS)
    assert here.qa.expiry.expire(ME).expired == 1
    assert (status(here, kept), status(here, gone)) == (Status.VALIDATED, Status.EXPIRED)


def test_a_call_looks_at_so_many_and_says_whether_more_are_due(here: Asked) -> None:
    items = [add(here, number) for number in range(5)]
    here.real.clock.advance(91 * DAY_MS)
    outcomes = [here.qa.expiry.expire(ME, batch_size=2) for _ in range(3)]
    assert [(each.expired, each.remaining) for each in outcomes] == [(2, True), (2, True), (1, False)]
    assert {status(here, each) for each in items} == {Status.EXPIRED}


def test_an_expiry_can_be_taken_back_and_gives_as_much_time_again(here: Asked) -> None:
    items = [add(here, number) for number in range(3)]
    here.real.clock.advance(91 * DAY_MS)
    done = here.qa.expiry.expire(ME)
    assert done.delta is not None
    assert here.real.history.delta(done.delta).cause == "expire"
    here.real.history.rollback_delta(done.delta, Mode.SAFE, ME)
    assert {status(here, each) for each in items} == {Status.CANDIDATE}
    assert here.qa.expiry.expire(ME) == NOTHING
    here.real.clock.advance(91 * DAY_MS)
    assert here.qa.expiry.expire(ME).expired == 3


def test_what_a_person_rejected_or_merged_does_not_expire(here: Asked) -> None:
    rejected, merged, into = add(here, 1), add(here, 2), add(here, 3)
    here.qa.reviewing.reject(rejected, PROJECT, ME)
    here.qa.reviewing.merge(merged, into, PROJECT, ME)
    here.qa.reviewing.approve(into, PROJECT, ME)
    here.real.clock.advance(91 * DAY_MS)
    assert here.qa.expiry.expire(ME) == NOTHING
    assert (status(here, rejected), status(here, merged)) == (Status.DEPRECATED, Status.DEPRECATED)


def test_what_is_due_is_read_from_its_index(here: Asked, database: Database) -> None:
    qa_id = add(here)
    due = "SELECT seq FROM qa_beliefs WHERE tenant = 'x' AND due_ms IS NOT NULL AND due_ms <= 5"
    due += " ORDER BY due_ms, seq LIMIT 3"
    with database.reading() as tx:
        if database.engine.name == "sqlite":
            plan = tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {due}").all()
        else:
            tx.connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            plan = tx.connection.exec_driver_sql(f"EXPLAIN {due}").all()
    assert "qa_beliefs_due" in str(plan)
    assert Beliefs(database).due(2**60, 10) == [here.memory(qa_id).seq]
