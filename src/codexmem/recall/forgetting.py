"""Erasing what is named together with where it went: later memories that carry its words, traces of searches, captured
events and spooled ones that quote it. Backups are only told of, with how much of it they still hold.

It is always looked at first: a quotation is found by its words, and words can be shared by chance. What was merely
written after the named memories were told is listed apart, and goes only if that is asked for.

Looking reads what can hold a quotation and is not indexed by its words: events and captured events since the oldest of
the named memories, newest first, up to a limit that is told when it is reached.

Forgetting on purpose: by number, session, project or source. What was captured goes with what came of it.

Memories, versions, index rows and event payloads are erased by `history`; here the sessions and captured events behind
them go as well. Every step is bounded and may be repeated: an interrupted forgetting is finished by asking again.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ParamSpec

from codexmem.kernel.events.log import Log
from codexmem.kernel.model import json_text, spooled
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Kind, Mark, Memory, Origin
from codexmem.kernel.model.quotation import Quotations, texts_in
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.visibility import as_server
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.backup import BackupHolding
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.event_pages import EventPages, EventSpan
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.receipts import ReceiptTable
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall.lineage import Downstream, Lineage, said_by

P = ParamSpec("P")
MAX_IDS = 1_000
COUNTED = 10_000  # memories that are counted before they are erased, at most
SHOWN = 10  # memories of a trail that are shown
LISTED = 100  # memories that are listed before they are erased
_STEP = 500
_ALL = frozenset(Kind)
_OF_SESSION = "session:"


@dataclass(frozen=True, slots=True)
class ForgetSelection:
    """What is to be forgotten: exactly one of these; of a session with what persons wrote only if that is said."""

    ids: Sequence[int] | None = None
    session: int | str | None = None
    project: str | None = None
    source: str | None = None
    include_mine: bool = False


def _session_in(named: ForgetSelection) -> int | str | None:
    """The session that is named, also as a source; None if something else is."""
    number = (named.source or "").removeprefix(_OF_SESSION)
    return int(number) if (named.source or "").startswith(_OF_SESSION) and number.isdigit() else named.session


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What forgetting would erase."""

    found: int
    first: tuple[Memory, ...]
    more: bool = False  # so many that only these were counted
    kept: tuple[Memory, ...] = ()  # what persons wrote, which stays unless it is asked for by name


def is_persons(memory: Memory) -> bool:
    """Whether a person wrote it on purpose: not what was captured of what a person said to an agent."""
    by_hand = memory.kind is not Kind.PROMPT and not _captured(memory.state.attrs)
    return Mark.CORRECTED in memory.state.marks or (by_hand and memory.author is Origin.HUMAN)


def _whole(verb: Callable[P, int]) -> Callable[P, int]:
    """Erase what is private with the rest: it is counted, and nothing of it is told."""

    @functools.wraps(verb)
    def erase(*args: P.args, **named: P.kwargs) -> int:
        with as_server():
            return verb(*args, **named)

    return erase


