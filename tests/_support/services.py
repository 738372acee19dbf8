"""The services on an opened store, wired as the product wires them, with a clock that tests move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.domain.ids import Clock
from codexmem.domain.search import Answer, Search
from codexmem.embed.local import LocalEmbedder
from codexmem.embed.model import Embedder
from codexmem.embed.rerank import Reranker
from codexmem.events.log import Log
from codexmem.search.finder import Finder
from codexmem.search.indexer import Indexer
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.recall import Recall, Traces
from codexmem.services.receipts import Receipts
from codexmem.store.bell import LocalBell
from codexmem.store.candidates import Candidates
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.events import Events
from codexmem.store.history import Versions
from codexmem.store.keeping import KeptVectors
from codexmem.store.listing import Lists
from codexmem.store.memories import Memories as MemoryTable
from codexmem.store.postgres.text import PostgresTextIndex
from codexmem.store.postgres.vectors import PostgresVectors
from codexmem.store.receipts import Receipts as ReceiptTable
from codexmem.store.sqlite.text import SqliteTextIndex
from codexmem.store.sqlite.vectors import SqliteVectors
from codexmem.store.texts import KeptTextIndex
from tests._support.clock import StepClock


@dataclass(frozen=True)
class Services:
    """What a surface would be given."""

    memories: Memories
    history: History
    receipts: Receipts
    events: Events
    clock: StepClock
    recall: Recall
    traces: Traces
    indexer: Indexer
    search: Callable[[Search], Answer]  # with the shipped encoder, as on a server that had a moment to make vectors

    def catch_up(self) -> None:
        """Make the vectors that are missing, as the job does."""
        self.indexer.catch_up(lambda: None)


def text_index(db: Database) -> KeptTextIndex:
    """The words of this store."""
    return SqliteTextIndex(db) if db.engine.name == "sqlite" else PostgresTextIndex(db)


def vector_table(db: Database) -> KeptVectors:
    """The vectors that lie in the store itself."""
    return SqliteVectors(db) if db.engine.name == "sqlite" else PostgresVectors(db)


def indexer(db: Database, clock: Clock, embedder: Embedder | None = None) -> Indexer:
    """The indexes of this store, wired as the product wires them."""
    return Indexer(db, text_index(db), vector_table(db), CatchingUp(db), Versions(db), embedder, clock)


def build(db: Database, *, embedder: Embedder | None = None, vectors: KeptVectors | None = None,
          reranker: Reranker | None = None) -> Services:  # fmt: skip
    """Wire the services on this store; vectors lie in the store itself unless others are given."""
    clock = StepClock()
    text, vectors = text_index(db), vectors or vector_table(db)
    table, lists, versions = MemoryTable(db), Lists(db), Versions(db)
    events, receipts = Events(db), ReceiptTable(db)
    index = Indexer(db, text, vectors, CatchingUp(db), versions, embedder, clock)
    log = Log(db, events, LocalBell(), clock)
    memories = Memories(db, table, lists, versions, index, log, clock)
    history = History(db, memories, table, versions, receipts, index, log, clock)
    traces = Traces(db, log)
    finder = Finder(db, table, versions, Candidates(db), text, vectors, embedder, clock, reranker)
    recall = Recall(finder, traces)

    def caught_up(search: Search) -> Answer:
        index.catch_up(lambda: None)
        return recall.search(search)

    return Services(
        memories, history, Receipts(db, receipts, clock), events, clock, recall=recall, traces=traces, indexer=index,
        search=caught_up if isinstance(embedder, LocalEmbedder) else recall.search,
    )  # fmt: skip
