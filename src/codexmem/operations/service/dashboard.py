"""How everything stands at a glance: worker, queue, indexes, model, budget, connected agents, disk.

Each part is read by an index and counted only so far, so that a page may ask every few seconds however large the store
has become. A store of several tenants lies on somebody else's disk: nothing is told about that.

How much room a folder takes on the disk, looked up now and then and only so far.

Whether the model that is to write memories does so: the newest extractions tell.

One that refuses its key, has no quota or is not there fails until somebody does something; any other trouble counts
when it has come several times in a row.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.events.review import Review, Sought
from codexmem.kernel.llm.asking import failed
from codexmem.kernel.llm.model import SOMEBODY_MUST_ACT
from codexmem.kernel.model import ids
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.writer import RULES, MemoryWriter
from codexmem.kernel.services.usage import QuotaState
from codexmem.kernel.store import depth
from codexmem.kernel.store.counts import Figures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.depth import ReadyJob
from codexmem.kernel.store.event_pages import EventSpan
from codexmem.kernel.store.recent_activity import MOST_EVENTS, Lately
from codexmem.kernel.store.sessions import Sessions
from codexmem.operations.service.upkeep import IndexState, StoreUpkeep

IN_A_ROW = 3
_LOOKED_AT = 50  # extractions
_EVER = EventSpan(0, 2**62)


@dataclass(frozen=True, slots=True)
class Failing:
    """A model that does not do its work."""

    error_class: str
    error: str
    since_ms: int  # as far as was looked back
    count: int  # extractions in a row


class ModelWatch:
    """Looks at the acting tenant's extractions."""

    def __init__(self, review: Review, writer: MemoryWriter) -> None:
        self._review = review
        self.writer = writer

    def trouble(self) -> str | None:
        """The class of the error with which it fails, if it does."""
        found = self.failing()
        return found.error_class if found is not None else None

    def failing(self) -> Failing | None:
        """What is wrong with the model; None if it answers or none is to be asked."""
        if self.writer.provider == RULES:
            return None
        sought = Sought(EventType.MODEL_RESULT, _EVER)
        asked = self._review.newest(sought, _was_asked, limit=_LOOKED_AT, most=_LOOKED_AT).events
        answered = next((place for place, event in enumerate(asked) if _said(event, "by") == "model"), len(asked))
        row = asked[:answered]
        if not row:
            return None
        newest = _said(row[0], "error_class")
        if newest not in SOMEBODY_MUST_ACT and len(row) < IN_A_ROW:
            return None
        return Failing(newest, _said(row[0], "error"), row[-1].at_ms, len(row))


def _was_asked(event: Event) -> bool:
    said = event.payload or {}
    return said.get("by") == "model" or failed(said.get("error_class"))


def _said(event: Event, name: str) -> str:
    return str((event.payload or {}).get(name) or "")


MOST_FILES = 20_000  # looked at; with more than that the figure is "at least"
KEPT_S = 30.0


@dataclass(frozen=True, slots=True)
class Room:
    """What a data directory takes."""

    total: int
    backups: int
    truncated: bool  # there are so many files that only some were counted


class Disk:
    """Measures one data directory; links are not followed, and what vanishes meanwhile counts as nothing."""

    def __init__(self, folder: Path, backups: str, *, now_s: Callable[[], float] = ids.monotonic,
                 most: int = MOST_FILES) -> None:  # fmt: skip
        self._folder = folder
        self._backups = backups
        self._now_s = now_s
        self._most = most
        self._lock = threading.Lock()
        self._kept: tuple[float, Room] | None = None

    def room(self) -> Room:
        """As it was at most half a minute ago."""
        with self._lock:
            now = self._now_s()
            if self._kept is None or now - self._kept[0] >= KEPT_S:
                self._kept = (now, self._measured())
            return self._kept[1]

    def _measured(self) -> Room:
        total = backups = seen = 0
        waiting: list[tuple[str, bool]] = [(str(self._folder), False)]
        while waiting:
            folder, inside = waiting.pop()
            for entry in _entries(folder):
                seen += 1
                if seen > self._most:
                    return Room(total, backups, truncated=True)
                within = inside or (folder == str(self._folder) and entry.name == self._backups)
                try:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, within))
                        continue
                    size = entry.stat(follow_symlinks=False).st_size
                except OSError:
                    continue
                total += size
                backups += size if within else 0
        return Room(total, backups, truncated=False)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


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
    quotas: Sequence[QuotaState]
    agents: Agents
    followers: int
    place: StoreLocation | None


class Standing:
    """Looks at the acting tenant's store."""

    def __init__(self, db: Database, clock: Clock, upkeep: StoreUpkeep, sessions: Sessions, model: ModelWatch, *,
                 schema: str, kinds: Sequence[str], worker: Callable[[], WorkerState], spent: Callable[[], Spent],
                 quotas: Callable[[], Sequence[QuotaState]], followers: Callable[[], int], disk: Disk | None = None,
                 directory: str | None = None) -> None:  # fmt: skip
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
        self._quotas = quotas
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
            spent=self._spent(), quotas=self._quotas(), agents=self.agents(), followers=self._followers(),
            place=self._place(),
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