class Forgetting:
    """The verbs that leave nothing but an audit line."""

    def __init__(self, db: Database, memories: Memories, history: History, sessions: Sessions, captures: Captures,
                 receipts: ReceiptTable, log: Log) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._history = history
        self._sessions = sessions
        self._captures = captures
        self._receipts = receipts
        self._log = log

    def numbers(self, named: ForgetSelection) -> tuple[list[int], frozenset[int]]:
        """Numbers of the memories that would go, up to a limit, and of those that persons wrote, which stay."""
        if named.ids is not None:
            return sorted(self._memories.many(named.ids, _ALL)), frozenset()
        with as_server():  # what is private is counted and goes with the rest; it is not shown
            session = _session_in(named)
            if session is None:
                return self._history.some(COUNTED, project=named.project, source=named.source), frozenset()
            seqs, kept = self._of_session(*self._names(session)), frozenset[int]()
            if not named.include_mine:
                kept = frozenset(seq for seq, each in self._memories.many(seqs, _ALL).items() if is_persons(each))
        return [seq for seq in seqs if seq not in kept], kept

    def outline(self, named: ForgetSelection) -> ForgetPreview:
        """What would be erased; changes nothing."""
        if named.ids is None:
            seqs, kept = self.numbers(named)
            shown = self._memories.many((*seqs[:LISTED], *sorted(kept)[:LISTED]), _ALL)
            first = tuple(shown[seq] for seq in seqs[:LISTED] if seq in shown)
            own = tuple(memory for seq, memory in sorted(shown.items()) if seq in kept)
            return ForgetPreview(len(seqs), first, len(seqs) == COUNTED, own)
        with as_server():
            count = len(self._memories.many(named.ids, _ALL))
        found = self._memories.many(named.ids, _ALL)
        return ForgetPreview(count, tuple(found[seq] for seq in dict.fromkeys(named.ids) if seq in found)[:LISTED])

    def one_of(self, named: ForgetSelection, by: WriteContext) -> int:
        """Erase what is named; returns how many memories there were."""
        if [named.ids, named.session, named.project, named.source].count(None) != 3:
            raise InvalidArgument(
                "name exactly one of ids, session, project and source", hint="to erase more, send several requests"
            )
        if named.ids is not None:
            return self.ids(named.ids, by)
        session = _session_in(named)
        if session is not None:
            return self.session(session, by, include_mine=named.include_mine)
        return self.project(named.project, by) if named.project is not None else self.source(named.source or "", by)

    @_whole
    def ids(self, seqs: Iterable[int], by: WriteContext, kinds: frozenset[Kind] = _ALL) -> int:
        """Erase these memories and what was captured for them; returns how many there were."""
        found = self._memories.many(seqs, kinds)
        sources = {seq for memory in found.values() for seq in _captured(memory.state.attrs)}
        self._blank(sorted(sources))
        return self._history.forget(found, by)

    @_whole
    def session(self, name: int | str, by: WriteContext, *, include_mine: bool = False) -> int:
        """Erase all of one session but what persons wrote, given by its number or by the agent's name for it."""
        _, kept = self.numbers(ForgetSelection(session=name, include_mine=include_mine))
        session, (key, source) = self._known(name), self._names(name)
        if session is not None:
            self._erase([session])
        erased = self._history.forget_all(by, session=key, keep=kept) if key is not None else 0
        return erased + (self._history.forget_all(by, source=source, keep=kept) if source is not None else 0)

    @_whole
    def project(self, project: str, by: WriteContext) -> int:
        """Erase everything of one project."""
        if not project:
            raise InvalidArgument("name the project to forget")
        while sessions := self._sessions.newest(project=project, limit=_STEP):
            self._erase(sessions)
        return self._history.forget_all(by, project=project)

    @_whole
    def source(self, source: str, by: WriteContext) -> int:
        """Erase everything that one session, run or import wrote; of a session, what persons wrote stays."""
        session = _session_in(ForgetSelection(source=source))
        if session is not None:
            return self.session(session, by)
        return self._history.forget_all(by, source=source)

    def _known(self, name: int | str) -> Session | None:
        return self._sessions.get(name) if isinstance(name, int) else self._sessions.named(name)

    def _names(self, name: int | str) -> tuple[str | None, str | None]:
        """The key of a session and its name as a source; of one that was erased, in part at least, what was given."""
        known = self._known(name)
        if known is not None:
            return known.key, known.subject
        return (None, f"{_OF_SESSION}{name}") if isinstance(name, int) else (name, None)

    def _of_session(self, key: str | None, source: str | None) -> list[int]:
        """Numbers of its memories; what it wrote through other interfaces than its hooks has it as its source."""
        found = self._history.some(COUNTED, session=key) if key is not None else []
        more = self._history.some(COUNTED, source=source) if source is not None else []
        return list(dict.fromkeys((*found, *more)))[:COUNTED]

    def _erase(self, sessions: Sequence[Session]) -> None:
        numbers = [session.id for session in sessions]
        while self._captures.erase(numbers, limit=_STEP):
            pass
        subjects = [session.subject for session in sessions]
        with self._db.transaction():
            # The session last: an extraction that runs now either ends before this and is erased with the rest, or
            # finds no session and writes nothing.
            self._sessions.erase(numbers)
            self._captures.erase(numbers, limit=_STEP)
            self._receipts.drop(subjects)
            self._log.scrub(subjects)

    def _blank(self, seqs: Sequence[int]) -> None:
        for start in range(0, len(seqs), _STEP):
            self._captures.blank(seqs[start : start + _STEP])


def _captured(attrs: object) -> tuple[int, ...]:
    return attrs.events if isinstance(attrs, ObservationAttrs | SummaryAttrs) else ()


MAX_ROOTS = 2_000  # memories whose words are looked for
MAX_LOOKED = 20_000  # events, and captured events, that are looked at
_PAGE = 500
_FILES = 10_000  # spooled events that are looked at
# Events of the log whose payload can hold what somebody asked or said.
_SAYING = (
    EventType.SEARCH_ANSWERED,
    EventType.SEARCH_LOOKED_UP,
    EventType.QUEUE_FAILED,
    EventType.MODEL_FAILED,
    EventType.QA_SIGNAL,
)


@dataclass(frozen=True, slots=True)
class ErasureTrail:
    """Where the named memories went."""

    quoting: tuple[Downstream, ...]  # memories that carry their words
    after: tuple[Downstream, ...]  # memories that were only written after they were told
    events: tuple[int, ...]  # numbers of events in the log that quote them, such as traces of searches
    captured: tuple[int, ...]  # numbers of captured events that quote them
    files: tuple[Path, ...]  # spooled events that quote them
    backups: tuple[BackupHolding, ...]  # that still hold some of them
    more: bool = False  # whether something was left unlooked at


