"""A session turn by turn: what was asked, what the agent was handed, which tools it used, and what came of that.

A page is a stretch of the session's captured events, in their order, cut at the end of a turn where one fits; a turn
that is longer than a page goes on in the next one. So a page costs its own length, however long the session is, and
does not move while events are added.

Sessions as people look through them: the last active first, or those that say something about a question.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from codexmem.kernel.model.capture import Capture, CapturedEvent
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.job import Job
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, Status
from codexmem.kernel.model.query import MAX_PAGE, Filter, PageRequest, RowOrder
from codexmem.kernel.model.search import MAX_DEPTH, SearchAnswer, SearchQuery, Unit
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall.session_store import SessionOutline, SessionOutlines

MAX_TURNS = 50
EVENTS = 100  # events of a page
_HANDED = 200  # handings-over that a page looks at
_TOLD = 30  # memories of one handing-over that are told
_CAME = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
_ALL = frozenset(Kind)
# What was extracted from the last events of a page is dated by events that may be on the next one.
_MARGIN_MS = 60_000


@dataclass(frozen=True, slots=True)
class TurnCursor:
    """How far a reader is: in the session's events, and in what the log says about the session."""

    event: int = 0
    logged: int = 0


@dataclass(frozen=True, slots=True)
class Handed:
    """What the agent was handed at one time."""

    at_ms: int
    start: bool  # at the start of a session, not for a prompt
    tokens: int
    count: int
    memories: tuple[tuple[Memory, bool], ...]  # the first that are still there, and whether each was told in full


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, or the part of it that is on a page."""

    number: int  # 0: before anything was asked
    prompt: Memory | None
    events: tuple[CapturedEvent, ...]  # in their order
    came: tuple[Memory, ...]  # observations and summaries
    handed: tuple[Handed, ...]
    jobs: tuple[Job, ...]  # what extracted its events, as far as they are kept
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class TurnListPage:
    """Turns in their order."""

    session: Session
    turns: tuple[Turn, ...]
    after: TurnCursor | None


class TurnReader:
    """Reads sessions of the acting tenant."""

    def __init__(self, db: Database, sessions: Sessions, captures: Captures, memories: Memories, jobs: Jobs,
                 events: EventTable) -> None:  # fmt: skip
        self._db = db
        self._sessions = sessions
        self._captures = captures
        self._memories = memories
        self._jobs = jobs
        self._log = events

    def page(self, number: int, place: TurnCursor, *, limit: int, hidden: bool = False) -> TurnListPage:
        """The next turns behind a place; with `hidden`, also what was undone or deleted."""
        with self._db.reading():
            session = self._session(number)
            captured = self._captures.of_session(number, after=place.event, limit=EVENTS + 1)
            if not captured and not place.event:
                statuses = VISIBLE | {Status.DELETED} if hidden else VISIBLE
                return TurnListPage(session, tuple(self._remembered_turns(session, limit, statuses)), None)
            shown, goes_on = _cut(captured, min(limit, MAX_TURNS))
            more = len(captured) > len(shown)
            last_turn = shown[-1].turn if shown and more else None
            handings = self._handings(session, place.logged, shown, last_turn)
            turns = self._turns(session, shown, handings, VISIBLE | {Status.DELETED} if hidden else VISIBLE)
        if goes_on and turns:
            turns = [*turns[:-1], _going_on(turns[-1])]
        logged = max((event.seq for _, event in handings), default=place.logged)
        return TurnListPage(session, tuple(turns), TurnCursor(shown[-1].seq, logged) if more else None)

    def _remembered_turns(self, session: Session, limit: int, statuses: frozenset[Status]) -> Iterable[Turn]:
        """Turns of which memories alone are here, as of a session that was imported."""
        wanted = Filter(_CAME, statuses=statuses, session=session.key)
        turns: dict[int, list[Memory]] = defaultdict(list)
        for memory in self._memories.page(wanted, PageRequest(limit=MAX_PAGE, order=RowOrder.OLDEST)).items:
            turns[_number(memory)].append(memory)
        for number in sorted(turns)[:limit]:
            prompt = next((each for each in turns[number] if each.kind is Kind.PROMPT), None)
            came = tuple(each for each in turns[number] if each.kind is not Kind.PROMPT)
            yield Turn(number, prompt, (), came, (), ())

    def event(self, number: int, seq: int) -> CapturedEvent:
        """One event of a session, whole."""
        found = self._captures.one(number, seq)
        if found is None:
            raise NotFound(f"Session {number} has no event {seq}", hint=f"GET /api/sessions/{number}/turns lists them")
        return found

    def _session(self, number: int) -> Session:
        session = self._sessions.get(number)
        if session is None:
            raise NotFound(f"Session {number} not found", hint="GET /api/sessions lists them")
        return session

    def _handings(self, session: Session, after: int, shown: Sequence[CapturedEvent],
                  last_turn: int | None) -> list[tuple[int, Event]]:  # fmt: skip
        """What the log says was handed over, each with its turn, up to the last turn of the page."""
        types = [EventType.CONTEXT_GIVEN.value]
        found: list[tuple[int, Event]] = []
        for event in self._log.of_subject(session.subject, after_seq=after, limit=_HANDED, types=types):
            turn = _turn_of(event, shown)
            if last_turn is not None and turn > last_turn:
                break
            found.append((turn, event))
        return found

    def _turns(self, session: Session, shown: Sequence[CapturedEvent], handings: Sequence[tuple[int, Event]],
               statuses: frozenset[Status]) -> list[Turn]:  # fmt: skip
        events: dict[int, list[CapturedEvent]] = defaultdict(list)
        for event in shown:
            events[event.turn].append(event)
        handed: dict[int, list[Handed]] = defaultdict(list)
        for turn, given in self._handed(handings):
            handed[turn].append(given)
        memories = self._came(session, shown, statuses)
        prompts = {_number(each): each for each in memories if each.kind is Kind.PROMPT}
        came: dict[int, list[Memory]] = defaultdict(list)
        for memory in memories:
            home = _home(memory, shown) if memory.kind is not Kind.PROMPT else None
            if home is not None:
                came[home].append(memory)
        jobs = {job.id: job for job in self._jobs.many(_numbers(event.job for event in shown))}
        return [
            Turn(
                turn, prompts.get(turn), tuple(events[turn]), tuple(came[turn]), tuple(handed[turn]),
                tuple(jobs[each] for each in _numbers(event.job for event in events[turn]) if each in jobs),
            )
            for turn in sorted({*events, *handed})
        ]  # fmt: skip

    def _came(self, session: Session, shown: Sequence[CapturedEvent], statuses: frozenset[Status]
              ) -> tuple[Memory, ...]:  # fmt: skip
        if not shown:
            return ()
        first, last = min(event.at_ms for event in shown), max(event.at_ms for event in shown)
        wanted = Filter(
            _CAME, statuses=statuses, session=session.key, created_from_ms=first, created_to_ms=last + _MARGIN_MS
        )
        return self._memories.page(wanted, PageRequest(limit=MAX_PAGE, order=RowOrder.OLDEST)).items

    def _handed(self, handings: Sequence[tuple[int, Event]]) -> Iterable[tuple[int, Handed]]:
        told = {event.seq: list((event.payload or {}).get("seqs", ()))[:_TOLD] for _, event in handings}
        there = self._memories.many((seq for seqs in told.values() for seq in seqs), _ALL)
        for turn, event in handings:
            payload = event.payload or {}
            whole = frozenset(payload.get("whole", ()))
            yield turn, Handed(
                event.at_ms, bool(payload.get("start")), int(payload.get("tokens", 0)), len(payload.get("seqs", ())),
                tuple((there[seq], seq in whole) for seq in told[event.seq] if seq in there),
            )  # fmt: skip


def _cut(captured: Sequence[CapturedEvent], limit: int) -> tuple[list[CapturedEvent], bool]:
    """The events of a page, and whether its last turn goes on behind it."""
    turns = list(dict.fromkeys(event.turn for event in captured))
    if len(turns) > limit:
        return [event for event in captured if event.turn in turns[:limit]][:EVENTS], False
    if len(captured) <= EVENTS:
        return list(captured), False
    whole = [event for event in captured[:EVENTS] if event.turn != captured[EVENTS].turn]
    return (whole, False) if whole else (list(captured[:EVENTS]), True)


def _going_on(turn: Turn) -> Turn:
    return Turn(turn.number, turn.prompt, turn.events, turn.came, turn.handed, turn.jobs, goes_on=True)


def _turn_of(event: Event, shown: Sequence[CapturedEvent]) -> int:
    """The turn in which something was handed over; older events do not say, and go by time."""
    said = (event.payload or {}).get("turn")
    if isinstance(said, int):
        return said
    return max((each.turn for each in shown if each.at_ms <= event.at_ms), default=0)


def _home(memory: Memory, shown: Sequence[CapturedEvent]) -> int | None:
    """The turn of the page to which a memory belongs."""
    own = frozenset(getattr(memory.state.attrs, "events", ()))
    if own:
        return next((event.turn for event in shown if event.seq in own), None)
    number = _number(memory)
    return number if any(event.turn == number for event in shown) else None


def _number(memory: Memory) -> int:
    return getattr(memory.state.attrs, "prompt_number", None) or 0


def _numbers(jobs: Iterable[int | None]) -> list[int]:
    return list(dict.fromkeys(job for job in jobs if job is not None))


def is_shown(event: CapturedEvent) -> bool:
    """Whether an event is one to list: that a turn began is told by its prompt."""
    return event.kind is not Capture.PROMPT


_SAID = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
_NOTHING = SessionOutline("", 0, 0, whole=True)


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One session of a list."""

    session: Session
    outline: SessionOutline
    score: float | None = None  # how well it fits a question


