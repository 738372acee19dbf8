"""What is asked of notes: which of them, what to keep, for which context, and what becomes of those that are there."""

from dataclasses import dataclass, replace
from enum import StrEnum

from codexmem.kernel.model import address, note
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.note import CORE, NOTES
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.visibility import Visibility

MAX_VERSIONS = 100  # of one note that are told or taken in together
PRIORITIES = range(11)


class Direction(StrEnum):
    """Which of two notes speaks of the other."""

    TO = "to"
    FROM = "from"


class ContextKind(StrEnum):
    """What a caller is about to deal with."""

    FILE = "file"
    DIRECTORY = "directory"
    ERROR = "error"
    INTENT = "intent"


class Strategy(StrEnum):
    """What happens to notes that are here already."""

    SKIP = "skip"
    OVERWRITE = "overwrite"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class NewNote:
    """What a caller wants to be kept."""

    uri: str
    content: str
    priority: int = note.USUAL_PRIORITY
    disclosure: str = ""
    project: str | None = None  # the one the caller works in
    title: str = ""
    session: str | None = None
    visibility: Visibility | None = None  # None: as whoever writes it usually does


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Which notes; every field that is given must hold."""

    domain: str | None = None
    priority_min: int | None = None
    priority_max: int | None = None
    status: Status | None = None

    def filter(self, statuses: frozenset[Status]) -> Filter:
        """As the store is asked; the first label is the one that leaves the fewest rows to look at."""
        domain = checked_domain(self.domain)
        low = PRIORITIES[0] if self.priority_min is None else self.priority_min
        high = PRIORITIES[-1] if self.priority_max is None else self.priority_max
        if low > high:
            raise InvalidArgument(f"priority_min {low} is above priority_max {high}", hint="0 is the most important")
        wanted = Filter(NOTES, statuses=statuses if self.status is None else frozenset({self.status}))
        within = (("domain", frozenset({domain})),) if domain is not None else ()
        if (low, high) == (PRIORITIES[0], PRIORITIES[-1]):
            return replace(wanted, facets=within)
        if within and high > CORE:
            return replace(wanted, facets=within, priority_min=low, priority_max=high)
        priorities = frozenset(str(priority) for priority in PRIORITIES if low <= priority <= high)
        return replace(wanted, facets=(("priority", priorities), *within))


def checked_domain(domain: str | None) -> str | None:
    """A domain as addresses spell it; `project://` means `project`."""
    if domain is None or not domain.strip():
        return None
    try:
        return address.domain_of(address.normalise(f"{domain.strip().partition('://')[0]}://x"))
    except InvalidArgument:
        raise InvalidArgument(f"{domain[:80]!r} is no domain", hint="give the part before ://, e.g. project") from None
