"""Workers: effects exactly once, retries, cancel, shutdown, and loops that no fault ends."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from codexmem.kernel.jobs.job_kind import Done, JobContext, JobKind, JobKinds
from codexmem.kernel.jobs.leases import QueueClock
from codexmem.kernel.model.errors import InvalidArgument, RateLimited, Unavailable
from codexmem.kernel.model.event import EventType, LogPosition, NewEvent
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.job import GiveUp, Job, JobStatus, RetryLater
from codexmem.kernel.store.database import acting_as
from tests._support.waiting import eventually
from tests.jobs.stores import Parts, empty_store

QUEUED, RUNNING = JobStatus.QUEUED, JobStatus.RUNNING
COMPLETED, FAILED, CANCELED = JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELED

# A worker that has to be woken: it looks by itself once in an hour only.
SELDOM: dict[str, Any] = {"look_s": 3_600.0, "lease_ms": 10_800_000}


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store(engine_name, tmp_path, request) as parts:
        yield parts


def marking(parts: Parts) -> JobKind:
    """A kind of job whose effect is one event."""

    def run(job: Job, context: JobContext) -> Done:
        return Done({"seen": job.payload}, lambda: mark(parts, job))

    return JobKind(run)


def mark(parts: Parts, job: Job) -> None:
    parts.log.append(NewEvent(EventType.MEMORY_WRITTEN, f"effect:{job.id}", {}))


def effects(parts: Parts, type: EventType = EventType.MEMORY_WRITTEN) -> list[str]:
    return [event.subject for event in parts.events.after(LogPosition(0, 0), limit=10_000) if event.type == type]


def slow(parts: Parts, seconds: float) -> JobKind:
    """A kind of job that takes its time unless it is interrupted, and leaves one event."""

    def run(job: Job, context: JobContext) -> Done:
        context.wait(seconds)
        return Done({}, lambda: mark(parts, job))

    return JobKind(run)


def failing(*errors: Exception | None) -> JobKinds:
    """A kind of job that raises these, one per attempt, and then succeeds."""
    left = list(errors)

    def run(job: Job, context: JobContext) -> Done:
        error = left.pop(0) if left else None
        if error is not None:
            raise error
        return Done()

    return {"note": JobKind(run)}


class TestRunning:
    def test_completes_with_result_and_effect(self, parts: Parts) -> None:
        with parts.working({"note": marking(parts)}):
            job_id = parts.put(payload={"n": 1})
            parts.wait_for(job_id)
        job = parts.job(job_id)
        assert (job.result, job.attempts, job.error) == ({"seen": {"n": 1}}, 1, None)
        assert job.ended_ms is not None
        assert effects(parts) == [f"effect:{job_id}"]

    def test_starts_without_polling(self, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
        looked = threading.Event()
        next_due = parts.dispatch.next_due

        def noted(**named: Any) -> Any:
            due = next_due(**named)
            looked.set()
            return due

        monkeypatch.setattr(parts.dispatch, "next_due", noted)
        with parts.working({"note": marking(parts)}, **SELDOM):
            assert looked.wait(60)
            parts.wait_for(parts.put())

    def test_wakes_by_itself_when_a_delayed_job_is_due(self, parts: Parts) -> None:
        with parts.working({"note": marking(parts)}, **SELDOM):
            job_id = parts.put(delay_ms=400)
            parts.wait_for(job_id)
        job = parts.job(job_id)
        assert job.ended_ms is not None
        assert job.ended_ms >= job.run_at_ms

    @pytest.mark.slow
    def test_rests_when_there_is_nothing_to_do(self, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
        looks: list[float] = []
        claim = parts.dispatch.claim

        def counted(*values: Any, **named: Any) -> list[Job]:
            looks.append(time.monotonic())
            return claim(*values, **named)

        monkeypatch.setattr(parts.dispatch, "claim", counted)
        with parts.working({}, look_s=5.0):
            time.sleep(1.0)
        assert len(looks) <= 3

    def test_runs_as_many_as_it_has_threads(self, parts: Parts) -> None:
        together = threading.Barrier(3, timeout=10)
        job_kinds = {"note": JobKind(lambda job, context: Done({"place": together.wait()}))}
        ids = [parts.put() for _ in range(3)]
        with parts.working(job_kinds, threads=3):
            parts.wait_for(*ids)

    def test_lanes_do_not_overlap_and_keep_their_order(self, parts: Parts) -> None:
        running: dict[str, int] = {}
        order: dict[str, list[int]] = {"a": [], "b": []}
        lock = threading.Lock()
        wrong: list[str] = []

        def run(job: Job, context: JobContext) -> Done:
            assert job.lane is not None
            with lock:
                if running.get(job.lane):
                    wrong.append(job.lane)
                running[job.lane] = job.id
            context.wait(0.003)
            with lock:
                running[job.lane] = 0
            if job.attempts == 1 and job.id % 5 == 0:
                raise RetryLater("once more", delay_ms=10)
            order[job.lane].append(job.id)
            return Done()

        ids = [parts.put(lane="ab"[n % 2]) for n in range(30)]
        with parts.working({"note": JobKind(run)}, threads=4):
            parts.wait_for(*ids)
        assert wrong == []
        assert order == {"a": ids[0::2], "b": ids[1::2]}


class TestFailing:
    def test_tries_again_after_the_asked_time(self, parts: Parts) -> None:
        job_id = parts.put()
        with parts.working(failing(RetryLater("busy", error_class="rate_limit", delay_ms=1_500))):
            eventually(lambda: parts.job(job_id).error_class == "rate_limit")
            job = parts.job(job_id)
            assert (job.status, job.error, job.worker) == (QUEUED, "busy", None)
            parts.wait_for(job_id)
        assert parts.job(job_id).attempts == 2

    @pytest.mark.parametrize("error, error_class, text", [
        (ZeroDivisionError("oops\nsecret value"), "internal", "ZeroDivisionError: oops"),
        (Unavailable("the model does not answer"), "transient", "the model does not answer"),
        (RateLimited("slow down"), "rate_limit", "slow down"),
        (TimeoutError(), "transient", "TimeoutError"),
    ])  # fmt: skip
    def test_backs_off_after_other_errors(self, parts: Parts, error: Exception, error_class: str, text: str) -> None:
        job_id = parts.put()
        before = SystemClock().now_ms()
        with parts.working(failing(error, error)):
            eventually(lambda: parts.job(job_id).error is not None)
        job = parts.job(job_id)
        assert (job.status, job.attempts, job.error_class, job.error) == (QUEUED, 1, error_class, text)
        assert before + 500 <= job.run_at_ms

    @pytest.mark.parametrize("error, error_class", [
        (GiveUp("no such session", error_class="gone"), "gone"),
        (InvalidArgument("not a payload"), "unrecoverable"),
    ])  # fmt: skip
    def test_gives_up_at_once_when_trying_again_cannot_help(
        self, parts: Parts, error: Exception, error_class: str
    ) -> None:
        job_id = parts.put(subject="session:9")
        with parts.working(failing(error)):
            parts.wait_for(job_id, status=FAILED)
        job = parts.job(job_id)
        assert (job.attempts, job.error_class) == (1, error_class)
        (event,) = parts.events.of_subject(f"job:{job_id}", after_seq=0, limit=9)
        assert (event.type, event.payload) == ("queue.failed", {
            "kind": "note", "subject": "session:9", "attempts": 1, "error": str(error), "error_class": error_class,
        })  # fmt: skip

    def test_fails_when_out_of_attempts_and_can_be_retried(self, parts: Parts) -> None:
        again = RetryLater("busy", delay_ms=1)
        job_id = parts.put(max_attempts=3)
        with parts.working(failing(again, again, again)):
            parts.wait_for(job_id, status=FAILED)
            assert parts.job(job_id).attempts == 3
            assert effects(parts, EventType.QUEUE_FAILED) == [f"job:{job_id}"]
            assert parts.queue.retry_failed() == 1
            parts.wait_for(job_id)

    def test_a_kind_nobody_knows_fails_clearly(self, parts: Parts) -> None:
        job_id, known = parts.put("strange"), parts.put()
        with parts.working(failing()):
            parts.wait_for(job_id, status=FAILED)
            parts.wait_for(known)
        assert parts.job(job_id).error == "nobody here knows the kind 'strange'"

    def test_an_effect_that_fails_leaves_nothing_behind(self, parts: Parts) -> None:
        def run(job: Job, context: JobContext) -> Done:
            def effect() -> None:
                mark(parts, job)
                if job.attempts == 1:
                    raise RetryLater("not yet", delay_ms=1)

            return Done(effect=effect)

        job_id = parts.put()
        with parts.working({"note": JobKind(run)}):
            parts.wait_for(job_id)
        assert effects(parts) == [f"effect:{job_id}"]
        assert parts.job(job_id).attempts == 2


class TestLosing:
    def test_a_late_worker_leaves_no_effect(self, parts: Parts) -> None:
        """The lease runs out under a run that then comes to its end: only the second run's effect counts."""
        first = threading.Event()
        runs: list[int] = []

        def run(job: Job, context: JobContext) -> Done:
            runs.append(job.attempts)
            if job.attempts == 1:
                assert first.wait(10)
            return Done({"attempt": job.attempts}, lambda: mark(parts, job))

        job_kinds = {"note": JobKind(run, timeout_s=0.1)}
        job_id = parts.put()
        with parts.working(job_kinds, lease_ms=300) as worker:
            parts.wait_for(job_id)
            assert worker.progress().overdue == 1
            first.set()
            eventually(lambda: worker.progress().overdue == 0)
        assert runs == [1, 2]
        assert effects(parts) == [f"effect:{job_id}"]
        assert parts.job(job_id).result == {"attempt": 2}

    @pytest.mark.slow
    def test_a_slow_run_keeps_its_lease(self, parts: Parts) -> None:
        runs: list[int] = []

        def run(job: Job, context: JobContext) -> Done:
            runs.append(job.attempts)
            context.wait(1.0)
            return Done()

        job_id = parts.put()
        with parts.working({"note": JobKind(run)}, lease_ms=300):
            parts.wait_for(job_id)
        assert runs == [1]

    def test_a_job_that_takes_its_workers_along_is_kept_away_after_three(self, parts: Parts) -> None:
        job_id = parts.put(max_attempts=9)
        now = parts.job(job_id).run_at_ms
        keeper = parts.worker({})._keeper
        for death in range(1, 4):
            (job,) = parts.claim(f"dead-{death}", now_ms=now + 3_600_000, lease_ms=-3_600_000 - now)
            assert job.attempts == death
            assert keeper.recover() == 1
            assert parts.status(job_id) is (QUEUED if death < 3 else FAILED)
        assert parts.job(job_id).error_class == "worker_lost"
        assert effects(parts, EventType.QUEUE_FAILED) == [f"job:{job_id}"]

    def test_another_worker_takes_over(self, parts: Parts) -> None:
        job_id = parts.put(lane="l")
        next_id = parts.put(lane="l")
        parts.claim("vanished", now_ms=SystemClock().now_ms(), lease_ms=300)
        with parts.working({"note": marking(parts)}):
            parts.wait_for(job_id, next_id)
        assert parts.job(job_id).attempts == 2


