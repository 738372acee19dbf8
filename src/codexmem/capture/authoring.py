"""Authoring: a job asks a model what finished turns mean, and does with the project's memories what it answers.

The model is asked outside any transaction; what it wants is done in the transaction that ends the job, against the
memories as they are then. It never rewrites what a person said, and takes back a person's statement only where it cites
the person. Whatever it says again confirms the memory that is there.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from codexmem.capture.author import TurnAuthor
from codexmem.capture.author_queue import TURNS, AuthorQueue
from codexmem.capture.consolidation import Consolidation, kind_named
from codexmem.capture.extraction import stamps_of
from codexmem.capture.job_log import OBSERVATION, SUMMARY, JobLog
from codexmem.capture.stored_text import stored_labels, stored_line
from codexmem.capture.transcripts import SOURCE as TRANSCRIPTS
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.llm.asking import BUDGET
from codexmem.kernel.llm.clip import clip
from codexmem.kernel.llm.material import AuthorAnswer, FinishedTurn, KnownMemory, Operation, OperationKind
from codexmem.kernel.llm.model import SOMEBODY_MUST_ACT, Trouble
from codexmem.kernel.llm.prompts.turns import packed
from codexmem.kernel.model import file_blobs, ids, redaction
from codexmem.kernel.model.approval import PROPOSED
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs
from codexmem.kernel.model.capture import Capture, CapturedEvent
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import DeltaStatus, Op, WriteContext
from codexmem.kernel.model.job import Job, JobStatus, RetryLater
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.model.session import Session, SessionStatus
from codexmem.kernel.model.statement import LASTING, SUPERSEDES, TYPES
from codexmem.kernel.search.statement_words import same
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.sessions import Sessions

TIMEOUT_S = 900.0
ACTOR = "author"
_EVENTS = 60  # of a turn
_PROMPTS = 200  # newest of a session, in which those of the turns are looked for
_NEAREST, _NEWEST = 8, 12  # known memories that an author is shown
_COMPARED = 200  # newest lasting memories, with which a new one is compared
_SOUGHT = 1_500  # characters of what was said, for which the nearest are looked for
_OBSERVATIONS = frozenset({Kind.OBSERVATION})
_LATER = frozenset({*SOMEBODY_MUST_ACT, BUDGET})
_PASSING = frozenset({Trouble.TRANSIENT.value, Trouble.RATE_LIMIT.value})

Search = Callable[[SearchQuery], SearchAnswer]


class Authoring:
    """The job that asks an author."""

    def __init__(self, sessions: Sessions, captures: Captures, memories: Memories, queue: Queue, plan: AuthorQueue,
                 author: TurnAuthor, search: Search, log: JobLog, consolidation: Consolidation, history: History,
                 is_idle: Callable[[], bool] = lambda: True) -> None:  # fmt: skip
        self._sessions = sessions
        self._captures = captures
        self._memories = memories
        self._queue = queue
        self._plan = plan
        self._author = author
        self._search = search
        self._log = log
        self._consolidation = consolidation
        self._history = history
        self._is_idle = is_idle  # whether the author has nothing else to do

    def write(self, job: Job, context: JobContext) -> Done:
        """Ask about the turns of the job, and remember what comes of it."""
        with self._log.failures_timed(job, "observation"):
            return self._write(job, context)

    def _write(self, job: Job, context: JobContext) -> Done:
        session = self._log.session(job)
        delta: str | None = job.payload.get("delta")
        if session is None or self._plan.keeps_back(session) or not self._stands(delta):
            return Done({"memories": 0})
        if not self._is_idle():
            return Done({"memories": 0}, lambda: self._plan.postpone(job, session))
        turns = self._turns(job, session)
        answer = AuthorAnswer()
        for group in packed(turns, self._author.room):
            answer += self._author.ask(session.project, group, self._known(session, group), context.check)
            if answer.error_class in _PASSING and job.attempts < job.max_attempts:
                wait_ms = int(answer.wait_s * 1000) or None
                raise RetryLater(answer.error or "no answer", error_class=answer.error_class or "", delay_ms=wait_ms)
        if not answer.questions:
            return Done({"memories": 0}, lambda: self._go_on(job, session))
        events = sum(len(turn.events) for turn in turns)

        def effect() -> None:
            if not self._sessions.hold(session.id) or not self._stands(delta):
                return  # forgotten or taken back while we worked: nothing of it may come back
            began = ids.monotonic()
            by = WriteContext(ACTOR, session.subject if delta is None else TRANSCRIPTS, delta)
            written = AuthoredSession(self._memories, session, turns, answer, by, job.id).apply()
            index_ms = (ids.monotonic() - began) * 1000
            works = [SUMMARY] if any(turn.message_event is not None for turn in turns) else []
            works += [OBSERVATION] if events or not works else []
            self._log.ended(
                job, session, "observation", answer, events=events, written=written, index_ms=index_ms, works=works
            )
            if written:
                self._consolidation.plan(session.project)
            if answer.error_class in _LATER:
                self._plan.try_later(job, session)
            else:
                self._go_on(job, session)

        result = {"by": answer.by, "model": answer.model, "events": events, "questions": answer.questions}
        return Done(result, effect)

    def _go_on(self, job: Job, session: Session) -> None:
        """An imported session is asked about from end to end."""
        if (delta := job.payload.get("delta")) is not None:
            self._plan.imported(session, delta, int(job.payload["from"]) + TURNS)

    def _stands(self, delta: str | None) -> bool:
        """Whether the import that a session came by was not taken back."""
        return delta is None or self._history.delta(delta).status is DeltaStatus.APPLIED

    def _turns(self, job: Job, session: Session) -> list[FinishedTurn]:
        """The turns that have ended and that rules have written down; a session that is over has no others."""
        over = session.status is SessionStatus.COMPLETED
        prompts = self._prompts(session)
        found: list[FinishedTurn] = []
        first = int(job.payload["from"])
        for number in range(first, min(session.turn + 1, first + TURNS)):
            stops = self._captures.of_turn(session.id, number, Capture.STOP, limit=1)
            if stops and not self._written(stops[-1]):
                break
            if not stops and not over and number == session.turn:
                break
            tools = self._captures.of_turn(session.id, number, Capture.TOOL, limit=_EVENTS)
            if any(map(self._plan.withholds, {event.cwd for event in (*stops, *tools)})):
                continue  # part of it was done in a folder that nobody may be told about
            events = tuple(event for event in tools if event.input is not None or event.response is not None)
            message = stops[-1].message if stops else ""
            at_ms = max((event.at_ms for event in (*stops, *tools)), default=session.last_ms)
            prompt = prompts.get(number, "")
            if prompt or events or message:
                asked = self._captures.of_turn(session.id, number, Capture.PROMPT, limit=1)
                found.append(FinishedTurn(
                    number, prompt, events, message, at_ms, prompt_event=asked[-1].seq if asked else None,
                    message_event=stops[-1].seq if stops else None,
                ))  # fmt: skip
        # Read last: a turn that rules have finished meanwhile has its own job in the same transaction.
        mine = self._plan.turns_of(job, session)
        return [turn for turn in found if turn.number in mine]

    def _written(self, stop: CapturedEvent) -> bool:
        """Whether rules have done with a turn; their job is pruned long after."""
        if stop.job is None:
            return True
        try:
            return self._queue.get(stop.job).status not in {JobStatus.QUEUED, JobStatus.RUNNING}
        except NotFound:
            return True

    def _prompts(self, session: Session) -> dict[int, str]:
        wanted = Filter(kinds=frozenset({Kind.PROMPT}), session=session.key)
        return {
            memory.state.attrs.prompt_number: memory.state.content
            for memory in self._memories.page(wanted, PageRequest(limit=_PROMPTS)).items
            if isinstance(memory.state.attrs, PromptAttrs)
        }

    def _known(self, session: Session, turns: Sequence[FinishedTurn]) -> list[KnownMemory]:
        """What the project knows already: nearest to what was said, then newest."""
        said = clip("\n".join(text for turn in turns for text in (turn.prompt, turn.message) if text), _SOUGHT)
        wanted = Filter(_OBSERVATIONS, project=session.project, facets=LASTING)
        near = [result.memory for result in self._search(SearchQuery(said, wanted, limit=_NEAREST)).results]
        new = self._memories.page(wanted, PageRequest(limit=_NEWEST)).items
        found = {memory.seq: memory for memory in (*near, *new)}
        return [
            KnownMemory(f"K{place}", memory.seq, kind_named(memory), memory.state.content)
            for place, memory in enumerate(self._plan.tellable(session.project, list(found.values())), 1)
        ]


class AuthoredSession:
    """What an author said of one session, done to the memories as they are now."""

    def __init__(self, memories: Memories, session: Session, turns: Sequence[FinishedTurn], answer: AuthorAnswer,
                 by: WriteContext, job: int) -> None:  # fmt: skip
        self._memories = memories
        self._job = job
        self._session = session
        self._turns = turns
        self._answer = answer
        self._by = by
        self._confirmed: set[int] = set()
        self._events = [event for turn in turns for event in turn.events]
        self._stamps = file_blobs.latest(stamp for event in self._events for stamp in event.files)
        wanted = Filter(_OBSERVATIONS, project=session.project, facets=LASTING)
        self._standing = list(memories.page(wanted, PageRequest(limit=_COMPARED)).items)

    def apply(self) -> list[int]:
        """Do it; returns the memories that were written."""
        done = (self._apply(each) for each in self._answer.operations)
        return [seq for seq in done if seq is not None]

    def _apply(self, said: Operation) -> int | None:
        target = self._target(said.target)
        if said.op is OperationKind.CONFIRM:
            if target is not None:
                self._confirm(target, said)
            return None
        said = replace(said, title=stored_line(said.title), text=redaction.redact(said.text))
        # What waits for approval is no reason not to remember what a person said.
        standing = (old for old in self._standing if said.proposed or not PROPOSED & old.state.marks)
        known = next((old for old in standing if old.seq != said.target and _says(old, said)), None)
        if known is not None:
            self._confirm(known, said)
            return None
        if target is not None and said.op is OperationKind.UPDATE and target.author is not Origin.HUMAN:
            self._update(target, said)
            return target.seq
        if (
            target is not None
            and said.op is OperationKind.SUPERSEDE
            and (said.by_person or target.author is not Origin.HUMAN)
        ):
            return self._add(said, target)
        return self._add(said, None)

    def _target(self, seq: int | None) -> Memory | None:
        """The memory that is meant, if it still stands in this project."""
        if seq is None:
            return None
        memory = self._memories.many([seq], _OBSERVATIONS).get(seq)
        if memory is None or memory.state.project != self._session.project or memory.state.status not in VISIBLE:
            return None
        return memory

    def _confirm(self, memory: Memory, said: Operation) -> None:
        """Another session said it too; said again in the same one it is no more certain, but holds for what the files
        say by now.
        """
        if memory.seq in self._confirmed:
            return
        if self._by.delta is not None and memory.source != self._by.source:
            return  # a count is no version: what is taken back must not have counted for others
        self._confirmed.add(memory.seq)
        if memory.session != self._session.key:
            self._memories.count([memory.seq], valid=1)
        attrs = memory.state.attrs
        if isinstance(attrs, ObservationAttrs) and (blobs := file_blobs.renewed(attrs.blobs, self._stamps)):
            by = replace(self._because(said), note=said.reason or "confirmed")
            self._memories.write(memory, replace(memory.state, attrs=replace(attrs, blobs=blobs)), Op.UPDATE, by)

    def _add(self, said: Operation, old: Memory | None) -> int:
        if old is not None and self._memories.is_kept(old, self._by):
            old = None  # both are told, until a person decides between them
        links = ((SUPERSEDES, old.seq),) if old is not None else ()
        state = State(
            said.text, self._attrs(said), project=self._session.project, type=TYPES[said.kind], title=said.title,
            links=links, marks=PROPOSED if said.proposed else frozenset(),
        )  # fmt: skip
        at_ms = max((turn.at_ms for turn in self._turns), default=self._session.last_ms)
        draft = MemoryDraft(Kind.OBSERVATION, state, Origin.MODEL, session=self._session.key, created_ms=at_ms)
        new = self._memories.remember(draft, self._because(said))
        self._standing.insert(0, new)
        if old is not None:
            self._memories.write(old, replace(old.state, status=Status.DEPRECATED), Op.UPDATE, self._because(said))
            self._standing = [each for each in self._standing if each.seq != old.seq]
        return new.seq

    def _update(self, memory: Memory, said: Operation) -> None:
        before = memory.state.attrs
        attrs = self._attrs(said)
        if isinstance(before, ObservationAttrs):
            attrs = replace(attrs, events=tuple(dict.fromkeys((*before.events, *attrs.events))))
        state = replace(memory.state, content=said.text, title=said.title, type=TYPES[said.kind], attrs=attrs)
        self._memories.write(memory, state, Op.UPDATE, self._because(said))

    def _attrs(self, said: Operation) -> ObservationAttrs:
        stated = len([each for each in self._answer.operations if each.op is not OperationKind.CONFIRM])
        return ObservationAttrs(
            concepts=(said.kind.value,),
            files_read=stored_labels(said.files_read),
            files_modified=stored_labels(said.files_modified),
            prompt_number=self._turns[-1].number or None if self._turns else None,
            discovery_tokens=self._answer.completion_tokens // max(stated, 1),
            events=said.events,
            blobs=stamps_of(self._events, said.files_read, said.files_modified),
            unproven=tuple(redaction.redact(each) for each in said.unproven),
            author=self._answer.model or "",
            author_job=self._job,
        )

    def _because(self, said: Operation) -> WriteContext:
        return replace(self._by, note=stored_line(said.reason))


def _says(old: Memory, said: Operation) -> bool:
    return same(said.text, old.state.content) or same(said.title, old.state.title)
