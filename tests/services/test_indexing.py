"""The catch-up job: one for a burst of writes, none overlooked, retried while a server is down, polite when stopped."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from codexmem.kernel.embed.openai import OpenAIEmbedder
from codexmem.kernel.jobs.job_kind import JobKind, JobKinds
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter
from codexmem.kernel.services.indexing import CATCH_UP, Indexing, Reminder
from codexmem.kernel.store.database import acting_as
from tests._support import vectors as support
from tests._support.embedding_server import EmbeddingServer
from tests._support.indexing import Indexed
from tests._support.toy_embedder import ToyEmbedder
from tests._support.waiting import eventually
from tests.jobs.stores import TENANT, Parts, empty_store

_OURS = ("memories", "memory_terms", "text_changes", "text_counts", "vector_targets", "vector_debts")
NOTES = Filter(frozenset({Kind.NOTE}))


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store(engine_name, tmp_path, request) as made:
        if engine_name == "postgresql":  # a database of the queue's own, of which only the queue was emptied
            with psycopg.connect(made.url, autocommit=True) as connection:
                connection.execute(f"TRUNCATE {', '.join(_OURS)} CASCADE")
        yield made


class Wired:
    """The indexer with its job, as the product wires them."""

    def __init__(self, parts: Parts, **options: float) -> None:
        self.parts = parts
        self.reminder = Reminder(gather_s=0.02, sweep_s=options.pop("sweep_s", 60.0))
        self.store = Indexed(parts.db, support.table(parts.db), ToyEmbedder())
        self.store.remind = self.reminder.remind
        self.indexing = Indexing(parts.db, self.store.indexer, parts.queue, self.reminder, **options)
        self.job_kinds: JobKinds = {CATCH_UP: JobKind(self.indexing.catch_up)}

    def jobs(self, status: JobStatus) -> int:
        return self.parts.queue.counts()[status]

    def __enter__(self) -> Wired:
        self.reminder.start(self.indexing.wake)
        return self

    def __exit__(self, *_: object) -> None:
        self.reminder.stop()


def test_a_burst_of_writes_is_one_job(parts: Parts) -> None:
    wired = Wired(parts)
    for number in range(50):
        wired.store.remember(f"number{number}")
    assert wired.jobs(JobStatus.QUEUED) == 0  # a write only leaves a note
    woken: list[str] = []
    wired.reminder.start(wired.indexing.wake, woken.append)
    eventually(lambda: woken)
    assert wired.jobs(JobStatus.QUEUED) == 1
    wired.store.remember("one more")
    eventually(lambda: len(woken) > 1)
    assert wired.jobs(JobStatus.QUEUED) == 1
    wired.reminder.stop()


def test_every_write_is_caught_up_with_while_writers_and_worker_race(parts: Parts) -> None:
    with Wired(parts) as wired, parts.working(wired.job_kinds, look_s=0.05):

        def write(name: str) -> None:
            with acting_as(TENANT):
                for number in range(25):
                    wired.store.remember(f"{name} number{number}")

        threads = [threading.Thread(target=write, args=(f"writer{n}",)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        eventually(lambda: wired.store.vectors.count("toy") == 75)
        eventually(lambda: not wired.store.indexer.has_work())
        eventually(lambda: wired.jobs(JobStatus.RUNNING) + wired.jobs(JobStatus.QUEUED) == 0)
    assert wired.jobs(JobStatus.FAILED) == 0


def test_a_forgotten_note_is_made_up_for_by_the_next_look(parts: Parts) -> None:
    with Wired(parts, sweep_s=0.2) as wired, parts.working(wired.job_kinds):
        wired.indexing.begin()
        eventually(lambda: wired.jobs(JobStatus.COMPLETED) >= 1)
        wired.store.remind = lambda _: None  # as if the process had died after the commit
        wired.store.remember("alpha")
        eventually(lambda: wired.store.vectors.count("toy") == 1)


def test_a_round_that_runs_out_of_time_is_followed_by_another(parts: Parts) -> None:
    with Wired(parts, round_s=0.0) as wired:
        for number in range(30):
            wired.store.remember(f"number{number}")
        wired.indexing._round_s = 0.05
        with parts.working(wired.job_kinds):
            eventually(lambda: wired.store.vectors.count("toy") == 30)


def test_a_job_is_retried_while_the_embedding_server_is_down(parts: Parts) -> None:
    with EmbeddingServer() as server:
        server.script = lambda _: (503, {})
        wired = Wired(parts)
        embedder = OpenAIEmbedder("small", base_url=server.url, passages_s=2.0)
        wired.store.embedder = embedder
        wired.indexing = Indexing(parts.db, wired.store.indexer, parts.queue, wired.reminder)
        wired.job_kinds = {CATCH_UP: JobKind(wired.indexing.catch_up)}
        with wired, parts.working(wired.job_kinds):
            memory = wired.store.remember("alpha beta")
            eventually(lambda: any(job.error for job in parts.queue.list(JobStatus.QUEUED)))
            (job,) = parts.queue.list(JobStatus.QUEUED)
            assert (job.kind, job.error_class) == (CATCH_UP, "transient")
            assert wired.indexing.status().waiting == 1
            server.script = lambda _: None
            eventually(lambda: wired.store.vectors.count(embedder.model) == 1)
        hits = wired.store.vectors.find(embedder.model, embedder.query("alpha"), NOTES, limit=3)
        assert [hit.seq for hit in hits] == [memory.seq]


@pytest.mark.slow
def test_a_stopping_worker_gives_the_job_back_between_batches(parts: Parts) -> None:
    with Wired(parts) as wired:
        embedder = wired.store.embedder
        assert isinstance(embedder, ToyEmbedder)
        plain, begun = embedder.passages, threading.Event()
        batches = itertools.count(1)

        def slow(texts: list[str]) -> list[bytes]:
            if next(batches) == 2:
                begun.set()
                eventually(lambda: all(each.reason for each in worker._held()))
            return plain(texts)

        embedder.passages = slow  # type: ignore[assignment, method-assign]
        for number in range(400):
            wired.store.remember(f"number{number}")
        worker = parts.worker(wired.job_kinds)
        worker.start()
        assert begun.wait(60)
        worker.stop(grace_s=2.0)
        assert 0 < wired.store.vectors.count("toy") < 400
        (job,) = parts.queue.list(JobStatus.QUEUED)
        assert (job.kind, job.attempts) == (CATCH_UP, 0)
