"""Taking back what a delta or a source wrote; large ones in several calls, each telling where the next goes on.

Versions of memories of any kind: listed, compared, and rolled back to.
"""

from dataclasses import asdict
from typing import Annotated, Protocol, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.http.guard import written_by
from codexmem.http.params import Int64
from codexmem.kernel.model.history import Mode
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.http.described import answers
from codexmem.recall.provenance import MAX_VERSIONS, Explaining
from codexmem.recall.undoing import MAX_SHOWN, Change, UndoFollower, Undoing, UndoResult, Whose
from codexmem.recall.wire.history import MemoryDiff, MemoryVersions
from codexmem.recall.wire.lifecycle import ActAnswer
from codexmem.recall.wire.memories import UndoTrail


class UndoServices(Protocol):
    """What these routes need."""

    @property
    def undoing(self) -> Undoing: ...
    @property
    def undo_follower(self) -> UndoFollower: ...


class UndoRequest(BaseModel):
    """`POST /api/undo`: a source or a delta; `into` and `after` as the call before answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str | None = None
    delta: str | None = None
    mode: Mode = Mode.SAFE  # safe leaves what others wrote since, strict does not
    into: str | None = None
    after: Int64 = 0
    include_mine: bool = False  # of a session: also what persons wrote


class FollowRequest(BaseModel):
    """`POST /api/undo/follow`: a source or a delta; `all_after` also takes what was only written after it was told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str | None = None
    delta: str | None = None
    all_after: bool = False


class FollowAnswer(WireAnswer):
    """What was hidden."""

    success: bool
    delta: str | None = Field(description="undo it to have everything as it was; null if nothing was hidden")
    hidden: int


class UndoAnswer(WireAnswer):
    """What one call took back."""

    success: bool
    delta: str | None = Field(description="what it wrote into; take that back to have everything as it was")
    restored: int
    left: int = Field(description="written by others since, and so left")
    lost_uris: tuple[str, ...] = Field(description="addresses that other memories have taken since")
    after: int | None = Field(description="where the next call goes on; null when all is done")
    more: bool

    @classmethod
    def of(cls, undone: UndoResult) -> Self:
        """What it took back."""
        return cls(success=True, **asdict(undone), more=undone.after is not None)


class UndoPreview(WireAnswer):
    """What taking back would change, without changing it."""

    memories: int
    written_since: int
    first: tuple[Change, ...]
    more: bool = Field(description="so many that only these were counted")
    kept: tuple[Change, ...] = Field(description="what persons wrote in the session, which include_mine takes back too")
    undone: tuple[str, ...] | None = Field(
        None, description="only where nothing is left of a source: deltas that undid it; undo one to bring that back"
    )


def add(api: APIRouter, services: UndoServices) -> None:
    """Add the routes."""

    @api.get("/api/undo/preview", responses=answers(UndoPreview))
    def preview(
        source: str | None = None, delta: str | None = None, include_mine: bool = False,
        shown: Annotated[int, Query(ge=0, le=MAX_SHOWN)] = 10,
    ) -> dict[str, object]:  # fmt: skip
        outline = services.undoing.outline(Whose(source, delta, include_mine), shown=shown)
        preview = UndoPreview(**asdict(outline))
        if source is not None and not outline.memories:
            preview = preview.model_copy(update={"undone": tuple(services.undoing.undone(source))})
        return preview.document()

    @api.post("/api/undo", responses=answers(UndoAnswer))
    def undo(request: Request, body: UndoRequest) -> dict[str, object]:
        whose, by = Whose(body.source, body.delta, body.include_mine), written_by(request.scope)
        undone = services.undoing.take_back(whose, body.mode, by, into=body.into, after=body.after)
        return UndoAnswer.of(undone).document()

    @api.get("/api/undo/trail", responses=answers(UndoTrail))
    def trail(source: str | None = None, delta: str | None = None) -> dict[str, object]:
        """What may come of what a source or a delta wrote: what carries its words, and what was written after it."""
        return UndoTrail.of(services.undo_follower.trail(Whose(source, delta))).document()

    @api.post("/api/undo/follow", responses=answers(FollowAnswer))
    def follow(request: Request, body: FollowRequest) -> dict[str, object]:
        """Hide what carries the words of what is undone; what it answers is a delta that can be undone."""
        whose = Whose(body.source, body.delta)
        made, hidden = services.undo_follower.hide(whose, written_by(request.scope), all_after=body.all_after)
        return FollowAnswer(success=True, delta=made, hidden=hidden).document()


_LIST = "memories/versions"
_Ref = Annotated[
    str, Query(min_length=1, max_length=4_000, description="a name such as #12, mem:… or project://config")
]
_Number = Annotated[Int64, Query(ge=1)]


class HistoryServices(Protocol):
    """What these routes need."""

    @property
    def explaining(self) -> Explaining: ...
    @property
    def lifecycle(self) -> Lifecycle: ...


class RollbackBody(BaseModel):
    """`POST /api/memories/rollback`: write what an earlier version said as the newest one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ref: str = Field(min_length=1, max_length=4_000, description="a number, or a name such as #12 or project://config")
    version: Int64
    seen: Int64 | None = Field(None, description="only if this is still its version")


def add_history(api: APIRouter, services: HistoryServices) -> None:
    """Add the routes."""

    @api.get("/api/memories/versions", responses=answers(MemoryVersions))
    def versions(
        ref: _Ref, cursor: CursorText = "", limit: Annotated[int, Query(ge=1, le=MAX_VERSIONS)] = 20
    ) -> dict[str, object]:
        return _page(services, ref, cursor, limit).document()

    @api.get("/api/memories/diff", responses=answers(MemoryDiff))
    def diff(ref: _Ref, before: _Number, after: _Number) -> dict[str, object]:
        return MemoryDiff.of(services.explaining.compared(ref, before, after)).document()

    @api.get("/api/memories/rollback/preview", responses=answers(MemoryDiff))
    def preview(ref: _Ref, version: _Number) -> dict[str, object]:
        """What rolling back to this version would change."""
        return MemoryDiff.of(services.explaining.way_back(ref, version)).document()

    @api.post("/api/memories/rollback", responses=answers(ActAnswer))
    def rollback(request: Request, body: RollbackBody) -> dict[str, object]:
        done = services.lifecycle.roll_back(body.ref, body.version, written_by(request.scope), seen=body.seen)
        return ActAnswer.of(done, services.lifecycle.lives(done.changed)).document()


def _page(services: HistoryServices, ref: str, at: str, limit: int) -> MemoryVersions:
    begin = place(_LIST, at, int)
    found = services.explaining.versions(ref, limit=limit, below=begin[0] if begin else None)
    return MemoryVersions.of(found, cursor(_LIST, found.versions[-1].version) if found.before is not None else None)
