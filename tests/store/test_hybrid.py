"""Two vector indexes as one: what either finds counts, and while one is silent the other answers and it is said."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.hybrid import HybridVectors
from codexmem.kernel.store.index import IndexHit
from codexmem.kernel.store.writable_index import WritableVectorIndex

NOTES = Filter(frozenset({Kind.NOTE}))


class Scripted:
    """Answers with these scores, or not at all."""

    def __init__(self, name: str, scores: dict[int, float]) -> None:
        self.name = name
        self.scores = scores
        self.silent = False
        self.closed = False

    def find(self, model: str, vector: bytes, wanted: Filter, *, limit: int) -> list[IndexHit]:
        return [IndexHit(seq, score) for seq, score in self._answer().items()][:limit]

    def near(self, model: str, vector: bytes, seqs: Any) -> dict[int, float]:
        return {seq: score for seq, score in self._answer().items() if seq in seqs}

    def close(self) -> None:
        self.closed = True

    def _answer(self) -> dict[int, float]:
        if self.silent:
            raise Unavailable(f"{self.name} sleeps")
        return self.scores


@pytest.fixture
def parts() -> tuple[Scripted, Scripted]:
    return Scripted("table", {1: 0.9, 2: 0.5}), Scripted("chroma", {2: 0.6, 3: 0.7})


@pytest.fixture
def both(parts: tuple[Scripted, Scripted]) -> HybridVectors:
    return HybridVectors(*cast(tuple[WritableVectorIndex, WritableVectorIndex], parts))


def found(index: HybridVectors, limit: int = 10) -> list[tuple[int, float]]:
    return [(hit.seq, hit.score) for hit in index.find("m", b"", NOTES, limit=limit)]


def test_the_better_of_both_scores_counts(both: HybridVectors) -> None:
    assert found(both) == [(1, 0.9), (3, 0.7), (2, 0.6)]
    assert found(both, limit=2) == [(1, 0.9), (3, 0.7)]
    assert both.near("m", b"", [2, 3]) == {2: 0.6, 3: 0.7}
    assert both.missed() is None


def test_while_one_is_silent_the_other_answers_and_it_is_said(
    both: HybridVectors, parts: tuple[Scripted, Scripted]
) -> None:
    parts[1].silent = True
    assert found(both) == [(1, 0.9), (2, 0.5)]
    assert both.missed() == "without chroma: chroma sleeps"
    parts[1].silent = False
    assert both.near("m", b"", [3]) == {3: 0.7}
    assert both.missed() is None


def test_while_all_are_silent_none_answers(both: HybridVectors, parts: tuple[Scripted, Scripted]) -> None:
    for part in parts:
        part.silent = True
    with pytest.raises(Unavailable, match="chroma sleeps"):
        found(both)


def test_what_one_thread_missed_is_not_told_to_another(both: HybridVectors, parts: tuple[Scripted, Scripted]) -> None:
    told: list[str | None] = []
    parts[1].silent = True
    thread = threading.Thread(target=lambda: told.extend([str(len(found(both))), both.missed()]))
    thread.start()
    thread.join()
    assert told == ["2", "without chroma: chroma sleeps"]
    assert both.missed() is None


def test_closing_closes_each(both: HybridVectors, parts: tuple[Scripted, Scripted]) -> None:
    both.close()
    assert all(part.closed for part in parts)
