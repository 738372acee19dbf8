"""Everything that stands on one open store, and how it is put together: the place that knows every part by name."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codexmem import __version__
from codexmem.app.answering import wish_of
from codexmem.app.asking import qa_of
from codexmem.app.banking import Remembering
from codexmem.app.knowing import knowledge_of
from codexmem.app.lab import Lab, lab_of
from codexmem.app.noting import notes_of
from codexmem.app.operating import ground_of, operations_of
from codexmem.clients import starting
from codexmem.domain import redaction
from codexmem.domain.ids import Clock, SystemClock
from codexmem.embed import choice
from codexmem.embed.model import Embedder
from codexmem.embed.rerank import Reranker
from codexmem.events.live import Live
from codexmem.events.log import Log
from codexmem.events.report import Report
from codexmem.events.retention import Retention
from codexmem.events.review import Review
from codexmem.jobs.duty import Duties, Duty
from codexmem.jobs.queue import Queue
from codexmem.jobs.worker import Worker
from codexmem.llm import choice as llm
from codexmem.llm.distil import Distiller
from codexmem.llm.lessons import Teacher
from codexmem.search.finder import Finder
from codexmem.search.indexer import Indexer
from codexmem.services import capture, extraction, housekeeping, indexing
from codexmem.services.auditing import Auditing
from codexmem.services.capture import Intake, Rules
from codexmem.services.context import Context
from codexmem.services.extraction import Budget, Extraction
from codexmem.services.forgetting import Forgetting
from codexmem.services.history import History
from codexmem.services.housekeeping import Housekeeping
from codexmem.services.importing import Importing
from codexmem.services.indexing import Indexing, Reminder
from codexmem.services.keys import Keys
from codexmem.services.knowledge import Knowledge
from codexmem.services.lookup import Lookup
from codexmem.services.memories import Memories
from codexmem.services.notes import Notes
from codexmem.services.operations import Operations
from codexmem.services.operations.model_watch import ModelWatch
from codexmem.services.overview import Overview
from codexmem.services.provenance import Explaining
from codexmem.services.qa import Qa
from codexmem.services.recall import Recall, Traces
from codexmem.services.receipts import Receipts
from codexmem.services.saving import Saving
from codexmem.services.sessions import SessionLists
from codexmem.services.timeline import Timeline
from codexmem.services.transfer import Transfer
from codexmem.services.turns import Turns
from codexmem.services.undoing import Undoing
from codexmem.settings import Settings, terminal
from codexmem.store import history, memories, receipts
from codexmem.store.audited import Audited
from codexmem.store.backup import Target
from codexmem.store.bell import Bell, LocalBell
from codexmem.store.candidates import Candidates
from codexmem.store.captures import Captures
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.dispatch import Dispatch
from codexmem.store.event_pages import EventPages
from codexmem.store.events import Events
from codexmem.store.figures import Figures
from codexmem.store.hybrid import HybridVectors
from codexmem.store.jobs import Jobs
from codexmem.store.keeping import KeptVectors
from codexmem.store.labels import Labels
from codexmem.store.listing import Lists
from codexmem.store.noted import Noted
from codexmem.store.opening import open_database, sqlite_path
from codexmem.store.opening import open_reading as open_store_to_read
from codexmem.store.session_outlines import SessionOutlines
from codexmem.store.sessions import Sessions
from codexmem.store.tallies import Tallies
from codexmem.store.texts import KeptTextIndex

DAY_MS = 86_400_000


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
    lookup: Lookup
    timeline: Timeline
    sessions: SessionLists
    turns: Turns
    saving: Saving
    overview: Overview
    intake: Intake
    context: Context
    forgetting: Forgetting
    importing: Importing
    undoing: Undoing
    notes: Notes
    knowledge: Knowledge
    qa: Qa
    auditing: Auditing
    explaining: Explaining
    extraction: Extraction
    budget: Budget
    traces: Traces
    indexer: Indexer
    indexing: Indexing
    reminder: Reminder
    receipts: Receipts
    keys: Keys
    housekeeping: Housekeeping
    operations: Operations
    lab: Lab
    worker: Worker

    def begin(self, *, work: bool = True) -> None:
        """Notice indexes that lag behind and, if this process is to work, run what is queued."""
        self.reminder.start(self.indexing.wake)
        if self.db.engine.ambient_tenant is not None:
            # This process alone owns the store: whoever held a job is gone.
            self.lab.begin(alone=True)
            self.worker.reclaim()
        if work:
            self.lab.working.started(self.worker)
            self.worker.start()

    def stop(self, grace_s: float) -> None:
        """Let what runs come to its end."""
        self.operations.watching.close(wait_s=grace_s)
        self.reminder.stop()
        self.worker.stop(grace_s)

    def close(self) -> None:
        """Give back the store; what was begun has been stopped."""
        self.traces.close()
        self.indexer.close()
        self.bell.close()
        self.db.close()


def handlers(chores: Housekeeping, indexes: Indexing, extracting: Extraction, lab: Lab) -> Duties:
    """Every kind of job there is, and the function that runs it."""
    return {
        capture.EXTRACT: Duty(extracting.observations, timeout_s=extraction.TIMEOUT_S),
        capture.SUMMARIZE: Duty(extracting.summaries, timeout_s=extraction.TIMEOUT_S),
        indexing.CATCH_UP: Duty(indexes.catch_up, timeout_s=indexing.TIMEOUT_S),
        housekeeping.FADE_EVENTS: Duty(chores.fade_events),
        housekeeping.PRUNE_RECEIPTS: Duty(chores.prune_receipts),
        housekeeping.PRUNE_JOBS: Duty(chores.prune_jobs),
        housekeeping.FADE_CAPTURES: Duty(chores.fade_captures),
        **lab.duties(),
    }


def open_core(settings: Settings, clock: Clock | None = None) -> Core:
    """Open the store and build everything on it; nothing runs yet."""
    clock = clock or SystemClock()
    redaction.mask_always(starting.token(settings.data_dir))
    target = Target(settings.direct_url, settings.pg_bin_dir)
    transfer = Transfer(target, settings.data_dir, clock, version=__version__)
    transfer.before_upgrade()
    db = open_database(
        settings.database_url, pool_size=settings.pool_size, statement_s=settings.statement_timeout_s,
        lock_s=settings.lock_timeout_s,
    )  # fmt: skip
    try:
        transfer.clear_leftovers()
        return _build(db, settings, clock, transfer)
    except BaseException:
        db.close()
        raise


def open_reading(settings: Settings, clock: Clock | None = None) -> Core:
    """Everything on a store to look at, also while a server owns it.

    Nothing is written, not even the trace of a search, so that looking never makes a server wait or fail to start.
    """
    clock = clock or SystemClock()
    transfer = Transfer(
        Target(settings.database_url, settings.pg_bin_dir), settings.data_dir, clock, version=__version__
    )
    db = open_store_to_read(settings.database_url)
    try:
        return _build(db, settings, clock, transfer, reading=True)
    except BaseException:
        db.close()
        raise


def _build(db: Database, settings: Settings, clock: Clock, transfer: Transfer, *, reading: bool = False) -> Core:
    bell: Bell = LocalBell()
    if settings.on_postgres and not reading:
        from codexmem.store.postgres.bell import PostgresBell

        bell = PostgresBell(settings.direct_url)
    events, jobs, dispatch = Events(db), Jobs(db), Dispatch(db)
    table, versions, answers = memories.Memories(db), history.Versions(db), receipts.Receipts(db)
    text, vectors, embedder = text_index(db), vector_index(db, settings), embedder_of(settings)
    finder = Finder(db, table, versions, Candidates(db), text, vectors, embedder, clock, reranker_of(settings))
    book = Log(db, events, bell, clock)
    queue = Queue(db, jobs, dispatch, bell, clock)
    reminder, traces = Reminder(), Traces(db, book, kept=not reading)
    indexer = Indexer(db, text, vectors, CatchingUp(db), versions, embedder, clock, remind=reminder.remind)
    indexes = Indexing(db, indexer, queue, reminder)
    remembering = Memories(db, table, Lists(db), versions, indexer, book, clock)
    once = Receipts(db, answers, clock)
    past = History(db, remembering, table, versions, answers, indexer, book, clock)
    sessions, captures, tallies = Sessions(db), Captures(db), Tallies(db)
    rules = rules_of(settings)
    budget = Budget(tallies, clock, settings.daily_tokens)
    extracting = Extraction(
        sessions, captures, remembering, tallies, budget, distiller_of(settings, budget), book, clock
    )  # fmt: skip
    chores = Housekeeping(
        queue, clock, Retention(events, clock).prune, lambda limit: once.prune(limit=limit),
        lambda limit: captures.fade(before_ms=clock.now_ms() - settings.capture_days * DAY_MS, limit=limit),
    )  # fmt: skip
    recall = Recall(finder, traces)
    lab = lab_of(
        db, settings, clock, jobs=jobs, queue=queue, book=book,
        under=Remembering(
            table, versions, remembering, past, recall.search, teacher_of(settings, budget),
            spent=lambda tokens: tallies.add({budget.name(): tokens}),
        ),
    )  # fmt: skip
    worker = Worker(
        db, jobs, dispatch, book, bell, clock, handlers(chores, indexes, extracting, lab),
        threads=settings.worker_threads,
    )  # fmt: skip
    live, labels = Live(db, events, bell), Labels(db)
    model = ModelWatch(Review(EventPages(db)), settings.writer)
    context = Context(
        remembering, finder, sessions, book, Review(EventPages(db)), db.acting_tenant,
        partial(capture.excluded, rules.excluded_projects), model.writer, model.trouble,
        terminal(settings.lang).language,
    )  # fmt: skip
    # Where the store lies is its owner's business: a caller with a key may sit elsewhere.
    told_path = sqlite_path(settings.database_url) if settings.auth == "" else None
    return Core(
        db=db, bell=bell, log=book, live=live, report=Report(events), queue=queue,
        lookup=Lookup(remembering, labels, recall.search), timeline=Timeline(remembering, recall.search),
        sessions=SessionLists(db, sessions, SessionOutlines(db), recall.search),
        turns=Turns(db, sessions, captures, remembering, jobs, events), saving=Saving(db, table, remembering),
        overview=Overview(
            db, labels, Figures(db), sessions, waiting_kinds=(capture.EXTRACT, capture.SUMMARIZE),
            followers=live.count, path=str(told_path) if told_path is not None else None,
        ),
        memories=remembering, receipts=once, keys=Keys(db, book.append, clock), housekeeping=chores, worker=worker,
        history=past, extraction=extracting, budget=budget,
        intake=Intake(db, sessions, captures, remembering, queue, book, clock, rules, context.begun), context=context,
        forgetting=Forgetting(db, remembering, past, sessions, captures, answers, book),
        importing=Importing(db, table, remembering, past, clock), undoing=Undoing(db, table, versions, past),
        notes=notes_of(db, remembering, past, clock, recall.search),
        knowledge=knowledge_of(
            db, settings.data_dir, clock, table=table, memories=remembering, history=past, search=recall.search,
            book=book,
        ),
        qa=qa_of(
            db, clock, table=table, memories=remembering, history=past, book=book, search=recall.search
        ),
        auditing=Auditing(db, Audited(db), book, EventPages(db)),
        explaining=Explaining(db, remembering, past, versions, sessions, captures, jobs, Noted(db)),
        recall=recall, traces=traces, indexer=indexer, indexing=indexes, reminder=reminder, lab=lab,
        operations=operations_of(
            db, bell, clock, live=live, queue=queue, indexer=indexer, vectors=vectors, embedder=embedder,
            tallies=tallies, memories=remembering,
            model=model, ground=ground_of(settings, worker, lab.working.look, budget, transfer),
        ),
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


def rules_of(settings: Settings) -> Rules:
    """What is captured."""
    return Rules(
        frozenset(settings.skip_tools), tuple(str(Path(each).expanduser()) for each in settings.exclude_projects),
        settings.batch_events, settings.batch_wait_s * 1000,
    )  # fmt: skip


def distiller_of(settings: Settings, budget: Budget) -> Distiller:
    """What turns captured events into observations: a model where one is configured, else rules."""
    return llm.choose(wish_of(settings), may_spend=budget.allows)


def teacher_of(settings: Settings, budget: Budget) -> Teacher:
    """What turns judged runs into lessons: the same model, else rules."""
    return Teacher(llm.model_of(wish_of(settings)), may_spend=budget.allows)


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
