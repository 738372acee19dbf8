"""Questions with answers, put together from the parts of an open store."""

from collections.abc import Callable

from codexmem.domain.ids import Clock
from codexmem.domain.search import Answer, Search
from codexmem.events.log import Log
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.qa import Qa
from codexmem.services.qa.candidates import Candidates
from codexmem.services.qa.editing import Editing
from codexmem.services.qa.expiry import Expiry
from codexmem.services.qa.lifecycle import Lifecycle
from codexmem.services.qa.retracting import Retracting
from codexmem.services.qa.reviewing import Reviewing
from codexmem.services.qa.searching import Searching
from codexmem.services.qa.signals import Signals
from codexmem.services.qa.views import Views
from codexmem.store.beliefs import Beliefs
from codexmem.store.database import Database
from codexmem.store.memories import Memories as Table


def qa_of(db: Database, clock: Clock, *, table: Table, memories: Memories, history: History, book: Log,
          search: Callable[[Search], Answer]) -> Qa:  # fmt: skip
    """Everything the QA door asks for."""
    beliefs = Beliefs(db)
    views, lifecycle = Views(memories, beliefs, clock), Lifecycle(memories, history, beliefs, book, clock)
    searching = Searching(views, search)
    return Qa(
        searching=searching,
        candidates=Candidates(db, table, memories, history, beliefs, lifecycle, views, clock, search),
        signals=Signals(db, memories, beliefs, lifecycle, views, clock),
        expiry=Expiry(db, memories, history, beliefs, lifecycle, clock),
        reviewing=Reviewing(db, table, memories, history, beliefs, lifecycle, views, searching),
        editing=Editing(db, table, memories, history, beliefs, lifecycle, views),
        retracting=Retracting(db, table, memories, history, beliefs, lifecycle, views),
    )
