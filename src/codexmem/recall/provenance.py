"""Where a memory came from: the events, session, run, job and deltas behind it, who changed it, and what came of it.

Every part is read by an index and bounded. A deleted memory is explained like any other; an erased one is gone, and
nothing here could tell that it ever was.

Where a memory came from, as plain values that every interface can tell: bounded, and without what the events said.

What was erased has no provenance: nothing of it is kept to tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model import handle
from codexmem.kernel.model.attrs import NoteAttrs, ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.capture import Capture
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import Delta, DeltaStatus, MemoryVersion, rolled_back
from codexmem.kernel.model.job import Job
from codexmem.kernel.model.memory import Kind, Memory, State, Status, is_manual_session
from codexmem.kernel.model.mentions import mention_label
from codexmem.kernel.model.query import Filter, PageRequest, RowOrder, Seq
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures, Occurrence
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.note_queries import Noted
from codexmem.kernel.store.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Relative:
    """Another memory, as far as it matters here."""

    label: str
    seq: int
    kind: str
    title: str
    status: str
    created_ms: int
    relation: str = ""  # what a link says; empty where there is none


@dataclass(frozen=True, slots=True)
class EventOf:
    """One captured event it came from."""

    seq: int
    kind: str  # prompt, tool or stop
    tool: str
    at_ms: int
    turn: int
    job: int | None
    kept: bool  # False once what it said has faded or was forgotten


@dataclass(frozen=True, slots=True)
class SessionOf:
    """The session in which it was made."""

    key: str  # the agent's own name for it
    id: int | None = None  # None where only the name is known, as after an import
    project: str = ""
    platform: str = ""
    cwd: str = ""
    status: str = ""
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(frozen=True, slots=True)
class JobOf:
    """A job that wrote it or extracted its events; old ones are pruned, and then only number and model are known."""

    id: int
    kind: str = ""
    status: str = ""
    by: str = ""  # model or rules
    model: str = ""  # the name of the model that was asked
    attempts: int = 0
    created_ms: int | None = None
    ended_ms: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class VersionOf:
    """One write: who, on whose behalf, why and what of it changed."""

    version: int
    op: str
    actor: str
    source: str | None
    note: str
    delta: str | None
    created_ms: int
    changed: tuple[str, ...]  # names of fields; empty for the first version


@dataclass(frozen=True, slots=True)
class DeltaOf:
    """A group of writes that one of its versions belongs to."""

    id: str
    subject: str
    cause: str
    actor: str
    status: str
    created_ms: int
    reverts: str | None


@dataclass(frozen=True, slots=True)
class ToldTo:
    """A session that was told it."""

    session: str  # the agent's own name for it
    at_ms: int  # when first
    id: int | None  # None where only the name is known
    project: str
    platform: str


@dataclass(frozen=True, slots=True)
class Whence:
    """The memory itself and what set it apart from the first moment."""

    label: str
    seq: int
    id: str
    kind: str
    title: str
    project: str
    status: str
    version: int
    origin: str  # human, agent, tool, import, git or model
    source: str | None
    uris: tuple[str, ...]
    imported: str  # where it stood in the program it was imported from
    created_ms: int
    updated_ms: int
    confirmed: int  # further times that it was said or seen
    unproven: tuple[str, ...]  # what its author claimed besides, and the evidence did not bear
    shown: int  # how often agents were handed it
    used: int  # how often one opened it, or said that it helped


@dataclass(frozen=True, slots=True)
class Provenance:
    """The whole answer; each `more_…` says that there is more than is told."""

    memory: Whence
    run: str | None
    session: SessionOf | None
    prompt: Relative | None  # what was asked in its turn
    events: tuple[EventOf, ...]
    more_events: bool
    jobs: tuple[JobOf, ...]
    versions: tuple[VersionOf, ...]  # the newest first
    more_versions: bool
    deltas: tuple[DeltaOf, ...]
    links: tuple[Relative, ...]  # what it points to
    linked_by: tuple[Relative, ...]  # what points to it
    derived: tuple[Relative, ...]  # what else came of the same events, or of this prompt
    more_derived: bool
    told_to: tuple[ToldTo, ...]  # the earliest first; what these wrote afterwards is its lineage
    more_told: bool


MAX_VERSIONS = 50
MAX_EVENTS = 200
MAX_TOLD = 200
VERSIONS, EVENTS, TOLD = 10, 50, 20  # unless asked for otherwise
_LINKS = 50
_TURN = 200  # memories of a turn that are looked at
_PROMPTS = 5
_TITLE = 200  # characters
_ALL = frozenset(Kind)
_EXTRACTED = frozenset({Kind.OBSERVATION, Kind.SUMMARY})
_RUN, _SESSION = "run:", "session:"


@dataclass(frozen=True, slots=True)
class VersionPage:
    """Some versions of a memory, the newest first."""

    memory: Memory
    versions: tuple[MemoryVersion, ...]
    before: MemoryVersion | None  # the one below the last of these; None at the end
    undone: frozenset[str]  # deltas of these that were undone


@dataclass(frozen=True, slots=True)
class ComparedStates:
    """Two states of a memory side by side."""

    memory: Memory
    before: MemoryVersion
    after: MemoryVersion


class Explaining:
    """Answers where a memory came from."""

    def __init__(self, db: Database, memories: Memories, history: History, versions: VersionTable, sessions: Sessions,
                 captures: Captures, jobs: Jobs, noted: Noted,
                 told_to: Callable[[Sequence[int], int], dict[str, int]] = lambda *_: {}) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._history = history
        self._versions = versions
        self._sessions = sessions
        self._captures = captures
        self._jobs = jobs
        self._noted = noted
        self._told_to = told_to  # sessions that were told any of these memories, so many, and when first

    def why(self, name: str, *, versions: int = VERSIONS, events: int = EVENTS, told: int = TOLD) -> Provenance:
        """The provenance of the memory that answers to this name, deleted or not."""
        with self._db.reading():
            memory = self.named(name)
            captured = self._captured(memory)
            shown = self._captures.occurrences(captured[-min(events, MAX_EVENTS) :])
            session = self._session(memory)
            turn = self._turn(memory, shown)
            prompt, (derived, more_derived) = self._prompt(memory, turn), self._derived(memory, turn, captured)
            written, older = self._written(memory, min(versions, MAX_VERSIONS))
            jobs = self._jobs_of(memory, shown)
            links, linked_by = self._links(memory)
            sessions = list(self._told_to([memory.seq], min(told, MAX_TOLD) + 1).items())
            known = self._sessions.known([key for key, _ in sessions])
            return Provenance(
                memory=_whence(memory),
                run=_run(memory, written),
                session=_session_of(memory, session),
                prompt=_relative(prompt) if prompt is not None else None,
                events=tuple(map(_event_of, shown)),
                more_events=len(captured) > len(shown),
                jobs=jobs,
                versions=written,
                more_versions=older,
                deltas=tuple(map(_delta_of, self._versions.deltas(
                    list(dict.fromkeys(each.delta for each in written if each.delta is not None))
                ))),
                links=links,
                linked_by=linked_by,
                derived=tuple(map(_relative, derived)),
                more_derived=more_derived,
                told_to=tuple(_told_of(key, at_ms, known.get(key)) for key, at_ms in sessions[:told]),
                more_told=len(sessions) > told,
            )  # fmt: skip

    def versions(self, name: str, *, limit: int, below: int | None = None) -> VersionPage:
        """A page of its versions, of a deleted memory too; read by the index of versions, one more than is told."""
        with self._db.reading():
            memory = self.named(name)
            found = self._history.versions(Seq(memory.seq), _ALL, limit=min(limit, MAX_VERSIONS) + 1, below=below)
            told, rest = tuple(found[:limit]), found[limit:]
            deltas = self._versions.deltas(list(dict.fromkeys(each.delta for each in told if each.delta is not None)))
            undone = frozenset(each.id for each in deltas if each.status is DeltaStatus.REVERTED)
            return VersionPage(memory, told, rest[0] if rest else None, undone)

    def compared(self, name: str, before: int, after: int) -> ComparedStates:
        """Two of its versions."""
        with self._db.reading():
            memory = self.named(name)
            old, new = (self._history.version(Seq(memory.seq), _ALL, each) for each in (before, after))
            return ComparedStates(memory, old, new)

    def way_back(self, name: str, version: int) -> ComparedStates:
        """How it stands now, and how it would stand after a rollback to this version."""
        with self._db.reading():
            memory = self.named(name)
            now, then = (self._history.version(Seq(memory.seq), _ALL, each) for each in (memory.version, version))
            return ComparedStates(memory, now, replace(then, state=rolled_back(memory.state, then.state)))

    def named(self, name: str) -> Memory:
        """The memory that answers to this name, deleted or not."""
        try:
            return self._memories.get(handle.parsed(name), _ALL)
        except NotFound:
            raise NotFound(
                f"{name.strip()[:80]} is not remembered",
                hint=f"use {handle.EXAMPLES}; memories that were erased leave no trace",
                details={"reason": "not_remembered", "name": name.strip()[:80]},
            ) from None

    def _captured(self, memory: Memory) -> tuple[int, ...]:
        """Numbers of the events it came from."""
        attrs = memory.state.attrs
        if isinstance(attrs, ObservationAttrs | SummaryAttrs):
            return attrs.events
        session = self._session(memory) if isinstance(attrs, PromptAttrs) else None
        if session is None or not isinstance(attrs, PromptAttrs):
            return ()
        found = self._captures.of_turn(session.id, attrs.prompt_number, Capture.PROMPT, limit=1)
        return tuple(event.seq for event in found)

    def _jobs_of(self, memory: Memory, shown: Sequence[Occurrence]) -> tuple[JobOf, ...]:
        """The author's job and those that extracted its events."""
        attrs = memory.state.attrs
        models: dict[int, str] = {}
        if isinstance(attrs, ObservationAttrs) and attrs.author_job is not None:
            models[attrs.author_job] = attrs.author
        models |= {each.job: models.get(each.job, "") for each in shown if each.job is not None}
        there = {job.id: job for job in self._jobs.many(tuple(models))}
        return tuple(
            _job_of(there[number], model) if number in there else JobOf(number, model=model)
            for number, model in models.items()
        )

    def _session(self, memory: Memory) -> Session | None:
        # What is saved on purpose shares a session by name only; who saved it stands in its source.
        if memory.session is not None and not is_manual_session(memory.session):
            return self._sessions.named(memory.session)
        number = (memory.source or "").removeprefix(_SESSION)
        return self._sessions.get(int(number)) if number.isdecimal() and len(number) < 19 else None

    def _turn(self, memory: Memory, shown: Sequence[Occurrence]) -> tuple[int, int] | None:
        """The turn it belongs to and when that began, as far as anything is known of it."""
        number = getattr(memory.state.attrs, "prompt_number", None)
        if memory.session is None or number is None or (memory.kind is not Kind.PROMPT and not shown):
            return None
        return number, memory.created_ms if memory.kind is Kind.PROMPT else min(each.at_ms for each in shown)

    def _prompt(self, memory: Memory, turn: tuple[int, int] | None) -> Memory | None:
        if turn is None or memory.kind is Kind.PROMPT:
            return None
        number, began_ms = turn
        wanted = Filter(
            frozenset({Kind.PROMPT}), session=memory.session, statuses=frozenset(Status), created_to_ms=began_ms
        )
        found = self._memories.page(wanted, PageRequest(limit=_PROMPTS)).items
        return next((each for each in found if getattr(each.state.attrs, "prompt_number", None) == number), None)

    def _derived(
        self, memory: Memory, turn: tuple[int, int] | None, captured: Sequence[int]
    ) -> tuple[list[Memory], bool]:
        """What shares an event with it or, for a prompt, came of its turn: events of a job never cross turns."""
        if turn is None:
            return [], False
        number, began_ms = turn
        wanted = Filter(
            _EXTRACTED, session=memory.session, statuses=frozenset(Status), created_from_ms=began_ms,
            created_to_ms=self._next_turn_ms(memory, number, began_ms),
        )  # fmt: skip
        page = self._memories.page(wanted, PageRequest(limit=_TURN, order=RowOrder.OLDEST))
        own = frozenset(captured)
        found = [
            each
            for each in page.items
            if each.seq != memory.seq
            and (
                getattr(each.state.attrs, "prompt_number", None) == number
                if memory.kind is Kind.PROMPT
                else not own.isdisjoint(getattr(each.state.attrs, "events", ()))
            )
        ]
        return found, page.after is not None

    def _next_turn_ms(self, memory: Memory, number: int, began_ms: int) -> int | None:
        wanted = Filter(
            frozenset({Kind.PROMPT}), session=memory.session, statuses=frozenset(Status), created_from_ms=began_ms
        )
        for each in self._memories.page(wanted, PageRequest(limit=_PROMPTS, order=RowOrder.OLDEST)).items:
            if getattr(each.state.attrs, "prompt_number", 0) > number:
                return each.created_ms
        return None

    def _written(self, memory: Memory, limit: int) -> tuple[tuple[VersionOf, ...], bool]:
        # One more than is told: it says what the last one changed.
        found = self._history.versions(Seq(memory.seq), _ALL, limit=limit + 1)
        before = [*found[1:], None]
        told = [_version_of(*pair) for pair in zip(found, before, strict=True)][:limit]
        return tuple(told), len(found) > limit

    def _links(self, memory: Memory) -> tuple[tuple[Relative, ...], tuple[Relative, ...]]:
        """Links and mentions, both ways."""
        to = [*memory.state.links[:_LINKS]]
        by = self._memories.linked_to(memory.seq, limit=_LINKS)
        attrs = memory.state.attrs
        if isinstance(attrs, NoteAttrs):
            owners = self._noted.owners(attrs.mentions[:_LINKS])
            to += [("mentions", owners[uri]) for uri in attrs.mentions if uri in owners]
        if memory.state.uris:
            labels = [mention_label(uri) for uri in memory.state.uris[:_LINKS]]
            by = [*by, *(("mentions", seq) for _, seq in self._noted.labelled("mention", labels, _LINKS))]
        both = self._memories.many([seq for _, seq in (*to, *by)], _ALL)

        def told(pairs: Sequence[tuple[str, int]]) -> tuple[Relative, ...]:
            there = [(relation, seq) for relation, seq in dict.fromkeys(pairs) if seq in both and seq != memory.seq]
            return tuple(_relative(both[seq], relation) for relation, seq in there[:_LINKS])

        return told(to), told(by)


