"""Capture: what hooks report becomes sessions, numbered turns and captured events, each with the job that extracts it.

Everything is cleaned before it is stored: private regions and our own blocks are removed, secrets masked, long texts
cut. An event and its job are one transaction, so an acknowledged event is never lost. Events of one session that come
close together join one waiting job; a new turn, a stop or the end of the session sends it off.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

from codexmem.capture.author_queue import AuthorQueue
from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.queue import Enqueued, Queue
from codexmem.kernel.model import audience, clipping, privacy, project, redaction
from codexmem.kernel.model.attrs import PromptAttrs
from codexmem.kernel.model.capture import (
    MAX_MESSAGE,
    MAX_PROMPT,
    Capture,
    Captured,
    Deduped,
    HookReport,
    Queued,
    Skip,
    Skipped,
    key_of,
    skip_of,
)
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import NewJob
from codexmem.kernel.model.memory import MAX_KEY, MAX_PROJECT, Kind, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.skipped_tools import SKIPPED_TOOLS
from codexmem.kernel.model.spans import timed
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.sessions import Gathering, Sessions, TouchedSession

EXTRACT = "capture.extract"
SUMMARIZE = "capture.summarize"
_OLDEST_MS = 90 * 86_400_000  # a report from further back is dated now: its clock cannot be believed
_SKEW_MS = 60_000
_NOTHING = Gathering(None, 0)


@dataclass(frozen=True, slots=True)
class Rules:
    """What is captured, and how much of it one extraction takes together."""

    skipped_tools: frozenset[str] = frozenset(SKIPPED_TOOLS)
    excluded_projects: tuple[str, ...] = ()  # patterns of a directory, its name or the project's
    batch_events: int = 5
    batch_wait_ms: int = 10_000


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn and its number; skipped if its text was not kept."""

    session: int
    turn: int
    skipped: Skip | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """The session was active and is not any more."""

    session: int


