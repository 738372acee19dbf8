"""Keeping indexes true to the rows: what waits, a change of model, forgetting, and going on while things are down."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.model.query import Filter
from codexmem.kernel.search import tokens
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.schema import metadata
from tests._support import vectors as support
from tests._support.chroma import ChromaServer
from tests._support.indexing import Indexed
from tests._support.toy_embedder import ToyEmbedder

NOTES = Filter(frozenset({Kind.NOTE}))


@pytest.fixture(params=["table", "chroma", "hybrid"])
def store(request: pytest.FixtureRequest, database: Database, chroma_server: ChromaServer) -> Indexed:
    return Indexed(database, support.build(request.param, database, chroma_server.url))


@pytest.fixture
def in_table(database: Database) -> Indexed:
    return Indexed(database, support.table(database))


def toy(store: Indexed) -> ToyEmbedder:
    assert isinstance(store.embedder, ToyEmbedder)
    return store.embedder


def by_meaning(store: Indexed, text: str) -> list[int]:
    embedder = toy(store)
    return [hit.seq for hit in store.vectors.find(embedder.model, embedder.query(text), NOTES, limit=5)]


def by_words(store: Indexed, text: str) -> list[int]:
    return [hit.seq for hit in store.text.find(tokens.terms(text), NOTES, limit=5)]


def rows_about(db: Database, memory: Memory) -> dict[str, int]:
    """In how many rows of each table the memory's number stands."""
    found: dict[str, int] = {}
    with db.reading() as tx:
        for table in metadata.tables.values():
            if "seq" in table.c and table.name not in {"events", "vector_debts"}:
                count = sa.select(sa.func.count()).where(table.c.tenant == tx.tenant, table.c.seq == memory.seq)
                found[table.name] = int(tx.connection.execute(count).scalar_one())
    return {name: count for name, count in found.items() if count}


def test_words_are_found_at_once_and_meaning_after_catching_up(store: Indexed) -> None:
    memory = store.remember("write ahead log survives a crash", title="Durability")
    other = store.remember("the weather in hamburg")
    assert by_words(store, "durability") == [memory.seq]
    assert by_words(store, "crash") == [memory.seq]
    assert by_meaning(store, "ahead log crash") == []
    assert len(store.reminded) == 2
    assert store.indexer.has_work()
    caught = store.catch_up()
    assert (caught.embedded, caught.refused) == (2, 0)
    assert by_meaning(store, "ahead log crash")[0] == memory.seq
    assert not store.indexer.has_work()
    assert store.catch_up().embedded == 0
    assert set(by_meaning(store, "x")) == {memory.seq, other.seq}


def test_a_change_is_embedded_again_and_only_what_changed(store: Indexed) -> None:
    memory, _ = store.remember("alpha beta"), store.remember("gamma delta")
    store.catch_up()
    toy(store).embedded.clear()
    store.change(memory, "epsilon zeta")
    assert store.indexer.has_work()
    assert store.catch_up().embedded == 1
    assert toy(store).embedded == ["epsilon zeta"]
    assert by_meaning(store, "epsilon zeta")[0] == memory.seq
    assert store.indexer.status().waiting == 0


def test_a_write_during_the_work_is_not_lost(in_table: Indexed) -> None:
    in_table.catch_up()
    memory = in_table.remember("alpha beta")
    embedder = toy(in_table)
    plain = embedder.passages

    def meanwhile(texts: Any) -> list[bytes]:
        embedder.passages = plain  # type: ignore[method-assign]
        in_table.change(memory, "gamma delta")
        return plain(texts)

    embedder.passages = meanwhile  # type: ignore[method-assign]
    in_table.catch_up()
    assert in_table.indexer.has_work()
    in_table.catch_up()
    assert not in_table.indexer.has_work()
    assert in_table.vectors.versions(embedder.model, [memory.seq]) == {memory.seq: 2}


