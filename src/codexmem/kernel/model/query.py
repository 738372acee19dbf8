"""What a caller asks for: handles, filters and pages.

`Filter.kinds` has no default on purpose: an interface sees only the kinds it names.
"""

from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import VISIBLE, Kind, Mark, Origin, Status

MAX_PAGE = 500
MAX_OFFSET = 10_000  # rows that a page may skip; whoever reads on resumes after the last row instead


@dataclass(frozen=True, slots=True)
class Seq:
    """The integer handle, as in observation #123."""

    value: int


@dataclass(frozen=True, slots=True)
class Id:
    """The minted text handle."""

    value: str


@dataclass(frozen=True, slots=True)
class Uri:
    """The address of a note, already normalised."""

    value: str


Handle = Seq | Id | Uri


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories; every given field must hold, several values of one facet mean any of them."""

    kinds: frozenset[Kind]
    project: str | None = None
    statuses: frozenset[Status] = VISIBLE
    facets: tuple[tuple[str, frozenset[str]], ...] = ()  # (facet, any of these values)
    session: str | None = None
    created_from_ms: int | None = None  # inclusive
    created_to_ms: int | None = None  # inclusive
    priority_min: int | None = None
    priority_max: int | None = None
    without: frozenset[Mark] = frozenset()  # has none of these; for lists, a search does not look at it
    origins: frozenset[Origin] = frozenset()  # said by one of these; for lists too, which read past others
    once_core: bool = False  # was in the core when it waited for nobody's agreement; for lists too

    def __post_init__(self) -> None:
        """A filter that names no kind is a mistake, not a wish for everything."""
        if not self.kinds:
            raise InvalidArgument("a filter names at least one kind")


class RowOrder(StrEnum):
    """By creation; ties are broken by seq, so that pages never overlap."""

    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class RowCursor:
    """The last row a caller has seen."""

    created_ms: int
    seq: int


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many rows, in which order, after which one."""

    limit: int = 50
    after: RowCursor | None = None
    order: RowOrder = RowOrder.NEWEST
    offset: int = 0  # rows to skip, for callers who count instead of resuming

    def __post_init__(self) -> None:
        """Every list is bounded."""
        if not 1 <= self.limit <= MAX_PAGE:
            raise InvalidArgument(f"limit {self.limit} is not between 1 and {MAX_PAGE}")
        if not 0 <= self.offset <= MAX_OFFSET:
            raise InvalidArgument(
                f"offset {self.offset} is not between 0 and {MAX_OFFSET:,}",
                hint="narrow the list by project or date instead of counting so far",
            )
