"""Memories with the file contents that they rest on, for `codexmem stale`: the caller has the checkout and compares.

Memories of any kind as programs of ours read them: found by a search with every filter there is, or named.

`/api/search` and its kin speak the words of their contract; here nothing is left out and nothing renamed.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Protocol, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.http.guard import written_by
from codexmem.http.params import Int64
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.file_blobs import MAX_STAMP, MAX_STAMPS
from codexmem.kernel.model.memory import MAX_PROJECT, Memory
from codexmem.kernel.model.query import RowCursor
from codexmem.kernel.model.search import MAX_RESULTS, NO_VECTORS, SearchAnswer, SearchMode
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.kernel.services.recall import Recall
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.earlier_sessions import is_commit
from codexmem.recall.http.described import answers
from codexmem.recall.provenance import Explaining
from codexmem.recall.stamped_memories import MAX_ROWS, Renewal, Renewed, StampedMemories
from codexmem.recall.wire.memories import FullMemory, FullResults, FullSearch, Short

_LIST = "memories/stamped"


class StampedServices(Protocol):
    """What these routes need."""

    @property
    def stamped(self) -> StampedMemories: ...


class StampedMemory(Short):
    """A memory, and which contents of files it rests on."""

    version: int
    commit: bool = Field(description="whether it was imported from the history of a repository")
    blobs: tuple[str, ...] = Field(description="`<blob id> <path>`, the path as seen from the root of the checkout")

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A memory that has them."""
        attrs = memory.state.attrs
        assert isinstance(attrs, ObservationAttrs | SummaryAttrs)
        return super().of(memory, version=memory.version, commit=is_commit(memory), blobs=attrs.blobs, **more)


class StampedPage(WireAnswer):
    """`GET /api/memories/stamped`: a page, newest first."""

    items: tuple[StampedMemory, ...]
    cursor: str | None = Field(description="where the next page begins; null at the end")

    @classmethod
    def of(cls, memories: Sequence[Memory], after: RowCursor | None) -> Self:
        """A page of the list."""
        return cls(
            items=tuple(map(StampedMemory.of, memories)),
            cursor=cursor(_LIST, after.created_ms, after.seq) if after is not None else None,
        )


class RenewedMemory(BaseModel):
    """A memory that was found to hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seq: Int64
    blobs: Annotated[tuple[Annotated[str, Field(max_length=MAX_STAMP)], ...], Field(max_length=MAX_STAMPS)]


class RenewRequest(BaseModel):
    """`POST /api/memories/renew`: which contents of files these memories were found to hold for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    items: Annotated[tuple[RenewedMemory, ...], Field(min_length=1, max_length=MAX_ROWS)]
    reason: Annotated[str, Field(max_length=400)] = ""


class RenewAnswer(WireAnswer):
    """What was renewed."""

    delta: str | None = Field(description="undo it to have everything as it was; null if nothing changed")
    renewed: tuple[int, ...] = Field(description="numbers of the memories that have a new version")
    unchanged: tuple[int, ...]
    missing: tuple[int, ...] = Field(description="numbers that name no observation and no turn")

    @classmethod
    def of(cls, done: Renewed) -> Self:
        """What the service says."""
        seqs = tuple(memory.seq for memory in done.renewed)
        return cls(delta=done.delta, renewed=seqs, unchanged=done.unchanged, missing=done.missing)


def add(api: APIRouter, services: StampedServices) -> None:
    """Add the routes."""

    @api.get("/api/memories/stamped", responses=answers(StampedPage))
    def stamped(
        project: Annotated[str, Query(max_length=MAX_PROJECT)], cursor: CursorText = "",
        limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 200,
    ) -> dict[str, object]:  # fmt: skip
        found = place(_LIST, cursor, int, int)
        after = RowCursor(*found) if found is not None else None
        listing = services.stamped.page(project, limit=limit, after=after)
        return StampedPage.of(listing.items, listing.after).document()

    @api.post("/api/memories/renew", responses=answers(RenewAnswer))
    def renew(request: Request, body: RenewRequest) -> dict[str, object]:
        renewals = [Renewal(each.seq, each.blobs) for each in body.items]
        by = replace(written_by(request.scope), note=body.reason)
        return RenewAnswer.of(services.stamped.renew(renewals, by)).document()


class FullSearchServices(Protocol):
    """What these routes need."""

    @property
    def recall(self) -> Recall: ...
    @property
    def explaining(self) -> Explaining: ...
    @property
    def lifecycle(self) -> Lifecycle: ...


def add_reading(api: APIRouter, services: FullSearchServices) -> None:
    """Add the routes."""

    @api.post("/api/memories/search", responses=answers(FullResults))
    def search(body: FullSearch) -> dict[str, object]:
        return FullResults.of(body, _found(services.recall, body)).document()

    @api.get("/api/memories/named/{ref:path}", responses=answers(FullMemory))
    def named(ref: str) -> dict[str, object]:
        memory = services.explaining.named(ref)
        return FullMemory.of(memory, life=services.lifecycle.lives([memory])[memory.seq]).document()


def _found(recall: Recall, body: FullSearch) -> SearchAnswer:
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
    by_both = any(answer.mode is SearchMode.HYBRID for answer in found)
    notes = dict.fromkeys(note for answer in found for note in answer.notes)
    if by_both:
        notes.pop(NO_VECTORS, None)  # one of the projects is empty or new; the others were searched by meaning
    return SearchAnswer(
        results=tuple(ranked[body.offset : last]),
        mode=SearchMode.HYBRID if by_both else SearchMode.LEXICAL,
        sources={name: sum(answer.sources.get(name, 0) for answer in found) for name in sorted(names)},
        timings_ms={name: sum(answer.timings_ms.get(name, 0.0) for answer in found) for name in sorted(steps)},
        more=len(ranked) > last or any(answer.more for answer in found),
        notes=tuple(notes),
    )