class CaptureService:
    """The four things a hook can say."""

    def __init__(self, db: Database, sessions: Sessions, captures: Captures, memories: Memories, queue: Queue, log: Log,
                 clock: Clock, rules: Rules, author: AuthorQueue,
                 begun: Sequence[Callable[[Session], None]] = (),
                 ended: Sequence[Callable[[Session], None]] = (),
                 heard: Callable[[Session, str, bool | None], None] = lambda *_: None) -> None:  # fmt: skip
        self._db = db
        self._sessions = sessions
        self._captures = captures
        self._memories = memories
        self._queue = queue
        self._log = log
        self._clock = clock
        self._rules = rules
        self._author = author
        self._begun = begun  # are told of each new session
        self._ended = ended  # … and of each that is over
        self._heard = heard  # … and of each event: its session, the agent's process, whether a turn begins or ends

    @timed("capture.begin_turn")
    def init(self, report: HookReport) -> TurnStarted:
        """A person asked something: the next turn begins. What is private leaves its number and nothing else."""
        text, private = cleaned_prompt(report)
        with self._db.transaction():
            if report.event and (known := self._captures.delivered(report.event)) is not None:
                return TurnStarted(*known, Skip.PRIVATE if private else None)
            touched = self._touched(report)
            session = touched.session
            if self._excluded(report, session):
                return TurnStarted(session.id, session.turn, Skip.PROJECT)
            if report.agent:
                return TurnStarted(session.id, session.turn, Skip.SUBAGENT)
            if not text and not private:
                return TurnStarted(session.id, session.turn, Skip.EMPTY)
            self._send_off(touched)
            session = self._sessions.begin_turn(session, private=private)
            self._heard(session, report.process, True)
            at_ms = self._when(report)
            shown = replace(report, prompt="", input=None, response=None, message="")
            key = key_of(shown, Capture.PROMPT, session.id, session.turn)
            self._captures.add(
                shown, Capture.PROMPT, key, session=session.id, turn=session.turn, at_ms=at_ms,
                now_ms=self._clock.now_ms(),
            )  # fmt: skip
            draft = prompt_draft(session, text, private=private, at_ms=at_ms, origin=Origin.HUMAN)
            with audience.of_session(session):
                self._memories.remember(draft, WriteContext("hook", session.subject))
            return TurnStarted(session.id, session.turn, Skip.PRIVATE if private else None)

    @timed("capture.observe")
    def observe(self, report: HookReport) -> Captured:
        """An agent used a tool."""
        if (skip := skip_of(report, self._rules.skipped_tools)) is not None:
            return Skipped(skip)
        report = cleaned(report)
        with self._db.transaction():
            touched = self._touched(report)
            session, waiting = touched.session, touched.gathering
            if (skip := self._skip(report, session)) is not None:
                return Skipped(skip)
            full = waiting.events + 1 >= self._rules.batch_events
            joined = waiting.job if waiting.job is not None and self._queue.join(waiting.job, hurry=full) else None
            seq = self._add(report, Capture.TOOL, session, joined)
            if seq is None:
                return Deduped()
            if joined is None:
                self._captures.hand_to(seq, self._new_job(session))
            else:
                self._sessions.gather(session, _NOTHING if full else Gathering(joined, waiting.events + 1))
            return Queued()

    @timed("capture.summarize")
    def summarize(self, report: HookReport) -> Captured:
        """An agent finished its turn and said so."""
        if report.agent:
            return Skipped(Skip.SUBAGENT)
        report = cleaned_message(report)
        with self._db.transaction():
            touched = self._touched(report)
            session = touched.session
            if (skip := self._skip(report, session)) is not None:
                return Skipped(skip)
            if report.answers_hook:
                self._drop_reason(session)
            seq = self._add(report, Capture.STOP, session)
            if seq is None:
                return Deduped()
            self._send_off(touched)
            self._heard(session, report.process, False)
            payload = {"session": session.id, "turn": session.turn}
            job = self._queue.enqueue(NewJob(SUMMARIZE, payload, subject=session.subject, lane=session.subject))
            assert isinstance(job, Enqueued)
            self._captures.hand_to(seq, job.id)
            return Queued()

    def _drop_reason(self, session: Session) -> None:
        """Hide the prompt of a turn that began after a stop without a person: it is what a hook said."""

        def stopped(turn: int) -> bool:
            return bool(self._captures.of_turn(session.id, turn, Capture.STOP, limit=1))

        if stopped(session.turn) or not stopped(session.turn - 1):
            return
        prompts = Filter(frozenset({Kind.PROMPT}), session=session.key)
        for memory in self._memories.page(prompts, PageRequest(limit=1)).items:
            attrs = memory.state.attrs
            if isinstance(attrs, PromptAttrs) and attrs.prompt_number == session.turn:
                by = WriteContext("hook", session.subject, note="a Stop hook's reason")
                self._memories.write(memory, replace(memory.state, status=Status.DELETED), Op.DELETE, by)

    @timed("capture.complete")
    def complete(self, key: str) -> Completed | Skipped:
        """The conversation is over; what it left in the queue still runs."""
        with self._db.transaction():
            touched = self._sessions.complete(required_key(key), now_ms=self._clock.now_ms())
            if touched is None:
                return Skipped(Skip.NOT_ACTIVE)
            self._send_off(touched)
            self._author.session_ended(touched.session)
            self._tell(touched.session)
            for told in self._ended:
                told(touched.session)
            return Completed(touched.session.id)

    def _touched(self, report: HookReport) -> TouchedSession:
        said = report.project.strip()[:MAX_PROJECT]
        touched = self._sessions.touch(
            required_key(report.session), project=said or _folder(report.cwd), platform=report.platform[:64],
            cwd=report.cwd[:MAX_KEY], now_ms=self._when(report),
            rules_only=report.rules_only or self._author.refuses(report.cwd),
        )  # fmt: skip
        session = touched.session
        if said and session.project != said and session.project == _folder(session.cwd):
            # What was taken from the directory was a guess.
            touched = replace(touched, session=self._sessions.assign(session, said))
        if touched.new:
            self._tell(touched.session)
            for tell in self._begun:
                tell(touched.session)
        self._heard(touched.session, report.process, None)
        return touched

    def _add(self, report: HookReport, kind: Capture, session: Session, job: int | None = None) -> int | None:
        key = key_of(report, kind, session.id, session.turn)
        return self._captures.add(
            report, kind, key, session=session.id, turn=session.turn, at_ms=self._when(report),
            now_ms=self._clock.now_ms(), job=job,
        )  # fmt: skip

    def _new_job(self, session: Session) -> int:
        """A job for one event of this session, which others may join."""
        alone = self._rules.batch_events <= 1
        job = self._queue.enqueue(NewJob(
            EXTRACT, {"session": session.id, "turn": session.turn}, subject=session.subject, lane=session.subject,
            delay_ms=0 if alone else self._rules.batch_wait_ms,
        ))  # fmt: skip
        assert isinstance(job, Enqueued)
        self._sessions.gather(session, _NOTHING if alone else Gathering(job.id, 1))
        return job.id

    def _send_off(self, touched: TouchedSession) -> None:
        """Nothing more joins what waits: it belongs to what went before."""
        if touched.gathering.job is not None:
            self._queue.hurry(touched.gathering.job, touched.session.subject)
            self._sessions.gather(touched.session, _NOTHING)

    def _skip(self, report: HookReport, session: Session) -> Skip | None:
        if self._excluded(report, session):
            return Skip.PROJECT
        return Skip.PRIVATE if session.private else None

    def _tell(self, session: Session) -> None:
        payload = {"sessionDbId": session.id, "contentSessionId": session.key, "status": session.status.value,
                   "project": session.project}  # fmt: skip
        with audience.of_session(session):
            self._log.append(
                NewEvent(EventType.SESSION_STATUS, subject=session.subject, payload=payload, project=session.project)
            )

    def _excluded(self, report: HookReport, session: Session) -> bool:
        return excluded(self._rules.excluded_projects, report.cwd or session.cwd, session.project)

    def _when(self, report: HookReport) -> int:
        now = self._clock.now_ms()
        at = report.at_ms
        return at if at is not None and now - _OLDEST_MS < at <= now + _SKEW_MS else now


