"""The two lookups beside the tables: by words and by meaning.

An index is derived from the rows and can be rebuilt from them at any time. Text is indexed inside the transaction that
writes the memory, so that a write can be found as soon as it is acknowledged; vectors follow later, by a job.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codexmem.domain.memory import Memory


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that an index found, with that index's own score."""

    seq: int
    score: float


class TextIndex(Protocol):
    """Finds memories by their words."""

    def put(self, memory: Memory) -> None:
        """Index the memory's present state; called inside the transaction that writes it."""
        ...

    def drop(self, seqs: Sequence[int]) -> None:
        """Leave nothing of these behind; called inside the transaction that erases them."""
        ...

    def find(self, words: str, *, limit: int) -> list[Hit]:
        """The best matches, best first; any text is a legal query."""
        ...


class VectorIndex(Protocol):
    """Finds memories by their meaning."""

    def put(self, vectors: Sequence[tuple[int, Sequence[float]]]) -> None:
        """Store one vector per memory, replacing older ones."""
        ...

    def drop(self, seqs: Sequence[int]) -> None:
        """Leave nothing of these behind."""
        ...

    def find(self, vector: Sequence[float], *, limit: int) -> list[Hit]:
        """The nearest, nearest first."""
        ...


class NullTextIndex:
    """Indexes nothing and finds nothing."""

    def put(self, memory: Memory) -> None:
        """Nothing to keep."""

    def drop(self, seqs: Sequence[int]) -> None:
        """Nothing to drop."""

    def find(self, words: str, *, limit: int) -> list[Hit]:
        """Nothing."""
        return []


class NullVectorIndex:
    """Indexes nothing and finds nothing."""

    def put(self, vectors: Sequence[tuple[int, Sequence[float]]]) -> None:
        """Nothing to keep."""

    def drop(self, seqs: Sequence[int]) -> None:
        """Nothing to drop."""

    def find(self, vector: Sequence[float], *, limit: int) -> list[Hit]:
        """Nothing."""
        return []
