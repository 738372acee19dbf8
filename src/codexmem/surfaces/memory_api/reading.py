"""Memories of any kind as programs of ours read them: found by a search with every filter there is, or named.

`/api/search` and its kin speak the words of their contract; here nothing is left out and nothing renamed.
"""

from typing import Annotated, Any, Protocol

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain import handle
from codexmem.domain.errors import InvalidArgument
from codexmem.domain.memory import REMEMBERED, VISIBLE, Kind, Memory, Status
from codexmem.domain.query import Filter
from codexmem.domain.search import MAX_RESULTS, Answer, Found, Mode, Search, Unit
from codexmem.services.provenance import Explaining
from codexmem.services.recall import Recall
from codexmem.surfaces._kit.params import Int64
from codexmem.surfaces._kit.recall.described import answers

_FACETS = ("type", "concept", "file", "tag", "role")
_MAX_PROJECTS = 5
_Texts = Annotated[list[str], Field(max_length=50)]


class Services(Protocol):
    """What these routes need."""

    @property
    def recall(self) -> Recall: ...
    @property
    def explaining(self) -> Explaining: ...


class FullSearch(BaseModel):
    """`POST /api/memories/search`: each field that is given must hold, several values of one mean any of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str
    projects: Annotated[list[str], Field(max_length=_MAX_PROJECTS)] = Field(
        default=[], description="memories of any of these; the empty name means those of no project; none means all"
    )
    kinds: list[Kind] = Field(default=[], description="none means every kind but chunk")
    statuses: list[Status] = Field(default=[], description="none means candidate, active and validated")
    type: _Texts = []
    concept: _Texts = []
    file: _Texts = []
    tag: _Texts = []
    role: _Texts = []
    session: str | None = None
    created_from_ms: Int64 | None = None
    created_to_ms: Int64 | None = None
    as_of_ms: Int64 | None = Field(None, description="what the memory held then, found by words only")
    min_score: float = 0.0
    limit: int = 10
    offset: int = 0
    unit: Unit = Unit.MEMORY
    recipe: str = "default"
    explain: bool = Field(False, description="with what each signal added to the rank of a result")

    def search(self, project: str | None, *, limit: int, offset: int) -> Search:
        """The search of one project, or of all."""
        wanted = Filter(
            kinds=frozenset(self.kinds) or REMEMBERED,
            project=project,
            statuses=frozenset(self.statuses) or VISIBLE,
            facets=tuple((name, frozenset(values)) for name in _FACETS if (values := getattr(self, name))),
            session=self.session,
            created_from_ms=self.created_from_ms,
            created_to_ms=self.created_to_ms,
        )
        return Search(
            self.query, wanted, limit=limit, offset=offset, min_score=self.min_score, unit=self.unit,
            recipe=self.recipe, explain=self.explain, as_of_ms=self.as_of_ms,
        )  # fmt: skip


class FullMemory(BaseModel):
    """A memory with all that is known of its present state."""

    label: str = Field(description="its name as people read it: #12, #S9, note project://config, kb-…")
    seq: int
    id: str
    kind: Kind
    version: int
    origin: str
    session: str | None
    source: str | None
    created_ms: int
    updated_ms: int
    content: str
    attrs: dict[str, Any]
    project: str
    status: Status
    type: str
    title: str
    priority: int
    confidence: float
    uris: list[str]
    links: list[tuple[str, int]]


class FullResult(FullMemory):
    """A memory that was found."""

    rank: int
    score: float = Field(description="probability of relevance")
    signals: dict[str, float]


class FullResults(BaseModel):
    """What was found, best first, and how."""

    query: str
    projects: list[str]
    mode: Mode
    results: list[FullResult]
    more: bool
    notes: list[str] = Field(description="what was degraded and why")
    sources: dict[str, int]
    timings_ms: dict[str, float]
    recipe: str
    unit: Unit
    limit: int
    offset: int
    min_score: float
    as_of_ms: int | None


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.post("/api/memories/search", responses=answers(FullResults))
    def search(body: FullSearch) -> dict[str, Any]:
        return _told(body, _found(services.recall, body))

    @door.get("/api/memories/named/{ref:path}", responses=answers(FullMemory))
    def named(ref: str) -> dict[str, Any]:
        return _whole(services.explaining.named(ref))


def _found(recall: Recall, body: FullSearch) -> Answer:
    if len(body.projects) < 2:
        project = body.projects[0] if body.projects else None
        return recall.search(body.search(project, limit=body.limit, offset=body.offset))
    last = body.offset + body.limit
    if body.limit >= 1 and body.offset >= 0 and last > MAX_RESULTS:
        raise InvalidArgument(
            f"offset {body.offset} reaches beyond the first {MAX_RESULTS} results of several projects",
            hint="search one project, or all",
        )
    body.search(None, limit=body.limit, offset=body.offset)  # refuses what is out of bounds
    found = [recall.search(body.search(each, limit=last, offset=0)) for each in dict.fromkeys(body.projects)]
    # Scores are probabilities, so those of several searches stand side by side.
    ranked = sorted((each for answer in found for each in answer.results), key=lambda each: -each.score)
    names = {name for answer in found for name in answer.sources}
    steps = {name for answer in found for name in answer.timings_ms}
    return Answer(
        results=tuple(ranked[body.offset : last]),
        mode=Mode.HYBRID if any(answer.mode is Mode.HYBRID for answer in found) else Mode.LEXICAL,
        sources={name: sum(answer.sources.get(name, 0) for answer in found) for name in sorted(names)},
        timings_ms={name: sum(answer.timings_ms.get(name, 0.0) for answer in found) for name in sorted(steps)},
        more=len(ranked) > last or any(answer.more for answer in found),
        notes=tuple(dict.fromkeys(note for answer in found for note in answer.notes)),
    )


def _told(body: FullSearch, answer: Answer) -> dict[str, Any]:
    return {
        "query": body.query,
        "projects": list(body.projects),
        "mode": answer.mode.value,
        "results": [_result(rank, found) for rank, found in enumerate(answer.results, start=body.offset + 1)],
        "more": answer.more,
        "notes": list(answer.notes),
        "sources": answer.sources,
        "timings_ms": answer.timings_ms,
        "recipe": body.recipe,
        "unit": body.unit.value,
        "limit": body.limit,
        "offset": body.offset,
        "min_score": body.min_score,
        "as_of_ms": body.as_of_ms,
    }


def _result(rank: int, found: Found) -> dict[str, Any]:
    return {"rank": rank, "score": found.score, "signals": found.signals, **_whole(found.memory)}


def _whole(memory: Memory) -> dict[str, Any]:
    return {
        "label": handle.label(memory),
        "seq": memory.seq,
        "id": memory.id,
        "kind": memory.kind.value,
        "version": memory.version,
        "origin": memory.origin.value,
        "session": memory.session,
        "source": memory.source,
        "created_ms": memory.created_ms,
        "updated_ms": memory.updated_ms,
        **memory.state.to_json(),
    }
