"""Observations, summaries and prompts in the fields that clients of contract 000 know; lists are native arrays."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from codexmem.domain.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.domain.memory import Kind, Memory
from codexmem.services.lookup import Results
from codexmem.services.timeline import Window
from codexmem.surfaces._kit.moments import iso


class Observation(BaseModel):
    """One observation."""

    id: int
    memory_session_id: str | None
    project: str
    text: str | None
    type: str
    title: str
    subtitle: str
    facts: list[str]
    narrative: str
    concepts: list[str]
    files_read: list[str]
    files_modified: list[str]
    prompt_number: int | None
    discovery_tokens: int
    created_at: str
    created_at_epoch: int


class Summary(BaseModel):
    """One checkpoint of a session."""

    id: int
    session_id: str | None
    memory_session_id: str | None
    project: str
    request: str
    investigated: str
    learned: str
    completed: str
    next_steps: str
    notes: str
    prompt_number: int | None
    discovery_tokens: int
    created_at: str
    created_at_epoch: int


class Prompt(BaseModel):
    """What somebody asked; a private one has no text."""

    id: int
    content_session_id: str | None
    project: str
    prompt_number: int
    prompt_text: str
    private: bool
    created_at: str
    created_at_epoch: int


def observation(memory: Memory) -> dict[str, Any]:
    """A memory of kind observation."""
    state, attrs = memory.state, memory.state.attrs
    assert isinstance(attrs, ObservationAttrs)
    return {
        "id": memory.seq,
        "memory_session_id": memory.session,
        "project": state.project,
        "text": None,  # a field of old rows that nothing fills any more
        "type": state.type,
        "title": state.title,
        "subtitle": attrs.subtitle,
        "facts": list(attrs.facts),
        "narrative": state.content,
        "concepts": list(attrs.concepts),
        "files_read": list(attrs.files_read),
        "files_modified": list(attrs.files_modified),
        "prompt_number": attrs.prompt_number,
        "discovery_tokens": attrs.discovery_tokens,
        **_times(memory),
    }


def summary(memory: Memory) -> dict[str, Any]:
    """A memory of kind summary."""
    attrs = memory.state.attrs
    assert isinstance(attrs, SummaryAttrs)
    return {
        "id": memory.seq,
        "session_id": memory.session,
        "memory_session_id": memory.session,
        "project": memory.state.project,
        "request": attrs.request,
        "investigated": attrs.investigated,
        "learned": attrs.learned,
        "completed": attrs.completed,
        "next_steps": attrs.next_steps,
        "notes": attrs.notes,
        "prompt_number": attrs.prompt_number,
        "discovery_tokens": attrs.discovery_tokens,
        **_times(memory),
    }


def prompt(memory: Memory) -> dict[str, Any]:
    """A memory of kind prompt."""
    attrs = memory.state.attrs
    assert isinstance(attrs, PromptAttrs)
    return {
        "id": memory.seq,
        "content_session_id": memory.session,
        "project": memory.state.project,
        "prompt_number": attrs.prompt_number,
        "prompt_text": memory.state.content,
        "private": attrs.private,
        **_times(memory),
    }


ROW: dict[Kind, Callable[[Memory], dict[str, Any]]] = {
    Kind.OBSERVATION: observation,
    Kind.SUMMARY: summary,
    Kind.PROMPT: prompt,
}
_GROUPS = {Kind.OBSERVATION: "observations", Kind.SUMMARY: "sessions", Kind.PROMPT: "prompts"}
_ITEMS = {Kind.OBSERVATION: "observation", Kind.SUMMARY: "session", Kind.PROMPT: "prompt"}


def results(found: Results, query: str) -> dict[str, Any]:
    """What a search found, by category and in each in the order of the results; degraded answers say so."""
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in _GROUPS.values()}
    for memory in found.memories:
        row = ROW[memory.kind](memory)
        if memory.seq in found.scores:
            row["score"] = round(found.scores[memory.seq], 4)
        groups[_GROUPS[memory.kind]].append(row)
    told: dict[str, Any] = {**groups, "totalResults": len(found.memories), "query": query, "hasMore": found.more}
    if found.mode is not None:
        told["mode"] = found.mode.value
    if found.notes:
        told["notes"] = list(found.notes)
    return told


def window(shown: Window) -> dict[str, Any]:
    """A timeline, in order."""
    anchor = shown.anchor
    return {
        "anchor": {"type": _ITEMS[anchor.kind], "id": anchor.seq} if anchor is not None else None,
        "items": [{"kind": _ITEMS[memory.kind], **ROW[memory.kind](memory)} for memory in shown.items],
    }


def observations(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Memories of kind observation."""
    return [observation(memory) for memory in memories]


def _times(memory: Memory) -> dict[str, Any]:
    return {"created_at": iso(memory.created_ms), "created_at_epoch": memory.created_ms}
