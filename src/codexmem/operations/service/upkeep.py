"""What an operator looks at and does: the state of the indexes, the model's quality, failed jobs, a lost copy.

Whatever goes over many rows does so in steps, ends after a while by itself, and says whether anything is left.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor
from codexmem.kernel.search.copying import OutsideCopy
from codexmem.kernel.search.indexer import Indexer, VectorIndexStatus
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.tallies import Tallies

OUTCOMES = ("success", "parse_fail", "schema_fail", "repair_fail", "fallback_used")
WORK = ("observation", "summary")
MAX_SENT = 10_000
PATIENCE_S = 20.0  # after this a long piece of work answers with what it has done
_AGENT = "agent."
_RETRY_STEP = 200
_SEND_STEP = 50  # memories held at a time; each may be a megabyte


@dataclass(frozen=True, slots=True)
class IndexState:
    """The vectors, and the server outside the store if there is one."""

    status: VectorIndexStatus
    engine: str  # name of the store's own index
    outside: bool  # whether a server outside the store holds vectors too, or alone
    silence: str | None  # why that server does not answer; None if it does or there is none


@dataclass(frozen=True, slots=True)
class Retried:
    """Failed jobs that wait again."""

    count: int
    more: bool  # time was up before all had their turn


@dataclass(frozen=True, slots=True)
class ResentVectors:
    """Memories whose vectors were sent again."""

    counts: dict[Kind, int]
    after: RowCursor | None  # where to go on; None when all were sent


@dataclass(frozen=True, slots=True)
class NotSent:
    """There is no copy to send, or nothing to make it from."""

    reason: str


class StoreUpkeep:
    """Looks after the acting tenant's store."""

    def __init__(self, engine: str, indexer: Indexer, copy: OutsideCopy | None, tallies: Tallies, queue: Queue,
                 memories: Memories, *, now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self._engine = engine
        self._indexer = indexer
        self._copy = copy
        self._tallies = tallies
        self._queue = queue
        self._memories = memories
        self._now_s = now_s

    def index_state(self) -> IndexState:
        """How far the vectors are and whether what holds them answers."""
        silence = self._copy.silence() if self._copy is not None else None
        return IndexState(self._indexer.status(), self._engine, self._copy is not None, silence)

    def agent_metrics(self) -> dict[str, dict[str, int]]:
        """How often the model's answers were good, fixed or replaced, by what was asked of it."""
        sums = self._tallies.under(_AGENT)
        return {work: {each: sums.get(f"{_AGENT}{work}.{each}", 0) for each in OUTCOMES} for work in WORK}

    def reset_agent_metrics(self) -> None:
        """Count from zero again."""
        self._tallies.reset(_AGENT)

    def retry_failed(self, session: int | None = None) -> Retried:
        """Let failed jobs, of one session or all, run again with fresh attempts; each at most once."""
        subject = f"session:{session}" if session is not None else None
        until, count = self._now_s() + PATIENCE_S, 0
        after: int | None = 0
        while after is not None:
            some, after = self._queue.retry_step(after, subject=subject, limit=_RETRY_STEP)
            count += some
            if self._now_s() >= until:
                break
        return Retried(count, more=after is not None)

    def send_again(self, kinds: frozenset[Kind], *, project: str | None = None, limit: int = 1_000,
                   after: RowCursor | None = None) -> ResentVectors | NotSent:  # fmt: skip
        """Send vectors to the server outside the store once more, newest memories first."""
        if not 1 <= limit <= MAX_SENT:
            raise InvalidArgument(f"limit {limit} is not between 1 and {MAX_SENT:,}")
        if self._copy is None:
            return NotSent("no Chroma server is in use: CODEXMEM_VECTOR_BACKEND is sqlite")
        if not self._copy.can_send:
            return NotSent("there is no embedder, so memories have no vectors")
        wanted, counts = Filter(kinds, project=project), Counter[Kind]()
        until = self._now_s() + PATIENCE_S
        while True:
            page = self._memories.page(wanted, PageRequest(limit=min(_SEND_STEP, limit - counts.total()), after=after))
            self._copy.send(page.items, lambda: None)
            counts.update(memory.kind for memory in page.items)
            after = page.after
            if after is None or counts.total() >= limit or self._now_s() >= until:
                return ResentVectors({kind: counts[kind] for kind in kinds}, after)
