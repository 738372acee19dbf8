"""Sending the copy in Chroma again: what was lost there comes back, and nothing stale or erased stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.search.copying import OutsideCopy
from codexmem.kernel.store.chroma.vectors import ChromaVectors
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.hybrid import HybridVectors
from tests._support import vectors as support
from tests._support.chroma import ChromaServer
from tests._support.indexing import Indexed


@pytest.fixture
def chroma(database: Database, chroma_server: ChromaServer) -> ChromaVectors:
    return support.chroma(database, chroma_server.url)


@pytest.fixture
def store(database: Database, chroma: ChromaVectors) -> Indexed:
    return Indexed(database, HybridVectors(support.table(database), chroma))


def copy_of(store: Indexed, chroma: Any) -> OutsideCopy:
    return OutsideCopy(chroma, store.backlog, store.embedder)


def versions(chroma: ChromaVectors, *memories: Memory) -> dict[int, int]:
    return chroma.versions("toy", [memory.seq for memory in memories])


def test_what_the_server_has_lost_comes_back(store: Indexed, chroma: ChromaVectors) -> None:
    memories = [store.remember(text) for text in ("alpha beta", "端口 37877", "")]
    store.catch_up()
    while chroma.forget_model("toy", limit=100):
        pass
    assert versions(chroma, *memories) == {}
    copy_of(store, chroma).send(memories, lambda: None)
    assert versions(chroma, *memories) == {memory.seq: 1 for memory in memories[:2]}
    assert not store.indexer.has_work()


def test_it_does_not_claim_what_the_store_itself_lacks(store: Indexed, chroma: ChromaVectors) -> None:
    memory = store.remember("alpha")
    copy_of(store, chroma).send([memory], lambda: None)
    assert versions(chroma, memory) == {memory.seq: 1}
    assert store.indexer.has_work()
    assert store.catch_up().embedded == 1


class Meddled:
    """Chroma, with something that happens right before or after each write."""

    def __init__(self, real: ChromaVectors, *, before: Callable[[], object] = int,
                 after: Callable[[], object] = int) -> None:  # fmt: skip
        self._real = real
        self._before = before
        self._after = after

    def put(self, *given: Any) -> None:
        self._before()
        self._real.put(*given)
        self._after()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_memory_that_changes_meanwhile_is_sent_as_it_is_now(store: Indexed, chroma: ChromaVectors) -> None:
    memory = store.remember("alpha")
    changed: list[Memory] = []

    def change() -> None:
        if not changed:
            changed.append(store.change(memory, "beta"))
            store.catch_up()  # the newer vectors are there before the older ones are sent over them

    copy_of(store, Meddled(chroma, before=change)).send([memory], lambda: None)
    assert versions(chroma, memory) == {memory.seq: 2}


def test_a_memory_that_is_erased_meanwhile_does_not_stay_behind(store: Indexed, chroma: ChromaVectors) -> None:
    memory = store.remember("alpha")
    meddled = Meddled(chroma, after=lambda: store.forget(memory))
    copy_of(store, meddled).send([memory], lambda: None)
    assert versions(chroma, memory) == {memory.seq: 1}
    store.catch_up()
    assert versions(chroma, memory) == {}


def test_without_an_embedder_nothing_can_be_sent(store: Indexed, chroma: ChromaVectors) -> None:
    memory = store.remember("alpha")
    copy = OutsideCopy(chroma, store.backlog, None)
    assert not copy.can_send
    copy.send([memory], lambda: None)
    assert versions(chroma, memory) == {}


def test_it_knows_whether_the_server_answers(sqlite_database: Database) -> None:
    with ChromaServer() as server:
        chroma = support.chroma(sqlite_database, server.url)
        copy = copy_of(Indexed(sqlite_database, chroma), chroma)
        assert copy.silence() is None
        server.stop()
        assert "does not answer" in (copy.silence() or "")
        with pytest.raises(Unavailable):
            chroma.count("toy")
        server.start()
        assert copy.silence() is None
        support.close(server.url)