def test_forgetting_leaves_nothing_behind_in_any_index(store: Indexed) -> None:
    gone, kept = store.remember("alpha beta"), store.remember("alpha gamma")
    store.catch_up()
    gone = store.change(gone, "alpha delta")
    store.catch_up()
    store.forget(gone)
    store.catch_up()
    assert rows_about(store.db, gone) == {}
    assert (by_words(store, "alpha"), by_meaning(store, "alpha")) == ([kept.seq], [kept.seq])
    assert store.vectors.near("toy", toy(store).query("alpha"), [gone.seq]) == {}
    assert store.vectors.count("toy") == 1
    assert not store.indexer.has_work()


def test_what_is_forgotten_while_it_is_embedded_leaves_nothing(store: Indexed) -> None:
    memory = store.remember("alpha beta")
    embedder = toy(store)
    plain = embedder.passages

    def meanwhile(texts: Any) -> list[bytes]:
        embedder.passages = plain  # type: ignore[method-assign]
        store.forget(memory)
        return plain(texts)

    embedder.passages = meanwhile  # type: ignore[method-assign]
    store.catch_up()
    store.catch_up()
    assert (rows_about(store.db, memory), store.vectors.count("toy")) == ({}, 0)
    assert not store.indexer.has_work()


def test_a_new_model_is_filled_in_and_the_old_one_goes_when_it_is_complete(store: Indexed) -> None:
    memories = [store.remember(f"number{n} alpha") for n in range(5)]
    store.catch_up()
    newer = ToyEmbedder("toy-2", dimension=64)
    store.embedder = newer
    assert store.indexer.has_work()
    status = store.indexer.status()
    assert (status.model, status.complete, status.former) == ("toy-2", False, ("toy",))
    newer.fails = Unavailable("down")
    with pytest.raises(Unavailable):
        store.catch_up()
    assert store.vectors.count("toy") == 5  # still there while the new one is not complete
    newer.fails = None
    caught = store.catch_up()
    assert caught.embedded == 5
    assert (store.vectors.count("toy"), store.vectors.count("toy-2")) == (0, 5)
    status = store.indexer.status()
    assert (status.complete, status.former, status.waiting, status.dimension) == (True, (), 0, 64)
    assert by_meaning(store, "number3 alpha")[0] == memories[3].seq
    assert not store.indexer.has_work()


def test_changing_back_before_it_was_complete_embeds_only_what_changed(in_table: Indexed) -> None:
    memories = [in_table.remember(f"number{n}") for n in range(4)]
    in_table.catch_up()
    first = in_table.embedder
    in_table.embedder = ToyEmbedder("toy-2")
    in_table.embedder.fails = Unavailable("down")
    with pytest.raises(Unavailable):
        in_table.catch_up()
    in_table.change(memories[1], "changed")
    in_table.embedder = first
    toy(in_table).embedded.clear()
    in_table.catch_up()
    assert toy(in_table).embedded == ["changed"]
    assert not in_table.indexer.has_work()


def test_the_walk_goes_on_where_it_stopped(in_table: Indexed) -> None:
    for number in range(120):
        in_table.remember(f"number{number}")
    in_table.catch_up()
    newer = ToyEmbedder("toy-2", batch=10)
    in_table.embedder = newer
    steps = iter(range(7))

    class Stop(Exception):
        pass

    def proceed() -> None:
        if next(steps, None) is None:
            raise Stop

    with pytest.raises(Stop):
        in_table.indexer.catch_up(proceed)
    done = len(newer.embedded)
    assert 0 < done < 120
    in_table.catch_up()
    assert len(newer.embedded) == 120
    assert in_table.vectors.count("toy-2") == 120


def test_rebuilding_makes_everything_anew_while_the_old_serves(store: Indexed) -> None:
    memory = store.remember("alpha beta")
    store.catch_up()
    toy(store).embedded.clear()
    store.indexer.rebuild()
    assert store.indexer.has_work()
    assert by_meaning(store, "alpha") == [memory.seq]
    assert store.catch_up().embedded == 1
    assert toy(store).embedded == ["alpha beta"]
    assert not store.indexer.has_work()


