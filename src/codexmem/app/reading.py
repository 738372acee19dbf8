"""A store to look at: searching, asking where a memory came from and how indexes stand, also while a server owns it.

Nothing is written here, not even the trace of a search, so that looking never makes a server wait or fail to start.
"""

from codexmem.app.core import embedder_of, reranker_of, text_index, vector_index
from codexmem.domain.ids import Clock, SystemClock
from codexmem.domain.provenance import Provenance
from codexmem.domain.search import Answer, Search
from codexmem.events.log import Log
from codexmem.search.finder import Finder
from codexmem.search.indexer import Indexer, IndexStatus
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.provenance import EVENTS, VERSIONS, Explaining
from codexmem.settings import Settings
from codexmem.store import memories, receipts
from codexmem.store.bell import LocalBell
from codexmem.store.candidates import Candidates
from codexmem.store.captures import Captures
from codexmem.store.catching_up import CatchingUp
from codexmem.store.database import Database
from codexmem.store.events import Events
from codexmem.store.history import Versions
from codexmem.store.jobs import Jobs
from codexmem.store.listing import Lists
from codexmem.store.noted import Noted
from codexmem.store.opening import open_reading as open_store
from codexmem.store.sessions import Sessions


class Reading:
    """What can be asked of a store without owning it; every verb acts for the tenant in force."""

    def __init__(self, db: Database, settings: Settings, clock: Clock) -> None:
        text, vectors, embedder = text_index(db), vector_index(db, settings), embedder_of(settings)
        table, versions = memories.Memories(db), Versions(db)
        self._db = db
        self._backlog = CatchingUp(db)
        self._finder = Finder(
            db, table, versions, Candidates(db), text, vectors, embedder, clock, reranker_of(settings)
        )
        self._indexer = Indexer(db, text, vectors, self._backlog, versions, embedder, clock)
        book = Log(db, Events(db), LocalBell(), clock)
        remembered = Memories(db, table, Lists(db), versions, self._indexer, book, clock)
        past = History(db, remembered, table, versions, receipts.Receipts(db), self._indexer, book, clock)
        self._explaining = Explaining(db, remembered, past, versions, Sessions(db), Captures(db), Jobs(db), Noted(db))

    def search(self, search: Search) -> Answer:
        """The memories that fit, best first."""
        return self._finder.search(search)

    def why(self, name: str, *, versions: int = VERSIONS, events: int = EVENTS) -> Provenance:
        """Where a memory came from."""
        return self._explaining.why(name, versions=versions, events=events)

    def index_status(self) -> IndexStatus:
        """How far the vectors are."""
        return self._indexer.status()

    def lacks_words(self) -> bool:
        """Whether memories wait for their words to be indexed."""
        return self._indexer.lacks_words()

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
