"""Keeping both indexes true to the rows.

Words are indexed inside the transaction that writes the memory. Vectors follow: after the commit somebody is reminded,
and `catch_up` makes what is missing, in small steps that can end after any of them. A new model's vectors are made
while the old ones stay; the old ones go when the new are complete.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.search import tokens
from codexmem.kernel.search.text_of import passages_of, words_of
from codexmem.kernel.search.vectors_of import batches, vectors_of
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.index_backlog import CatchingUp, IndexTarget
from codexmem.kernel.store.texts import WritableTextIndex
from codexmem.kernel.store.writable_index import WritableVectorIndex

_READ = 50  # memories held at a time; each may be a megabyte
_WALK = 500  # memories looked at per step of a walk
_FORGET = 1_000
_FOLD = 500
_PAST = 1_000  # former states of one memory
_WORDS = ("text", "words")  # the target that stands for the words
_COUNTED = 100_000  # waiting memories that a status counts, at most

Proceed = Callable[[], object]  # raises if the work is to stop here


@dataclass(frozen=True, slots=True)
class Caught:
    """What one round of catching up did."""

    worded: int = 0  # memories whose words were missing
    embedded: int = 0  # memories whose vectors were made
    refused: int = 0  # memories whose text the embedder cannot take
    forgotten: int = 0  # erased memories that an index outside the store had kept, and vectors of former models


@dataclass(frozen=True, slots=True)
class VectorIndexStatus:
    """How far the vectors are."""

    backend: str  # which index holds them
    model: str | None  # None: search goes by words alone
    dimension: int | None
    indexed: dict[str, int | None]  # memories with vectors of the model, by index; None where it does not answer
    waiting: int  # memories whose vectors are missing or out of date, counted up to a limit
    complete: bool  # whether every memory has been looked at for this model
    former: tuple[str, ...]  # models whose vectors are still there
    notes: tuple[str, ...] = ()  # what does not answer, and why


class Indexer:
    """The indexes of the acting tenant."""

    def __init__(self, db: Database, text: WritableTextIndex, vectors: WritableVectorIndex, catching_up: CatchingUp,
                 versions: VersionTable, embedder: Embedder | None, clock: Clock, *,
                 remind: Callable[[str], None] = lambda _: None, size: int | None = None) -> None:  # fmt: skip
        self._db = db
        self._text = text
        self._vectors = vectors
        self._backlog = catching_up
        self._embedder = embedder
        self._versions = versions
        self._clock = clock
        self._remind = remind
        self._sizes = {} if size is None else {"size": size}

    def put(self, memory: Memory, former: Memory | None = None) -> None:
        """Index what the memory says now; inside the transaction that writes it."""
        with self._db.transaction() as tx:
            self._text.put(memory, words_of(memory, tokens.words))
            tx.after_commit(lambda: self._remind(tx.tenant))

    def drop(self, seqs: Sequence[int]) -> None:
        """Leave nothing of these behind; inside the transaction that erases them."""
        with self._db.transaction() as tx:
            self._text.drop(seqs)
            self._vectors.drop(seqs)
            tx.after_commit(lambda: self._remind(tx.tenant))

    def drop_past(self, versions: Sequence[tuple[int, int]]) -> None:
        """Leave nothing behind of these former versions, each a number and a version; only words look back."""
        self._text.drop_past(versions)

    def has_work(self) -> bool:
        """Whether a round of catching up would find something to do; a few looks into indexes."""
        targets = self._backlog.targets()
        worded = any((target.index, target.model) == _WORDS and target.complete for target in targets)
        if not worded or self._backlog.owes() or self._backlog.unfolded():
            return True
        if self._embedder is None:
            return False
        targets = [target for target in targets if (target.index, target.model) != _WORDS]
        mine = [target for target in targets if self._is_mine(target)]
        return (
            not mine or not mine[0].complete or len(targets) > len(mine)
            or self._backlog.count_waiting(limit=1) > 0
        )  # fmt: skip

    def lacks_words(self) -> bool:
        """Whether a memory from before the index waits for its words; a walk that is over has left none."""
        words = next((target for target in self._backlog.targets() if (target.index, target.model) == _WORDS), None)
        if words is not None and words.complete:
            return False
        return bool(self._text.missing(limit=1, after=words.position if words is not None else 0))

    def catch_up(self, proceed: Proceed) -> Caught:
        """Make what is missing until nothing is; raises what an embedder or index raises, keeping what was done."""
        worded = self._catch_up_words(proceed)
        if self._embedder is None:
            return Caught(worded, forgotten=self._pay(proceed))
        target = self._backlog.target(self._vectors.name, self._embedder.model, now_ms=self._clock.now_ms())
        embedded = refused = 0
        for made, bad in self._newest_first(self._embedder, proceed):
            embedded, refused = embedded + made, refused + bad
        for made, bad in self._walk(self._embedder, target, proceed):
            embedded, refused = embedded + made, refused + bad
        forgotten = self._pay(proceed) + self._forget_former(proceed)
        return Caught(worded, embedded, refused, forgotten)

    def close(self) -> None:
        """Give back connections to servers outside the store."""
        self._vectors.close()

    def status(self) -> VectorIndexStatus:
        """How far the vectors are, for people who look after the store."""
        model = self._embedder.model if self._embedder is not None else None
        targets = [target for target in self._backlog.targets() if (target.index, target.model) != _WORDS]
        mine = next((target for target in targets if self._is_mine(target)), None)
        indexed: dict[str, int | None] = {}
        notes: list[str] = []
        for index in getattr(self._vectors, "indexes", (self._vectors,)):
            if model is None:
                break
            try:
                indexed[index.name] = index.count(model)
            except Unavailable as error:
                indexed[index.name] = None
                notes.append(error.message)
        return VectorIndexStatus(
            backend=self._vectors.name,
            model=model,
            dimension=(self._embedder.dimension if self._embedder else None) or (mine.dimension if mine else None),
            indexed=indexed,
            waiting=self._backlog.count_waiting(limit=_COUNTED),
            complete=mine is not None and mine.complete,
            former=tuple(target.model for target in targets if target is not mine),
            notes=tuple(notes),
        )

    def rebuild(self) -> None:
        """Let every vector of the present model be made anew, while those that are there serve."""
        if self._embedder is not None:
            self._backlog.target(self._vectors.name, self._embedder.model, now_ms=self._clock.now_ms())
            self._backlog.restart(self._vectors.name, self._embedder.model)
        self._remind(self._db.acting_tenant())

    def _is_mine(self, target: IndexTarget) -> bool:
        model = self._embedder.model if self._embedder is not None else None
        return (target.index, target.model) == (self._vectors.name, model)

    def _catch_up_words(self, proceed: Proceed) -> int:
        """Words of memories that were written before there was an index; once, because writers have done it since."""
        target = self._backlog.target(*_WORDS, now_ms=self._clock.now_ms())
        worded, position = 0, target.position
        while not target.complete and (seqs := self._text.missing(limit=_READ, after=position)):
            proceed()
            with self._db.transaction():
                # Read inside: what is written meanwhile must not be replaced by what it was before.
                for memory in self._backlog.many(seqs):
                    self._text.put(memory, words_of(memory, tokens.words))
                    self._put_past(memory)
                    worded += 1
            position = seqs[-1]
            self._backlog.advance(target, position, dimension=None)
        if not target.complete:
            self._backlog.complete(target, dimension=None)
        while self._text.fold(_FOLD):
            proceed()
        return worded

    def _put_past(self, memory: Memory) -> None:
        until_ms = memory.updated_ms
        for version in self._versions.newest(memory.kind, memory.seq, limit=_PAST, below=memory.version):
            then = replace(memory, state=version.state, version=version.version, updated_ms=version.created_ms)
            self._text.put_past(then, words_of(then, tokens.words), until_ms)
            until_ms = version.created_ms

    def _pay(self, proceed: Proceed) -> int:
        paid = 0
        while gone := self._vectors.pay(limit=_READ):
            paid += gone
            proceed()
        return paid

    def _newest_first(self, embedder: Embedder, proceed: Proceed) -> Iterator[tuple[int, int]]:
        """What waits, newest first: a backlog must not keep today's memories from being found."""
        below: int | None = None
        while memories := self._backlog.waiting(below=below, limit=_READ):
            below = memories[-1].seq
            yield self._embed(embedder, memories, proceed)

    def _walk(self, embedder: Embedder, target: IndexTarget, proceed: Proceed) -> Iterator[tuple[int, int]]:
        """Look once at every memory, and make what this model does not have of its present version."""
        if target.complete:
            return
        position = target.position
        while memories := self._backlog.after(position, limit=_WALK if not target.redo else _READ):
            proceed()
            have = {} if target.redo else self._vectors.versions(embedder.model, [memory.seq for memory in memories])
            lacking = [memory for memory in memories if have.get(memory.seq) != memory.version]
            for start in range(0, len(lacking), _READ):
                yield self._embed(embedder, lacking[start : start + _READ], proceed)
            position = memories[-1].seq
            self._backlog.advance(target, position, dimension=embedder.dimension)
        self._backlog.complete(target, dimension=embedder.dimension)

    def _forget_former(self, proceed: Proceed) -> int:
        forgotten = 0
        for target in self._backlog.targets():
            if self._is_mine(target) or (target.index, target.model) == _WORDS:
                continue
            # Another index's vectors are its own affair once it is no longer used, but ours of another model go.
            while self._embedder is not None and target.model != self._embedder.model:
                proceed()
                gone = self._vectors.forget_model(target.model, limit=_FORGET)
                forgotten += gone
                if not gone:
                    break
            self._backlog.remove(target)
        return forgotten

    def _embed(self, embedder: Embedder, memories: Sequence[Memory], proceed: Proceed) -> tuple[int, int]:
        """Make and store the vectors of these, some at a time; returns how many, and how many were refused."""
        refused = 0
        for some in batches([(memory, passages_of(memory, **self._sizes)) for memory in memories], embedder.batch):
            proceed()
            made, bad = vectors_of(embedder, some)
            refused += bad
            self._vectors.put(embedder.model, made)
            gone = self._backlog.mark({item.seq: item.version for item in made})
            if gone:
                # Erased while their vectors were made: an index outside the store has just been given them.
                self._vectors.drop(gone)
        return len(memories) - refused, refused


def told(value: Caught | VectorIndexStatus) -> dict[str, object]:
    """As JSON can hold it."""
    return asdict(value)
