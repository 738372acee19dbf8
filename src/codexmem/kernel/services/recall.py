"""Recall: the one search behind every interface, with a trace of each.

A trace is an event in the log. It is written after the answer was given, by a thread of its own: nobody waits for a
commit in order to read, or for the places of results in each list to be worked out. The queue of traces is bounded;
what does not fit, or cannot be written, is counted, not kept.
"""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.events.log import Log
from codexmem.kernel.model import ranking
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ranking import Ranking
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.model.spans import timed
from codexmem.kernel.model.visibility import Visibility, as_server, present_viewer
from codexmem.kernel.search.finder import Examined, Finder
from codexmem.kernel.store.database import Database, acting_as

_KEPT = 1_000  # traces that wait to be written
_TOGETHER = 100
_QUERY = 1_000  # characters of a query that a trace keeps
_RESULTS = 20
_GATHER_S = 0.25

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Left:
    """A trace that waits, and the figures that it is yet to tell."""

    tenant: str
    event: NewEvent
    ranking: Ranking | None

    def whole(self) -> NewEvent:
        """The trace with why each result stands where it does."""
        if self.ranking is None or not self.ranking.placed:
            return self.event
        return replace(self.event, payload={**self.event.payload, "ranked": ranking.told(self.ranking)})


class SearchTraces:
    """Writes traces behind the answers."""

    def __init__(self, db: Database, log: Log, *, kept: bool = True) -> None:
        self._db = db
        self._log = log
        self._kept = kept  # False on a store that is only looked at
        self._waiting: deque[_Left] = deque()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._rung = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def leave(self, search: SearchQuery, answer: SearchAnswer) -> None:
        """Keep the trace of a search of the acting tenant; returns at once."""
        if not self._kept:
            return
        with self._lock:
            if len(self._waiting) >= _KEPT:
                self.dropped += 1
                return
            self._waiting.append(_Left(self._db.acting_tenant(), _trace(search, answer), answer.ranking))
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, name="codexmem-traces", daemon=True)
                self._thread.start()
        self._rung.set()

    def close(self) -> None:
        """Write what waits, then no more."""
        self._stopping.set()
        self._rung.set()
        if self._thread is not None:
            self._thread.join(5.0)
            if self._thread.is_alive():  # the log does not answer
                return
        self.flush()

    def flush(self) -> None:
        """Write what waits, now and here; afterwards every trace that was left before is written or counted."""
        with self._writing:
            while batch := self._taken():
                for tenant in dict.fromkeys(left.tenant for left in batch):
                    self._write(tenant, [left for left in batch if left.tenant == tenant])

    def _write(self, tenant: str, some: Sequence[_Left]) -> None:
        try:
            events = [left.whole() for left in some]
            with acting_as(tenant), as_server(), self._db.transaction():
                for event in events:
                    self._log.append(event)
        except Exception:
            with self._lock:
                self.dropped += len(some)
            _log.warning("traces of %d searches could not be written", len(some), exc_info=True)

    def _taken(self) -> list[_Left]:
        with self._lock:
            return [self._waiting.popleft() for _ in range(min(_TOGETHER, len(self._waiting)))]

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._rung.wait()
            self._rung.clear()
            self._stopping.wait(_GATHER_S)
            self.flush()


class Recall:
    """Finding memories."""

    def __init__(self, finder: Finder, traces: SearchTraces) -> None:
        self._finder = finder
        self._traces = traces

    def prepare(self) -> None:
        """Load what only a first search would have to wait for."""
        self._finder.prepare()

    def examine(self, search: SearchQuery) -> Examined:
        """The candidates with every signal, untraced: for fitting recipes."""
        return self._finder.examine(search)

    @timed("recall.search")
    def search(self, search: SearchQuery) -> SearchAnswer:
        """The memories that fit, best first; leaves a trace."""
        answer = self._finder.search(search)
        self._traces.leave(search, answer)
        return answer


def _private_to(answer: SearchAnswer) -> str | None:
    """Whose a trace is: of whoever keeps things to himself, or was told something private."""
    viewer = present_viewer()
    told = (found.memory.state.visibility for found in answer.results)
    return viewer.owner or None if Visibility.MINE in (viewer.writes, *told) else None


def _trace(search: SearchQuery, answer: SearchAnswer) -> NewEvent:
    payload: dict[str, object] = {
        # Half a surrogate pair is legal to ask for but not to store.
        "query": search.text[:_QUERY].encode(errors="replace").decode(),
        "kinds": sorted(kind.value for kind in search.filter.kinds),
        "recipe": search.recipe,
        "unit": search.unit.value,
        "mode": answer.mode.value,
        "sources": answer.sources,
        "timings_ms": answer.timings_ms,
        "results": len(answer.results),
        "top": [[found.memory.seq, round(found.score, 4)] for found in answer.results[:_RESULTS]],
        "notes": list(answer.notes),
    }
    if search.offset:
        payload["offset"] = search.offset
    if search.as_of_ms is not None:
        payload["as_of_ms"] = search.as_of_ms
    if search.explain:
        payload["why"] = {str(found.memory.seq): found.signals for found in answer.results[:_RESULTS]}
    return NewEvent(
        EventType.SEARCH_LOOKED_UP if search.lookup else EventType.SEARCH_ANSWERED,
        subject="search", payload=payload, project=search.filter.project or "",
        took_us=round(answer.timings_ms.get("total", 0.0) * 1000), owner=_private_to(answer),
    )  # fmt: skip
