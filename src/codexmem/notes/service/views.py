"""Views: addresses that name no note but many of them. `system://boot`, `system://index` and `system://recent`.

A view is made when it is read and is bounded, whatever the store holds; it says when it shows only a part.
"""

from dataclasses import dataclass

from codexmem.kernel.model import address, note
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.memory import VISIBLE, Memory
from codexmem.kernel.model.note import CORE, LISTED, NOTES
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.note_queries import Noted
from codexmem.notes.model import checked_domain

MAX_CORE = 50
MAX_INDEX = 500
MAX_RECENT = 100
RECENT = 10
_CORE_LABELS = frozenset(str(priority) for priority in range(CORE + 1))
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


def core_filter() -> Filter:
    """The notes that an agent is told at every start."""
    return Filter(NOTES, facets=(("priority", _CORE_LABELS),))


class NoteViews:
    """Makes views."""

    def __init__(self, memories: Memories, noted: Noted) -> None:
        self._memories = memories
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
        """The core notes, the most important first, and whether there are more of them."""
        page = self._memories.page(core_filter(), PageRequest(limit=MAX_CORE))
        ordered = sorted(page.items, key=lambda memory: (memory.state.priority, note.primary(memory)))
        return tuple(ordered), page.after is not None

    def _boot(self, uri: str, *, told: bool) -> SystemNoteView:
        memories, more = self.core()
        if memories and told:
            self._memories.count_reading([memory.seq for memory in memories], shown=1)
        return SystemNoteView(uri, f"Core memories (priority 0 to {CORE})", memories, whole=True, more=more)

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
