"""How everything stands at a glance: worker, queue, indexes, model, budget, connected agents, disk.

Each part is read by an index and counted only so far, so that a page may ask every few seconds however large the store
has become. A store of several tenants lies on somebody else's disk: nothing is told about that.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.writer import MemoryWriter
from codexmem.kernel.store import depth
from codexmem.kernel.store.counts import Figures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.depth import ReadyJob
from codexmem.kernel.store.recent_activity import MOST_EVENTS, Lately
from codexmem.kernel.store.sessions import Sessions
from codexmem.operations.service.disk import Disk, Room
from codexmem.operations.service.model_watch import Failing, ModelWatch
from codexmem.operations.service.upkeep import IndexState, StoreUpkeep

MOST_SESSIONS = 500  # the newest, in which agents are looked for
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class WorkerState:
    """Whether this process runs jobs, and how it gets on; ages in milliseconds."""

    enabled: bool
    running: bool
    poll_interval_s: float
    jobs: int
    overdue: int
    oldest_ready_ms: int | None
    last_end_ms: int | None


@dataclass(frozen=True, slots=True)
class Spent:
    """What models have cost today."""

    day: str  # UTC
    tokens: int
    limit: int | None  # None: no limit

    @property
    def left(self) -> int | None:
        """What is left of it."""
        return None if self.limit is None else max(0, self.limit - self.tokens)


@dataclass(frozen=True, slots=True)
class AgentActivity:
    """A kind of agent that reports here, by its newest session."""

    newest: Session
    sessions_today: int
    events_today: int


@dataclass(frozen=True, slots=True)
class Agents:
    """All of them, the one that wrote last first."""

    listed: tuple[AgentActivity, ...]
    truncated: bool  # there are older sessions, which were not looked at
    events_truncated: bool  # there were more events today than are counted


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """Where the store lies."""

    directory: str | None  # None where telling it would give something away
    room: Room
    database: int | None  # bytes


@dataclass(frozen=True, slots=True)
class Look:
    """One look."""

    at_ms: int
    engine: str
    engine_version: str
    schema: str
    worker: WorkerState
    queue: dict[JobStatus, int]
    counted: int  # up to which each of these is counted
    waiting: ReadyJob | None
    index: IndexState
    metrics: dict[str, dict[str, int]]
    writer: MemoryWriter
    failing: Failing | None
    spent: Spent
    agents: Agents
    followers: int
    place: StoreLocation | None


class Standing:
    """Looks at the acting tenant's store."""

    def __init__(self, db: Database, clock: Clock, upkeep: StoreUpkeep, sessions: Sessions, model: ModelWatch, *,
                 schema: str, kinds: Sequence[str], worker: Callable[[], WorkerState], spent: Callable[[], Spent],
                 followers: Callable[[], int], disk: Disk | None = None, directory: str | None = None
                 ) -> None:  # fmt: skip
        self._db = db
        self._clock = clock
        self._upkeep = upkeep
        self._sessions = sessions
        self._model = model
        self._lately = Lately(db)
        self._figures = Figures(db)
        self._schema = schema
        self._kinds = kinds  # of jobs that count as waiting
        self._worker = worker
        self._spent = spent
        self._followers = followers
        self._disk = disk
        self._directory = directory

    def look(self) -> Look:
        """How it stands now."""
        worker = self._worker()  # across tenants, so not inside a reading of one
        return Look(
            at_ms=self._clock.now_ms(), engine=self._db.engine.name, engine_version=self._db.engine.version,
            schema=self._schema, worker=worker, queue=depth.whole(self._db, self._kinds), counted=depth.MOST,
            waiting=depth.oldest(self._db, now_ms=self._clock.now_ms()), index=self._upkeep.index_state(),
            metrics=self._upkeep.agent_metrics(), writer=self._model.writer, failing=self._model.failing(),
            spent=self._spent(), agents=self.agents(), followers=self._followers(), place=self._place(),
        )  # fmt: skip

    def agents(self) -> Agents:
        """Who reports here, and when each last did."""
        now_ms = self._clock.now_ms()
        today_ms = now_ms - now_ms % _DAY_MS
        with self._db.reading():
            found = self._sessions.newest(limit=MOST_SESSIONS + 1)
            events = self._lately.events(today_ms)
        newest: dict[str, Session] = {}
        sessions, written = Counter[str](), Counter[str]()
        for session in found[:MOST_SESSIONS]:
            newest.setdefault(session.platform, session)
            sessions[session.platform] += session.last_ms >= today_ms
            written[session.platform] += events.get(session.id, 0)
        listed = tuple(AgentActivity(each, sessions[name], written[name]) for name, each in newest.items())
        return Agents(listed, len(found) > MOST_SESSIONS, sum(events.values()) >= MOST_EVENTS)

    def _place(self) -> StoreLocation | None:
        if self._disk is None:
            return None
        return StoreLocation(self._directory, self._disk.room(), self._figures.size())
