"""The services on an opened store, wired as the product wires them, with a clock that tests move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.embed.local import LocalEmbedder
from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.embed.rerank import Reranker
from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.search.finder import Finder
from codexmem.kernel.search.indexer import Indexer
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.services.recall import Recall, SearchTraces
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.store.candidates import SearchCandidates
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.index_backlog import CatchingUp
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.listing import Lists
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.postgres.text import PostgresTextIndex
from codexmem.kernel.store.postgres.vectors import PostgresVectors
from codexmem.kernel.store.receipts import ReceiptTable
from codexmem.kernel.store.sqlite.text import SqliteTextIndex
from codexmem.kernel.store.sqlite.vectors import SqliteVectors
from codexmem.kernel.store.texts import WritableTextIndex
from codexmem.kernel.store.writable_index import WritableVectorIndex
from tests._support.clock import StepClock


@dataclass(frozen=True)
class Services:
    """What a surface would be given."""

    memories: Memories
    history: History
    receipts: Receipts
    events: EventTable
    clock: StepClock
    recall: Recall
    traces: SearchTraces
    indexer: Indexer
    search: Callable[
        [SearchQuery], SearchAnswer
    ]  # with the shipped encoder, as on a server that had a moment to make vectors

    def catch_up(self) -> None:
        """Make the vectors that are missing, as the job does."""
        self.indexer.catch_up(lambda: None)


def queue_of(db: Database, clock: Clock) -> Queue:
    """The jobs of this store."""
    return Queue(db, Jobs(db), Dispatch(db), LocalNotifier(), clock)


def text_index(db: Database) -> WritableTextIndex:
    """The words of this store."""
    return SqliteTextIndex(db) if db.engine.name == "sqlite" else PostgresTextIndex(db)


def vector_table(db: Database) -> WritableVectorIndex:
    """The vectors that lie in the store itself."""
    return SqliteVectors(db) if db.engine.name == "sqlite" else PostgresVectors(db)


def indexer(db: Database, clock: Clock, embedder: Embedder | None = None) -> Indexer:
    """The indexes of this store, wired as the product wires them."""
    return Indexer(db, text_index(db), vector_table(db), CatchingUp(db), VersionTable(db), embedder, clock)


def build(db: Database, *, embedder: Embedder | None = None, vectors: WritableVectorIndex | None = None,
          reranker: Reranker | None = None) -> Services:  # fmt: skip
    """Wire the services on this store; vectors lie in the store itself unless others are given."""
    clock = StepClock()
    text, vectors = text_index(db), vectors or vector_table(db)
    table, lists, versions = MemoryTable(db), Lists(db), VersionTable(db)
    events, receipts = EventTable(db), ReceiptTable(db)
    index = Indexer(db, text, vectors, CatchingUp(db), versions, embedder, clock)
    log = Log(db, events, LocalNotifier(), clock)
    memories = Memories(db, table, lists, versions, index, log, clock)
    history = History(db, memories, table, versions, receipts, index, log, clock)
    traces = SearchTraces(db, log)
    finder = Finder(db, table, versions, SearchCandidates(db), text, vectors, embedder, clock, reranker)
    recall = Recall(finder, traces)

    def caught_up(search: SearchQuery) -> SearchAnswer:
        index.catch_up(lambda: None)
        return recall.search(search)

    return Services(
        memories, history, Receipts(db, receipts, clock), events, clock, recall=recall, traces=traces, indexer=index,
        search=caught_up if isinstance(embedder, LocalEmbedder) else recall.search,
    )  # fmt: skip
