"""Notes: memories under addresses, for agents that keep their own memory in order."""

from dataclasses import dataclass

from codexmem.kernel.opened import Kernel
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.note_queries import Noted
from codexmem.kernel.store.sessions import Sessions
from codexmem.notes.service.exchange import NoteTransfer
from codexmem.notes.service.listing import NoteListing, NoteViews, Tree
from codexmem.notes.service.preload import Preload
from codexmem.notes.service.reading import NoteReader
from codexmem.notes.service.resolver import NoteResolver
from codexmem.notes.service.writing import Keeping, Writing
from codexmem.notes.tree_store import AddressTree


@dataclass(frozen=True, slots=True)
class NoteService:
    """Everything that can be done with notes; every verb acts for the acting tenant."""

    writing: Writing
    reading: NoteReader
    views: NoteViews
    shelf: NoteListing
    preload: Preload
    exchange: NoteTransfer
    sessions: Keeping
    tree: Tree
    receipts: Receipts


def build(kernel: Kernel) -> NoteService:
    """The services on an open store."""
    db, memories, history, search = kernel.db, kernel.memories, kernel.history, kernel.search
    noted = Noted(db)
    resolver, views = NoteResolver(memories, history, noted), NoteViews(memories, history, noted)
    writing = Writing(db, memories, history, resolver)
    return NoteService(
        writing=writing,
        reading=NoteReader(memories, history, resolver),
        views=views,
        shelf=NoteListing(db, memories, noted, resolver, search),
        preload=Preload(memories, noted, Labels(db), resolver, views, search),
        exchange=NoteTransfer(db, kernel.table, memories, history, resolver, kernel.clock),
        sessions=Keeping(db, Sessions(db), writing, kernel.clock),
        tree=Tree(AddressTree(db), resolver),
        receipts=kernel.receipts,
    )
