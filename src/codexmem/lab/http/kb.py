"""The library behind the evidence, beyond contract 002: listing its documents, searching, writing and removing them.

Documents come as text, cut by whoever read them: the server opens no folder that a caller names.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from codexmem.http.guard import written_by
from codexmem.kernel.model.memory import MAX_LABEL
from codexmem.kernel.model.query import RowCursor
from codexmem.lab.http.pages import DEFAULT_LIMIT, CursorText, LabRouteServices, Limit, cursor, place
from codexmem.lab.library_model import namespace_of
from codexmem.lab.service.lab import Lab
from codexmem.lab.service.library import MAX_QUERY, MAX_TOP
from codexmem.lab.wire import library as wire
from codexmem.lab.wire.fields import LabPage

_Namespace = Annotated[str, Query(min_length=1, max_length=MAX_LABEL, description="such as kb_principles")]


def add(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""

    @api.get("/api/v1/kb")
    def holdings() -> LabPage[wire.LibraryNamespace]:
        found = services.room(Lab).shelving.library.holdings()
        return LabPage[wire.LibraryNamespace].of(map(wire.LibraryNamespace.of, found), None)

    @api.get("/api/v1/kb/search")
    def search(
        namespace: _Namespace,
        query: Annotated[str, Query(min_length=1, max_length=MAX_QUERY)],
        mode: str = "hybrid",
        top_k: Annotated[int, Query(ge=1, le=MAX_TOP)] = 5,
    ) -> LabPage[wire.FoundPassage]:
        found = services.room(Lab).shelving.library.query(namespace, query, mode, top_k)
        return LabPage[wire.FoundPassage].of(map(wire.FoundPassage.of, found), None)

    @api.get("/api/v1/kb/pieces/{ref}")
    def piece(ref: str) -> wire.FoundPassage:
        return wire.FoundPassage.of(services.room(Lab).shelving.library.get(ref))

    @api.get("/api/v1/kb/documents")
    def documents(
        namespace: _Namespace,
        folder: Annotated[str, Query(max_length=MAX_LABEL)] = "",
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> LabPage[wire.LibraryDocument]:
        name = f"kb {namespace_of(namespace)} {folder}"
        reached = place(name, cursor_text, int, int)
        found, after = services.room(Lab).shelving.library.list(
            namespace, folder=folder, after=RowCursor(*reached) if reached else None, limit=limit
        )
        return LabPage[wire.LibraryDocument].of(
            map(wire.LibraryDocument.of, found), cursor(name, after.created_ms, after.seq) if after else None
        )

    @api.put("/api/v1/kb/documents")
    def put(body: wire.PartRequest, request: Request) -> wire.DocumentWritten:
        by = written_by(request.scope)
        delta = services.room(Lab).shelving.library.put(body.namespace, body.to_part(), by, delta=body.delta)
        return wire.DocumentWritten(delta=delta)

    @api.post("/api/v1/kb/documents/remove")
    def remove(body: wire.RemovalRequest, request: Request) -> wire.DocumentsRemoved:
        by = written_by(request.scope)
        delta, gone = services.room(Lab).shelving.library.remove(
            body.namespace, body.folder, body.documents, by, delta=body.delta
        )
        return wire.DocumentsRemoved(delta=delta, pieces=gone)
