"""The library of the lab: pieces of documents, kept as memories and found by the product's search.

A namespace is a project. Every piece knows its document and the folder that was read from; the first piece of a
document stands for it in lists and carries the digest by which the next reading knows that nothing has changed. So what
is known of a folder is part of the pieces' own history: taking a reading back also takes back that it happened.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model.attrs import ChunkAttrs
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.memory import MAX_LABEL, VISIBLE, Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, Id, PageRequest, RowCursor, RowOrder
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.memories import MemoryTable
from codexmem.lab.library_model import (
    MAX_PIECE,
    MAX_SOURCE,
    MAX_TITLE,
    MAX_TOGETHER,
    PROJECTS,
    REF,
    DocumentPiece,
    LibraryPassage,
    Part,
    Shown,
    chunk_id,
    is_chunk_id,
    parsed_ref,
    project_of,
    ref_of,
)

KINDS = frozenset({Kind.CHUNK})
MODES = {"hybrid": "default", "words": "words", "meaning": "meaning"}  # and the recipe of each
MAX_TOP = 50
MAX_QUERY = 2_000
SYNC = "sync"  # cause of the deltas that reading a folder makes
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Holding:
    """A namespace of which there are pieces."""

    namespace: str
    documents: int
    pieces: int


class Library:
    """The acting tenant's documents."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History, labels: Labels,
                 search: Callable[[SearchQuery], SearchAnswer]) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._labels = labels
        self._search = search

    def query(
        self, namespace: str, text: str, mode: str = "hybrid", top_k: int = 5, *, apart: str = ""
    ) -> list[LibraryPassage]:
        """The pieces of a namespace that fit best; `apart` names a folder that is kept from the others.

        Costs what any search costs (see docs/search.md), inside one project.
        """
        if mode not in MODES:
            raise InvalidArgument(f"there is no mode {mode[:40]!r}", hint=f"modes are {', '.join(MODES)}")
        if not text.strip() or len(text) > MAX_QUERY:
            raise InvalidArgument(f"a query has 1 to {MAX_QUERY:,} characters")
        if not 1 <= top_k <= MAX_TOP:
            raise InvalidArgument(f"top_k must be from 1 to {MAX_TOP}")
        wanted = Filter(KINDS, project=project_of(namespace, apart))
        # A run asks for so many pieces of its own corpus and judges them itself.
        found = self._search(SearchQuery(text, wanted, limit=top_k, min_score=0.0, recipe=MODES[mode]))
        return [_passage(each.memory, each.score) for each in found.results]

    def get(self, ref: str) -> LibraryPassage:
        """The piece that is cited so, also one that was archived since."""
        namespace, name = parsed_ref(ref)
        try:
            return _passage(self._memories.get(Id(ref_of(namespace, name)), KINDS))
        except NotFound:
            raise NotFound(f"no piece {ref[:120]}", hint="documents are listed at /api/v1/kb/documents") from None

    def holdings(self) -> Sequence[Holding]:
        """The namespaces there are, with how much each holds; costs the number of documents."""
        projects = sorted(self._labels.projects([Kind.CHUNK.value]))
        spaces = [each.removeprefix(PROJECTS) for each in projects if each.startswith(PROJECTS) and "@" not in each]
        found = []
        for namespace in spaces:
            parts = [_attrs(each).parts for each in self._all_openings(project_of(namespace), "")]
            found.append(Holding(namespace, len(parts), sum(parts)))
        return [each for each in found if each.documents]

    def known(self, namespace: str, folder: str, *, apart: str = "") -> dict[str, str]:
        """The documents of a folder, and the digest of each; empty for one that was not read to its end."""
        known: dict[str, str] = {}
        for each in self._all_openings(project_of(namespace, apart), _label(folder)):
            attrs = _attrs(each)
            known[attrs.document] = attrs.digest if known.get(attrs.document, attrs.digest) == attrs.digest else ""
        return known

    def put(self, namespace: str, part: Part, by: WriteContext, *, delta: str | None = None, apart: str = "") -> str:
        """Write some pieces of a document, all or nothing; returns the delta they belong to, a new one unless given."""
        _require_sound(part)
        project = project_of(namespace, apart)
        with self._db.transaction():
            self._table.hold(project)
            by = replace(by, delta=self._delta(project, delta, by), source=f"{REF}{project}")
            there = self._table.named([_name(project, piece.chunk_id) for piece in part.pieces], KINDS)
            for piece in part.pieces:
                self._put(project, part, piece, there, by)
            if part.last:
                for old in self._of_document(project, part.document):
                    attrs = _attrs(old)
                    if attrs.folder == part.folder and attrs.digest != part.digest:
                        self._archive(old, by)
            assert by.delta is not None
            return by.delta

    def remove(
        self,
        namespace: str,
        folder: str,
        documents: Sequence[str],
        by: WriteContext,
        *,
        delta: str | None = None,
        apart: str = "",
    ) -> tuple[str | None, int]:
        """Archive documents of a folder; returns the delta, if anything was written, and how many pieces went.

        A document at a time: its pieces go in one transaction, the one that stands for it last.
        """
        project, gone = project_of(namespace, apart), 0
        for document in documents:
            with self._db.transaction():
                self._table.hold(project)
                pieces = [each for each in self._of_document(project, document) if _attrs(each).folder == folder]
                if not pieces:
                    continue
                delta = self._delta(project, delta, by)
                own = replace(by, delta=delta, source=f"{REF}{project}")
                for each in sorted(pieces, key=lambda piece: (_attrs(piece).parts > 0, piece.seq)):
                    self._archive(each, own)
                gone += len(pieces)
        return delta, gone

    def _put(
        self, project: str, part: Part, piece: DocumentPiece, there: Mapping[str, Memory], by: WriteContext
    ) -> None:
        # The same text may be there from elsewhere; then this one is cited by a name of its own.
        own = chunk_id(f"{part.folder}\0{part.document}", piece.content)
        for name in (piece.chunk_id, own):
            ref = _name(project, name)
            state = _state(project, part, replace(piece, chunk_id=name))
            old = there.get(ref) if name is piece.chunk_id else self._table.find(Id(ref), KINDS)
            if old is None:
                self._memories.remember(MemoryDraft(Kind.CHUNK, state, Origin.IMPORT, id=ref), by)
                return
            attrs = _attrs(old)
            if old.state.status in VISIBLE and (attrs.folder, attrs.document) != (part.folder, part.document):
                continue
            if old.state != state:
                self._memories.write(old, state, Op.UPDATE, by)
            return

    def _archive(self, old: Memory, by: WriteContext) -> None:
        self._memories.write(old, replace(old.state, status=Status.ARCHIVED), Op.ARCHIVE, by)

    def _delta(self, project: str, delta: str | None, by: WriteContext) -> str:
        subject = f"{REF}{project}"
        if delta is None:
            return self._history.open_delta(subject, SYNC, by).id
        known = self._history.delta(delta)
        if (known.subject, known.cause) != (subject, SYNC):
            raise InvalidArgument(f"delta {delta[:80]} was not made by reading documents of this namespace")
        return delta

    def _of_document(self, project: str, document: str) -> list[Memory]:
        """All its visible pieces, from whatever folder; as many as a document may have."""
        wanted = Filter(KINDS, project=project, facets=(("document", frozenset({document})),))
        return [each for page in self._pages(wanted) for each in page]

    def _all_openings(self, project: str, folder: str) -> Iterator[Memory]:
        for page in self._pages(_openings(project, folder)):
            yield from page

    def _pages(self, wanted: Filter) -> Iterator[Sequence[Memory]]:
        after: RowCursor | None = None
        while True:
            page = self._memories.page(wanted, PageRequest(_PAGE, after=after, order=RowOrder.OLDEST))
            yield page.items
            if page.after is None:
                return
            after = page.after

    def is_empty(self, namespace: str, *, apart: str = "") -> bool:
        """Whether a namespace has nothing to find."""
        return not self._memories.page(Filter(KINDS, project=project_of(namespace, apart)), PageRequest(1)).items

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, namespace: str, *, folder: str = "", after: RowCursor | None = None, limit: int = 50
             ) -> tuple[Sequence[Shown], RowCursor | None]:  # fmt: skip
        """The documents of a namespace, all or of one folder, oldest first; costs the page."""
        page = self._memories.page(
            _openings(project_of(namespace), folder), PageRequest(limit, after=after, order=RowOrder.OLDEST)
        )
        return [_shown(each) for each in page.items], page.after


