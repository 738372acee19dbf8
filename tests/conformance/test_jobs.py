"""What the queue's table promises, on both engines."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from codexmem.kernel.jobs.queue import DedupedJob, Enqueued
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.job import MAX_LEASE_MS, Job, JobStatus, NewJob
from codexmem.kernel.store import dispatch
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.schema import jobs as table
from tests.jobs.stores import TENANT, Parts, empty_store, stale

QUEUED, RUNNING = JobStatus.QUEUED, JobStatus.RUNNING
COMPLETED, FAILED, CANCELED = JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELED


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store(engine_name, tmp_path, request) as parts:
        yield parts


def one(claimed: list[Job]) -> Job:
    (job,) = claimed
    return job


class TestEnqueue:
    def test_keeps_what_it_was_given(self, parts: Parts) -> None:
        payload = {"text": "记忆 ✓", "n": 2**60, "deep": [1, {"a": None}]}
        job_id = parts.store(
            "note", payload=payload, subject="session:1", lane="l", dedupe_key="d", priority=3, delay_ms=5
        )
        assert job_id is not None
        job = parts.job(job_id)
        assert (job.payload, job.subject, job.lane, job.dedupe_key) == (payload, "session:1", "l", "d")
        assert (job.status, job.priority, job.attempts, job.run_at_ms, job.created_ms) == (QUEUED, 3, 0, 1_005, 1_000)
        assert (job.worker, job.lease_until_ms, job.cancel_requested, job.result) == (None, None, False, None)

    def test_a_rolled_back_cause_leaves_no_job(self, parts: Parts) -> None:
        with suppress(ZeroDivisionError), parts.db.transaction():
            parts.put(lane="l")
            raise ZeroDivisionError
        assert parts.queue.counts()[QUEUED] == 0
        assert parts.claim_ids() == []

    def test_the_same_work_waits_once_whether_queued_or_running(self, parts: Parts) -> None:
        first = parts.queue.enqueue(NewJob("note", {}, dedupe_key="same"))
        assert isinstance(first, Enqueued)
        assert parts.queue.enqueue(NewJob("note", {}, dedupe_key="same")) == DedupedJob()
        now_ms = parts.job(first.id).run_at_ms
        job = one(parts.claim(now_ms=now_ms))
        assert parts.queue.enqueue(NewJob("note", {}, dedupe_key="same")) == DedupedJob()
        assert parts.end(job)
        assert isinstance(parts.queue.enqueue(NewJob("note", {}, dedupe_key="same")), Enqueued)

    def test_many_enqueue_the_same_work_at_once(self, parts: Parts) -> None:
        def enqueue(_: int) -> bool:
            with acting_as(TENANT):
                return isinstance(parts.queue.enqueue(NewJob("note", {}, dedupe_key="same", lane="l")), Enqueued)

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(enqueue, range(40))) == 1

    def test_refuses_a_priority_outside_the_levels(self, parts: Parts) -> None:
        with pytest.raises(InvalidArgument):
            parts.queue.enqueue(NewJob("note", {}, priority=10))


class TestClaim:
    def test_takes_in_order_of_time_and_number(self, parts: Parts) -> None:
        late = parts.store(now_ms=900)
        a, b = parts.store(now_ms=500), parts.store(now_ms=500)
        assert parts.claim_ids(limit=2) == [a, b]
        assert parts.claim_ids() == [late]

    def test_marks_the_owner_the_attempt_and_the_lease(self, parts: Parts) -> None:
        parts.store()
        job = one(parts.claim("w7", now_ms=2_000, lease_ms=30_000))
        assert (job.status, job.worker, job.attempts) == (RUNNING, "w7", 1)
        assert (job.started_ms, job.lease_until_ms) == (2_000, 32_000)
        assert parts.job(job.id) == job

    def test_higher_priority_first_and_delayed_jobs_do_not_hide_others(self, parts: Parts) -> None:
        plain, urgent = parts.store(), parts.store(priority=5)
        later = parts.store(priority=9, delay_ms=60_000)
        background = parts.store(priority=-3)
        assert parts.claim_ids() == [urgent, plain, background]
        assert parts.claim_ids(now_ms=61_000) == [later]

    def test_not_before_its_time(self, parts: Parts) -> None:
        job_id = parts.store(delay_ms=500)
        assert parts.claim_ids(now_ms=1_499) == []
        assert parts.claim_ids(now_ms=1_500) == [job_id]

    def test_next_due_is_the_earliest_of_all_priorities(self, parts: Parts) -> None:
        assert parts.dispatch.next_due() is None
        parts.store(priority=9, delay_ms=900)
        parts.store(priority=0, delay_ms=300)
        parts.store(priority=-9, delay_ms=600)
        due = parts.dispatch.next_due()
        assert due is not None
        assert due.run_at_ms == 1_300

    def test_two_claimers_never_share_a_job(self, parts: Parts) -> None:
        ids = [parts.store(lane=f"lane-{n}" if n % 2 else None) for n in range(60)]

        def drain(worker: int) -> list[int]:
            mine: list[int] = []
            while got := parts.claim_ids(f"w{worker}", limit=3):
                mine += got
            return mine

        with ThreadPoolExecutor(6) as pool:
            taken = [job_id for mine in pool.map(drain, range(6)) for job_id in mine]
        assert sorted(taken) == ids

    def test_tenants_take_turns_whoever_has_waited_longest(self, parts: Parts) -> None:
        if parts.db.engine.name == "sqlite":
            return  # has the one tenant
        for tenant, count in (("busy", 20), ("ant", 1), ("zebra", 2)):
            with acting_as(tenant):
                for number in range(count):
                    parts.store(now_ms=100 + number if tenant == "busy" else 900)
        with acting_as("later"):
            parts.store(now_ms=2_000)  # is not due, and keeps nobody from a turn
        rounds = [[job.tenant for job in parts.claim(limit=1)] for _ in range(6)]
        assert [tenant for (tenant,) in rounds[:3]] == ["ant", "busy", "zebra"]
        assert [tenant for (tenant,) in rounds[3:]] == ["busy", "zebra", "busy"]
        assert [job.tenant for job in parts.claim(limit=4)] == ["busy"] * 4  # who is alone has all there is
        with acting_as("ant"):
            urgent = parts.store(priority=5, now_ms=990)
        assert parts.claim_ids(limit=1) == [urgent]

    def test_a_claim_passes_tenants_whose_time_has_not_come(
        self, parts: Parts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if parts.db.engine.name == "sqlite":
            return
        monkeypatch.setattr(dispatch, "_PASSED", 3)
        for number in range(9):
            with acting_as(f"sleeper-{number}"):
                parts.store(now_ms=5_000)
        with acting_as("waking"):
            first, second = parts.store(), parts.store()
        assert parts.claim_ids(limit=1) == [first]  # found by its age, because the first three sleep
        assert parts.claim_ids(limit=1) == [second]
        assert parts.claim_ids(limit=1) == []

    def test_a_turn_reads_no_backlog(self, parts: Parts) -> None:
        if parts.db.engine.name == "sqlite":
            return
        with parts.db.dispatching() as tx:
            tx.connection.execute(dispatch._by_index)
            values = {"priority": 0, "now": 1, "after": "", "limit": 4, "passed": 200}
            plan = str(tx.connection.execute(sa.text(f"EXPLAIN {dispatch._walk.text}"), values).all())
        assert plan.count("jobs_turn") == 2
        assert "Sort" not in plan

    def test_sees_all_tenants(self, parts: Parts) -> None:
        if parts.db.engine.name == "sqlite":
            return  # has the one tenant
        with acting_as("other"):
            other = parts.store(lane="l")
        mine = parts.store(lane="l")
        assert sorted(parts.claim_ids()) == sorted([other, mine])  # type: ignore[type-var]
        assert parts.jobs.get(other or 0) is None

    def test_a_broken_lane_does_not_stop_the_others(self, parts: Parts) -> None:
        running, twin, other = parts.store(lane="l"), parts.store(lane="l"), parts.store(lane="m")
        assert parts.claim_ids(limit=1) == [running]
        with parts.db.transaction() as tx:
            tx.connection.execute(sa.update(table).where(table.c.id == twin).values(ready=True, run_at_ms=1))
        assert parts.claim_ids() == [other]
        assert parts.end(parts.job(running or 0))
        assert parts.claim_ids() == [twin]


class TestLanes:
    def test_one_at_a_time_in_order(self, parts: Parts) -> None:
        ids = [parts.store(lane="l") for _ in range(3)]
        for expected in ids:
            job = one(parts.claim())
            assert job.id == expected
            assert parts.claim() == []
            assert parts.end(job)
        assert parts.claim() == []

    def test_a_head_that_waits_for_its_retry_holds_its_lane(self, parts: Parts) -> None:
        first, second = parts.store(lane="l"), parts.store(lane="l")
        job = one(parts.claim())
        assert parts.jobs.postpone(job, run_at_ms=9_000, error="busy", error_class="transient", refund=False)
        assert parts.claim(now_ms=8_999) == []
        again = one(parts.claim(now_ms=9_000))
        assert (again.id, again.attempts, again.error) == (first, 2, "busy")
        parts.end(again)
        assert parts.claim_ids(now_ms=9_000) == [second]

    def test_a_failed_head_lets_the_next_run(self, parts: Parts) -> None:
        _, second = parts.store(lane="l"), parts.store(lane="l")
        parts.end(one(parts.claim()), FAILED)
        assert parts.claim_ids() == [second]

    def test_canceling_one_that_waits_does_not_start_its_neighbour(self, parts: Parts) -> None:
        parts.store(lane="l")
        second, third = parts.store(lane="l"), parts.store(lane="l")
        head = one(parts.claim())
        assert parts.jobs.cancel(second or 0, now_ms=1_000) is CANCELED
        assert parts.claim() == []
        parts.end(head)
        assert parts.claim_ids() == [third]

    def test_canceling_the_waiting_head_starts_the_next(self, parts: Parts) -> None:
        first, second = parts.store(lane="l"), parts.store(lane="l")
        assert parts.jobs.cancel(first or 0, now_ms=1_000) is CANCELED
        assert parts.claim_ids() == [second]

    def test_lanes_take_turns(self, parts: Parts) -> None:
        busy = [parts.store(lane="busy", now_ms=1_000) for _ in range(4)]
        quiet = parts.store(lane="quiet", now_ms=1_001)
        order = []
        for now_ms in range(2_000, 2_005):
            job = one(parts.claim(limit=1, now_ms=now_ms))
            order.append(job.id)
            parts.end(job, now_ms=now_ms)
        assert order == [busy[0], quiet, *busy[1:]]

    def test_a_delay_inside_a_lane_is_kept(self, parts: Parts) -> None:
        parts.store(lane="l")
        second = parts.store(lane="l", delay_ms=5_000)
        parts.end(one(parts.claim()))
        assert parts.claim(now_ms=5_999) == []
        assert parts.claim_ids(now_ms=6_000) == [second]

    def test_enqueuing_while_the_lane_is_worked_on_neither_blocks_nor_breaks_it(self, parts: Parts) -> None:
        """The same lane and dedupe key from all sides: order of locks, and never two of the lane."""
        stop = threading.Event()
        rounds = 60

        def enqueue() -> None:
            with acting_as(TENANT):
                while not stop.is_set():
                    parts.jobs.enqueue(NewJob("note", {}, lane="l", dedupe_key="d"), now_ms=1_000)

        threads = [threading.Thread(target=enqueue) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            done = 0
            while done < rounds:
                claimed = parts.claim(f"w{done}")
                assert len(claimed) <= 1
                done += sum(parts.end(job) for job in claimed)
        finally:
            stop.set()
            for thread in threads:
                thread.join()


class TestLeases:
    def test_a_current_lease_is_left_alone(self, parts: Parts) -> None:
        parts.store()
        parts.claim(now_ms=1_000, lease_ms=30_000)
        assert parts.dispatch.expired(now_ms=31_000, limit=10) == []
        assert [job.id for job in parts.dispatch.expired(now_ms=31_001, limit=10)] != []

    def test_a_heartbeat_renews_what_it_names_and_tells_the_rest(self, parts: Parts) -> None:
        a, b = parts.store(), parts.store()
        first, second = parts.claim("w1", now_ms=1_000)
        assert parts.dispatch.heartbeat("w1", [first], lease_ms=30_000, now_ms=20_000) == {(TENANT, a): False}
        assert [job.id for job in parts.dispatch.expired(now_ms=40_000, limit=10)] == [b]
        assert parts.dispatch.heartbeat("w2", [first, second], lease_ms=1, now_ms=20_000) == {}

    def test_an_expired_job_goes_back_and_the_late_worker_is_fenced(self, parts: Parts) -> None:
        job_id = parts.store(lane="l")
        late = one(parts.claim("w1"))
        expired = one(parts.dispatch.expired(now_ms=40_000, limit=10))
        assert self.take_away(parts, expired, 40_000) is QUEUED
        assert self.take_away(parts, expired, 40_000) is None
        again = one(parts.claim("w2", now_ms=40_000))
        assert (again.id, again.attempts) == (job_id, 2)
        assert not parts.end(late)
        assert not parts.jobs.postpone(late, run_at_ms=1, error=None, error_class=None, refund=True)
        assert parts.dispatch.heartbeat("w1", [late], lease_ms=1, now_ms=40_000) == {}
        assert parts.job(again.id) == again
        assert parts.end(again)

    def test_the_fence_also_tells_attempts_of_one_worker_apart(self, parts: Parts) -> None:
        parts.store()
        job = one(parts.claim("w1"))
        assert not parts.end(stale(job, attempts=2))
        assert parts.end(job)
        assert not parts.end(job)

    def test_a_lease_renewed_in_the_meantime_is_not_taken_away(self, parts: Parts) -> None:
        parts.store()
        job = one(parts.claim("w1"))
        expired = one(parts.dispatch.expired(now_ms=40_000, limit=10))
        parts.dispatch.heartbeat("w1", [job], lease_ms=30_000, now_ms=40_000)
        assert self.take_away(parts, expired, 40_000) is None
        assert parts.end(job)

    def test_out_of_attempts_it_fails_and_frees_its_lane(self, parts: Parts) -> None:
        first, second = parts.store(lane="l"), parts.store(lane="l")
        parts.claim("w1")
        expired = one(parts.dispatch.expired(now_ms=40_000, limit=10))
        assert parts.jobs.take_away(expired, now_ms=40_000, retry_at_ms=None, error="gone", error_class="x") is FAILED
        assert parts.job(first or 0).ended_ms == 40_000
        assert parts.claim_ids(now_ms=40_000) == [second]

    def test_a_canceled_job_without_worker_is_canceled_not_run_again(self, parts: Parts) -> None:
        job_id = parts.store()
        parts.claim("w1")
        parts.jobs.cancel(job_id or 0, now_ms=1_000)
        expired = one(parts.dispatch.expired(now_ms=40_000, limit=10))
        assert self.take_away(parts, expired, 40_000) is CANCELED
        assert parts.claim(now_ms=99_000) == []

    def test_a_lease_from_a_clock_that_was_ahead_is_not_current(self, parts: Parts) -> None:
        parts.store()
        parts.claim("w1", now_ms=86_400_000)
        assert parts.dispatch.expired(now_ms=86_400_000 - MAX_LEASE_MS, limit=10) == []
        assert len(parts.dispatch.expired(now_ms=1_000, limit=10)) == 1

    def test_the_table_tells_a_clock_that_was_set_back(self, parts: Parts) -> None:
        parts.store(now_ms=86_400_000)
        due = parts.dispatch.next_due()
        assert due is not None
        assert due.seen_ms == 86_400_000

    @staticmethod
    def take_away(parts: Parts, job: Job, now_ms: int) -> JobStatus | None:
        return parts.jobs.take_away(job, now_ms=now_ms, retry_at_ms=now_ms, error="gone", error_class="worker_lost")


class TestCancel:
    def test_a_waiting_job_ends_at_once(self, parts: Parts) -> None:
        job_id = parts.put()
        assert parts.queue.cancel(job_id) is CANCELED
        assert parts.queue.cancel(job_id) is CANCELED
        assert parts.claim_ids(now_ms=2**50) == []

    def test_a_running_job_is_asked(self, parts: Parts) -> None:
        job_id = parts.store()
        job = one(parts.claim("w1"))
        assert parts.queue.cancel(job.id) is RUNNING
        assert parts.dispatch.heartbeat("w1", [job], lease_ms=1, now_ms=1_000) == {(TENANT, job_id): True}
        assert not parts.jobs.postpone(job, run_at_ms=1, error=None, error_class=None, refund=False)
        assert parts.end(job, CANCELED)

    def test_an_ended_job_stays_as_it_is(self, parts: Parts) -> None:
        parts.store()
        job = one(parts.claim())
        parts.end(job)
        assert parts.queue.cancel(job.id) is COMPLETED

    def test_an_unknown_job_is_not_found(self, parts: Parts) -> None:
        with pytest.raises(NotFound):
            parts.queue.cancel(12_345_678)


class TestRetryFailed:
    def fail(self, parts: Parts, **fields: object) -> int:
        job_id = parts.store(**fields)  # type: ignore[arg-type]
        parts.end(one(parts.claim()), FAILED)
        assert job_id is not None
        return job_id

    def test_starts_afresh(self, parts: Parts) -> None:
        job_id = self.fail(parts)
        assert parts.jobs.retry_failed(subject=None, limit=10, now_ms=5_000) == 1
        job = one(parts.claim(now_ms=5_000))
        assert (job.id, job.attempts, job.error, job.ended_ms) == (job_id, 1, None, None)

    def test_of_one_subject_only(self, parts: Parts) -> None:
        mine = self.fail(parts, subject="session:1")
        other = self.fail(parts, subject="session:2")
        assert parts.queue.retry_failed(subject="session:1") == 1
        assert (parts.status(mine), parts.status(other)) == (QUEUED, FAILED)

    def test_not_what_is_waiting_anyway(self, parts: Parts) -> None:
        blocked = self.fail(parts, dedupe_key="d")
        twin = self.fail(parts, dedupe_key="d")
        assert parts.queue.retry_failed(limit=1) == 1
        assert parts.queue.retry_failed(limit=10) == 0
        assert {parts.status(blocked), parts.status(twin)} == {QUEUED, FAILED}

    def test_enters_a_busy_lane_behind_the_running_job_and_before_later_ones(self, parts: Parts) -> None:
        first = self.fail(parts, lane="l")
        parts.store(lane="l")
        third = parts.store(lane="l")
        second = one(parts.claim())
        assert parts.queue.retry_failed() == 1
        assert parts.claim_ids(now_ms=2**50) == []
        parts.end(second, now_ms=3_000)
        head = one(parts.claim(now_ms=2**50))
        assert head.id == first
        parts.end(head)
        assert parts.claim_ids(now_ms=2**50) == [third]


class TestLooking:
    def test_counts_lists_and_prunes(self, parts: Parts) -> None:
        ids = [parts.store(subject="s") or 0 for _ in range(5)]
        for job, status in zip(parts.claim(limit=4), (COMPLETED, CANCELED, FAILED, COMPLETED), strict=True):
            parts.end(job, status, now_ms=2_000 if job.id != ids[3] else 9_000)
        counts = parts.queue.counts()
        assert (counts[COMPLETED], counts[CANCELED], counts[FAILED], counts[QUEUED], counts[RUNNING]) == (2, 1, 1, 1, 0)
        assert [job.id for job in parts.queue.list(COMPLETED)] == [ids[3], ids[0]]
        assert [job.id for job in parts.queue.list(COMPLETED, below=ids[3])] == [ids[0]]
        assert [job.id for job in parts.queue.of_subject("s", limit=2)] == [ids[4], ids[3]]
        assert parts.queue.prune(ended_before_ms=5_000) == 2
        assert parts.queue.counts()[COMPLETED] == 1
        assert parts.status(ids[2]) is FAILED

    def test_the_age_of_the_oldest_claimable(self, parts: Parts) -> None:
        assert parts.queue.oldest_ready_age_ms() is None
        parts.put(delay_ms=60_000)
        assert parts.queue.oldest_ready_age_ms() is None
        parts.put()
        age = parts.queue.oldest_ready_age_ms()
        assert age is not None
        assert 0 <= age < 10_000


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_each_lane_has_exactly_one_head(parts: Parts, seed: int) -> None:
    """Random moves; afterwards every lane with unfinished jobs has one that is ready or runs, and can be drained."""
    chance = random.Random(seed)
    running: list[Job] = []
    now = 1_000
    for _ in range(120):
        now += chance.randrange(500)
        match chance.randrange(9):
            case 0 | 1 | 2:
                lane, key = chance.choice([None, "a", "b", "c"]), chance.choice([None, None, "k1", "k2"])
                parts.store(
                    now_ms=now,
                    lane=lane,
                    dedupe_key=key,
                    priority=chance.randrange(3),
                    delay_ms=chance.choice([0, 800]),
                )
            case 3 | 4:
                running += parts.claim(f"w{now}", limit=2, now_ms=now, lease_ms=2_000)
            case 5 if running:
                parts.end(running.pop(), chance.choice([COMPLETED, FAILED, CANCELED]), now_ms=now)
            case 6 if running:
                parts.jobs.postpone(running.pop(), run_at_ms=now + 300, error=None, error_class=None, refund=False)
            case 7:
                for job in parts.dispatch.expired(now_ms=now, limit=2):
                    again = chance.choice([now, now + 500, None])
                    parts.jobs.take_away(job, now_ms=now, retry_at_ms=again, error="gone", error_class="worker_lost")
            case 8:
                parts.jobs.cancel(chance.randrange(1, 60), now_ms=now)
                parts.jobs.retry_failed(subject=None, limit=2, now_ms=now)
        check_heads(parts)
    drain(parts, now + 10_000)
    counts = parts.queue.counts()
    assert (counts[QUEUED], counts[RUNNING]) == (0, 0)


def check_heads(parts: Parts) -> None:
    with parts.db.reading() as tx:
        rows = tx.connection.execute(
            sa.select(table.c.lane, table.c.status, table.c.ready).where(table.c.status.in_(["queued", "running"]))
        ).all()
    for lane in {row.lane for row in rows}:
        mine = [row for row in rows if row.lane == lane]
        heads = [row for row in mine if row.ready]
        assert len(heads) == (len(mine) if lane is None else 1)
        assert all(row.ready for row in mine if row.status == "running")


def drain(parts: Parts, now_ms: int) -> None:
    for job in parts.dispatch.expired(now_ms=now_ms, limit=100):
        parts.jobs.take_away(job, now_ms=now_ms, retry_at_ms=now_ms, error="gone", error_class="worker_lost")
    while claimed := parts.claim(now_ms=now_ms):
        for job in claimed:
            assert parts.end(job, now_ms=now_ms)
