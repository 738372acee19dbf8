"""Where a memory came from: the events, session, run, job and deltas behind it, who changed it, and what came of it.

Every part is read by an index and bounded. A deleted memory is explained like any other; an erased one is gone, and
nothing here could tell that it ever was.
"""

from collections.abc import Sequence

from codexmem.kernel.model import handle
from codexmem.kernel.model.attrs import NoteAttrs, ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.capture import Capture
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import Delta, MemoryVersion
from codexmem.kernel.model.job import Job
from codexmem.kernel.model.memory import Kind, Memory, State, Status
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
from codexmem.recall.provenance_model import DeltaOf, EventOf, JobOf, Provenance, Relative, SessionOf, VersionOf, Whence

MAX_VERSIONS = 50
MAX_EVENTS = 200
VERSIONS, EVENTS = 10, 50  # unless asked for otherwise
_LINKS = 50
_TURN = 200  # memories of a turn that are looked at
_PROMPTS = 5
_TITLE = 200  # characters
_ALL = frozenset(Kind)
_EXTRACTED = frozenset({Kind.OBSERVATION, Kind.SUMMARY})
_RUN, _SESSION = "run:", "session:"


class Explaining:
    """Answers where a memory came from."""

    def __init__(self, db: Database, memories: Memories, history: History, versions: VersionTable, sessions: Sessions,
                 captures: Captures, jobs: Jobs, noted: Noted) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._history = history
        self._versions = versions
        self._sessions = sessions
        self._captures = captures
        self._jobs = jobs
        self._noted = noted

    def why(self, name: str, *, versions: int = VERSIONS, events: int = EVENTS) -> Provenance:
        """The provenance of the memory that answers to this name, deleted or not."""
        with self._db.reading():
            memory = self.named(name)
            captured = self._captured(memory)
            shown = self._captures.occurrences(captured[-min(events, MAX_EVENTS) :])
            session = self._session(memory)
            turn = self._turn(memory, shown)
            prompt, (derived, more_derived) = self._prompt(memory, turn), self._derived(memory, turn, captured)
            written, older = self._written(memory, min(versions, MAX_VERSIONS))
            numbers = tuple(dict.fromkeys(each.job for each in shown if each.job is not None))
            links, linked_by = self._links(memory)
            return Provenance(
                memory=_whence(memory),
                run=_run(memory, written),
                session=_session_of(memory, session),
                prompt=_relative(prompt) if prompt is not None else None,
                events=tuple(map(_event_of, shown)),
                more_events=len(captured) > len(shown),
                jobs=_jobs_of(numbers, self._jobs.many(numbers)),
                versions=written,
                more_versions=older,
                deltas=tuple(map(_delta_of, self._versions.deltas(
                    list(dict.fromkeys(each.delta for each in written if each.delta is not None))
                ))),
                links=links,
                linked_by=linked_by,
                derived=tuple(map(_relative, derived)),
                more_derived=more_derived,
            )  # fmt: skip

    def named(self, name: str) -> Memory:
        """The memory that answers to this name, deleted or not."""
        meant, kinds = handle.parsed(name)
        try:
            return self._memories.get(meant, kinds)
        except NotFound:
            raise NotFound(
                f"{name.strip()[:80]} is not remembered",
                hint=f"use {handle.EXAMPLES}; memories that were erased leave no trace",
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

    def _session(self, memory: Memory) -> Session | None:
        if memory.session is not None:
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
        unproven=getattr(state.attrs, "unproven", ()),
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


def _event_of(event: Occurrence) -> EventOf:
    return EventOf(event.seq, event.kind.value, event.tool, event.at_ms, event.turn, event.job, event.kept)


def _jobs_of(numbers: Sequence[int], jobs: Sequence[Job]) -> tuple[JobOf, ...]:
    there = {job.id: job for job in jobs}
    return tuple(_job_of(there[number]) if number in there else JobOf(number) for number in numbers)


def _job_of(job: Job) -> JobOf:
    by = str((job.result or {}).get("by", ""))
    return JobOf(job.id, job.kind, job.status.value, by, job.attempts, job.created_ms, job.ended_ms, job.error)


def _version_of(version: MemoryVersion, before: MemoryVersion | None) -> VersionOf:
    return VersionOf(
        version.version, version.op.value, version.actor, version.source, version.note, version.delta,
        version.created_ms, _changed(before.state, version.state) if before is not None else (),
    )  # fmt: skip


def _changed(before: State, after: State) -> tuple[str, ...]:
    old, new = before.to_json(), after.to_json()
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
