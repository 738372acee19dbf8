"""Extraction: jobs turn captured events into observations and summaries, by rules and at once.

Rules say what happened, on this machine and without anybody's leave; what it means is the author's (`authoring`). What
came of a job is written in the transaction that ends it, so that a job may run twice and its memories appear once.
"""

from collections.abc import Callable, Sequence

from codexmem.capture.author_queue import AuthorQueue
from codexmem.capture.job_log import JobLog
from codexmem.capture.statements import Statements
from codexmem.capture.stored_text import stored_labels, stored_line
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.llm import rules
from codexmem.kernel.llm.activity import TurnActivity, activity
from codexmem.kernel.llm.language import language_of
from codexmem.kernel.llm.material import AuthorAnswer, ExtractedObservation, Material, TurnSummary
from codexmem.kernel.model import ids, redaction
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.capture import Capture, CapturedEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import Job
from codexmem.kernel.model.memory import MAX_LABEL, Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.sessions import Sessions

TIMEOUT_S = 300.0
_TURN_EVENTS = 60  # of a turn, that its summary is made from
_ACTIVITY_EVENTS = 400  # of a turn, that are counted; with bodies of some kilobytes each
_PROMPTS = 5


class Extraction:
    """The two jobs of capture that rules do."""

    def __init__(
        self, sessions: Sessions, captures: Captures, memories: Memories, author: AuthorQueue, log: JobLog
    ) -> None:
        self._sessions = sessions
        self._captures = captures
        self._memories = memories
        self._statements = Statements(memories)
        self._author = author
        self._log = log

    def observations(self, job: Job, context: JobContext) -> Done:
        """What a few consecutive events of one session did."""
        with self._log.failures_timed(job, "observation"):
            return self._observations(job, context)

    def summaries(self, job: Job, context: JobContext) -> Done:
        """Where a session stands at the end of a turn."""
        with self._log.failures_timed(job, "summarize"):
            return self._summaries(job, context)

    def _observations(self, job: Job, context: JobContext) -> Done:
        session = self._log.session(job)
        events = tuple(event for event in self._captures.of_job(job.id) if tells(event))
        if session is None or not events:
            return Done({"observations": 0})
        context.check()
        found = rules.observations(Material(session.project, self._prompt(session, events[-1].turn), events))

        def remember() -> int:
            for extracted in found:
                self._memories.remember(observation_draft(session, events, extracted), _by(session))
            return len(found)

        return self._done(job, session, "observation", len(events), remember)

    def _summaries(self, job: Job, context: JobContext) -> Done:
        session = self._log.session(job)
        stops = self._captures.of_job(job.id)
        if session is None or not stops:
            return Done({"summaries": 0})
        context.check()
        stop = stops[-1]
        events = self._captures.of_turn(session.id, stop.turn, Capture.TOOL, limit=_ACTIVITY_EVENTS)
        telling = tuple(filter(tells, events))
        material = turn_material(session.project, self._prompt(session, stop.turn), telling)
        summary = rules.summary(material, stop.message)
        done = activity(telling)

        def remember() -> int:
            by = _by(session)
            kept = self._statements.keep(session, stop.turn, material.prompt, (stop.seq,), stop.at_ms, by)
            if summary is not None:
                self._memories.remember(summary_draft(session, stop, material.events, summary, done), by)
            self._author.turn_ended(session, stop.turn, len(telling))
            return kept + (summary is not None)

        return self._done(job, session, "summarize", len(events), remember)

    def _prompt(self, session: Session, turn: int) -> str:
        wanted = Filter(kinds=frozenset({Kind.PROMPT}), session=session.key)
        for memory in self._memories.page(wanted, PageRequest(limit=_PROMPTS)).items:
            if isinstance(memory.state.attrs, PromptAttrs) and memory.state.attrs.prompt_number == turn:
                return memory.state.content
        return ""

    def _done(self, job: Job, session: Session, message_type: str, events: int, remember: Callable[[], int]) -> Done:
        def effect() -> None:
            if not self._sessions.hold(session.id):
                return  # forgotten while we worked: nothing of it may come back
            began = ids.monotonic()
            written = remember()
            index_ms = (ids.monotonic() - began) * 1000
            self._log.ended(
                job, session, message_type, AuthorAnswer(), events=events, written=written, index_ms=index_ms
            )

        return Done({"by": "rules", "events": events}, effect)


def tells(event: CapturedEvent) -> bool:
    """Whether an event has anything to say."""
    # One whose body has faded or was forgotten has nothing left to tell.
    return event.input is not None or event.response is not None


def _by(session: Session) -> WriteContext:
    return WriteContext("extraction", session.subject)


def observation_draft(session: Session, events: Sequence[CapturedEvent],
                      extracted: ExtractedObservation) -> MemoryDraft:  # fmt: skip
    """What rules said of a few consecutive events, as it is remembered."""
    of = set(extracted.events) or {event.seq for event in events}
    sources = [event for event in events if event.seq in of] or list(events)
    attrs = ObservationAttrs(
        subtitle=stored_line(extracted.subtitle),
        facts=tuple(redaction.redact(fact) for fact in extracted.facts),
        concepts=stored_labels(extracted.concepts),
        files_read=stored_labels(extracted.files_read),
        files_modified=stored_labels(extracted.files_modified),
        prompt_number=sources[-1].turn or None,
        events=tuple(event.seq for event in sources),
    )
    state = State(
        redaction.redact(extracted.narrative), attrs, project=session.project, type=extracted.type[:MAX_LABEL],
        title=stored_line(extracted.title),
    )  # fmt: skip
    return MemoryDraft(
        Kind.OBSERVATION, state, Origin.TOOL, session=session.key, created_ms=max(e.at_ms for e in sources)
    )


def turn_material(project: str, prompt: str, events: Sequence[CapturedEvent]) -> Material:
    """What a summary of a turn is made from."""
    return Material(project, prompt, tuple(events[-_TURN_EVENTS:]))


def summary_draft(session: Session, stop: CapturedEvent, events: Sequence[CapturedEvent], digest: TurnSummary,
                  done: TurnActivity) -> MemoryDraft:  # fmt: skip
    """What rules said of a turn, as it is remembered."""
    attrs = SummaryAttrs(
        request=redaction.redact(digest.request),
        investigated=redaction.redact(digest.investigated),
        learned=redaction.redact(digest.learned),
        completed=redaction.redact(digest.completed),
        next_steps=redaction.redact(digest.next_steps),
        notes=redaction.redact("\n".join(filter(None, (digest.notes, *done.lines(language_of(digest.request)))))),
        prompt_number=stop.turn or None,
        events=(*(event.seq for event in events), stop.seq),
        files_read=stored_labels(done.files_read),
        files_modified=stored_labels(done.files_modified),
        commands=tuple(map(redaction.redact, done.commands)),
        failed_commands=tuple(map(redaction.redact, done.failed_commands)),
        errors=tuple(map(redaction.redact, done.errors)),
    )
    state = State(attrs.text(), attrs, project=session.project, title=stored_line(digest.request))
    return MemoryDraft(Kind.SUMMARY, state, Origin.TOOL, session=session.key, created_ms=stop.at_ms)