def excluded(patterns: tuple[str, ...], cwd: str, project: str) -> bool:
    """Whether a directory, its name or a project is one that nothing is captured from."""
    names = {name for name in (cwd.rstrip("/\\"), PurePath(cwd).name, project) if name}
    return any(fnmatchcase(name, pattern.rstrip("/")) for pattern in patterns for name in names)


def prompt_draft(session: Session, text: str, *, private: bool, at_ms: int, origin: Origin) -> MemoryDraft:
    """What is kept of the prompt that began a session's turn; of a private one only that there was one."""
    kept = "" if private else clipping.clip(text, MAX_PROMPT)
    state = State(kept, PromptAttrs(prompt_number=session.turn, private=private), project=session.project)
    return MemoryDraft(Kind.PROMPT, state, origin, session=session.key, created_ms=at_ms)


def cleaned_prompt(report: HookReport) -> tuple[str, bool]:
    """A prompt without what is private or secret, and whether it was private as a whole."""
    text = redaction.redact(privacy.strip(report.prompt)).strip()
    return text, report.private or privacy.is_private(report.prompt)


def cleaned_message(report: HookReport) -> HookReport:
    """The end of a turn without what is private or secret, and with nothing but its message."""
    message = clipping.clip(redaction.redact(privacy.strip(report.message)).strip(), MAX_MESSAGE)
    return replace(report, message=message, input=None, response=None, tool="")


def cleaned(report: HookReport) -> HookReport:
    """A tool call without what is private or secret."""
    given, response = report.input, report.response
    if redaction.names_secret_file(given):
        given, response = redaction.without_content(given), redaction.masked("file")
    # A digest says nothing; a name may.
    files = tuple(each for each in report.files if redaction.redact(path := each.partition(" ")[2]) == path)
    return replace(report, input=_clean(given), response=_clean(response), files=files)


def _clean(value: Any) -> Any:
    return clipping.clip_value(redaction.redact_value(privacy.strip_value(value)))


def _folder(cwd: str) -> str:
    """The name of a working directory, which may be on another machine than this."""
    return project.identity(cwd, lambda _: None)[:MAX_PROJECT] if cwd.strip() else ""


def required_key(key: str) -> str:
    """The agent's name for a conversation, which there must be."""
    key = key.strip()
    if not key:
        raise InvalidArgument("contentSessionId is required and must be non-empty")
    if len(key) > MAX_KEY:
        raise InvalidArgument(f"contentSessionId is longer than {MAX_KEY} characters")
    return key