class TestStopping:
    def test_cancel_reaches_a_running_job_without_polling(self, parts: Parts) -> None:
        def run(job: Job, context: JobContext) -> Done:
            context.wait(3_600)
            return Done()

        job_id, after = parts.put(lane="l"), parts.put("other", lane="l")
        with parts.working({"note": JobKind(run, timeout_s=3_600), "other": marking(parts)}, **SELDOM):
            parts.wait_for(job_id, status=RUNNING)
            assert parts.queue.cancel(job_id) is RUNNING
            parts.wait_for(job_id, status=CANCELED)
            parts.wait_for(after)

    def test_stop_lets_a_run_end(self, parts: Parts) -> None:
        job_id = parts.put()
        begun = threading.Event()

        def run(job: Job, context: JobContext) -> Done:
            begun.set()  # one that is claimed and has not begun is given back
            assert worker._stopping.wait(60)
            return marking(parts).run(job, context)

        worker = parts.worker({"note": JobKind(run)})
        worker.start()
        assert begun.wait(60)
        worker.stop(grace_s=60)
        assert parts.status(job_id) is COMPLETED

    @pytest.mark.parametrize("listens", [True, False])
    @pytest.mark.slow
    def test_stop_gives_back_what_still_runs_without_counting_it(self, parts: Parts, *, listens: bool) -> None:
        release = threading.Event()

        def run(job: Job, context: JobContext) -> Done:
            if listens:
                context.wait(600)
            release.wait(600)
            return Done({}, lambda: mark(parts, job))

        job_id, waiting = parts.put(lane="l"), parts.put(lane="l")
        worker = parts.worker({"note": JobKind(run)})
        worker.start()
        parts.wait_for(job_id, status=RUNNING)
        worker.stop(grace_s=1.0)
        job = parts.job(job_id)
        assert (job.status, job.attempts, job.worker) == (QUEUED, 0, None)
        assert parts.status(waiting) is QUEUED
        release.set()
        with parts.working({"note": marking(parts)}):
            parts.wait_for(job_id, waiting)
        assert effects(parts) == [f"effect:{job_id}", f"effect:{waiting}"]

    def test_stop_loses_nothing_under_load(self, parts: Parts) -> None:
        def more(than: int) -> bool:
            return parts.queue.counts()[COMPLETED] > than

        ids = [parts.put(lane=f"lane-{n % 5}") for n in range(60)]
        job_kinds = {"note": slow(parts, 0.004)}
        while (before := parts.queue.counts()[COMPLETED]) < len(ids):
            worker = parts.worker(job_kinds, threads=3)
            worker.start()
            eventually(partial(more, before))
            worker.stop(grace_s=1.0)
        assert sorted(effects(parts)) == sorted(f"effect:{each}" for each in ids)


