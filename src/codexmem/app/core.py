"""Everything that stands on one open store, and how it is put together: the place that knows every part by name."""

from dataclasses import dataclass

from codexmem import __version__
from codexmem.domain.ids import Clock, SystemClock
from codexmem.embed import choice
from codexmem.embed.model import Embedder
from codexmem.embed.rerank import Reranker
from codexmem.events.live import Live
from codexmem.events.log import Log
from codexmem.events.report import Report
from codexmem.events.retention import Retention
from codexmem.jobs.duty import Duties, Duty
from codexmem.jobs.queue import Queue
from codexmem.jobs.worker import Worker
from codexmem.search.finder import Finder
from codexmem.search.indexer import Indexer
from codexmem.services import housekeeping, indexing
from codexmem.services.history import History
from codexmem.services.housekeeping import Housekeeping
from codexmem.services.indexing import Indexing, Reminder
from codexmem.services.keys import Keys
from codexmem.services.memories import Memories
from codexmem.services.recall import Recall, Traces
from codexmem.services.receipts import Receipts
from codexmem.services.transfer import Transfer
from codexmem.settings import Settings
from codexmem.store import history, memories, receipts
from codexmem.store.backup import Target
from codexmem.store.bell import Bell, LocalBell
from codexmem.store.candidates import Candidates
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.dispatch import Dispatch
from codexmem.store.events import Events
from codexmem.store.hybrid import HybridVectors
from codexmem.store.jobs import Jobs
from codexmem.store.keeping import KeptVectors
from codexmem.store.listing import Lists
from codexmem.store.opening import open_database
from codexmem.store.texts import KeptTextIndex


@dataclass(frozen=True, slots=True)
class Core:
    """Everything that stands on one open store."""

    db: Database
    bell: Bell
    log: Log
    live: Live
    report: Report
    queue: Queue
    memories: Memories
    history: History
    recall: Recall
    traces: Traces
    indexer: Indexer
    indexing: Indexing
    reminder: Reminder
    receipts: Receipts
    keys: Keys
    housekeeping: Housekeeping
    worker: Worker

    def begin(self, *, work: bool = True) -> None:
        """Notice indexes that lag behind and, if this process is to work, run what is queued."""
        self.reminder.start(self.indexing.wake)
        if work:
            self.worker.start()

    def stop(self, grace_s: float) -> None:
        """Let what runs come to its end."""
        self.reminder.stop()
        self.worker.stop(grace_s)

    def close(self) -> None:
        """Give back the store; what was begun has been stopped."""
        self.traces.close()
        self.indexer.close()
        self.bell.close()
        self.db.close()


def handlers(chores: Housekeeping, indexes: Indexing) -> Duties:
    """Every kind of job there is, and the function that runs it."""
    return {
        indexing.CATCH_UP: Duty(indexes.catch_up, timeout_s=indexing.TIMEOUT_S),
        housekeeping.FADE_EVENTS: Duty(chores.fade_events),
        housekeeping.PRUNE_RECEIPTS: Duty(chores.prune_receipts),
        housekeeping.PRUNE_JOBS: Duty(chores.prune_jobs),
    }


def open_core(settings: Settings, clock: Clock | None = None) -> Core:
    """Open the store and build everything on it; nothing runs yet."""
    clock = clock or SystemClock()
    target = Target(settings.database_url, settings.pg_bin_dir)
    transfer = Transfer(target, settings.data_dir, clock, version=__version__)
    transfer.before_upgrade()
    db = open_database(settings.database_url, pool_size=settings.pool_size)
    try:
        transfer.clear_leftovers()
        return _build(db, settings, clock)
    except BaseException:
        db.close()
        raise


def _build(db: Database, settings: Settings, clock: Clock) -> Core:
    bell: Bell = LocalBell()
    if settings.on_postgres:
        from codexmem.store.postgres.bell import PostgresBell

        bell = PostgresBell(settings.database_url)
    events, jobs, dispatch = Events(db), Jobs(db), Dispatch(db)
    table, versions, answers = memories.Memories(db), history.Versions(db), receipts.Receipts(db)
    text, vectors, embedder = text_index(db), vector_index(db, settings), embedder_of(settings)
    finder = Finder(db, table, versions, Candidates(db), text, vectors, embedder, clock, reranker_of(settings))
    book = Log(db, events, bell, clock)
    queue = Queue(db, jobs, dispatch, bell, clock)
    reminder, traces = Reminder(), Traces(db, book)
    indexer = Indexer(db, text, vectors, CatchingUp(db), versions, embedder, clock, remind=reminder.remind)
    indexes = Indexing(db, indexer, queue, reminder)
    remembering = Memories(db, table, Lists(db), versions, indexer, book, clock)
    once = Receipts(db, answers, clock)
    chores = Housekeeping(queue, clock, Retention(events, clock).prune, lambda limit: once.prune(limit=limit))
    worker = Worker(
        db, jobs, dispatch, book, bell, clock, handlers(chores, indexes), threads=settings.worker_threads
    )  # fmt: skip
    return Core(
        db=db, bell=bell, log=book, live=Live(db, events, bell), report=Report(events), queue=queue,
        memories=remembering, receipts=once, keys=Keys(db, book.append, clock), housekeeping=chores, worker=worker,
        history=History(db, remembering, table, versions, answers, indexer, book, clock),
        recall=Recall(finder, traces), traces=traces, indexer=indexer, indexing=indexes, reminder=reminder,
    )  # fmt: skip


def text_index(db: Database) -> KeptTextIndex:
    """The words of a store, in its own engine."""
    if db.engine.name == "sqlite":
        from codexmem.store.sqlite.text import SqliteTextIndex

        return SqliteTextIndex(db)
    from codexmem.store.postgres.text import PostgresTextIndex

    return PostgresTextIndex(db)


def vector_index(db: Database, settings: Settings) -> KeptVectors:
    """The vectors of a store: in its engine, outside, or in both."""
    own: KeptVectors
    if db.engine.name == "sqlite":
        from codexmem.store.sqlite.vectors import SqliteVectors

        own = SqliteVectors(db)
    else:
        from codexmem.store.postgres.vectors import PostgresVectors

        own = PostgresVectors(db)
    if settings.vector_backend == "sqlite":
        return own
    from codexmem.store.chroma.client import ChromaClient
    from codexmem.store.chroma.vectors import ChromaVectors

    chroma = ChromaVectors(db, ChromaClient(settings.chroma_url), settings.chroma_collection)
    return chroma if settings.vector_backend == "chroma" else HybridVectors(own, chroma)


def embedder_of(settings: Settings) -> Embedder | None:
    """What turns texts into vectors; None where search goes by words alone."""
    return choice.choose(choice.Wish(
        settings.embedder, settings.embedder_threads, settings.openai_embedding_model,
        settings.openai_embedding_base_url or settings.openai_base_url,
        settings.openai_embedding_api_key or settings.openai_api_key,
    ))  # fmt: skip


def reranker_of(settings: Settings) -> Reranker | None:
    """What looks at the best results a second time; None unless one is configured."""
    return choice.choose_reranker(choice.RerankWish(
        settings.reranker, settings.embedder_threads, settings.rerank_url, settings.rerank_model,
        settings.rerank_api_key, settings.rerank_depth,
    ))  # fmt: skip
