"""Extraction: jobs turn captured events into observations and summaries.

The model is asked outside any transaction; what came of it is written in the transaction that ends the job, so that a
job may run twice and its memories appear once. Without a model, or beyond the day's budget, rules answer: the queue
always moves on.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from codexmem.capture.statements import Statements
from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.job_kind import Done, Interrupted, JobContext
from codexmem.kernel.llm.activity import TurnActivity, activity
from codexmem.kernel.llm.extractor import Extractor, failed
from codexmem.kernel.llm.language import language_of
from codexmem.kernel.llm.material import ExtractedObservation, ExtractionResult, Material, TurnSummary
from codexmem.kernel.model import ids, redaction
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.capture import Capture, CapturedEvent
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Canceled, GiveUp, Job
from codexmem.kernel.model.memory import MAX_LABEL, MAX_TITLE, Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies

TIMEOUT_S = 300.0
_TURN_EVENTS = 60  # of a turn, that its summary is made from
_ACTIVITY_EVENTS = 400  # of a turn, that are counted; with bodies of some kilobytes each
_PROMPTS = 5
_NO_LIMIT = 0


class TokenBudget:
    """How many tokens a day may cost; what is spent is known to every process of the store."""

    def __init__(self, tallies: Tallies, clock: Clock, daily_tokens: int) -> None:
        self._tallies = tallies
        self._clock = clock
        self._daily = daily_tokens

    def allows(self, tokens: int) -> bool:
        """Whether a call that may cost so much fits into today."""
        return self._daily == _NO_LIMIT or self.spent() + tokens <= self._daily

    def spent(self) -> int:
        """What today has cost so far."""
        return self._tallies.get(self.name())

    @property
    def limit(self) -> int | None:
        """What a day may cost; None: as much as it does."""
        return self._daily if self._daily != _NO_LIMIT else None

    def name(self) -> str:
        """Today's tally."""
        return f"tokens.{datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC):%Y-%m-%d}"


