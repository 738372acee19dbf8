"""The two lookups beside the tables: by words and by meaning.

An index is derived from the rows and can be rebuilt from them at any time. Words are indexed inside the transaction
that writes the memory, so that a write can be found as soon as it is acknowledged; vectors follow later, by a job.
Cutting text into words and turning it into vectors is done above; an index stores and finds what it is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.query import Filter


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A memory that an index found, with that index's own score; higher is better."""

    seq: int
    score: float


@dataclass(frozen=True, slots=True)
class IndexedTokens:
    """A memory cut into tokens, each field with repetitions."""

    head: tuple[str, ...]  # what names it: title, addresses, labels, who
    body: tuple[str, ...]  # what it says


@dataclass(frozen=True, slots=True)
class PastHit:
    """A version that was found in the past index."""

    seq: int
    version: int
    score: float


Required = Sequence[Sequence[str]]  # groups of terms; a text that is found has at least one of each group


class TextIndex(Protocol):
    """Finds memories by their words, ranked by BM25 with the same parameters on every engine."""

    def put(self, memory: Memory, words: IndexedTokens) -> None:
        """Index the memory's present state in place of the former one; inside the transaction that writes it.

        The former state, if there was one, moves to the past index with the time in which it held.
        """
        ...

    def drop(self, seqs: Sequence[int]) -> None:
        """Leave nothing of these behind, past included; inside the transaction that erases them."""
        ...

    def find(self, terms: Sequence[str], wanted: Filter, *, limit: int, required: Required = ()) -> list[IndexHit]:
        """The best matches of any of the terms that pass the filter, best first."""
        ...

    def find_past(self, terms: Sequence[str], wanted: Filter, as_of_ms: int, *, limit: int,
                  required: Required = ()) -> list[PastHit]:  # fmt: skip
        """The best matches among the states that held at that time, each memory once."""
        ...

    def commonness(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many texts the tenant has, and about how many have each term; terms that none has may be missing."""
        ...


@dataclass(frozen=True, slots=True)
class Vectors:
    """One memory's vectors, one for each passage of its text, all of one model."""

    seq: int
    project: str
    kind: str
    version: int  # of the memory that was read
    parts: tuple[bytes, ...]  # float32, little endian, unit length


class VectorIndex(Protocol):
    """Finds memories by their meaning. Exact inside a project."""

    name: str  # as traces call it: sqlite, postgresql, chroma

    def put(self, model: str, items: Sequence[Vectors]) -> None:
        """Store the vectors of these memories, replacing older ones of the same model."""
        ...

    def drop(self, seqs: Sequence[int]) -> None:
        """Leave nothing of these behind, whatever the model."""
        ...

    def find(self, model: str, vector: bytes, wanted: Filter, *, limit: int) -> list[IndexHit]:
        """The nearest, nearest first, each memory once with the cosine of its best part."""
        ...

    def near(self, model: str, vector: bytes, seqs: Sequence[int]) -> dict[int, float]:
        """The cosine of the best part of each of these memories that has vectors."""
        ...

    def count(self, model: str) -> int:
        """How many memories have vectors of this model."""
        ...
