"""Many notes: searched, listed, counted, and as a tree of addresses, a page at a time.

Figures read every note, so they are kept for each tenant until something is written, and for twenty times as long as
counting took: how often notes were read is told as of then, in a small store as of now.

A folder of the tree is an address below which others lie; it need not name a note itself. Whether everything below a
folder is deleted is not looked at: that would read all of it.

Views: addresses that name no note but many of them. `system://boot`, `system://index` and `system://recent`.

A view is made when it is read and is bounded, whatever the store holds; it says when it shows only a part.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from codexmem.kernel.model import address, ids, note
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.memory import VISIBLE, Mark, Memory, Status
from codexmem.kernel.model.note import CORE, LISTED, NOTES, NoteFigures
from codexmem.kernel.model.project_scope import present_scope
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor, RowOrder
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery, SearchResult
from codexmem.kernel.model.tenant import ProjectScope
from codexmem.kernel.model.visibility import present_viewer
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.note_queries import Noted
from codexmem.notes.model import PRIORITIES, NoteFilter, checked_domain
from codexmem.notes.service.resolver import NoteResolver
from codexmem.notes.tree_store import AddressTree, TreeChild

_KEPT_S = 10.0  # at most
_KEPT_TIMES = 20  # as long as counting took
_TENANTS = 1_000


@dataclass(frozen=True, slots=True)
class NoteResults:
    """What a search found, best first."""

    found: tuple[SearchResult, ...]
    mode: SearchMode
    more: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotePage:
    """A page of notes, newest first."""

    memories: tuple[Memory, ...]
    more: bool
    after: RowCursor | None = None  # where the next page begins


@dataclass(frozen=True, slots=True)
class TreeNode:
    """One address of the tree."""

    uri: str
    name: str
    has_children: bool
    memory: Memory | None  # what it names; None for a mere folder


@dataclass(frozen=True, slots=True)
class TreePage:
    """Some of what lies directly under a beginning, in the order of bytes."""

    prefix: str
    nodes: tuple[TreeNode, ...]
    after: str | None  # where the next page begins


@dataclass(frozen=True, slots=True)
class _Kept:
    """Figures, until when they are told, and the last writes they know of."""

    until: float
    written: tuple[int, ...]
    figures: NoteFigures


class NoteListing:
    """Finds and counts."""

    def __init__(self, db: Database, memories: Memories, noted: Noted, desk: NoteResolver,
                 search: Callable[[SearchQuery], SearchAnswer]) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._noted = noted
        self._desk = desk
        self._search = search
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, ProjectScope | None, str], _Kept] = OrderedDict()

    def search(self, query: str, wish: NoteFilter, *, limit: int, offset: int = 0) -> NoteResults:
        """Notes whose address, content or disclosure fits; an address that is asked for itself comes first."""
        wanted = wish.filter(VISIBLE)
        answer = self._search(SearchQuery(query, wanted, limit=limit, offset=offset))
        found = list(answer.results)
        exact = self._exact(query, wish)
        if exact is not None:
            found = [each for each in found if each.memory.seq != exact.seq]
            if not offset:
                found = [SearchResult(exact, 1.0), *found][:limit]
        return NoteResults(tuple(found), answer.mode, answer.more, answer.notes)

    def page(self, wish: NoteFilter, *, limit: int, after: RowCursor | None = None) -> NotePage:
        """Notes of every status but deleted, unless one is asked for."""
        page = self._memories.page(wish.filter(LISTED), PageRequest(limit=limit, after=after))
        return NotePage(page.items, page.after is not None, page.after)

    def figures(self) -> NoteFigures:
        """How many notes there are of what."""
        # Members count what they may read.
        whose = (self._db.acting_tenant(), present_scope(), present_viewer().sees)
        now = ids.monotonic()
        # Read before the figures: what is written in between makes them count anew.
        written = self._noted.last_write()
        with self._lock:
            kept = self._kept.get(whose)
        if kept is not None and now < kept.until and kept.written == written:
            return kept.figures
        figures = self._noted.figures()
        took = ids.monotonic() - now
        with self._lock:
            self._kept[whose] = _Kept(now + min(_KEPT_S, _KEPT_TIMES * took), written, figures)
            self._kept.move_to_end(whose)
            while len(self._kept) > _TENANTS:
                self._kept.popitem(last=False)
        return figures

    def named(self, figures: NoteFigures) -> list[tuple[Memory, int]]:
        """The notes that are read most."""
        found = self._memories.many([seq for seq, _ in figures.most_read], NOTES)
        return [(found[seq], reads) for seq, reads in figures.most_read if seq in found]

    def _exact(self, query: str, wish: NoteFilter) -> Memory | None:
        if "://" not in query or " " in query.strip():
            return None
        try:
            memory = self._desk.find(query)
        except InvalidArgument:
            return None
        if memory is None or memory.state.status not in VISIBLE:
            return None
        within = replace(wish, status=None).filter(VISIBLE)
        state, facets = memory.state, memory.state.facets()
        labelled = all(any((facet, value) in facets for value in values) for facet, values in within.facets)
        low = within.priority_min if within.priority_min is not None else PRIORITIES[0]
        high = within.priority_max if within.priority_max is not None else PRIORITIES[-1]
        return memory if labelled and low <= state.priority <= high else None


class Tree:
    """Reads the tree."""

    def __init__(self, addresses: AddressTree, desk: NoteResolver) -> None:
        self._addresses = addresses
        self._desk = desk

    def branch(self, prefix: str, *, limit: int, after: str = "", deleted: bool = False) -> TreePage:
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
        return TreePage(beginning, kept, shown[-1].place if len(children) > limit else None)


def _node(beginning: str, child: TreeChild, notes: dict[str, Memory]) -> TreeNode:
    uri = f"{beginning}{child.name}" if beginning else f"{child.name}://"
    return TreeNode(uri, child.name, child.below, notes.get(uri))


MAX_CORE = 50
_WAITING = 200  # proposed notes that are looked at for what a person agreed to before
MAX_INDEX = 500
MAX_RECENT = 100
RECENT = 10
_CORE = ("priority", frozenset(str(priority) for priority in range(CORE + 1)))
_PROPOSED = ("mark", frozenset({Mark.PROPOSED.value}))
_VIEWS = "system://boot, system://index, system://index/DOMAIN, system://recent, system://recent/N"


@dataclass(frozen=True, slots=True)
class SystemNoteView:
    """Notes that an address of the system stands for."""

    uri: str
    title: str
    memories: tuple[Memory, ...]
    whole: bool  # whether `memories` of it are told in full, not by a line
    more: bool = False  # whether there are others


def is_view(uri: str) -> bool:
    """Whether this address names a view."""
    return uri.strip().lower().startswith("system://")


class NoteViews:
    """Makes views."""

    def __init__(self, memories: Memories, history: History, noted: Noted) -> None:
        self._memories = memories
        self._history = history
        self._noted = noted

    def read(self, uri: str, *, told: bool = True) -> SystemNoteView:
        """The view at this address; unless it is `told` to an agent, nothing is counted as shown."""
        normal = address.normalise(uri)
        name, *rest = normal.partition("://")[2].split("/")
        match name, rest:
            case "boot", []:
                return self._boot(normal, told=told)
            case "index", [] | [_]:
                return self._index(normal, rest[0] if rest else None)
            case "recent", [] | [_]:
                return self._recent(normal, rest[0] if rest else str(RECENT))
        raise NotFound(f"there is no view {normal}", hint=f"there are: {_VIEWS}")

    def core(self) -> tuple[tuple[Memory, ...], bool]:
        """The core notes, the most important first, and whether there are more of them.

        One that was changed without a person's agreement stands there as it last did with it, and as it does now.
        What a person agreed to comes first where there are too many, because of the others agents can make any number.
        """
        newest = PageRequest(limit=MAX_CORE)
        agreed = self._memories.page(Filter(NOTES, facets=(_CORE,), without=frozenset({Mark.PROPOSED})), newest)
        oldest = PageRequest(limit=_WAITING, order=RowOrder.OLDEST)
        changed = self._memories.page(Filter(NOTES, facets=(_PROPOSED,), once_core=True), oldest).items
        proposed = self._memories.page(Filter(NOTES, facets=(_PROPOSED, _CORE)), newest)
        both = {each.seq: each for each in (*changed, *proposed.items)}.values()
        found = (*agreed.items, *self._history.approved(changed), *both)
        core = [each for each in found if each.state.priority <= CORE]
        ordered = sorted(core[:MAX_CORE], key=lambda memory: (memory.state.priority, note.primary(memory)))
        more = agreed.after is not None or proposed.after is not None or len(core) > MAX_CORE
        return tuple(ordered), more

    def _boot(self, uri: str, *, told: bool) -> SystemNoteView:
        memories, more = self.core()
        if memories and told:
            self._memories.count_reading([memory.seq for memory in memories], shown=1)
        title = f"Core memories (priority 0 to {CORE})"
        return SystemNoteView(uri, title, memories, whole=True, more=more)

    def _index(self, uri: str, domain: str | None) -> SystemNoteView:
        named = checked_domain(domain)
        facets = (("domain", frozenset({named})),) if named else ()
        page = self._memories.page(Filter(NOTES, statuses=LISTED, facets=facets), PageRequest(limit=MAX_INDEX))
        title = f"Index of {named}://" if named else "Index of all memories"
        return SystemNoteView(
            uri, title, tuple(sorted(page.items, key=note.primary)), whole=False, more=page.after is not None
        )

    def _recent(self, uri: str, count: str) -> SystemNoteView:
        if not count.isascii() or not count.isdigit() or not 1 <= int(count[:9]) <= MAX_RECENT:
            raise InvalidArgument(
                f"{count[:20]!r} is not a number from 1 to {MAX_RECENT}", hint="for example system://recent/5"
            )
        wanted = int(count)
        seqs = self._noted.changed(wanted, VISIBLE)
        found = self._memories.many(seqs, NOTES)
        memories = tuple(found[seq] for seq in seqs if seq in found)
        return SystemNoteView(uri, "Memories that changed last, the latest first", memories, whole=False)
