"""Memories that know which file contents they rest on: listed for whoever has the checkout, and renewed by them.

The server need not be on the machine of the checkout: it hands out stamps (`file_blobs`), the caller compares, and
sends back those of the files as they are now. A renewal is a new version, and all of one call are one delta, which can
be undone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model import file_blobs
from codexmem.kernel.model.attrs import STAMPED, ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.listing import Listing

MAX_ROWS = 500  # of a page, and of a renewal
CAUSE = "renew"
_KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY})
_FACET = ((STAMPED[0], frozenset({STAMPED[1]})),)


@dataclass(frozen=True, slots=True)
class Renewal:
    """A memory that was found to hold, and the files that it holds for; none if it is about no file any more."""

    seq: int
    blobs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Renewed:
    """What a renewal did."""

    delta: str | None  # null if nothing changed
    renewed: tuple[Memory, ...]
    unchanged: tuple[int, ...]
    missing: tuple[int, ...]


class StampedMemories:
    """Lists and renews."""

    def __init__(self, db: Database, memories: Memories, history: History) -> None:
        self._db = db
        self._memories = memories
        self._history = history

    def page(self, project: str, *, limit: int, after: RowCursor | None = None) -> Listing:
        """The project's memories with stamps, newest first; costs the page, not the project."""
        return self._memories.page(Filter(_KINDS, project=project, facets=_FACET), PageRequest(limit, after))

    def renew(self, renewals: Sequence[Renewal], by: WriteContext) -> Renewed:
        """Write what files the memories were found to hold for."""
        if len(renewals) > MAX_ROWS:
            raise InvalidArgument(f"at most {MAX_ROWS} memories are renewed at once")
        with self._db.transaction():
            there = self._memories.many((each.seq for each in renewals), _KINDS)
            written: list[Memory] = []
            unchanged: list[int] = []
            missing: list[int] = []
            for each in renewals:
                memory = there.get(each.seq)
                attrs = memory.state.attrs if memory is not None else None
                if memory is None or memory.state.status is Status.DELETED:
                    missing.append(each.seq)
                    continue
                assert isinstance(attrs, ObservationAttrs | SummaryAttrs)
                blobs = file_blobs.stored(each.blobs)
                if len(blobs) != len(each.blobs):
                    raise InvalidArgument(
                        f"memory #{each.seq}: a blob is `<id> <path>`, each path once and inside the checkout",
                        hint="run codexmem stale --renew in the checkout",
                    )
                if blobs == attrs.blobs:
                    unchanged.append(each.seq)
                    continue
                if by.delta is None:
                    by = replace(by, delta=self._history.open_delta("stale", CAUSE, by).id)
                state = replace(memory.state, attrs=replace(attrs, blobs=blobs))
                written.append(self._memories.write(memory, state, Op.UPDATE, replace(by, note=by.note or CAUSE)))
        return Renewed(by.delta if written else None, tuple(written), tuple(unchanged), tuple(missing))