def test_without_an_embedder_words_work_and_nothing_waits_for_ever(in_table: Indexed) -> None:
    in_table.embedder = None
    memory = in_table.remember("alpha beta")
    in_table.catch_up()
    assert by_words(in_table, "alpha") == [memory.seq]
    assert not in_table.indexer.has_work()
    status = in_table.indexer.status()
    assert (status.model, status.indexed, status.waiting) == (None, {}, 1)
    in_table.embedder = ToyEmbedder()
    assert in_table.indexer.has_work()
    assert in_table.catch_up().embedded == 1


def test_a_text_that_cannot_be_embedded_does_not_hold_up_the_rest(in_table: Indexed) -> None:
    in_table.catch_up()
    toy(in_table).poison = "venom"
    bad, good = in_table.remember("venom inside"), in_table.remember("alpha")
    caught = in_table.catch_up()
    assert (caught.embedded, caught.refused) == (1, 1)
    assert by_meaning(in_table, "alpha") == [good.seq]
    assert by_words(in_table, "venom") == [bad.seq]
    assert not in_table.indexer.has_work()


def test_an_embedder_that_refuses_everything_is_broken_and_nothing_is_passed_over(in_table: Indexed) -> None:
    toy(in_table).poison = "m"  # also in the text it is tried with
    in_table.remember("some memory")
    with pytest.raises(Unavailable, match="refuses every text"):
        in_table.catch_up()
    toy(in_table).poison = ""
    assert in_table.catch_up().embedded == 1


def test_memories_from_before_the_index_get_their_words_and_their_past(in_table: Indexed) -> None:
    memory = in_table.remember("ancient text")
    memory = in_table.change(memory, "modern text")
    in_table.text.drop([memory.seq])
    assert by_words(in_table, "modern") == []
    caught = in_table.catch_up()
    assert caught.worded == 1
    assert by_words(in_table, "modern") == [memory.seq]
    past = in_table.text.find_past(tokens.terms("ancient"), NOTES, memory.created_ms, limit=5)
    assert [(each.seq, each.version) for each in past] == [(memory.seq, 1)]


def test_an_empty_memory_has_no_vectors_and_does_not_wait(store: Indexed) -> None:
    store.remember("")
    store.catch_up()
    assert not store.indexer.has_work()
    assert store.vectors.count("toy") == 0


def test_moving_to_another_index_fills_it(database: Database, chroma_server: ChromaServer) -> None:
    store = Indexed(database, support.table(database))
    memory = store.remember("alpha")
    store.catch_up()
    store.vectors = support.build("hybrid", database, chroma_server.url)
    assert store.indexer.has_work()
    assert store.catch_up().embedded == 1
    assert store.indexer.status().indexed == {database.engine.name: 1, "chroma": 1}
    assert by_meaning(store, "alpha") == [memory.seq]
    assert not store.indexer.has_work()


def test_what_is_forgotten_while_chroma_is_down_is_removed_when_it_is_back(sqlite_database: Database) -> None:
    with ChromaServer() as server:
        chroma = support.chroma(sqlite_database, server.url)
        store = Indexed(sqlite_database, chroma)
        gone, kept = store.remember("alpha beta"), store.remember("alpha gamma")
        store.catch_up()
        server.stop()
        store.forget(gone)
        added = store.remember("alpha delta")  # writing does not need it either
        with pytest.raises(Unavailable):
            store.catch_up()
        with pytest.raises(Unavailable):
            by_meaning(store, "alpha")
        assert by_words(store, "alpha") != []
        status = store.indexer.status()
        assert status.indexed == {"chroma": None}
        assert status.notes
        hybrid = Indexed(sqlite_database, support.build("hybrid", sqlite_database, server.url))
        assert by_meaning(hybrid, "alpha") == []  # the other index answers alone
        server.start()
        assert store.indexer.has_work()
        store.catch_up()
        assert set(by_meaning(store, "alpha")) == {kept.seq, added.seq}
        assert chroma.near("toy", toy(store).query("alpha"), [gone.seq]) == {}
        assert not store.indexer.has_work()
        support.close(server.url)
