"""Upkeep: the state of the indexes, the model's quality, failed jobs that run again, a copy that is sent again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.model.job import JobStatus, NewJob
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.search.copying import OutsideCopy
from codexmem.kernel.store.chroma.vectors import ChromaVectors
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.hybrid import HybridVectors
from codexmem.kernel.store.index_backlog import CatchingUp
from codexmem.kernel.store.tallies import Tallies
from codexmem.kernel.store.writable_index import WritableVectorIndex
from codexmem.operations.service import upkeep as upkeep_module
from codexmem.operations.service.upkeep import NotSent, ResentVectors, StoreUpkeep
from tests._support import vectors as support
from tests._support.chroma import ChromaServer
from tests._support.searching import Searched
from tests._support.toy_embedder import ToyEmbedder
from tests.jobs.stores import Parts, empty_store

CAPTURED = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})


@dataclass
class Looked:
    """A store that is looked after."""

    parts: Parts
    store: Searched
    vectors: WritableVectorIndex
    upkeep: StoreUpkeep
    tallies: Tallies

    def fail(self, count: int = 1, **fields: object) -> list[int]:
        """Jobs that have failed for good."""
        numbers = [self.parts.put(f"kind-{number}", **fields) for number in range(count)]
        for job in self.parts.claim(limit=count, now_ms=2**50):
            assert self.parts.end(job, JobStatus.FAILED)
        return numbers


def looked(parts: Parts, embedder: ToyEmbedder | None, chroma: ChromaVectors | None, *, beside: bool = True) -> Looked:
    own: WritableVectorIndex = support.table(parts.db)
    vectors = own if chroma is None else HybridVectors(own, chroma) if beside else chroma
    store = Searched(parts.db, embedder=embedder, vectors=vectors)
    copy = OutsideCopy(chroma, CatchingUp(parts.db), embedder) if chroma is not None else None
    tallies = Tallies(parts.db)
    upkeep = StoreUpkeep(parts.db.engine.name, store.real.indexer, copy, tallies, parts.queue, store.real.memories)
    return Looked(parts, store, vectors, upkeep, tallies)


@pytest.fixture
def parts(database: Database) -> Iterator[Parts]:
    """A tenant of its own."""
    parts = Parts.of("", database)
    yield parts
    parts.notifier.close()


@pytest.fixture
def plain(parts: Parts) -> Looked:
    return looked(parts, ToyEmbedder(), None)


@pytest.fixture
def queue(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Looked]:
    """A database of its own: workers see the jobs of all tenants."""
    with empty_store(engine_name, tmp_path, request) as parts:
        yield looked(parts, None, None)


@pytest.fixture
def copied(parts: Parts, chroma_server: ChromaServer) -> Looked:
    return looked(parts, ToyEmbedder(), support.chroma(parts.db, chroma_server.url))


def write(looked: Looked, count: int = 1, kind: Kind = Kind.OBSERVATION, project: str = "shop") -> list[int]:
    return [looked.store.write(f"记忆 {number}", kind=kind, project=project).seq for number in range(count)]


def test_the_state_of_the_stores_own_index(plain: Looked) -> None:
    write(plain, 3)
    state = plain.upkeep.index_state()
    assert (state.status.backend, state.outside, state.silence) == (state.engine, False, None)
    assert (state.status.indexed[state.engine], state.status.waiting) == (0, 3)
    plain.store.real.catch_up()
    state = plain.upkeep.index_state()
    assert (state.status.indexed[state.engine], state.status.waiting, state.status.complete) == (3, 0, True)


def test_the_state_beside_chroma_and_while_it_is_down(parts: Parts) -> None:
    with ChromaServer() as server:
        both = looked(parts, ToyEmbedder(), support.chroma(parts.db, server.url))
        write(both, 2)
        both.store.real.catch_up()
        state = both.upkeep.index_state()
        assert state.status.indexed == {state.engine: 2, "chroma": 2}
        assert (state.outside, state.silence) == (True, None)
        server.stop()
        state = both.upkeep.index_state()
        assert state.status.indexed == {state.engine: 2, "chroma": None}
        assert "does not answer" in (state.silence or "")
        support.close(server.url)


def test_whether_chroma_answers_is_known_without_an_embedder_too(parts: Parts, chroma_server: ChromaServer) -> None:
    state = looked(parts, None, support.chroma(parts.db, chroma_server.url)).upkeep.index_state()
    assert (state.status.model, state.status.indexed, state.outside, state.silence) == (None, {}, True, None)


def test_the_models_quality_is_counted_and_can_begin_again(plain: Looked) -> None:
    plain.tallies.add({"agent.observation.success": 3, "agent.observation.parse_fail": 1, "agent.summary.success": 2})
    plain.tallies.add({"agent.observation.success": 4, "tokens.2026-01-01": 9})
    metrics = plain.upkeep.agent_metrics()
    assert metrics == {
        "observation": {"success": 7, "parse_fail": 1, "schema_fail": 0, "repair_fail": 0, "fallback_used": 0},
        "summary": {"success": 2, "parse_fail": 0, "schema_fail": 0, "repair_fail": 0, "fallback_used": 0},
    }
    plain.upkeep.reset_agent_metrics()
    assert {count for each in plain.upkeep.agent_metrics().values() for count in each.values()} == {0}
    assert plain.tallies.get("tokens.2026-01-01") == 9


def test_failed_jobs_run_again_each_once(queue: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    queue.fail(7)
    monkeypatch.setattr(upkeep_module, "_RETRY_STEP", 3)
    retried = queue.upkeep.retry_failed()
    assert (retried.count, retried.more) == (7, False)
    assert queue.parts.queue.counts()[JobStatus.QUEUED] == 7
    assert queue.upkeep.retry_failed().count == 0


def test_a_job_that_fails_again_meanwhile_has_had_its_turn(queue: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    queue.fail(4)
    monkeypatch.setattr(upkeep_module, "_RETRY_STEP", 2)
    step = queue.parts.queue.retry_step

    def failing(after: int, **options: object) -> tuple[int, int | None]:
        taken = step(after, **options)  # type: ignore[arg-type]
        for job in queue.parts.claim(now_ms=2**50):
            queue.parts.end(job, JobStatus.FAILED)
        return taken

    monkeypatch.setattr(queue.parts.queue, "retry_step", failing)
    assert queue.upkeep.retry_failed().count == 4
    assert queue.parts.queue.counts()[JobStatus.FAILED] == 4


def test_only_the_jobs_of_one_session(queue: Looked) -> None:
    queue.fail(2, subject="session:1")
    queue.fail(3, subject="session:12")
    assert queue.upkeep.retry_failed(12).count == 3
    assert queue.upkeep.retry_failed(99).count == 0
    assert queue.parts.queue.counts()[JobStatus.FAILED] == 2


def test_what_takes_too_long_says_that_there_is_more(queue: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(0, 10_000, 15))
    queue.upkeep._now_s = lambda: float(next(seconds))
    queue.fail(6)
    monkeypatch.setattr(upkeep_module, "_RETRY_STEP", 2)
    retried = queue.upkeep.retry_failed()
    assert (retried.count, retried.more) == (4, True)


def test_a_twin_that_waits_already_is_not_doubled(queue: Looked) -> None:
    queue.fail(1, dedupe_key="same")
    queue.parts.queue.enqueue(NewJob("kind-0", {}, dedupe_key="same"))
    assert queue.upkeep.retry_failed().count == 0


def test_without_chroma_or_an_embedder_none_is_sent(plain: Looked, parts: Parts, chroma_server: ChromaServer) -> None:
    write(plain)
    assert isinstance(plain.upkeep.send_again(CAPTURED), NotSent)
    words_only = looked(parts, None, support.chroma(parts.db, chroma_server.url))
    assert isinstance(words_only.upkeep.send_again(CAPTURED), NotSent)


def test_vectors_are_sent_again_and_counted_by_kind(copied: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep_module, "_SEND_STEP", 2)
    seqs = write(copied, 3) + write(copied, 1, Kind.SUMMARY) + write(copied, 2, Kind.PROMPT)
    others = write(copied, 1, Kind.NOTE) + write(copied, 1, project="other")
    assert isinstance(copied.vectors, HybridVectors)
    chroma = copied.vectors.indexes[1]
    sent = copied.upkeep.send_again(CAPTURED, project="shop")
    assert isinstance(sent, ResentVectors)
    assert (sent.counts, sent.after) == ({Kind.OBSERVATION: 3, Kind.SUMMARY: 1, Kind.PROMPT: 2}, None)
    assert set(chroma.versions("toy", seqs + others)) == set(seqs)


def test_sending_goes_on_where_it_ended(copied: Looked) -> None:
    seqs = write(copied, 5)
    assert isinstance(copied.vectors, HybridVectors)
    chroma = copied.vectors.indexes[1]
    first = copied.upkeep.send_again(CAPTURED, limit=3)
    assert isinstance(first, ResentVectors)
    assert set(chroma.versions("toy", seqs)) == set(seqs[2:])
    rest = copied.upkeep.send_again(CAPTURED, limit=3, after=first.after)
    assert isinstance(rest, ResentVectors)
    assert (rest.counts[Kind.OBSERVATION], rest.after) == (2, None)
    assert set(chroma.versions("toy", seqs)) == set(seqs)


def test_a_server_that_is_down_is_an_error_and_not_a_success(parts: Parts) -> None:
    with ChromaServer() as server:
        copied = looked(parts, ToyEmbedder(), support.chroma(parts.db, server.url))
        write(copied)
        server.stop()
        with pytest.raises(Unavailable):
            copied.upkeep.send_again(CAPTURED)
        support.close(server.url)


@pytest.mark.parametrize("limit", [0, 10_001])
def test_sending_is_bounded(copied: Looked, limit: int) -> None:
    with pytest.raises(InvalidArgument):
        copied.upkeep.send_again(CAPTURED, limit=limit)
