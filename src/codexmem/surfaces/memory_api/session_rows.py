"""Sessions, turns and captured events as this door tells them. Times are milliseconds since 1970."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from codexmem.domain import note
from codexmem.domain.attrs import PromptAttrs
from codexmem.domain.capture import Capture, CapturedEvent
from codexmem.domain.handle import ref
from codexmem.domain.job import Job
from codexmem.domain.memory import Kind, Memory, Status
from codexmem.services.sessions import Told
from codexmem.services.turns import Handed, Turn, is_shown
from codexmem.surfaces.memory_api.rows import Short, short

_SHORT = 600  # characters of an event's text in a list
_TITLE = 200


class SessionRow(BaseModel):
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
    score: float | None = Field(None, description="only with q: probability of relevance")


class OneSession(SessionRow):
    """One session, and how to have again what was undone of it."""

    undone: list[str] = Field(description="deltas that undid what it wrote, newest first; undo one to bring that back")


class SessionPage(BaseModel):
    """Some sessions."""

    items: list[SessionRow]
    next_cursor: str | None
    has_more: bool


class SessionPrompt(BaseModel):
    """What was asked; a private one has no text."""

    ref: str
    seq: int
    text: str
    private: bool
    created_ms: int
    hidden: bool


class SessionEvent(BaseModel):
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
    observations: list[int] = Field(description="numbers of observations and summaries that came of it")


class SessionMemory(Short):
    """A memory that came of a turn."""

    hidden: bool = Field(description="undone or deleted; told only where hidden ones are asked for")


class HandedMemory(Short):
    """A memory that the agent was handed."""

    whole: bool = Field(description="whether it was told in full, not by a line")


class SessionInjection(BaseModel):
    """What the agent was handed at one time."""

    at_ms: int
    start: bool = Field(description="at the start of the session, not for a prompt")
    tokens: int
    count: int
    memories: list[HandedMemory] = Field(description="the first of them that are still there")


class SessionJob(BaseModel):
    """What extracted events of the turn."""

    job: int
    kind: str
    status: str
    by: str = Field(description="model or rules")
    queued_ms: int
    wait_ms: int | None
    work_ms: int | None
    error: str | None


class SessionTurn(BaseModel):
    """One turn, or the part of it that is on the page."""

    turn: int = Field(description="0: before anything was asked")
    started_ms: int | None
    ended_ms: int | None
    prompt: SessionPrompt | None
    events: list[SessionEvent]
    observations: list[SessionMemory]
    summaries: list[SessionMemory]
    injected: list[SessionInjection]
    jobs: list[SessionJob]
    continues: bool = Field(description="whether more of its events are on the next page")


class TurnPage(BaseModel):
    """Turns of a session, in their order."""

    session: int
    items: list[SessionTurn]
    next_cursor: str | None
    has_more: bool


class WholeEvent(BaseModel):
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


def session(told: Told) -> dict[str, Any]:
    """One session."""
    each, outline = told.session, told.outline
    return {
        "number": each.id,
        "key": each.key,
        "source": each.subject,
        "project": each.project,
        "agent": each.platform,
        "cwd": each.cwd,
        "status": each.status,
        "turns": each.turn,
        "started_ms": each.started_ms,
        "last_ms": each.last_ms,
        "ended_ms": each.ended_ms,
        "title": note.headline(outline.asked, _TITLE),
        "observations": outline.observations,
        "summaries": outline.summaries,
        "counted": outline.whole,
        "hidden": outline.hidden,
        **({"score": round(told.score, 4)} if told.score is not None else {}),
    }


def turn(each: Turn) -> dict[str, Any]:
    """One turn."""
    times = [event.at_ms for event in each.events]
    became = _became(each.came)
    return {
        "turn": each.number,
        "started_ms": min(times, default=None),
        "ended_ms": max(times, default=None),
        "prompt": _prompt(each.prompt) if each.prompt is not None else None,
        "events": [_event(event, became.get(event.seq, ())) for event in each.events if is_shown(event)],
        "observations": [_came(memory) for memory in each.came if memory.kind is Kind.OBSERVATION],
        "summaries": [_came(memory) for memory in each.came if memory.kind is Kind.SUMMARY],
        "injected": [_injection(given) for given in each.handed],
        "jobs": [_job(job) for job in each.jobs],
        "continues": each.goes_on,
    }


def whole(event: CapturedEvent) -> dict[str, Any]:
    """One event as it is stored."""
    return {
        "seq": event.seq,
        "session": event.session,
        "turn": event.turn,
        "kind": event.kind,
        "tool": event.tool,
        "at_ms": event.at_ms,
        "agent": event.agent,
        "cwd": event.cwd,
        "input": event.input,
        "response": event.response,
        "message": event.message,
        "job": event.job,
        "kept": event.kept,
    }


def _became(memories: Iterable[Memory]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for memory in memories:
        for seq in getattr(memory.state.attrs, "events", ()):
            found.setdefault(seq, []).append(memory.seq)
    return found


def _prompt(memory: Memory) -> dict[str, Any]:
    attrs = memory.state.attrs
    return {
        "ref": ref(memory),
        "seq": memory.seq,
        "text": memory.state.content,
        "private": isinstance(attrs, PromptAttrs) and attrs.private,
        "created_ms": memory.created_ms,
        "hidden": memory.state.status is Status.DELETED,
    }


def _came(memory: Memory) -> dict[str, Any]:
    return {**short(memory), "hidden": memory.state.status is Status.DELETED}


def _event(event: CapturedEvent, observations: Sequence[int]) -> dict[str, Any]:
    said = {name: _text(getattr(event, name)) for name in ("input", "response", "message")}
    return {
        "seq": event.seq,
        "kind": event.kind,
        "tool": event.tool,
        "at_ms": event.at_ms,
        "agent": event.agent,
        **{name: text[:_SHORT] if text else None for name, text in said.items()},
        "cut": any(len(text) > _SHORT for text in said.values()),
        "kept": event.kept,
        "job": event.job,
        "observations": list(observations),
    }


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _injection(given: Handed) -> dict[str, Any]:
    return {
        "at_ms": given.at_ms,
        "start": given.start,
        "tokens": given.tokens,
        "count": given.count,
        "memories": [{**short(memory), "whole": in_full} for memory, in_full in given.memories],
    }


def _job(job: Job) -> dict[str, Any]:
    started, ended = job.started_ms, job.ended_ms
    return {
        "job": job.id,
        "kind": job.kind,
        "status": job.status,
        "by": str((job.result or {}).get("by", "")),
        "queued_ms": job.created_ms,
        "wait_ms": max(0, started - job.created_ms) if started is not None else None,
        "work_ms": max(0, ended - started) if started is not None and ended is not None else None,
        "error": job.error,
    }
