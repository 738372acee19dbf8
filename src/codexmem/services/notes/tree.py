"""Notes as a tree: domains, and under every address what lies directly below it, a page at a time.

A folder is an address below which others lie; it need not name a note itself. Whether everything below a folder is
deleted is not looked at: that would read all of it.
"""

from dataclasses import dataclass

from codexmem.domain import address
from codexmem.domain.memory import Memory, Status
from codexmem.services.notes.finding import Desk
from codexmem.store.address_tree import AddressTree, Child


@dataclass(frozen=True, slots=True)
class Node:
    """One address of the tree."""

    uri: str
    name: str
    has_children: bool
    memory: Memory | None  # what it names; None for a mere folder


@dataclass(frozen=True, slots=True)
class Branch:
    """Some of what lies directly under a beginning, in the order of bytes."""

    prefix: str
    nodes: tuple[Node, ...]
    after: str | None  # where the next page begins


class Tree:
    """Reads the tree."""

    def __init__(self, addresses: AddressTree, desk: Desk) -> None:
        self._addresses = addresses
        self._desk = desk

    def branch(self, prefix: str, *, limit: int, after: str = "", deleted: bool = False) -> Branch:
        """What lies under an address, or the domains under none; deleted notes only if asked for."""
        beginning = address.folder(prefix) if prefix.strip() else ""
        separator = "/" if beginning else "://"
        children = self._addresses.children(beginning, separator, after=after, limit=limit + 1)
        shown = children[:limit]
        named = [f"{beginning}{child.name}" for child in shown if child.named]
        notes = self._desk.resolved(named) if named else {}
        if not deleted:
            notes = {uri: note for uri, note in notes.items() if note.state.status is not Status.DELETED}
        nodes = (_node(beginning, child, notes) for child in shown)
        kept = tuple(node for node in nodes if node.has_children or node.memory is not None)
        return Branch(beginning, kept, shown[-1].place if len(children) > limit else None)


def _node(beginning: str, child: Child, notes: dict[str, Memory]) -> Node:
    uri = f"{beginning}{child.name}" if beginning else f"{child.name}://"
    return Node(uri, child.name, child.below, notes.get(uri))