class Extraction:
    """The two jobs of capture."""

    def __init__(
        self,
        sessions: Sessions,
        captures: Captures,
        memories: Memories,
        tallies: Tallies,
        budget: TokenBudget,
        extractor: Extractor,
        log: Log,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._captures = captures
        self._memories = memories
        self._statements = Statements(memories)
        self._tallies = tallies
        self._budget = budget
        self._distiller = extractor
        self._log = log
        self._clock = clock

    def observations(self, job: Job, context: JobContext) -> Done:
        """What a few consecutive events of one session taught."""
        with self._failures_timed(job, "observation"):
            return self._observations(job, context)

    def summaries(self, job: Job, context: JobContext) -> Done:
        """Where a session stands at the end of a turn."""
        with self._failures_timed(job, "summarize"):
            return self._summaries(job, context)

    def _observations(self, job: Job, context: JobContext) -> Done:
        session = self._session(job)
        events = tuple(event for event in self._captures.of_job(job.id) if _tells(event))
        if session is None or not events:
            return Done({"observations": 0})
        material = Material(session.project, self._prompt(session, events[-1].turn), events)
        result = self._distiller.observations(material, context.check)

        def remember() -> int:
            for distilled in result.value:
                self._memories.remember(_observation(session, events, distilled, result), _by(session))
            return len(result.value)

        return self._done(job, session, "observation", result, len(events), remember)

    def _summaries(self, job: Job, context: JobContext) -> Done:
        session = self._session(job)
        stops = self._captures.of_job(job.id)
        if session is None or not stops:
            return Done({"summaries": 0})
        stop = stops[-1]
        events = self._captures.of_turn(session.id, stop.turn, Capture.TOOL, limit=_ACTIVITY_EVENTS)
        telling = tuple(filter(_tells, events))
        material = Material(session.project, self._prompt(session, stop.turn), telling[-_TURN_EVENTS:])
        result = self._distiller.summary(material, stop.message, context.check)
        done = activity(telling)

        def remember() -> int:
            by = _by(session)
            kept = self._statements.keep(session, stop.turn, material.prompt, (stop.seq,), stop.at_ms, by)
            if result.value is None:
                return kept
            self._memories.remember(_summary(session, stop, material.events, result.value, done, result), by)
            return kept + 1

        return self._done(job, session, "summarize", result, len(events), remember)

    def _session(self, job: Job) -> Session | None:
        """Whose events these are; None if the session was forgotten meanwhile."""
        number = job.payload.get("session")
        if not isinstance(number, int):
            raise GiveUp(f"job {job.id} names no session")
        return self._sessions.get(number)

    def _prompt(self, session: Session, turn: int) -> str:
        wanted = Filter(kinds=frozenset({Kind.PROMPT}), session=session.key)
        for memory in self._memories.page(wanted, PageRequest(limit=_PROMPTS)).items:
            if isinstance(memory.state.attrs, PromptAttrs) and memory.state.attrs.prompt_number == turn:
                return memory.state.content
        return ""

    def _done(self, job: Job, session: Session, message_type: str, result: "ExtractionResult[object]", events: int,
              remember: Callable[[], int]) -> Done:  # fmt: skip
        def effect() -> None:
            if not self._sessions.hold(session.id):
                return  # forgotten while we worked: nothing of it may come back
            began = ids.monotonic()
            written = remember()
            index_ms = (ids.monotonic() - began) * 1000
            self._count(message_type, result)
            self._tell(job, session, message_type, result, events, written)
            self._time(job, session, message_type, events=events, model_ms=result.model_ms, index_ms=index_ms)

        return Done({"by": result.by, "events": events}, effect)

    def _count(self, message_type: str, result: "ExtractionResult[object]") -> None:
        kind = "observation" if message_type == "observation" else "summary"
        amounts = {f"agent.{kind}.{outcome.value}": result.outcomes.count(outcome) for outcome in set(result.outcomes)}
        if spent := result.prompt_tokens + result.completion_tokens:
            amounts[self._budget.name()] = spent
        self._tallies.add(amounts)

    def _tell(
        self,
        job: Job,
        session: Session,
        message_type: str,
        result: "ExtractionResult[object]",
        events: int,
        written: int,
    ) -> None:
        payload = {
            "sessionDbId": session.id,
            "messageType": message_type,
            "outcome": [outcome.value for outcome in result.outcomes],
            "by": result.by,
            "events": events,
            "memories": written,
            "tokens": {"prompt": result.prompt_tokens, "completion": result.completion_tokens},
            "error_class": result.error_class,
            "error": redaction.redact(result.error) if result.error else None,
        }
        self._log.append(NewEvent(EventType.MODEL_RESULT, f"job:{job.id}", payload, session.project))
        if failed(result.error_class):
            failure = {"kind": job.kind, "subject": session.subject, "attempts": job.attempts, "fallback": result.by,
                       "error": payload["error"], "error_class": result.error_class}  # fmt: skip
            self._log.append(NewEvent(EventType.MODEL_FAILED, f"job:{job.id}", failure, session.project))

    @contextmanager
    def _failures_timed(self, job: Job, message_type: str) -> Iterator[None]:
        """A run that fails is timed as well; one that is told to stop has not failed."""
        try:
            yield
        except (Interrupted, Canceled):
            raise
        except Exception:
            number = job.payload.get("session")
            session = self._sessions.get(number) if isinstance(number, int) else None
            if session is not None:
                self._time(job, session, message_type, success=False)
            raise

    def _time(self, job: Job, session: Session, message_type: str, *, success: bool = True, events: int = 0,
              model_ms: float = 0.0, index_ms: float = 0.0) -> None:  # fmt: skip
        now = self._clock.now_ms()
        total_ms = max(0, now - job.created_ms)
        payload = {
            "job": job.id,
            "sessionDbId": session.id,
            "messageType": message_type,
            "success": success,
            "events": events,
            "queueWaitMs": max(0, (job.started_ms or now) - job.created_ms),
            "modelMs": round(model_ms, 1),
            "indexMs": round(index_ms, 1),
            "totalMs": total_ms,
        }
        self._log.append(
            NewEvent(EventType.EXTRACTION_TIMED, session.subject, payload, session.project, total_ms * 1000)
        )


def _tells(event: CapturedEvent) -> bool:
    # One whose body has faded or was forgotten has nothing left to tell.
    return event.input is not None or event.response is not None


def _by(session: Session) -> WriteContext:
    return WriteContext("extraction", session.subject)


def _origin(result: "ExtractionResult[object]") -> Origin:
    return Origin.MODEL if result.by == "model" else Origin.TOOL


def _observation(session: Session, events: Sequence[CapturedEvent], distilled: ExtractedObservation,
                 result: "ExtractionResult[object]") -> MemoryDraft:  # fmt: skip
    of = set(distilled.events) or {event.seq for event in events}
    sources = [event for event in events if event.seq in of] or list(events)
    attrs = ObservationAttrs(
        subtitle=_line(distilled.subtitle),
        facts=tuple(redaction.redact(fact) for fact in distilled.facts),
        concepts=_labels(distilled.concepts),
        files_read=_labels(distilled.files_read),
        files_modified=_labels(distilled.files_modified),
        prompt_number=sources[-1].turn or None,
        discovery_tokens=result.completion_tokens,
        events=tuple(event.seq for event in sources),
    )
    state = State(
        redaction.redact(distilled.narrative), attrs, project=session.project, type=distilled.type[:MAX_LABEL],
        title=_line(distilled.title),
    )  # fmt: skip
    return MemoryDraft(
        Kind.OBSERVATION, state, _origin(result), session=session.key, created_ms=max(e.at_ms for e in sources)
    )


def _summary(session: Session, stop: CapturedEvent, events: Sequence[CapturedEvent], digest: TurnSummary,
             done: TurnActivity, result: "ExtractionResult[object]") -> MemoryDraft:  # fmt: skip
    attrs = SummaryAttrs(
        request=redaction.redact(digest.request),
        investigated=redaction.redact(digest.investigated),
        learned=redaction.redact(digest.learned),
        completed=redaction.redact(digest.completed),
        next_steps=redaction.redact(digest.next_steps),
        notes=redaction.redact("\n".join(filter(None, (digest.notes, *done.lines(language_of(digest.request)))))),
        prompt_number=stop.turn or None,
        discovery_tokens=result.completion_tokens,
        events=(*(event.seq for event in events), stop.seq),
        files_read=_labels(done.files_read),
        files_modified=_labels(done.files_modified),
        commands=tuple(map(redaction.redact, done.commands)),
        failed_commands=tuple(map(redaction.redact, done.failed_commands)),
        errors=tuple(map(redaction.redact, done.errors)),
    )
    state = State(attrs.text(), attrs, project=session.project, title=_line(digest.request))
    return MemoryDraft(Kind.SUMMARY, state, _origin(result), session=session.key, created_ms=stop.at_ms)


def _line(text: str) -> str:
    return " ".join(redaction.redact(text).split())[:MAX_TITLE]


def _labels(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value and len(value) <= MAX_LABEL))
