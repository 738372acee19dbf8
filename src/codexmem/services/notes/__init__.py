"""Notes: memories under addresses, for agents that keep their own memory in order."""

from dataclasses import dataclass

from codexmem.services.notes.exchange import Exchange
from codexmem.services.notes.listing import Shelf
from codexmem.services.notes.preload import Preload
from codexmem.services.notes.reading import Reading
from codexmem.services.notes.sessions import Keeping
from codexmem.services.notes.tree import Tree
from codexmem.services.notes.views import Views
from codexmem.services.notes.writing import Writing


@dataclass(frozen=True, slots=True)
class Notes:
    """Everything that can be done with notes; every verb acts for the acting tenant."""

    writing: Writing
    reading: Reading
    views: Views
    shelf: Shelf
    preload: Preload
    exchange: Exchange
    sessions: Keeping
    tree: Tree