@dataclass(frozen=True, slots=True)
class SessionListPage:
    """Some sessions."""

    sessions: tuple[ListedSession, ...]
    after: tuple[int, int] | None = None  # last activity and number of the last one, if others follow
    offset: int | None = None  # of a search: how many results to pass over for the next page


class SessionLists:
    """Lists sessions of the acting tenant."""

    def __init__(self, db: Database, sessions: Sessions, outlines: SessionOutlines,
                 search: Callable[[SearchQuery], SearchAnswer]) -> None:  # fmt: skip
        self._db = db
        self._sessions = sessions
        self._outlines = outlines
        self._search = search

    def newest(self, *, project: str | None, below: tuple[int, int] | None, limit: int) -> SessionListPage:
        """A page by last activity, newest first."""
        with self._db.reading():
            found = self._sessions.newest(project=project, below=below, limit=limit + 1)
            shown = found[:limit]
            outlines = self._outlines.of([each.id for each in shown])
        told = tuple(ListedSession(each, outlines.get(each.id, _NOTHING)) for each in shown)
        return SessionListPage(told, (shown[-1].last_ms, shown[-1].id) if len(found) > limit else None)

    def fitting(self, text: str, *, project: str | None, offset: int, limit: int) -> SessionListPage:
        """A page of sessions in which something was said about this, best first."""
        limit = min(limit, MAX_DEPTH - offset)
        wanted = Filter(_SAID, project=project)
        answer = self._search(SearchQuery(text, wanted, limit=limit, offset=offset, unit=Unit.SESSION))
        scores = {each.memory.session: each.score for each in answer.results if each.memory.session is not None}
        with self._db.reading():
            # Memories that were saved by hand or imported name sessions that were never captured.
            known = self._sessions.known(list(scores))
            outlines = self._outlines.of([each.id for each in known.values()])
        told = tuple(
            ListedSession(known[key], outlines.get(known[key].id, _NOTHING), score)
            for key, score in scores.items()
            if key in known
        )
        further = answer.more and offset + limit < MAX_DEPTH
        return SessionListPage(told, offset=offset + limit if further else None)

    def one(self, number: int) -> ListedSession:
        """One session."""
        with self._db.reading():
            session = self._sessions.get(number)
            if session is None:
                raise NotFound(f"Session {number} not found", hint="GET /api/sessions lists them")
            return ListedSession(session, self._outlines.of([number]).get(number, _NOTHING))

    def named(self, keys: list[str]) -> list[ListedSession]:
        """Those of these names that are sessions' names, the last active first; for a page of rows."""
        with self._db.reading():
            known = sorted(self._sessions.known(keys).values(), key=lambda each: (-each.last_ms, -each.id))
            outlines = self._outlines.of([each.id for each in known])
        return [ListedSession(each, outlines.get(each.id, _NOTHING)) for each in known]

    def numbers(self, keys: list[str]) -> dict[str, int]:
        """The numbers of sessions by the agents' names for them; for a page of rows."""
        return {key: session.id for key, session in self._sessions.known(keys).items()}
