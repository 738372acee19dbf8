"""Transcripts: conversations that agents kept before we were there become what live capture would have made of them.

A turn is one short transaction: what was asked, done and said is captured, and rules write at once what happened, at
the time it happened, into the delta of the run. A turn has an id of its own for ever, so that an import may be broken
off and begun again. A session that was captured live is left as it is, and so is what it said after an import.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from codexmem.agents.transcripts.model import MachineOverview
from codexmem.capture.author_queue import AuthorQueue
from codexmem.capture.extraction import Statements, observation_draft, summary_draft, tells, turn_material
from codexmem.capture.service import (
    Rules,
    cleaned,
    cleaned_message,
    cleaned_prompt,
    excluded,
    prompt_draft,
    required_key,
)
from codexmem.kernel.llm import rules as written_rules
from codexmem.kernel.llm.activity import TurnActivity, activity
from codexmem.kernel.llm.material import ExtractedObservation, Material, TurnSummary
from codexmem.kernel.model import audience
from codexmem.kernel.model.capture import Capture, CapturedEvent, HookReport, key_of, skip_of
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import MAX_KEY, MAX_PROJECT, Kind, MemoryDraft, Origin
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.sessions import Sessions

SOURCE = "import:transcripts"
CAUSE = "import"
MAX_TURNS = 50  # of one part
MAX_TOOLS = 1_000  # of one turn
MAX_SESSIONS = 500  # that are looked up at once
_PREFIX = "transcript:"
_OLDEST_MS = 946_684_800_000  # 2000: before it a clock was wrong


class TurnFate(StrEnum):
    """What became of a turn."""

    IMPORTED = "imported"
    KNOWN = "known"  # imported before
    CAPTURED = "captured"  # the session was captured live
    EXCLUDED = "excluded"  # nothing of its project is captured
    EMPTY = "empty"  # nothing is left of it without what is private


@dataclass(frozen=True, slots=True)
class ReportedTurn:
    """A turn in the words of hooks."""

    prompt: HookReport
    tools: tuple[HookReport, ...] = ()
    stop: HookReport | None = None


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """Consecutive turns of one session, of which the first has this number, counted from 1."""

    session: str  # the agent's name for it
    platform: str
    project: str
    cwd: str
    first: int
    turns: tuple[ReportedTurn, ...]
    ended: bool = False  # nothing follows in the transcript
    asks_writer: bool = False  # about all of it, once it has ended
    rules_only: bool = False  # a file of the checkout says that no author may be told of it


@dataclass(frozen=True, slots=True)
class ImportedPart:
    """What became of one part; `delta` is what the next part of the same run names."""

    delta: str | None  # None while nothing was written
    turns: dict[str, int] = field(default_factory=dict)  # by fate
    memories: dict[str, int] = field(default_factory=dict)  # by kind
    events: int = 0


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session of a transcript that is here already."""

    turns: int
    imported: bool  # whether by an import; what was captured live is left as it is


@dataclass(frozen=True, slots=True)
class _PreparedTurn:
    """A turn cleaned, and what rules say of it; its events are numbered by their places."""

    prompt: HookReport
    text: str
    private: bool
    tools: tuple[HookReport, ...]
    stop: HookReport | None
    observations: tuple[ExtractedObservation, ...]
    summary: TurnSummary | None
    activity: TurnActivity


@dataclass
class _Run:
    """What one part has brought so far, and as part of what it is written."""

    by: WriteContext
    delta: str | None
    turns: Counter[str] = field(default_factory=Counter)
    memories: Counter[str] = field(default_factory=Counter)
    events: int = 0


