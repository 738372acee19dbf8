"""Everything that stands on one open store, and how it is put together: the place that knows every part by name."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import TypeVar

from codexmem import __version__
from codexmem.agents.install.targets import UserHome
from codexmem.agents.transcripts.finding import on_machine
from codexmem.app.operations import ground_of, operations_of, sign_in_of, usage_limits
from codexmem.app.spooled import spooled_files
from codexmem.capture import authoring, consolidation, extraction, service
from codexmem.capture.author import TurnAuthor
from codexmem.capture.author_queue import AUTHOR, AgentIdleness, AuthorQueue
from codexmem.capture.authoring import Authoring
from codexmem.capture.consolidation import Consolidation
from codexmem.capture.extraction import Extraction
from codexmem.capture.job_log import JobLog, TokenBudget
from codexmem.capture.sampling import SampledModel
from codexmem.capture.service import CaptureService, Rules, excluded
from codexmem.capture.transcripts import TranscriptImport
from codexmem.features import FEATURES
from codexmem.hook.surroundings import environment, refusing_file, stored_token
from codexmem.kernel.embed import choice
from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.embed.rerank import Reranker
from codexmem.kernel.events.live import Live
from codexmem.kernel.events.log import Log, Retention
from codexmem.kernel.events.report import EventReport
from codexmem.kernel.events.review import Review
from codexmem.kernel.feature import load
from codexmem.kernel.jobs.job_kind import JobKind, JobKinds
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.jobs.worker import Worker
from codexmem.kernel.llm import choice as llm
from codexmem.kernel.llm.model import Model
from codexmem.kernel.model import redaction
from codexmem.kernel.model.framing import Frame
from codexmem.kernel.model.ids import Clock, SystemClock
from codexmem.kernel.model.job import Job
from codexmem.kernel.model.visibility import as_server
from codexmem.kernel.model.writer import MODEL, RULES, SAMPLING
from codexmem.kernel.opened import Kernel
from codexmem.kernel.search.finder import Finder
from codexmem.kernel.search.indexer import Indexer
from codexmem.kernel.services import housekeeping, indexing
from codexmem.kernel.services.history import History
from codexmem.kernel.services.housekeeping import Housekeeping
from codexmem.kernel.services.indexing import Indexing, Reminder
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.kernel.services.live_sessions import LiveSessions
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.services.recall import Recall, SearchTraces
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.services.usage import Usage
from codexmem.kernel.store import history, memories, receipts
from codexmem.kernel.store.backup import BackupTarget, holding
from codexmem.kernel.store.candidates import SearchCandidates
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.counts import Figures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.event_pages import EventPages
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.hybrid import HybridVectors
from codexmem.kernel.store.index_backlog import CatchingUp
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.listing import Lists
from codexmem.kernel.store.note_queries import Noted
from codexmem.kernel.store.notify import LocalNotifier, Notifier
from codexmem.kernel.store.opening import open_database, sqlite_path
from codexmem.kernel.store.opening import open_reading as open_store_to_read
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from codexmem.kernel.store.tellings import Tellings
from codexmem.kernel.store.texts import WritableTextIndex
from codexmem.kernel.store.writable_index import WritableVectorIndex
from codexmem.lab.build_feature import wish_of
from codexmem.lab.service.lab import Lab
from codexmem.operations.keys import Keys, stored_frame
from codexmem.operations.service import Operations
from codexmem.operations.service.dashboard import ModelWatch
from codexmem.operations.transfer import BACKUPS, Transfer
from codexmem.recall import commit_watch, review_scan
from codexmem.recall.agent_file_discovery import FOLLOW, AgentFileFollower, rules_read_by
from codexmem.recall.agent_file_discovery import TIMEOUT_S as FOLLOW_TIMEOUT_S
from codexmem.recall.agent_files import AgentFiles
from codexmem.recall.brief import MemoryConcerns, ProjectBrief
from codexmem.recall.brief_store import BriefTable
from codexmem.recall.commit_watch import CommitWatch
from codexmem.recall.context import ContextBuilder, ContextServices
from codexmem.recall.decay import is_faded
from codexmem.recall.forgetting import Erasure, Forgetting
from codexmem.recall.importing import Importing
from codexmem.recall.lineage import Lineage
from codexmem.recall.lookup import Lookup
from codexmem.recall.memory_list import MemoryLists
from codexmem.recall.overview import Overview
from codexmem.recall.provenance import Explaining
from codexmem.recall.review import MemoryReview
from codexmem.recall.review_scan import ReviewScan, VectorNearness
from codexmem.recall.review_store import FindingTable
from codexmem.recall.saving import Saving
from codexmem.recall.session_store import SessionOutlines
from codexmem.recall.sessions import SessionLists, TurnReader
from codexmem.recall.staleness import Staleness
from codexmem.recall.stamped_memories import StampedMemories
from codexmem.recall.standing_rules import StandingRules
from codexmem.recall.timeline import TimelineReader
from codexmem.recall.undoing import UndoFollower, Undoing
from codexmem.settings import Settings, terminal

DAY_MS = 86_400_000
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Core:
    """Everything that stands on one open store."""

    db: Database
    notifier: Notifier
    log: Log
    live: Live
    report: EventReport
    queue: Queue
    memories: Memories
    history: History
    lifecycle: Lifecycle
    memory_lists: MemoryLists
    brief: ProjectBrief
    review: MemoryReview
    review_scan: ReviewScan
    recall: Recall
    lookup: Lookup
    timeline: TimelineReader
    sessions: SessionLists
    turns: TurnReader
    saving: Saving
    overview: Overview
    intake: CaptureService
    transcripts: TranscriptImport
    sampling: SampledModel | None  # None: somebody else is the author
    context: ContextBuilder
    frame: Frame
    forgetting: Forgetting
    lineage: Lineage
    erasure: Erasure
    importing: Importing
    agent_files: AgentFiles
    follower: AgentFileFollower
    commits: CommitWatch
    standing: StandingRules
    staleness: Staleness
    stamped: StampedMemories
    undoing: Undoing
    undo_follower: UndoFollower
    explaining: Explaining
    extraction: Extraction
    authoring: Authoring
    consolidation: Consolidation
    budget: TokenBudget
    usage: Usage
    traces: SearchTraces
    indexer: Indexer
    indexing: Indexing
    reminder: Reminder
    receipts: Receipts
    keys: Keys
    housekeeping: Housekeeping
    operations: Operations
    worker: Worker
    rooms: Mapping[type, object]  # the services of each room, by their type

    def room(self, services: type[R]) -> R:
        """The services of this type."""
        found = self.rooms[services]
        assert isinstance(found, services)
        return found

    @property
    def lab(self) -> Lab:
        """The room whose work begins with the store."""
        return self.room(Lab)

    def begin(self, *, work: bool = True) -> None:
        """Notice indexes that lag behind and, if this process is to work, run what is queued."""
        self.reminder.start(self.indexing.wake, self.review_scan.wake)
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
        self.notifier.close()
        self.db.close()


def handlers(chores: Housekeeping, indexes: Indexing, extracting: Extraction, authors: Authoring,
             tidying: Consolidation, follower: AgentFileFollower, commits: CommitWatch, scan: ReviewScan,
             lab: Lab) -> JobKinds:  # fmt: skip
    """Every kind of job there is, and the function that runs it."""
    return {
        service.EXTRACT: JobKind(extracting.observations, timeout_s=extraction.TIMEOUT_S, acting=extracting.acting),
        service.SUMMARIZE: JobKind(extracting.summaries, timeout_s=extraction.TIMEOUT_S, acting=extracting.acting),
        AUTHOR: JobKind(authors.write, timeout_s=authoring.TIMEOUT_S, acting=extracting.acting),
        consolidation.CONSOLIDATE: JobKind(tidying.look_again, timeout_s=consolidation.TIMEOUT_S),
        FOLLOW: JobKind(follower.follow, timeout_s=FOLLOW_TIMEOUT_S),
        commit_watch.NEW_COMMITS: JobKind(commits.take_in, timeout_s=commit_watch.TIMEOUT_S),
        review_scan.REVIEW: JobKind(scan.run, timeout_s=review_scan.TIMEOUT_S),
        indexing.CATCH_UP: JobKind(indexes.catch_up, timeout_s=indexing.TIMEOUT_S, acting=_as_server),
        housekeeping.FADE_EVENTS: JobKind(chores.fade_events, acting=_as_server),
        housekeeping.PRUNE_RECEIPTS: JobKind(chores.prune_receipts, acting=_as_server),
        housekeeping.PRUNE_JOBS: JobKind(chores.prune_jobs, acting=_as_server),
        housekeeping.FADE_CAPTURES: JobKind(chores.fade_captures, acting=_as_server),
        **lab.job_kinds(),
    }


def _as_server(_: Job) -> AbstractContextManager[None]:
    return as_server()


def open_core(settings: Settings, clock: Clock | None = None, speaking: LiveSessions | None = None) -> Core:
    """Open the store and build everything on it; nothing runs yet. Sessions that hooks speak of are told `speaking`."""
    clock = clock or SystemClock()
    redaction.mask_always(stored_token(settings.data_dir))
    target = BackupTarget(settings.direct_url, settings.pg_bin_dir)
    transfer = Transfer(target, settings.data_dir, clock, version=__version__)
    transfer.before_upgrade()
    db = open_database(
        settings.database_url, pool_size=settings.pool_size, statement_s=settings.statement_timeout_s,
        lock_s=settings.lock_timeout_s, replica_url=settings.database_replica_url,
        replica_s=settings.database_replica_s,
    )  # fmt: skip
    try:
        transfer.clear_leftovers()
        return _build(db, settings, clock, transfer, speaking=speaking)
    except BaseException:
        db.close()
        raise


def open_reading(settings: Settings, clock: Clock | None = None) -> Core:
    """Everything on a store to look at, also while a server owns it.

    Nothing is written, not even the trace of a search, so that looking never makes a server wait or fail to start.
    """
    clock = clock or SystemClock()
    transfer = Transfer(
        BackupTarget(settings.database_url, settings.pg_bin_dir), settings.data_dir, clock, version=__version__
    )
    db = open_store_to_read(settings.database_url)
    try:
        return _build(db, settings, clock, transfer, reading=True)
    except BaseException:
        db.close()
        raise


def _reads_nothing(_: str, __: str) -> frozenset[str]:
    """What an agent elsewhere reads by itself, which is not known here."""
    return frozenset()


def _build(db: Database, settings: Settings, clock: Clock, transfer: Transfer, *, reading: bool = False,
           speaking: LiveSessions | None = None) -> Core:  # fmt: skip
    speaking = speaking or LiveSessions()
    notifier: Notifier = LocalNotifier()
    if settings.on_postgres and not reading:
        from codexmem.kernel.store.postgres.notify import PostgresNotifier

        notifier = PostgresNotifier(settings.direct_url)
    events, jobs, dispatch = EventTable(db), Jobs(db), Dispatch(db)
    table, versions, answers = memories.MemoryTable(db), history.VersionTable(db), receipts.ReceiptTable(db)
    text, vectors, embedder = text_index(db), vector_index(db, settings), embedder_of(settings)
    finder = Finder(db, table, versions, SearchCandidates(db), text, vectors, embedder, clock, reranker_of(settings))
    log = Log(db, events, notifier, clock)
    queue = Queue(db, jobs, dispatch, notifier, clock)
    reminder, traces = Reminder(), SearchTraces(db, log, kept=not reading)
    indexer = Indexer(db, text, vectors, CatchingUp(db), versions, embedder, clock, remind=reminder.remind)
    indexes = Indexing(db, indexer, queue, reminder)
    tallies = Tallies(db)
    usage = Usage(db, tallies, clock, usage_limits(settings))
    remembering = Memories(
        db, table, Lists(db), versions, indexer, log, clock, settings.trust_agents, usage.require_room
    )  # fmt: skip
    once = Receipts(db, answers, clock)
    past = History(db, remembering, table, versions, answers, indexer, log, clock)
    sessions, captures = Sessions(db), Captures(db)
    rules = rules_of(settings)
    budget = TokenBudget(tallies, clock, settings.daily_tokens, settings.daily_calls)
    sampling = SampledModel(db.acting_tenant) if settings.writer.provider == SAMPLING else None
    author = author_of(settings, budget, sampling)
    # A caller with a key may sit elsewhere, and the folder that it names be another here.
    local = not settings.on_postgres and settings.auth == ""
    plan = AuthorQueue(
        queue, sessions, captures, asked=author.model is not None, patient=settings.writer.provider != MODEL,
        soon_ms=settings.batch_wait_s * 1000,
        excludes=partial(excluded, patterns_of(settings.author_exclude_projects)),
        **({"refuses": lambda folder: bool(refusing_file(folder))} if local else {}),
    )  # fmt: skip
    job_log = JobLog(sessions, captures, tallies, budget, log, clock)
    falls_back = settings.writer.provider == RULES and not settings.writer.chosen
    extracting = Extraction(sessions, captures, remembering, plan, job_log, falls_back=falls_back)
    platform = author.model if settings.writer.is_agent else None
    is_idle = AgentIdleness(sessions, captures, clock, platform).is_idle
    tidying = Consolidation(db, remembering, past, queue, plan, author, job_log, is_idle)
    authors = Authoring(
        sessions, captures, remembering, queue, plan, author, finder.search, job_log, tidying, past,
        is_idle,
    )  # fmt: skip
    recall = Recall(finder, traces)
    lineage = Lineage(Tellings(db), table, remembering, sessions, clock, finder.search)
    fading = Retention(events, clock)
    chores = Housekeeping(
        queue, clock, lambda: fading.prune() + lineage.prune(), lambda limit: once.prune(limit=limit),
        lambda limit: captures.fade(before_ms=clock.now_ms() - settings.capture_days * DAY_MS, limit=limit),
    )  # fmt: skip
    kernel = Kernel(
        db,
        clock,
        settings.data_dir,
        table=table,
        memories=remembering,
        history=past,
        receipts=once,
        log=log,
        queue=queue,
        search=recall.search,
        may_spend=budget.allows,
        spent=lambda tokens: tallies.add({budget.name(): tokens}),
    )
    rooms = _rooms(kernel, settings)
    files = AgentFiles(db, table, versions, remembering, past, clock)
    # Only where the server is the person's own does it look at the person's files.
    follower = AgentFileFollower(files, queue, person_of() if settings.auth == "" else None)
    lab = rooms[Lab]
    assert isinstance(lab, Lab)
    importing = Importing(db, table, remembering, past, tallies, clock, sessions)
    commits = CommitWatch(queue, importing, partial(excluded, rules.excluded_projects), local=local)
    findings = FindingTable(db)
    scan = ReviewScan(
        db, table, remembering, past, findings, text, tallies, queue, clock, VectorNearness(embedder, vectors).of
    )
    worker = Worker(
        db, jobs, dispatch, log, notifier, clock,
        handlers(chores, indexes, extracting, authors, tidying, follower, commits, scan, lab),
        threads=settings.worker_threads,
    )  # fmt: skip
    live, labels = Live(db, events, notifier), Labels(db)
    model = ModelWatch(Review(EventPages(db)), settings.writer)
    frame = stored_frame(settings.data_dir, create=not reading)
    staleness = Staleness(local=settings.auth == "")
    context = ContextBuilder(
        ContextServices(
            db=db,
            memories=remembering,
            finder=finder,
            sessions=sessions,
            log=log,
            review=Review(EventPages(db)),
            excluded=partial(service.excluded, rules.excluded_projects),
            writer=model.writer,
            trouble=model.trouble,
            language=terminal(settings.lang).language,
            rules_read=rules_read_by if settings.auth == "" else _reads_nothing,
            approved=past.approved,
            frame=frame,
            staleness=staleness,
            is_faded=lambda memory: is_faded(memory, clock.now_ms()),
            tell=lineage.tell,
        )
    )
    lookup, acts = Lookup(remembering, labels, recall.search), Lifecycle(db, table, remembering, past)
    # Where the store lies is its owner's business: a caller with a key may sit elsewhere.
    told_path = sqlite_path(settings.database_url) if settings.auth == "" else None
    undoing = Undoing(db, table, versions, past)
    review, stamped = MemoryReview(remembering, findings, acts, clock), StampedMemories(db, remembering, past)
    concerns = MemoryConcerns(sessions, staleness)
    keys = Keys(db, log.append, clock)
    forgetting = Forgetting(db, remembering, past, sessions, captures, answers, log)
    operations = operations_of(
        db, notifier, clock, live=live, queue=queue, indexer=indexer, vectors=vectors, embedder=embedder,
        tallies=tallies, memories=remembering, model=model, sign_in=sign_in_of(db, keys, log, clock, settings),
        ground=ground_of(
            settings, worker, lab.working.look, budget, lambda: usage.states(db.acting_tenant()), transfer
        ),
    )  # fmt: skip
    return Core(
        db=db,
        notifier=notifier,
        log=log,
        live=live,
        report=EventReport(events),
        queue=queue,
        lifecycle=acts,
        lookup=lookup,
        memory_lists=MemoryLists(remembering, lookup, acts, concerns.agents, concerns.judge),
        brief=ProjectBrief(BriefTable(db), review, stamped, concerns, tallies, clock),
        review=review,
        review_scan=scan,
        timeline=TimelineReader(remembering, recall.search),
        sessions=SessionLists(db, sessions, SessionOutlines(db), recall.search),
        turns=TurnReader(db, sessions, captures, remembering, jobs, events),
        saving=Saving(db, table, remembering),
        overview=Overview(
            db,
            labels,
            Figures(db),
            sessions,
            waiting_kinds=(service.EXTRACT, service.SUMMARIZE),
            followers=live.count,
            path=str(told_path) if told_path is not None else None,
        ),
        memories=remembering,
        receipts=once,
        keys=keys,
        housekeeping=chores,
        worker=worker,
        history=past,
        extraction=extracting,
        authoring=authors,
        consolidation=tidying,
        budget=budget,
        usage=usage,
        intake=CaptureService(
            db,
            sessions,
            captures,
            remembering,
            queue,
            log,
            clock,
            rules,
            plan,
            begun=(context.begun, follower.begun, commits.seen),
            ended=(commits.seen, lambda session: speaking.ended(db.acting_tenant(), session.key)),
            heard=lambda session, process, turn: speaking.heard(db.acting_tenant(), session, process, in_turn=turn),
        ),
        transcripts=TranscriptImport(
            db,
            sessions,
            captures,
            remembering,
            past,
            plan,
            clock,
            rules,
            *([partial(on_machine, Path.home(), environment())] if told_path is not None else []),
        ),
        sampling=sampling,
        context=context,
        frame=frame,
        forgetting=forgetting,
        lineage=lineage,
        erasure=Erasure(
            db,
            remembering,
            forgetting,
            lineage,
            captures,
            EventPages(db),
            events,
            clock,
            flush=traces.flush,
            # Tenants share the folder and the backups of a team's server; they are its operator's business.
            waiting=partial(spooled_files, settings.data_dir) if not settings.on_postgres else lambda: (),
            backups=partial(holding, settings.data_dir / BACKUPS) if not settings.on_postgres else lambda _: (),
        ),
        importing=importing,
        agent_files=files,
        follower=follower,
        commits=commits,
        standing=StandingRules(remembering),
        staleness=staleness,
        stamped=stamped,
        undoing=undoing,
        undo_follower=UndoFollower(db, undoing, past, remembering, lineage),
        rooms=rooms,
        explaining=Explaining(db, remembering, past, versions, sessions, captures, jobs, Noted(db), lineage.told_to),
        recall=recall,
        traces=traces,
        indexer=indexer,
        indexing=indexes,
        reminder=reminder,
        operations=operations,
    )


def _rooms(kernel: Kernel, settings: Settings) -> dict[type, object]:
    made: list[object] = [
        load(each.build, FunctionType)(kernel, *((settings,) if each.configured else ())) for each in FEATURES
    ]
    return {type(services): services for services in made}


def person_of() -> UserHome:
    """Whose machine it is."""
    return UserHome(Path.home(), dict(environment()))


def text_index(db: Database) -> WritableTextIndex:
    """The words of a store, in its own engine."""
    if db.engine.name == "sqlite":
        from codexmem.kernel.store.sqlite.text import SqliteTextIndex

        return SqliteTextIndex(db)
    from codexmem.kernel.store.postgres.text import PostgresTextIndex

    return PostgresTextIndex(db)


def vector_index(db: Database, settings: Settings) -> WritableVectorIndex:
    """The vectors of a store: in its engine, outside, or in both."""
    own: WritableVectorIndex
    if db.engine.name == "sqlite":
        from codexmem.kernel.store.sqlite.vectors import SqliteVectors

        own = SqliteVectors(db)
    else:
        from codexmem.kernel.store.postgres.vectors import PostgresVectors

        own = PostgresVectors(db)
    if settings.vector_backend == "sqlite":
        return own
    from codexmem.kernel.store.chroma.client import ChromaClient
    from codexmem.kernel.store.chroma.vectors import ChromaVectors

    chroma = ChromaVectors(db, ChromaClient(settings.chroma_url), settings.chroma_collection)
    return chroma if settings.vector_backend == "chroma" else HybridVectors(own, chroma)


def rules_of(settings: Settings) -> Rules:
    """What is captured."""
    return Rules(
        frozenset(settings.skip_tools), patterns_of(settings.exclude_projects), settings.batch_events,
        settings.batch_wait_s * 1000,
    )  # fmt: skip


def patterns_of(folders: Sequence[str]) -> tuple[str, ...]:
    """Patterns of folders, with the person's home where it is meant."""
    return tuple(str(Path(each).expanduser()) for each in folders)


