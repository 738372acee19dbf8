"""What operators ask for, put together from the parts of an open store."""

from typing import Any

from codexmem.domain.ids import Clock
from codexmem.embed.model import Embedder
from codexmem.events.live import Live
from codexmem.events.review import Review
from codexmem.jobs.queue import Queue
from codexmem.search.copying import OutsideCopy
from codexmem.search.indexer import Indexer
from codexmem.services import capture
from codexmem.services.memories import Memories
from codexmem.services.operations import Operations
from codexmem.services.operations.depth import DepthMeter
from codexmem.services.operations.reports import Reports
from codexmem.services.operations.trends import Trends
from codexmem.services.operations.upkeep import Upkeep
from codexmem.services.operations.watching import Watching
from codexmem.store.bell import Bell
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.event_pages import EventPages
from codexmem.store.keeping import KeptVectors
from codexmem.store.tallies import Tallies

# What the contract calls the work of each kind of job.
MESSAGE_TYPES = {capture.EXTRACT: "observation", capture.SUMMARIZE: "summarize"}


def operations_of(db: Database, bell: Bell, clock: Clock, *, live: Live, queue: Queue, indexer: Indexer,
                  vectors: KeptVectors, embedder: Embedder | None, tallies: Tallies,
                  memories: Memories) -> Operations:  # fmt: skip
    """Everything an operator asks for."""
    review = Review(EventPages(db))
    return Operations(
        watching=Watching(live, DepthMeter(db, bell, tuple(MESSAGE_TYPES))),
        reports=Reports(review, MESSAGE_TYPES),
        trends=Trends(review, clock),
        upkeep=Upkeep(db.engine.name, indexer, outside_copy(db, vectors, embedder), tallies, queue, memories),
    )


def outside_copy(db: Database, vectors: KeptVectors, embedder: Embedder | None) -> OutsideCopy | None:
    """The vectors in a Chroma server, alone or beside the store's own; None if there is no such server."""
    indexes: tuple[Any, ...] = getattr(vectors, "indexes", (vectors,))
    found = next((index for index in indexes if index.name == "chroma"), None)
    return OutsideCopy(found, CatchingUp(db), embedder) if found is not None else None
