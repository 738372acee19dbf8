"""Two vector indexes as one: what either finds counts, with the better of both scores.

While one of them does not answer, the other answers alone and it can be asked why; writing asks both and fails if
either does, so that the job which writes comes back.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.index import IndexHit, Vectors
from codexmem.kernel.store.writable_index import WritableVectorIndex

T = TypeVar("T")


class HybridVectors:
    """All of these indexes."""

    name = "hybrid"

    def __init__(self, *indexes: WritableVectorIndex) -> None:
        self.indexes = indexes
        self._local = threading.local()

    def put(self, model: str, items: Sequence[Vectors]) -> None:
        """Store in each."""
        for index in self.indexes:
            index.put(model, items)

    def drop(self, seqs: Sequence[int]) -> None:
        """Drop from each."""
        for index in self.indexes:
            index.drop(seqs)

    def find(self, model: str, vector: bytes, wanted: Filter, *, limit: int) -> list[IndexHit]:
        """The nearest of all, each memory once."""
        best: dict[int, float] = {}
        for hits in self._answers(lambda index: index.find(model, vector, wanted, limit=limit)):
            for hit in hits:
                best[hit.seq] = max(hit.score, best.get(hit.seq, -1.0))
        ranked = sorted(best.items(), key=lambda each: (-each[1], each[0]))
        return [IndexHit(seq, score) for seq, score in ranked[:limit]]

    def near(self, model: str, vector: bytes, seqs: Sequence[int]) -> dict[int, float]:
        """The better of all cosines."""
        best: dict[int, float] = {}
        for scores in self._answers(lambda index: index.near(model, vector, seqs)):
            for seq, score in scores.items():
                best[seq] = max(score, best.get(seq, -1.0))
        return best

    def missed(self) -> str | None:
        """Which indexes did not answer when the calling thread last asked, and why; None if all did."""
        silent: dict[str, str] = getattr(self._local, "silent", {})
        return "; ".join(f"without {name}: {why}" for name, why in silent.items()) or None

    def count(self, model: str) -> int:
        """What all of them have."""
        return min(index.count(model) for index in self.indexes)

    def versions(self, model: str, seqs: Sequence[int]) -> dict[int, int]:
        """The oldest version that any of them has; a memory that one of them lacks is missing."""
        each = [index.versions(model, seqs) for index in self.indexes]
        return {seq: min(found[seq] for found in each) for seq in seqs if all(seq in found for found in each)}

    def forget_model(self, model: str, *, limit: int) -> int:
        """Remove some vectors of the model from each."""
        return sum(index.forget_model(model, limit=limit) for index in self.indexes)

    def pay(self, *, limit: int) -> int:
        """Pay some debts of each."""
        return sum(index.pay(limit=limit) for index in self.indexes)

    def close(self) -> None:
        """Give back the connections of each."""
        for index in self.indexes:
            index.close()

    def _answers(self, ask: Callable[[WritableVectorIndex], T]) -> list[T]:
        answers: list[T] = []
        last: Unavailable | None = None
        silent: dict[str, str] = {}
        for index in self.indexes:
            try:
                answers.append(ask(index))
            except Unavailable as error:
                last, silent[index.name] = error, error.message
        self._local.silent = silent
        if not answers and last is not None:
            raise last
        return answers
