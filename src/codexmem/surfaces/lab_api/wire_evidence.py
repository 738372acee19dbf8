"""Evidence as contract 002 spells it, and the library, of which the contract does not speak, in the same manner."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain.lab import Evidence
from codexmem.domain.library import (
    MAX_CHUNK_ID,
    MAX_PIECE,
    MAX_SOURCE,
    MAX_TITLE,
    MAX_TOGETHER,
    Part,
    Passage,
    Piece,
    Shown,
)
from codexmem.domain.memory import MAX_LABEL
from codexmem.services.lab.library import Holding
from codexmem.surfaces.lab_api.wire import seconds

_MAX_PLACE = 2**31 - 1
Name = Annotated[str, Field(min_length=1, max_length=MAX_LABEL)]
DeltaId = Annotated[str, Field(min_length=1, max_length=100)]
_Place = Annotated[int, Field(ge=1, le=_MAX_PLACE)]


class PieceRequest(BaseModel):
    """A piece of a document."""

    model_config = ConfigDict(frozen=True)

    chunk_id: Annotated[str, Field(min_length=1, max_length=MAX_CHUNK_ID)]
    place: _Place
    title: Annotated[str, Field(max_length=MAX_TITLE)] = ""
    content: Annotated[str, Field(min_length=1, max_length=MAX_PIECE)]


class PartRequest(BaseModel):
    """`PUT /kb/documents`: a document, or some pieces of a large one."""

    model_config = ConfigDict(frozen=True)

    namespace: Name
    folder: Name
    document: Name
    source: Annotated[str, Field(max_length=MAX_SOURCE)] = ""
    digest: Name
    pieces: Annotated[list[PieceRequest], Field(min_length=1, max_length=MAX_TOGETHER)]
    opening: _Place = 1
    parts: _Place
    last: bool = True
    delta: DeltaId | None = None

    def to_part(self) -> Part:
        """What is to be written."""
        pieces = tuple(Piece(each.chunk_id, each.place, each.title, each.content) for each in self.pieces)
        return Part(
            self.folder, self.document, self.source, self.digest, pieces, self.opening, self.parts, self.last
        )  # fmt: skip


class RemovalRequest(BaseModel):
    """`POST /kb/documents/remove`."""

    model_config = ConfigDict(frozen=True)

    namespace: Name
    folder: Name
    documents: Annotated[list[Name], Field(min_length=1, max_length=MAX_TOGETHER)]
    delta: DeltaId | None = None


def evidence(given: Evidence, *, content: bool) -> dict[str, Any]:
    """One piece that a run was shown; `content` is null where it was not asked for."""
    return {
        "alias": given.alias,
        "ref": given.ref,
        "source": given.source,
        "content": given.content if content else None,
        "kb_namespace": given.kb_namespace,
        "lightrag_chunk_id": given.chunk_id,
        "created_at": seconds(given.created_ms),
    }


def passage(given: Passage) -> dict[str, Any]:
    """One piece that a search found."""
    return {
        "ref": given.ref,
        "kb_namespace": given.namespace,
        "lightrag_chunk_id": given.chunk_id,
        "document": given.document,
        "place": given.place,
        "source": given.source,
        "title": given.title,
        "content": given.content,
        "score": round(given.score, 4),
    }


def document(given: Shown) -> dict[str, Any]:
    """One document."""
    return {
        "kb_namespace": given.namespace,
        "folder": given.folder,
        "document": given.document,
        "title": given.title,
        "source": given.source,
        "pieces": given.pieces,
        "digest": given.digest,
        "updated_at": seconds(given.updated_ms),
    }


def holding(given: Holding) -> dict[str, Any]:
    """One namespace."""
    return {"kb_namespace": given.namespace, "documents": given.documents, "pieces": given.pieces}