class TranscriptImport:
    """Takes in the acting tenant's transcripts: a turn costs some inserts per event, whatever is there already."""

    def __init__(self, db: Database, sessions: Sessions, captures: Captures, memories: Memories, history: History,
                 author: AuthorQueue, clock: Clock, rules: Rules,
                 look: Callable[[], MachineOverview] = MachineOverview) -> None:  # fmt: skip
        self._db = db
        self._sessions = sessions
        self._captures = captures
        self._memories = memories
        self._history = history
        self._author = author
        self._clock = clock
        self._rules = rules
        self._statements = Statements(memories)
        self.look = look  # agents on this machine and what they keep, if it is the person's own

    @property
    def asks_writer(self) -> bool:
        """Whether somebody is there who could say what imported turns mean."""
        return self._author.is_asked

    @property
    def undone(self) -> str | None:
        """The delta that hides what was imported, if it was undone: undoing that brings it back."""
        return self._history.standing_undo(SOURCE)

    def known(self, keys: Sequence[str]) -> dict[str, KnownSession]:
        """Those of these sessions that are here."""
        if len(keys) > MAX_SESSIONS:
            raise InvalidArgument(f"{len(keys):,} sessions at once, at most {MAX_SESSIONS}")
        found = self._sessions.known(keys)
        imported = self._captures.delivered_of([_delivery(key, 1) for key in found])
        return {key: KnownSession(session.turn, _delivery(key, 1) in imported) for key, session in found.items()}

    def take_in(self, part: TranscriptPart, by: WriteContext, *, delta: str | None = None) -> ImportedPart:
        """Import those turns that are not here yet, each whole or not at all; `delta` is the run's, if begun."""
        key = required_key(part.session)
        if delta is not None:
            self._history.require_run(delta, SOURCE)
        if excluded(self._rules.excluded_projects, part.cwd, part.project):
            return ImportedPart(delta, {TurnFate.EXCLUDED.value: len(part.turns)})
        run = _Run(by, delta)
        for number, turn in enumerate(part.turns, part.first):
            fate = TurnFate.KNOWN
            if self._captures.delivered(_delivery(key, number)) is None:
                # Whoever else writes need not wait for rules.
                prepared = self._prepared(part, turn)
                with self._db.transaction():
                    fate = self._take(part, key, number, prepared, run)
            run.turns[fate.value] += 1
        if part.ended and run.turns[TurnFate.IMPORTED.value]:
            self._end(part, key, run.delta)
        return ImportedPart(run.delta, dict(run.turns), dict(run.memories), run.events)

    def _prepared(self, part: TranscriptPart, turn: ReportedTurn) -> _PreparedTurn:
        text, private = cleaned_prompt(turn.prompt)
        reports = () if private else turn.tools
        tools = tuple(cleaned(each) for each in reports if skip_of(each, self._rules.skipped_tools) is None)
        stop = cleaned_message(turn.stop) if turn.stop is not None and not private else None
        placed = (_event(place, 0, 0, Capture.TOOL, self._when(each), each) for place, each in enumerate(tools))
        events = list(filter(tells, placed))
        size = max(1, self._rules.batch_events)
        groups = (tuple(events[start : start + size]) for start in range(0, len(events), size))
        found = (each for group in groups for each in written_rules.observations(Material(part.project, text, group)))
        summary = written_rules.summary(turn_material(part.project, text, events), stop.message) if stop else None
        return _PreparedTurn(turn.prompt, text, private, tools, stop, tuple(found), summary, activity(events))

    def _take(self, part: TranscriptPart, key: str, number: int, turn: _PreparedTurn, run: _Run) -> TurnFate:
        delivery = _delivery(key, number)
        if self._captures.delivered(delivery) is not None:
            return TurnFate.KNOWN
        if not turn.text and not turn.private:
            return TurnFate.EMPTY
        at_ms = self._when(turn.prompt)
        session = self._sessions.touch(
            key, project=part.project.strip()[:MAX_PROJECT], platform=part.platform[:64], cwd=part.cwd[:MAX_KEY],
            now_ms=at_ms, rules_only=part.rules_only or self._author.refuses(part.cwd),
        ).session  # fmt: skip
        if session.turn and not self._is_ours(session):
            return TurnFate.CAPTURED
        with audience.of_session(session):
            session = self._sessions.begin_turn(session, private=turn.private)
            self._capture(session, replace(turn.prompt, prompt="", event=delivery), Capture.PROMPT, run)
            draft = prompt_draft(session, turn.text, private=turn.private, at_ms=at_ms, origin=Origin.IMPORT)
            self._remember(draft, run)
            self._write(session, turn, run)
        return TurnFate.IMPORTED

    def _is_ours(self, session: Session) -> bool:
        """Whether the newest turn of a session came by an import too."""
        return (self._captures.prompt_delivery(session.id, session.turn) or "").startswith(_PREFIX)

    def _write(self, session: Session, turn: _PreparedTurn, run: _Run) -> None:
        """What rules say of a turn."""
        captured = [self._capture(session, tool, Capture.TOOL, run) for tool in turn.tools]
        for found in turn.observations:
            sources = [event for place in found.events if (event := captured[place]) is not None]
            if sources:
                of = replace(found, events=tuple(event.seq for event in sources))
                self._remember(observation_draft(session, sources, of), run)
        stop = self._capture(session, turn.stop, Capture.STOP, run) if turn.stop is not None else None
        if stop is None:
            return
        by = self._by(run)
        kept = self._statements.keep(session, session.turn, turn.text, (stop.seq,), stop.at_ms, by, Origin.IMPORT)
        run.memories[Kind.OBSERVATION.value] += len(kept)
        if turn.summary is not None:
            events = turn_material(
                session.project, turn.text, [e for e in captured if e is not None and tells(e)]
            ).events
            self._remember(summary_draft(session, stop, events, turn.summary, turn.activity), run)

    def _capture(self, session: Session, report: HookReport, kind: Capture, run: _Run) -> CapturedEvent | None:
        at_ms = self._when(report)
        seq = self._captures.add(
            report, kind, key_of(report, kind, session.id, session.turn), session=session.id, turn=session.turn,
            at_ms=at_ms, now_ms=self._clock.now_ms(),
        )  # fmt: skip
        if seq is None:
            return None
        run.events += 1
        return _event(seq, session.id, session.turn, kind, at_ms, report)

    def _remember(self, draft: MemoryDraft, run: _Run) -> None:
        self._memories.remember(draft, self._by(run))
        run.memories[draft.kind.value] += 1

    def _by(self, run: _Run) -> WriteContext:
        if run.delta is None:
            run.delta = self._history.open_delta(SOURCE, CAUSE, run.by).id
        return replace(run.by, source=SOURCE, delta=run.delta)

    def _end(self, part: TranscriptPart, key: str, delta: str | None) -> None:
        with self._db.transaction():
            last = part.turns[-1]
            touched = self._sessions.complete(key, now_ms=self._when(last.stop or last.prompt))
            if touched is not None and part.asks_writer and delta is not None:
                self._author.imported(touched.session, delta)

    def _when(self, report: HookReport) -> int:
        """When it happened, as far as that can be believed."""
        now, at_ms = self._clock.now_ms(), report.at_ms
        return at_ms if at_ms is not None and _OLDEST_MS <= at_ms <= now else now


def _event(seq: int, session: int, turn: int, kind: Capture, at_ms: int, report: HookReport) -> CapturedEvent:
    return CapturedEvent(
        seq, session, turn, kind, at_ms, tool=report.tool, input=report.input, response=report.response,
        cwd=report.cwd, message=report.message, agent=report.agent,
    )  # fmt: skip


def _delivery(key: str, number: int) -> str:
    return f"{_PREFIX}{key}:{number}"
