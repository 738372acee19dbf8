"""What operators ask for, put together from the parts of an open store."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codexmem.domain.ids import Clock
from codexmem.embed.model import Embedder
from codexmem.events.live import Live
from codexmem.events.review import Review
from codexmem.jobs.queue import Queue
from codexmem.jobs.worker import Worker
from codexmem.search.copying import OutsideCopy
from codexmem.search.indexer import Indexer
from codexmem.services import capture
from codexmem.services.extraction import Budget
from codexmem.services.lab.system import Watch
from codexmem.services.memories import Memories
from codexmem.services.operations import Operations
from codexmem.services.operations.backups import Backups, Commands, Copies
from codexmem.services.operations.depth import DepthMeter
from codexmem.services.operations.disk import Disk
from codexmem.services.operations.model_watch import ModelWatch
from codexmem.services.operations.reports import Reports
from codexmem.services.operations.standing import Spent, Standing, WorkerState
from codexmem.services.operations.trends import Trends
from codexmem.services.operations.upkeep import Upkeep
from codexmem.services.operations.watching import Watching
from codexmem.services.transfer import BACKUPS
from codexmem.settings import Settings
from codexmem.store import inspection
from codexmem.store.bell import Bell
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.event_pages import EventPages
from codexmem.store.keeping import KeptVectors
from codexmem.store.sessions import Sessions
from codexmem.store.tallies import Tallies

# What the contract calls the work of each kind of job.
MESSAGE_TYPES = {capture.EXTRACT: "observation", capture.SUMMARIZE: "summarize"}


@dataclass(frozen=True, slots=True)
class Ground:
    """What an operator's questions are about beyond the store itself."""

    worker: Callable[[], WorkerState]
    spent: Callable[[], Spent]
    copies: Copies | None  # None where tenants share the store
    commands: Commands
    data_dir: Path | None  # None, likewise
    told: bool  # whether callers may know where it lies


def operations_of(db: Database, bell: Bell, clock: Clock, *, live: Live, queue: Queue, indexer: Indexer,
                  vectors: KeptVectors, embedder: Embedder | None, tallies: Tallies, memories: Memories,
                  model: ModelWatch, ground: Ground) -> Operations:  # fmt: skip
    """Everything an operator asks for."""
    review = Review(EventPages(db))
    upkeep = Upkeep(db.engine.name, indexer, outside_copy(db, vectors, embedder), tallies, queue, memories)
    return Operations(
        watching=Watching(live, DepthMeter(db, bell, tuple(MESSAGE_TYPES))),
        reports=Reports(review, MESSAGE_TYPES, memories),
        trends=Trends(review, clock),
        upkeep=upkeep,
        standing=Standing(
            db, clock, upkeep, Sessions(db), model, schema=inspection.expected_schema(), kinds=tuple(MESSAGE_TYPES),
            worker=ground.worker, spent=ground.spent, followers=live.count,
            disk=Disk(ground.data_dir, BACKUPS) if ground.data_dir is not None else None,
            directory=str(ground.data_dir) if ground.told and ground.data_dir is not None else None,
        ),
        backups=Backups(ground.copies, ground.commands, clock),
    )  # fmt: skip


def ground_of(settings: Settings, worker: Worker, watch: Callable[[], Watch], budget: Budget,
              copies: Copies) -> Ground:  # fmt: skip
    """For a store of one person everything; of a shared one nothing that tenants should not know."""
    alone, told = not settings.on_postgres, settings.auth == ""
    return Ground(
        worker=lambda: _worker_state(worker, watch()),
        spent=lambda: Spent(budget.name().partition(".")[2], budget.spent(), budget.limit),
        copies=copies if alone else None,
        commands=Commands(_flags(settings), settings.data_dir / BACKUPS) if alone and told else Commands(),
        data_dir=settings.data_dir if alone else None,
        told=told,
    )


def _worker_state(worker: Worker, watch: Watch) -> WorkerState:
    progress = worker.progress()
    return WorkerState(
        watch.enabled, watch.running, watch.poll_interval_s, progress.running, progress.overdue,
        progress.oldest_ready_age_ms, progress.last_end_age_ms,
    )  # fmt: skip


def _flags(settings: Settings) -> tuple[str, ...]:
    """Which store a command is about, spelled so that the shell it is typed into need not know."""
    own = settings.database_url == f"sqlite:///{settings.data_dir / 'codexmem.db'}"
    return ("--data-dir", str(settings.data_dir), *(() if own else ("--database-url", settings.database_url)))


def outside_copy(db: Database, vectors: KeptVectors, embedder: Embedder | None) -> OutsideCopy | None:
    """The vectors in a Chroma server, alone or beside the store's own; None if there is no such server."""
    indexes: tuple[Any, ...] = getattr(vectors, "indexes", (vectors,))
    found = next((index for index in indexes if index.name == "chroma"), None)
    return OutsideCopy(found, CatchingUp(db), embedder) if found is not None else None
