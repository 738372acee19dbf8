"""Extraction: jobs turn captured events into observations and summaries, by rules and at once.

Rules say what happened, on this machine and without anybody's leave; what it means is the author's (`authoring`). What
came of a job is written in the transaction that ends it, so that a job may run twice and its memories appear once.

Keeps what a person decides, demands and prefers: found in a prompt by its cues, without a model.

Said again, it confirms the statement that is there. A later one that says what it replaces supersedes the earlier, and
so does one that differs only in its numbers. Whether two rules contradict each other otherwise, words alone cannot
tell, so both stand.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codexmem.capture.author_queue import AuthorQueue
from codexmem.capture.job_log import OBSERVATION, SUMMARY, JobLog
from codexmem.capture.stored_text import stored_labels, stored_line
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.llm import rules
from codexmem.kernel.llm.activity import TurnActivity, activity
from codexmem.kernel.llm.language import language_of
from codexmem.kernel.llm.material import AuthorAnswer, ExtractedObservation, Material, ModelOutcome, TurnSummary
from codexmem.kernel.model import file_blobs, ids, redaction
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.capture import Capture, CapturedEvent
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.job import Job
from codexmem.kernel.model.memory import MAX_LABEL, Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.sentences import sentences
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.statement import MAX_SENTENCE, STANDING, SUPERSEDES, TYPE, LastingKind
from codexmem.kernel.search.statement_words import CUES, REPLACES, REPLACES_ZH, same, superseded
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.sessions import Sessions

_READ = 4_000  # characters of a prompt; what follows is mostly pasted
_MOST = 3  # statements of a prompt
_COMPARED = 200  # newest statements of the project, with which a new one is compared
_SHORTEST, _CHINESE = 15, 6  # characters
_SHARED_IMPLIED = 0.3  # likewise, where nothing else makes the sentence a statement

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# Questions, conditions, headings and pieces of documents.
_OTHER = re.compile(
    r"(?i)^(?:if|should|shall|did|do|does|can|could|would|why|what|how|when|which|who)\b|^如果|[?\uff1f:\uff1a]$|"
    r"\*\*|^[#|>]"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence; without a kind if only what it amends can make it a statement."""

    text: str
    kind: LastingKind | None


def statements(prompt: str) -> list[Statement]:
    """What a person says in a prompt that may hold beyond it."""
    return list(_said(_FENCED.sub("\n", prompt[:_READ])))


def _said(prompt: str) -> Iterator[Statement]:
    for sentence in sentences(prompt, MAX_SENTENCE):
        if len(sentence) < (_SHORTEST if sentence.isascii() else _CHINESE) or _OTHER.search(sentence):
            continue
        kind = next((kind for kind, cue in CUES if cue.search(sentence)), None)
        if kind is not None or REPLACES.search(sentence) or REPLACES_ZH.search(sentence):
            yield Statement(sentence, kind)


