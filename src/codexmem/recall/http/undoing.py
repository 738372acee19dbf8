"""Taking back what a delta or a source wrote; large ones in several calls, each telling where the next goes on."""

from dataclasses import asdict
from typing import Annotated, Any, Protocol, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.guard import actor_of
from codexmem.http.params import Int64
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.http.described import answers
from codexmem.recall.undoing import MAX_SHOWN, Outline, Undoing, UndoResult, Whose


class UndoServices(Protocol):
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


def add(api: APIRouter, services: UndoServices) -> None:
    """Add the routes."""

    @api.get("/api/undo/preview", responses=answers(Outline))
    def preview(
        source: str | None = None, delta: str | None = None,
        shown: Annotated[int, Query(ge=0, le=MAX_SHOWN)] = 10,
    ) -> dict[str, Any]:  # fmt: skip
        return asdict(services.undoing.outline(Whose(source, delta), shown=shown))

    @api.post("/api/undo", responses=answers(UndoAnswer))
    def undo(request: Request, body: UndoRequest) -> dict[str, Any]:
        whose, by = Whose(body.source, body.delta), WriteContext(actor_of(request.scope))
        undone = services.undoing.take_back(whose, body.mode, by, into=body.into, after=body.after)
        return UndoAnswer.of(undone).document()