class TestEnduring:
    @pytest.mark.slow
    def test_errors_in_its_loops_do_not_end_it(self, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
        chance = random.Random(3)

        def shaky(name: str, target: object) -> None:
            whole = getattr(target, name)

            def call(*args: object, **options: object) -> object:
                if chance.random() < 0.3:
                    raise chance.choice([Unavailable("away"), ZeroDivisionError("odd")])
                return whole(*args, **options)

            monkeypatch.setattr(target, name, call)

        for name in ("claim", "next_due", "heartbeat", "expired"):
            shaky(name, parts.dispatch)
        shaky("finish", parts.jobs)
        ids = [parts.put(max_attempts=50) for _ in range(20)]
        monkeypatch.setattr("codexmem.kernel.jobs.outcomes.backoff_ms", lambda attempts, jitter: 5)
        with parts.working({"note": marking(parts)}, lease_ms=300):
            parts.wait_for(*ids)
        assert sorted(effects(parts)) == sorted(f"effect:{each}" for each in ids)

    @pytest.mark.postgresql
    def test_lost_connections_do_not_end_it(self, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        with empty_store("postgresql", tmp_path, request) as parts:
            ids = [parts.put(max_attempts=50) for _ in range(40)]
            job_kinds = {"note": slow(parts, 0.02)}
            with parts.working(job_kinds, threads=3), psycopg.connect(parts.url, autocommit=True) as connection:
                for count in range(8):
                    eventually(partial(ended, parts, 4 * count))
                    connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                eventually(partial(ended, parts, len(ids)))
            assert sorted(effects(parts)) == sorted(f"effect:{each}" for each in ids)

    @pytest.mark.slow
    def test_a_clock_that_jumps_neither_repeats_nor_delays(self, parts: Parts) -> None:
        """A thousand corrections by up to a day while jobs with and without delay come in."""
        clock = JumpingClock()
        chance = random.Random(5)
        runs: list[int] = []

        def run(job: Job, context: JobContext) -> Done:
            runs.append(job.id)
            context.wait(0.01)
            return Done({}, lambda: mark(parts, job))

        parts.queue._clock = clock
        day = 86_400_000
        with parts.working({"note": JobKind(run)}, clock=clock, lease_ms=2_000, look_s=0.2):
            for turn in range(50):
                for _ in range(20):
                    clock.offset_ms = chance.randrange(-day, day)
                    time.sleep(0.001)
                job_id = parts.put(lane=chance.choice([None, "l"]), delay_ms=chance.choice([0, 20]))
                if turn % 3 == 0:
                    parts.wait_for(job_id)  # a jump that counted would delay it by hours
            eventually(lambda: parts.queue.counts()[COMPLETED] == 50)
        assert len(runs) == len(set(runs)) == 50


def ended(parts: Parts, count: int) -> bool:
    try:
        return parts.queue.counts()[COMPLETED] >= count
    except Unavailable:
        return False


class JumpingClock:
    """The machine's clock, set forward or back at will."""

    offset_ms = 0

    def now_ms(self) -> int:
        return SystemClock().now_ms() + self.offset_ms


class TestSteadyClock:
    @pytest.fixture(autouse=True)
    def standing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("codexmem.kernel.model.ids.monotonic", lambda: 1.0)
        monkeypatch.setattr(SystemClock, "now_ms", lambda _: 1_800_000_000_000)

    def test_follows_drift_and_ignores_jumps(self) -> None:
        clock = JumpingClock()
        steady = QueueClock(clock)
        start = steady.now_ms()
        for offset_ms in (400, -300, 86_400_000, -86_400_000):
            clock.offset_ms = offset_ms
            assert steady.now_ms() == start + 400

    def test_goes_on_from_a_time_that_has_been(self) -> None:
        steady = QueueClock(JumpingClock())
        start = steady.now_ms()
        assert not steady.observe(start - 5)
        assert not steady.observe(start + 500)
        assert steady.observe(start + 60_000)
        assert steady.now_ms() == start + 60_000


def test_progress_tells_a_working_worker_from_a_stalled_one(parts: Parts) -> None:
    hold = threading.Event()
    worker = parts.worker({"note": JobKind(lambda job, context: (hold.wait(20), Done())[1])}, threads=1)
    worker.start()
    try:
        idle = worker.progress()
        assert (idle.running, idle.oldest_ready_age_ms, idle.last_end_age_ms) == (0, None, None)
        first, second = parts.put(), parts.put()
        parts.wait_for(first, status=RUNNING)
        eventually(lambda: (worker.progress().oldest_ready_age_ms or 0) >= 200)
        eventually(lambda: worker.progress().heartbeat_age_ms < 200)  # it has beaten meanwhile
        assert worker.progress().running == 1
        hold.set()
        parts.wait_for(first, second)
        eventually(lambda: worker.progress().running == 0)
        assert worker.progress().last_end_age_ms is not None
    finally:
        hold.set()
        worker.stop()


@pytest.mark.postgresql
def test_each_job_acts_for_its_own_tenant(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with empty_store("postgresql", tmp_path, request) as parts:
        with acting_as("other"):
            theirs = parts.put()
        ours = parts.put()
        with parts.working({"note": marking(parts)}):
            parts.wait_for(ours)
            with acting_as("other"):
                parts.wait_for(theirs)
                assert effects(parts) == [f"effect:{theirs}"]
        assert effects(parts) == [f"effect:{ours}"]