def author_of(settings: Settings, budget: TokenBudget, sampling: SampledModel | None = None) -> TurnAuthor:
    """Who says what turns mean: a model where one is configured, else nobody."""
    model: Model | None = sampling
    if settings.writer.is_agent:
        from codexmem.agents.authors.model import chosen_agent

        model = chosen_agent(settings.provider)
    elif settings.writer.provider == MODEL:
        model = llm.model_of(wish_of(settings))
    return TurnAuthor(model, may_spend=budget.allows_question, room=settings.author_tokens)


def embedder_of(settings: Settings) -> Embedder | None:
    """What turns texts into vectors; None where search goes by words alone."""
    return choice.choose(choice.EmbedderChoice(
        settings.embedder, settings.embedder_threads, settings.data_dir, settings.openai_embedding_model,
        settings.openai_embedding_base_url or settings.openai_base_url,
        settings.openai_embedding_api_key or settings.openai_api_key,
    ))  # fmt: skip


def reranker_of(settings: Settings) -> Reranker | None:
    """What looks at the best results a second time; None unless one is configured."""
    return choice.choose_reranker(choice.RerankerChoice(
        settings.reranker, settings.embedder_threads, settings.data_dir, settings.rerank_url,
        settings.rerank_model, settings.rerank_api_key, settings.rerank_depth,
    ))  # fmt: skip