class Erasure:
    """Finds and erases what the named memories left elsewhere."""

    def __init__(self, db: Database, memories: Memories, forgetting: Forgetting, lineage: Lineage, captures: Captures,
                 pages: EventPages, events: EventTable, clock: Clock, *,
                 flush: Callable[[], None] = lambda: None,
                 waiting: Callable[[], Iterable[Path]] = lambda: (),
                 backups: Callable[[Sequence[str]], Sequence[BackupHolding]] = lambda _: ()) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._forgetting = forgetting
        self._lineage = lineage
        self._captures = captures
        self._pages = pages
        self._events = events
        self._clock = clock
        self._flush = flush  # writes traces of searches that wait
        self._waiting = waiting  # spooled events
        self._backups = backups  # by the ids of memories

    def follow(self, named: ForgetSelection) -> ErasureTrail:
        """Where the named memories went; changes nothing."""
        seqs, kept = self._forgetting.numbers(named)
        roots = list(self._memories.many(seqs[:MAX_ROOTS], _ALL).values())
        if not roots:
            return ErasureTrail((), (), (), (), (), ())
        self._flush()
        quotations = Quotations(said_by(roots))
        gone = frozenset(seqs) | kept
        found = [each for each in self._lineage.downstream(roots, quotations) if each.memory.seq not in gone]
        quoting = [each for each in found if each.quotes]
        since_ms = min(each.created_ms for each in roots)
        sessions = frozenset(each.session for each in roots)
        events, more_events = self._quoting_events(quotations, since_ms)
        captured, more_captured = self._quoting_captures(quotations, since_ms)
        return ErasureTrail(
            tuple(quoting),
            tuple(each for each in found if not each.quotes),
            events,
            captured,
            tuple(path for path in self._files() if _is_of(path, quotations, sessions)),
            tuple(self._backups([each.id for each in (*roots, *(each.memory for each in quoting))])),
            more=more_events or more_captured or len(seqs) > len(roots),
        )

    def erase(self, named: ForgetSelection, by: WriteContext, *, all_after: bool = False) -> tuple[int, ErasureTrail]:
        """Erase the named memories and where they went; how many of the named there were, and what went besides."""
        trail = self.follow(named)
        erased = self._forgetting.one_of(named, by)
        taken = (*trail.quoting, *(trail.after if all_after else ()))
        # Events first: what was captured for a memory that goes now is blanked with it.
        for start in range(0, len(trail.captured), _PAGE):
            self._captures.blank(trail.captured[start : start + _PAGE])
        self._events.blank(trail.events)
        for path in trail.files:
            path.unlink(missing_ok=True)
        self._forgetting.ids([each.memory.seq for each in taken], by)
        self._db.engine.scour()
        return erased, replace(trail, after=trail.after if all_after else ())

    def _quoting_events(self, quotations: Quotations, since_ms: int) -> tuple[tuple[int, ...], bool]:
        span = EventSpan(since_ms, self._clock.now_ms() + 1)
        found: list[int] = []
        more = False
        for kind in _SAYING:
            below: Event | None = None
            looked = 0
            while looked < MAX_LOOKED and (page := self._pages.of_type(kind, span, below=below, limit=_PAGE)):
                found += [event.seq for event in page if quotations.in_any(texts_in(event.payload))]
                below, looked = page[-1], looked + len(page)
            more = more or looked >= MAX_LOOKED
        return tuple(found), more

    def _quoting_captures(self, quotations: Quotations, since_ms: int) -> tuple[tuple[int, ...], bool]:
        found: list[int] = []
        looked, below = 0, 2**62
        while looked < MAX_LOOKED and (page := self._captures.newest(below=below, since_ms=since_ms, limit=_PAGE)):
            found += [
                event.seq for event in page if quotations.in_any(texts_in([event.input, event.response, event.message]))
            ]
            below, looked = page[-1].seq, looked + len(page)
        return tuple(found), looked >= MAX_LOOKED

    def _files(self) -> list[Path]:
        return [path for _, path in zip(range(_FILES), self._waiting(), strict=False)]


def _is_of(path: Path, quotations: Quotations, sessions: frozenset[str | None]) -> bool:
    """Whether a spooled event belongs to one of the sessions, or carries the words."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    event = spooled.parsed(content)
    try:
        said = json_text.loads(event[1]) if event is not None else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return quotations.in_text(content.decode("utf-8", "replace"))
    return said.get("contentSessionId") in sessions or quotations.in_any(texts_in(said))
