"""Evidence as contract 002 spells it, and the library, of which the contract does not speak, in the same manner."""

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.kernel.model.memory import MAX_LABEL
from codexmem.kernel.wire import Figure, WireAnswer
from codexmem.lab.library_model import (
    MAX_CHUNK_ID,
    MAX_PIECE,
    MAX_SOURCE,
    MAX_TITLE,
    MAX_TOGETHER,
    DocumentPiece,
    LibraryPassage,
    Part,
    Shown,
)
from codexmem.lab.model import Evidence
from codexmem.lab.wire.fields import EpochSeconds, seconds

if TYPE_CHECKING:
    from codexmem.lab.service.library import Holding

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
        pieces = tuple(DocumentPiece(each.chunk_id, each.place, each.title, each.content) for each in self.pieces)
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


class _NamesDocument(BaseModel):
    """An answer with a field that would hide the method `document` of the others."""

    model_config = WireAnswer.model_config


class EvidencePiece(WireAnswer):
    """One piece that a run was shown."""

    alias: str
    ref: str
    source: str
    content: str | None = Field(description="null where it was not asked for")
    kb_namespace: str
    lightrag_chunk_id: str
    created_at: EpochSeconds

    @classmethod
    def of(cls, evidence: Evidence, *, content: bool) -> Self:
        """This one, with its text if that was asked for."""
        return cls(
            alias=evidence.alias,
            ref=evidence.ref,
            source=evidence.source,
            content=evidence.content if content else None,
            kb_namespace=evidence.kb_namespace,
            lightrag_chunk_id=evidence.chunk_id,
            created_at=seconds(evidence.created_ms),
        )


class FoundPassage(_NamesDocument):
    """One piece that a search found."""

    ref: str
    kb_namespace: str
    lightrag_chunk_id: str
    document: str
    place: int
    source: str
    title: str
    content: str
    score: Figure

    @classmethod
    def of(cls, passage: LibraryPassage) -> Self:
        """This one."""
        return cls(
            ref=passage.ref,
            kb_namespace=passage.namespace,
            lightrag_chunk_id=passage.chunk_id,
            document=passage.document,
            place=passage.place,
            source=passage.source,
            title=passage.title,
            content=passage.content,
            score=round(passage.score, 4),
        )


class LibraryDocument(_NamesDocument):
    """One document."""

    kb_namespace: str
    folder: str
    document: str
    title: str
    source: str
    pieces: int
    digest: str
    updated_at: EpochSeconds

    @classmethod
    def of(cls, shown: Shown) -> Self:
        """This one."""
        return cls(
            kb_namespace=shown.namespace,
            folder=shown.folder,
            document=shown.document,
            title=shown.title,
            source=shown.source,
            pieces=shown.pieces,
            digest=shown.digest,
            updated_at=seconds(shown.updated_ms),
        )


class LibraryNamespace(WireAnswer):
    """How much there is in one namespace."""

    kb_namespace: str
    documents: int
    pieces: int

    @classmethod
    def of(cls, holding: "Holding") -> Self:
        """This one."""
        return cls(kb_namespace=holding.namespace, documents=holding.documents, pieces=holding.pieces)


class DocumentWritten(WireAnswer):
    """By which delta a document was written."""

    delta: str


class DocumentsRemoved(WireAnswer):
    """By which delta documents were removed, if there were any."""

    delta: str | None
    pieces: int
