"""From a request to what is told: the four verbs of the recall door, in text for models and in rows for programs."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.history import By
from codexmem.domain.memory import Kind, Status
from codexmem.services.lookup import Lookup
from codexmem.services.memories import Memories
from codexmem.services.receipts import Answer
from codexmem.services.saving import Saving
from codexmem.services.timeline import Timeline
from codexmem.surfaces._kit.recall import index_text, rows, timeline_text
from codexmem.surfaces._kit.recall.requests import (
    DEFAULT_PROJECT,
    BatchRequest,
    SaveRequest,
    SearchRequest,
    TimelineRequest,
)
from codexmem.surfaces._kit.recall.timeline_text import Asked

_OBSERVATIONS = frozenset({Kind.OBSERVATION})


class Services(Protocol):
    """What the recall door needs."""

    @property
    def lookup(self) -> Lookup: ...
    @property
    def memories(self) -> Memories: ...
    @property
    def saving(self) -> Saving: ...
    @property
    def timeline(self) -> Timeline: ...


@dataclass(frozen=True, slots=True)
class Told:
    """One answer in both forms."""

    text: str
    rows: dict[str, Any]

    def as_json(self) -> str:
        """The rows as text."""
        return json.dumps(self.rows, ensure_ascii=False, indent=2)


def search(services: Services, request: SearchRequest) -> Told:
    """The index of what fits."""
    found, query = services.lookup.find(request.to_wish()), (request.query or "").strip()
    return Told(index_text.index(found, query), rows.results(found, query))


def timeline(services: Services, request: TimelineRequest) -> Told:
    """What happened around an anchor; given both, the anchor counts and the query does not."""
    query = (request.query or "").strip()
    if request.anchor is not None:
        window = services.timeline.around(request.anchor, request.depth, request.project)
        asked = Asked(request.depth, anchor=request.spelled_anchor)
        return Told(timeline_text.timeline(window, asked), rows.window(window))
    if not query:
        raise InvalidArgument('Error: Must provide either "anchor" or "query" parameter')
    best = services.timeline.best(query, request.project)
    if best is None:
        return Told(timeline_text.nothing_for(query), {"anchor": None, "items": []})
    window = services.timeline.beside(best, request.depth)
    return Told(timeline_text.timeline(window, Asked(request.depth, query=query)), rows.window(window))


def batch(services: Services, request: BatchRequest) -> list[dict[str, Any]]:
    """Observations by number; those that do not exist are left out."""
    found = services.memories.many(request.ids, _OBSERVATIONS).values()
    kept = [memory for memory in found if memory.state.status is not Status.DELETED and request.keeps(memory)]
    kept.sort(key=lambda memory: (memory.created_ms, memory.seq), reverse=request.orderBy == "date_desc")
    return rows.observations(kept[: request.limit])


def save(services: Services, request: SaveRequest, actor: str, project: str | None = None) -> Answer:
    """Remember a text; the same text and title in the same project is one memory."""
    saved = services.saving.save(request.to_draft(project or DEFAULT_PROJECT), By(actor))
    memory = saved.memory
    told = {
        "success": True,
        "id": memory.seq,
        "title": memory.state.title,
        "project": memory.state.project,
        "message": f"Memory saved as observation #{memory.seq}",
    }
    return Answer(told | ({"duplicate": True} if saved.duplicate else {}), subject=f"memory:{memory.seq}")