def _whence(memory: Memory) -> Whence:
    state = memory.state
    return Whence(
        label=handle.label(memory), seq=memory.seq, id=memory.id, kind=memory.kind.value, title=_title(memory),
        project=state.project, status=state.status.value, version=memory.version, origin=memory.origin.value,
        source=memory.source, uris=state.uris, imported=getattr(state.attrs, "imported", ""),
        created_ms=memory.created_ms, updated_ms=memory.updated_ms, confirmed=memory.counters.valid,
        unproven=getattr(state.attrs, "unproven", ()), shown=memory.counters.shown, used=memory.counters.used,
    )  # fmt: skip


def _run(memory: Memory, written: Sequence[VersionOf]) -> str | None:
    """The run that wrote it first or, failing that, last."""
    sources = (memory.source, *(each.source for each in written))
    return next((each.removeprefix(_RUN) for each in sources if each is not None and each.startswith(_RUN)), None)


def _session_of(memory: Memory, session: Session | None) -> SessionOf | None:
    if session is None:
        return SessionOf(memory.session) if memory.session is not None else None
    return SessionOf(
        session.key, session.id, session.project, session.platform, session.cwd, session.status.value,
        session.started_ms, session.ended_ms,
    )  # fmt: skip


def _told_of(key: str, at_ms: int, session: Session | None) -> ToldTo:
    if session is None:
        return ToldTo(key, at_ms, None, "", "")
    return ToldTo(key, at_ms, session.id, session.project, session.platform)


