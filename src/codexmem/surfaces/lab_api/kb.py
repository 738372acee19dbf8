"""The library behind the evidence, beyond contract 002: listing its documents, searching, writing and removing them.

Documents come as text, cut by whoever read them: the server opens no folder that a caller names.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from codexmem.domain.history import By
from codexmem.domain.library import namespace_of
from codexmem.domain.memory import MAX_LABEL
from codexmem.domain.query import Cursor
from codexmem.services.lab.library import MAX_QUERY, MAX_TOP
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces.lab_api import wire_evidence as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services

_Namespace = Annotated[str, Query(min_length=1, max_length=MAX_LABEL, description="such as kb_principles")]


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/v1/kb")
    def holdings() -> dict[str, Any]:
        return page([wire.holding(each) for each in services.lab.shelving.library.holdings()], None)

    @door.get("/api/v1/kb/search")
    def search(
        namespace: _Namespace,
        query: Annotated[str, Query(min_length=1, max_length=MAX_QUERY)],
        mode: str = "hybrid",
        top_k: Annotated[int, Query(ge=1, le=MAX_TOP)] = 5,
    ) -> dict[str, Any]:
        found = services.lab.shelving.library.query(namespace, query, mode, top_k)
        return page([wire.passage(each) for each in found], None)

    @door.get("/api/v1/kb/pieces/{ref}")
    def piece(ref: str) -> dict[str, Any]:
        return wire.passage(services.lab.shelving.library.get(ref))

    @door.get("/api/v1/kb/documents")
    def documents(
        namespace: _Namespace,
        folder: Annotated[str, Query(max_length=MAX_LABEL)] = "",
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> dict[str, Any]:
        name = f"kb {namespace_of(namespace)} {folder}"
        reached = place(name, cursor_text, int, int)
        found, after = services.lab.shelving.library.list(
            namespace, folder=folder, after=Cursor(*reached) if reached else None, limit=limit
        )
        items = [wire.document(each) for each in found]
        return page(items, cursor(name, after.created_ms, after.seq) if after else None)

    @door.put("/api/v1/kb/documents")
    def put(body: wire.PartRequest, request: Request) -> dict[str, Any]:
        by = By(actor_of(request.scope))
        return {"delta": services.lab.shelving.library.put(body.namespace, body.to_part(), by, delta=body.delta)}

    @door.post("/api/v1/kb/documents/remove")
    def remove(body: wire.RemovalRequest, request: Request) -> dict[str, Any]:
        by = By(actor_of(request.scope))
        delta, gone = services.lab.shelving.library.remove(
            body.namespace, body.folder, body.documents, by, delta=body.delta
        )
        return {"delta": delta, "pieces": gone}
