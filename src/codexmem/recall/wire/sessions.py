"""Sessions, turns and captured events as this interface tells them. Times are milliseconds since 1970."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, cast

from pydantic import Field

from codexmem.kernel.model import note
from codexmem.kernel.model.attrs import PromptAttrs
from codexmem.kernel.model.capture import Capture, CapturedEvent
from codexmem.kernel.model.handle import ref
from codexmem.kernel.model.job import Job
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.wire import Figure, WireAnswer
from codexmem.recall.sessions import Handed, ListedSession, Turn, TurnListPage, is_shown
from codexmem.recall.wire.memories import Short

_SHORT = 600  # characters of an event's text in a list
_TITLE = 200


class SessionRow(WireAnswer):
    """One session."""

    number: int
    key: str = Field(description="the agent's own name for it")
    source: str = Field(description="what undoing and forgetting call it")
    project: str
    agent: str
    cwd: str
    status: Literal["active", "completed"]
    turns: int
    started_ms: int
    last_ms: int
    ended_ms: int | None
    title: str = Field(description="how what was asked first begins")
    observations: int
    summaries: int
    counted: bool = Field(description="false where only its first 1,000 memories were counted")
    hidden: int = Field(description="memories of it that were undone or deleted, and can be brought back")
    score: Figure | None = Field(None, description="only with q: probability of relevance")

    @classmethod
    def of(cls, listed: ListedSession, **more: Any) -> Self:
        """A session, with the further fields of a larger document."""
        session, outline = listed.session, listed.outline
        return cls(
            number=session.id,
            key=session.key,
            source=session.subject,
            project=session.project,
            agent=session.platform,
            cwd=session.cwd,
            status=cast(Any, session.status.value),
            turns=session.turn,
            started_ms=session.started_ms,
            last_ms=session.last_ms,
            ended_ms=session.ended_ms,
            title=note.headline(outline.asked, _TITLE),
            observations=outline.observations,
            summaries=outline.summaries,
            counted=outline.whole,
            hidden=outline.hidden,
            **({"score": round(listed.score, 4)} if listed.score is not None else {}),
            **more,
        )


class OneSession(SessionRow):
    """One session, and how to have again what was undone of it."""

    undone: tuple[str, ...] = Field(
        description="deltas that undid what it wrote, newest first; undo one to bring that back"
    )
    undone_ms: int | None = Field(description="when the newest of them was written")


class SessionPage(WireAnswer):
    """Some sessions."""

    items: tuple[SessionRow, ...]
    next_cursor: str | None
    has_more: bool

    @classmethod
    def of(cls, sessions: Iterable[ListedSession], following: str | None) -> Self:
        """One page, and the cursor of the next."""
        items = tuple(map(SessionRow.of, sessions))
        return cls(items=items, next_cursor=following, has_more=following is not None)


class SessionPrompt(WireAnswer):
    """What was asked; a private one has no text."""

    ref: str
    seq: int
    text: str
    private: bool
    created_ms: int
    hidden: bool

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """A memory of kind prompt."""
        attrs = memory.state.attrs
        return cls(
            ref=ref(memory),
            seq=memory.seq,
            text=memory.state.content,
            private=isinstance(attrs, PromptAttrs) and attrs.private,
            created_ms=memory.created_ms,
            hidden=memory.state.status is Status.DELETED,
        )


class SessionEvent(WireAnswer):
    """One captured event, its texts shortened."""

    seq: int
    kind: Capture
    tool: str
    at_ms: int
    agent: str = Field(description="which sub-agent, if one")
    input: str | None
    response: str | None
    message: str | None = Field(description="what the agent said at the end of its turn")
    cut: bool = Field(description="whether something was shortened")
    kept: bool = Field(description="false once what it said has faded or was forgotten")
    job: int | None
    observations: tuple[int, ...] = Field(description="numbers of observations and summaries that came of it")

    @classmethod
    def of(cls, event: CapturedEvent, observations: Sequence[int]) -> Self:
        """An event, and what came of it."""
        texts = {name: _text(getattr(event, name)) for name in ("input", "response", "message")}
        return cls(
            seq=event.seq,
            kind=event.kind,
            tool=event.tool,
            at_ms=event.at_ms,
            agent=event.agent,
            **{name: text[:_SHORT] if text else None for name, text in texts.items()},
            cut=any(len(text) > _SHORT for text in texts.values()),
            kept=event.kept,
            job=event.job,
            observations=tuple(observations),
        )


class SessionMemory(Short):
    """A memory that came of a turn."""

    hidden: bool = Field(description="undone or deleted; told only where hidden ones are asked for")

    @classmethod
    def of_turn(cls, memory: Memory) -> Self:
        """A memory that came of it."""
        return cls.of(memory, hidden=memory.state.status is Status.DELETED)


class HandedMemory(Short):
    """A memory that the agent was handed."""

    whole: bool = Field(description="whether it was told in full, not by a line")


class SessionInjection(WireAnswer):
    """What the agent was handed at one time."""

    at_ms: int
    start: bool = Field(description="at the start of the session, not for a prompt")
    tokens: int
    count: int
    memories: tuple[HandedMemory, ...] = Field(description="the first of them that are still there")

    @classmethod
    def of(cls, handed: Handed) -> Self:
        """What was handed."""
        return cls(
            at_ms=handed.at_ms,
            start=handed.start,
            tokens=handed.tokens,
            count=handed.count,
            memories=tuple(HandedMemory.of(memory, whole=whole) for memory, whole in handed.memories),
        )


class SessionJob(WireAnswer):
    """What extracted events of the turn."""

    job: int
    kind: str
    status: str
    by: str = Field(description="model or rules")
    queued_ms: int
    wait_ms: int | None
    work_ms: int | None
    error: str | None

    @classmethod
    def of(cls, job: Job) -> Self:
        """How long it waited and worked."""
        started, ended = job.started_ms, job.ended_ms
        return cls(
            job=job.id,
            kind=job.kind,
            status=job.status.value,
            by=str((job.result or {}).get("by", "")),
            queued_ms=job.created_ms,
            wait_ms=max(0, started - job.created_ms) if started is not None else None,
            work_ms=max(0, ended - started) if started is not None and ended is not None else None,
            error=job.error,
        )


class SessionTurn(WireAnswer):
    """One turn, or the part of it that is on the page."""

    turn: int = Field(description="0: before anything was asked")
    started_ms: int | None
    ended_ms: int | None
    prompt: SessionPrompt | None
    events: tuple[SessionEvent, ...]
    observations: tuple[SessionMemory, ...]
    summaries: tuple[SessionMemory, ...]
    injected: tuple[SessionInjection, ...]
    jobs: tuple[SessionJob, ...]
    continues: bool = Field(description="whether more of its events are on the next page")

    @classmethod
    def of(cls, turn: Turn) -> Self:
        """A turn; its times are those of all its events, also of those that are not shown."""
        times = [event.at_ms for event in turn.events]
        became = _became(turn.came)
        return cls(
            turn=turn.number,
            started_ms=min(times, default=None),
            ended_ms=max(times, default=None),
            prompt=SessionPrompt.of(turn.prompt) if turn.prompt is not None else None,
            events=tuple(SessionEvent.of(each, became.get(each.seq, ())) for each in turn.events if is_shown(each)),
            observations=_came(turn, Kind.OBSERVATION),
            summaries=_came(turn, Kind.SUMMARY),
            injected=tuple(map(SessionInjection.of, turn.handed)),
            jobs=tuple(map(SessionJob.of, turn.jobs)),
            continues=turn.goes_on,
        )


class TurnPage(WireAnswer):
    """Turns of a session, in their order."""

    session: int
    items: tuple[SessionTurn, ...]
    next_cursor: str | None
    has_more: bool

    @classmethod
    def of(cls, page: TurnListPage, following: str | None) -> Self:
        """One page, and the cursor of the next."""
        items = tuple(map(SessionTurn.of, page.turns))
        return cls(session=page.session.id, items=items, next_cursor=following, has_more=following is not None)


class WholeEvent(WireAnswer):
    """One captured event as it is stored."""

    seq: int
    session: int
    turn: int
    kind: Capture
    tool: str
    at_ms: int
    agent: str
    cwd: str
    input: Any
    response: Any
    message: str
    job: int | None
    kept: bool

    @classmethod
    def of(cls, event: CapturedEvent) -> Self:
        """An event."""
        return cls.model_validate(event, from_attributes=True)


def _became(memories: Iterable[Memory]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for memory in memories:
        for seq in getattr(memory.state.attrs, "events", ()):
            found.setdefault(seq, []).append(memory.seq)
    return found


def _came(turn: Turn, kind: Kind) -> tuple[SessionMemory, ...]:
    return tuple(SessionMemory.of_turn(memory) for memory in turn.came if memory.kind is kind)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