def _event_of(event: Occurrence) -> EventOf:
    return EventOf(event.seq, event.kind.value, event.tool, event.at_ms, event.turn, event.job, event.kept)


def _job_of(job: Job, model: str) -> JobOf:
    result = job.result or {}
    by, model = str(result.get("by", "")), str(result.get("model") or model)
    return JobOf(job.id, job.kind, job.status.value, by, model, job.attempts, job.created_ms, job.ended_ms, job.error)


def _version_of(version: MemoryVersion, before: MemoryVersion | None) -> VersionOf:
    return VersionOf(
        version.version, version.op.value, version.actor, version.source, version.note, version.delta,
        version.created_ms, _changed(before.state, version.state) if before is not None else (),
    )  # fmt: skip


def _changed(before: State, after: State) -> tuple[str, ...]:
    old, new = (each.without_credit().to_json() for each in (before, after))
    return tuple(name for name in new if old[name] != new[name])


def _delta_of(delta: Delta) -> DeltaOf:
    return DeltaOf(
        delta.id, delta.subject, delta.cause, delta.actor, delta.status.value, delta.created_ms, delta.reverts
    )


def _relative(memory: Memory, relation: str = "") -> Relative:
    status = memory.state.status.value
    return Relative(
        handle.label(memory), memory.seq, memory.kind.value, _title(memory), status, memory.created_ms, relation
    )


def _title(memory: Memory) -> str:
    """What it says in one line; nothing for what was private."""
    text = memory.state.title or memory.state.content[: 20 * _TITLE]
    return " ".join(text.split())[:_TITLE]
