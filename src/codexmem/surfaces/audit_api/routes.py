"""`/v1/audit`: sending rows, which may be repeated, and looking through them."""

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query, Request

from codexmem.services.auditing import Auditing
from codexmem.services.receipts import Answer, Receipts
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.audit_api import wire


class Services(Protocol):
    """What this door needs."""

    @property
    def auditing(self) -> Auditing: ...
    @property
    def receipts(self) -> Receipts: ...


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()

    @door.post("/v1/audit", response_model=wire.AuditTaken)
    def take_in(request: Request, body: wire.AuditBatch, key: IdempotencyKey) -> dict[str, Any]:
        """Take in rows of a wrapper's audit log."""
        rows = [row.model_dump(exclude_unset=True) for row in body.rows]

        def effect() -> Answer:
            return Answer(wire.taken(services.auditing.take_in(body.log, rows, actor_of(request.scope))))

        return services.receipts.once("/v1/audit", key, body.model_dump(mode="json"), effect)

    @door.get("/v1/audit", response_model=None, responses={200: {"model": wire.AuditPage}})
    def page(asked: Annotated[wire.AuditQuery, Query()]) -> dict[str, Any]:
        """What agents asked for and what was decided, the last to arrive first."""
        return wire.page(services.auditing.page(asked.wanted(), after=asked.cursor, limit=asked.limit))

    return door