def _openings(project: str, folder: str) -> Filter:
    """The pieces that stand for their documents."""
    facet = ("folder", folder) if folder else ("opening", "yes")
    return Filter(KINDS, project=project, facets=((facet[0], frozenset({facet[1]})),))


def _state(project: str, part: Part, piece: DocumentPiece) -> State:
    opens = piece.place == part.opening
    attrs = ChunkAttrs(
        namespace=project.removeprefix(PROJECTS).partition("@")[0], document=part.document, chunk_id=piece.chunk_id,
        place=piece.place, source=part.source, folder=part.folder,
        digest="" if opens and not part.last else part.digest, parts=part.parts if opens else 0,
    )  # fmt: skip
    return State(piece.content, attrs, project, title=piece.title)


def _name(project: str, chunk: str) -> str:
    """The id of a piece as a memory: its reference, and in a folder that is kept apart with what keeps it so."""
    return ref_of(project.removeprefix(PROJECTS), chunk)


def _attrs(memory: Memory) -> ChunkAttrs:
    if not isinstance(memory.state.attrs, ChunkAttrs):
        raise TypeError(f"{type(memory.state.attrs).__name__} do not belong to a chunk")
    return memory.state.attrs


def _passage(memory: Memory, score: float = 0.0) -> LibraryPassage:
    attrs = _attrs(memory)
    return LibraryPassage(
        ref_of(attrs.namespace, attrs.chunk_id), memory.seq, attrs.namespace, attrs.chunk_id, attrs.document,
        attrs.place, attrs.source, memory.state.title, memory.state.content, score,
    )  # fmt: skip


