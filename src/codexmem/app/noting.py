"""How the verbs on notes are put together."""

from collections.abc import Callable

from codexmem.domain.ids import Clock
from codexmem.domain.search import Answer, Search
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.notes import Notes
from codexmem.services.notes.exchange import Exchange
from codexmem.services.notes.finding import Desk
from codexmem.services.notes.listing import Shelf
from codexmem.services.notes.preload import Preload
from codexmem.services.notes.reading import Reading
from codexmem.services.notes.sessions import Keeping
from codexmem.services.notes.tree import Tree
from codexmem.services.notes.views import Views
from codexmem.services.notes.writing import Writing
from codexmem.store.address_tree import AddressTree
from codexmem.store.database import Database
from codexmem.store.labels import Labels
from codexmem.store.memories import Memories as Table
from codexmem.store.noted import Noted
from codexmem.store.sessions import Sessions


def notes_of(db: Database, memories: Memories, history: History, clock: Clock,
             search: Callable[[Search], Answer]) -> Notes:  # fmt: skip
    """The verbs on notes of this store."""
    noted = Noted(db)
    desk, views = Desk(memories, history, noted), Views(memories, noted)
    writing = Writing(db, memories, history, desk)
    return Notes(
        writing=writing,
        reading=Reading(memories, history, desk),
        views=views,
        shelf=Shelf(db, memories, noted, desk, search),
        preload=Preload(memories, noted, Labels(db), desk, views, search),
        exchange=Exchange(db, Table(db), memories, history, desk, clock),
        sessions=Keeping(db, Sessions(db), writing, clock),
        tree=Tree(AddressTree(db), desk),
    )
