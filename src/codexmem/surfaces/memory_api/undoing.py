"""Taking back what a delta or a source wrote; large ones in several calls, each telling where the next goes on."""

from dataclasses import asdict
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain.history import By, Mode
from codexmem.services.undoing import MAX_SHOWN, Outline, Undoing, Whose
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.params import Int64
from codexmem.surfaces._kit.recall.described import answers


class Services(Protocol):
    """What these routes need."""

    @property
    def undoing(self) -> Undoing: ...


class UndoRequest(BaseModel):
    """`POST /api/undo`: a source or a delta; `into` and `after` as the call before answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str | None = None
    delta: str | None = None
    mode: Mode = Mode.SAFE  # safe leaves what others wrote since, strict does not
    into: str | None = None
    after: Int64 = 0


class UndoAnswer(BaseModel):
    """What one call took back."""

    success: bool
    delta: str | None = Field(description="what it wrote into; take that back to have everything as it was")
    restored: int
    left: int = Field(description="written by others since, and so left")
    lost_uris: list[str] = Field(description="addresses that other memories have taken since")
    after: int | None = Field(description="where the next call goes on; null when all is done")
    more: bool


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/undo/preview", responses=answers(Outline))
    def preview(
        source: str | None = None, delta: str | None = None,
        shown: Annotated[int, Query(ge=0, le=MAX_SHOWN)] = 10,
    ) -> dict[str, Any]:  # fmt: skip
        return asdict(services.undoing.outline(Whose(source, delta), shown=shown))

    @door.post("/api/undo", responses=answers(UndoAnswer))
    def undo(request: Request, body: UndoRequest) -> dict[str, Any]:
        whose, by = Whose(body.source, body.delta), By(actor_of(request.scope))
        undone = services.undoing.take_back(whose, body.mode, by, into=body.into, after=body.after)
        return {"success": True, **asdict(undone), "more": undone.after is not None}