def _shown(memory: Memory) -> Shown:
    attrs = _attrs(memory)
    return Shown(
        attrs.namespace, attrs.folder, attrs.document, memory.state.title, attrs.source, attrs.parts, attrs.digest,
        memory.updated_ms,
    )  # fmt: skip


def _require_sound(part: Part) -> None:
    places = {piece.place for piece in part.pieces}
    if not 0 < len(part.pieces) <= MAX_TOGETHER or len(places) != len(part.pieces):
        raise InvalidArgument(f"a part of a document has 1 to {MAX_TOGETHER} pieces, each at a place of its own")
    if part.last and part.opening not in places:
        raise InvalidArgument("the last part of a document holds the piece that stands for it")
    if part.parts < 1 or not part.digest:
        raise InvalidArgument("a document has a digest and at least one piece")
    _label(part.folder)
    _label(part.document)
    if len(part.source) > MAX_SOURCE or len(part.digest) > MAX_LABEL or not _is_text(part.source + part.digest):
        raise InvalidArgument(f"a source is text of at most {MAX_SOURCE} characters")
    for piece in part.pieces:
        if not is_chunk_id(piece.chunk_id):
            raise InvalidArgument(f"{piece.chunk_id[:80]!r} is not a chunk id")
        if not piece.content.strip() or len(piece.content) > MAX_PIECE or len(piece.title) > MAX_TITLE:
            raise InvalidArgument(f"a piece has 1 to {MAX_PIECE:,} characters, its title at most {MAX_TITLE}")


def _label(text: str) -> str:
    if not 0 < len(text) <= MAX_LABEL or not _is_text(text):
        raise InvalidArgument(f"the name of a folder or document is text of 1 to {MAX_LABEL} characters")
    return text


def _is_text(text: str) -> bool:
    """Whether every engine keeps it as it is."""
    return "\0" not in text and text == text.encode(errors="replace").decode()