class Statements:
    """Remembers the statements of the acting tenant. A prompt costs one page of the newest ones, whatever there are."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def keep(self, session: Session, turn: int, prompt: str, events: Sequence[int], at_ms: int, by: WriteContext,
             origin: Origin = Origin.HUMAN) -> list[int]:  # fmt: skip
        """Remember what is new, confirm what is known, and deprecate what is superseded; those that were written.

        What was said before something that is known neither replaces it nor, if that replaces it, is remembered.
        """
        found = statements(prompt)
        if not found:
            return []
        wanted = Filter(frozenset({Kind.OBSERVATION}), project=session.project, facets=STANDING)
        standing = list(self._memories.page(wanted, PageRequest(limit=_COMPARED)).items)
        written: list[int] = []
        for each in found:
            if len(written) == _MOST:
                break
            text = redaction.redact(each.text)
            known = next((old for old in standing if same(text, old.state.content)), None)
            if known is not None:
                # A count is no version: what is taken back must not have counted for others.
                if by.delta is None or known.source == by.source:
                    self._memories.count([known.seq], valid=1)
                continue
            if any(superseded(later.state.content, text) for later in standing if later.created_ms > at_ms):
                continue
            before = [earlier for earlier in standing if earlier.created_ms <= at_ms]
            old = _replaced(text, before, least=_SHARED_IMPLIED if each.kind is None else 0.0)
            if each.kind is None and old is None:
                continue
            kind = each.kind or LastingKind.DECISION
            new = self._remember(session, turn, text, kind, old, events, at_ms, by, origin)
            standing = [new, *(every for every in standing if old is None or every.seq != old.seq)]
            written.append(new.seq)
        return written

    def _remember(self, session: Session, turn: int, text: str, kind: LastingKind, old: Memory | None,
                  events: Sequence[int], at_ms: int, by: WriteContext, origin: Origin) -> Memory:  # fmt: skip
        if old is not None and self._memories.is_kept(old, by):
            old = None  # pinned: both are told, until a person decides between them
        attrs = ObservationAttrs(concepts=(kind.value,), prompt_number=turn or None, events=tuple(events))
        links = ((SUPERSEDES, old.seq),) if old is not None else ()
        state = State(text, attrs, project=session.project, type=TYPE, title=text, links=links)
        new = self._memories.remember(
            MemoryDraft(Kind.OBSERVATION, state, origin, session=session.key, created_ms=at_ms), by
        )
        if old is not None:
            self._memories.write(old, replace(old.state, status=Status.DEPRECATED), Op.UPDATE, by)
        return new


def _replaced(text: str, standing: Sequence[Memory], least: float) -> Memory | None:
    """The one of these that this statement supersedes."""
    certain = {old.seq: superseded(text, old.state.content) for old in standing}
    best = max(standing, key=lambda old: certain[old.seq], default=None)
    return best if best is not None and certain[best.seq] > least else None


TIMEOUT_S = 300.0
_TURN_EVENTS = 60  # of a turn, that its summary is made from
_ACTIVITY_EVENTS = 400  # of a turn, that are counted; with bodies of some kilobytes each
_PROMPTS = 5
_OBSERVED = 100  # newest observations of a session, among which those of a turn are looked for


class Extraction:
    """The two jobs of capture that rules do."""

    def __init__(
        self,
        sessions: Sessions,
        captures: Captures,
        memories: Memories,
        author: AuthorQueue,
        log: JobLog,
        *,
        falls_back: bool = False,
    ) -> None:
        self._sessions = sessions
        self._captures = captures
        self._memories = memories
        self._statements = Statements(memories)
        self._author = author
        self._log = log
        self._falls_back = falls_back  # whether a model was to write what rules do
        self.acting = log.acting

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
        messages = self._captures.of_job(job.id)
        if session is None or not messages:
            return Done({"observations": 0})
        context.check()
        events = tuple(filter(tells, messages))
        found = rules.observations(Material(session.project, self._prompt(session, messages[-1].turn), events))

        def remember() -> list[int]:
            drafts = (observation_draft(session, events, extracted) for extracted in found)
            return [self._memories.remember(draft, _by(session)).seq for draft in drafts]

        return self._done(job, session, "observation", len(events), remember, replaced=len(messages))

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

        def remember() -> list[int]:
            by = _by(session)
            kept = self._statements.keep(session, stop.turn, material.prompt, (stop.seq,), stop.at_ms, by)
            self._restamp(session, stop.turn, telling, by)
            if summary is not None:
                draft = summary_draft(session, stop, material.events, summary, done, telling)
                kept.append(self._memories.remember(draft, by).seq)
            self._author.turn_ended(session, stop.turn, len(telling))
            return kept

        return self._done(job, session, "summarize", len(events), remember)

    def _restamp(self, session: Session, turn: int, events: Sequence[CapturedEvent], by: WriteContext) -> None:
        """What the turn itself has changed since is no news about what it observed: its last contents count."""
        stamps = file_blobs.latest(stamp for event in events for stamp in event.files)
        if not stamps:
            return
        wanted = Filter(kinds=frozenset({Kind.OBSERVATION}), session=session.key)
        for memory in self._memories.page(wanted, PageRequest(limit=_OBSERVED)).items:
            attrs = memory.state.attrs
            if not isinstance(attrs, ObservationAttrs) or attrs.prompt_number != turn:
                continue
            if blobs := file_blobs.renewed(attrs.blobs, stamps):
                state = replace(memory.state, attrs=replace(attrs, blobs=blobs))
                self._memories.write(memory, state, Op.UPDATE, replace(by, note="end of turn"))

    def _prompt(self, session: Session, turn: int) -> str:
        wanted = Filter(kinds=frozenset({Kind.PROMPT}), session=session.key)
        for memory in self._memories.page(wanted, PageRequest(limit=_PROMPTS)).items:
            if isinstance(memory.state.attrs, PromptAttrs) and memory.state.attrs.prompt_number == turn:
                return memory.state.content
        return ""

    def _done(self, job: Job, session: Session, message_type: str, events: int,
              remember: Callable[[], list[int]], *, replaced: int = 1) -> Done:  # fmt: skip
        """`replaced` are the messages that a model was to be asked about, had there been one."""
        falls_back = self._falls_back and not self._author.keeps_back(session)
        answer = AuthorAnswer(outcomes=(ModelOutcome.FALLBACK_USED,) * replaced if falls_back else ())

        def effect() -> None:
            if not self._sessions.hold(session.id):
                return  # forgotten while we worked: nothing of it may come back
            began = ids.monotonic()
            written = remember()
            index_ms = (ids.monotonic() - began) * 1000
            self._log.ended(
                job,
                session,
                message_type,
                answer,
                events=events,
                written=written,
                index_ms=index_ms,
                works=(SUMMARY if message_type == "summarize" else OBSERVATION,),
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
        blobs=stamps_of(sources, extracted.files_read, extracted.files_modified),
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


def stamps_of(events: Iterable[CapturedEvent], read: Sequence[str], modified: Sequence[str]) -> tuple[str, ...]:
    """Which content the files of a memory had when it was made: of those that were changed or, without any, read."""
    stamps = file_blobs.latest(stamp for event in events for stamp in event.files)
    return file_blobs.about(stamps, modified or read)[: file_blobs.MAX_STAMPS]


def summary_draft(session: Session, stop: CapturedEvent, events: Sequence[CapturedEvent], digest: TurnSummary,
                  done: TurnActivity, telling: Sequence[CapturedEvent] = ()) -> MemoryDraft:  # fmt: skip
    """What rules said of a turn, as it is remembered; `telling` is all of it, where `events` is its end."""
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
        blobs=stamps_of(telling or events, done.files_read, done.files_modified),
    )
    state = State(attrs.text(), attrs, project=session.project, title=stored_line(digest.request))
    return MemoryDraft(Kind.SUMMARY, state, Origin.TOOL, session=session.key, created_ms=stop.at_ms)
