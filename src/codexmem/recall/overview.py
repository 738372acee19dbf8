"""What there is at a glance: projects, figures, and whether captured work is still waiting.

Figures are counted by reading indexes from end to end, which grows with the store; they are counted at most once in
ten seconds for each tenant and shown again until then. Projects and waiting work are always as they are.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codexmem.kernel.model import ids
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.counts import MOST, Figures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.sessions import Sessions

KEPT_S = 10.0
MOST_COUNTED = MOST
MAX_PROJECTS = 500
_TENANTS = 1_000  # whose figures are kept
_CAPTURED = (Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT)


@dataclass(frozen=True, slots=True)
class TenantCounts:
    """How much a tenant has."""

    observations: int
    summaries: int
    prompts: int
    sessions: int
    active_sessions: int
    size: int | None  # bytes; None where tenants share a database


class Overview:
    """Looks over the acting tenant's store."""

    def __init__(self, db: Database, labels: Labels, figures: Figures, sessions: Sessions, *,
                 waiting_kinds: tuple[str, ...], followers: Callable[[], int],
                 path: str | None = None) -> None:  # fmt: skip
        self._db = db
        self._labels = labels
        self._figures = figures
        self._sessions = sessions
        self._waiting_kinds = waiting_kinds
        self._followers = followers
        self.path = path  # of the store, where telling it gives nothing away
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, TenantCounts]] = OrderedDict()

    def projects(self) -> list[str]:
        """Projects that have captured memories, those written to last first."""
        last = self._labels.projects([kind.value for kind in _CAPTURED])
        return sorted(last, key=lambda project: (-last[project], project))[:MAX_PROJECTS]

    def counted(self) -> TenantCounts:
        """How much there is, as it was at most ten seconds ago."""
        tenant, now = self._db.acting_tenant(), ids.monotonic()
        with self._lock:
            kept = self._kept.get(tenant)
        if kept is not None and now - kept[0] < KEPT_S:
            return kept[1]
        counted = self._count()
        with self._lock:
            self._kept[tenant] = (now, counted)
            self._kept.move_to_end(tenant)
            while len(self._kept) > _TENANTS:
                self._kept.popitem(last=False)
        return counted

    def some(self, kinds: Sequence[Kind], project: str | None) -> int:
        """How many memories of these kinds there are, of a project if one is given; at most so many are counted."""
        return self._figures.some(kinds, project, most=MOST_COUNTED)

    def waiting(self) -> int:
        """How many jobs of captured work wait or run."""
        return self._figures.unfinished(self._waiting_kinds)

    def followers(self) -> int:
        """How many read the log as it happens."""
        return self._followers()

    def _count(self) -> TenantCounts:
        with self._db.reading():
            memories = self._figures.memories(_CAPTURED)
            sessions, active = self._sessions.counts()
            return TenantCounts(
                memories[Kind.OBSERVATION], memories[Kind.SUMMARY], memories[Kind.PROMPT], sessions, active,
                self._figures.size(),
            )  # fmt: skip
