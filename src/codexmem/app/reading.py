"""A store to look at: searching and asking how its indexes stand, also while a server owns it.

Nothing is written here, not even the trace of a search, so that looking never makes a server wait or fail to start.
"""

from codexmem.app.core import embedder_of, reranker_of, text_index, vector_index
from codexmem.domain.ids import Clock, SystemClock
from codexmem.domain.search import Answer, Search
from codexmem.search.finder import Finder
from codexmem.search.indexer import Indexer, IndexStatus
from codexmem.settings import Settings
from codexmem.store.candidates import Candidates
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.history import Versions
from codexmem.store.memories import Memories
from codexmem.store.opening import open_reading as open_store


class Reading:
    """What can be asked of a store without owning it; every verb acts for the tenant in force."""

    def __init__(self, db: Database, settings: Settings, clock: Clock) -> None:
        text, vectors, embedder = text_index(db), vector_index(db, settings), embedder_of(settings)
        versions = Versions(db)
        self._db = db
        self._backlog = CatchingUp(db)
        self._finder = Finder(
            db, Memories(db), versions, Candidates(db), text, vectors, embedder, clock, reranker_of(settings)
        )
        self._indexer = Indexer(db, text, vectors, self._backlog, versions, embedder, clock)

    def search(self, search: Search) -> Answer:
        """The memories that fit, best first."""
        return self._finder.search(search)

    def index_status(self) -> IndexStatus:
        """How far the vectors are."""
        return self._indexer.status()

    def is_empty(self) -> bool:
        """Whether there is no memory at all."""
        return self._backlog.last() == 0

    def close(self) -> None:
        """Give back the store."""
        self._indexer.close()
        self._db.close()


def open_reading(settings: Settings, clock: Clock | None = None) -> Reading:
    """Open the store for reading."""
    db = open_store(settings.database_url)
    try:
        return Reading(db, settings, clock or SystemClock())
    except BaseException:
        db.close()
        raise
