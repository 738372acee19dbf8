"""`/v1/audit` (contract 001 §5.4): wrappers send what agents asked for and what was decided, which may be repeated, and
people look it up."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from codexmem.audit import wire
from codexmem.audit.service import Auditing
from codexmem.http.guard import actor_of
from codexmem.http.params import IdempotencyKey
from codexmem.http.surface import Surface, router
from codexmem.kernel.feature import Rooms
from codexmem.kernel.model.memory import Kind


def routes(rooms: Rooms) -> APIRouter:
    """The routes on the services of an open store."""
    api = router()

    @api.post("/v1/audit")
    def take_in(request: Request, body: wire.AuditBatch, key: IdempotencyKey) -> wire.AuditTaken:
        """Take in rows of a wrapper's audit log."""
        auditing = rooms.room(Auditing)
        rows = [row.model_dump(exclude_unset=True) for row in body.rows]

        def effect() -> tuple[wire.AuditTaken, None]:
            return wire.AuditTaken.of(auditing.take_in(body.log, rows, actor_of(request.scope))), None

        return auditing.receipts.once_as(wire.AuditTaken, "/v1/audit", key, body, effect)

    # Rows go out as they were kept: a model would change the order of their fields.
    @api.get("/v1/audit", response_model=None, responses={200: {"model": wire.AuditPage}})
    def page(asked: Annotated[wire.AuditQuery, Query()]) -> dict[str, object]:
        """What agents asked for and what was decided, the last to arrive first."""
        found = rooms.room(Auditing).page(
            asked.wanted(), after=asked.cursor, limit=asked.limit, outcomes=asked.outcomes
        )
        return {"items": list(found.rows), "next": found.after, "scanned": found.scanned, "truncated": found.truncated}

    return api


# No memory is ever shown here.
SURFACE: Surface[Rooms] = Surface(
    name="audit_api",
    prefixes=("/v1/audit",),
    kinds=frozenset[Kind](),
    routes=routes,
)
