"""The short form of `just soak-storm`: Chroma killed, the embedding server gone and back, and not one search lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import storm
from bench.storm import CHROMA, EMBEDDER, Asked, Phase
from codexmem.kernel.model.search import SearchMode
from tests._support.chroma import ChromaServer


@pytest.fixture(scope="module")
def mortal() -> Iterator[ChromaServer]:
    """A server that may be killed; whoever kills it starts it again."""
    with ChromaServer() as server:
        yield server


@pytest.mark.timeout(180)
@pytest.mark.parametrize("backend", storm.BACKENDS)
def test_every_search_is_answered_and_tells_the_truth(backend: str, mortal: ChromaServer) -> None:
    figures = storm.soak("sqlite", backend, mortal, memories=60, seconds=0.0, pause_s=0.1, seed=5)
    assert storm.kept(figures), figures
    assert [row["phase"] for row in figures["phases"]] == [
        "calm", "Chroma killed", "both gone", "embedder back", "both back",
    ]  # fmt: skip
    calm, killed, gone, back, _ = figures["phases"]
    assert calm["hybrid"] == calm["searches"]
    assert gone["words_only"] == gone["searches"] == gone["with_notes"]
    assert killed["hybrid"] == (killed["searches"] if backend == "hybrid" else 0)
    assert killed["with_notes"] == killed["searches"]
    assert (back["hybrid"] > 0) == (backend == "hybrid")


def asked(mode: SearchMode | None, *notes: str, **sources: int) -> Asked:
    return Asked("needle", 0, 0.0, 0.0, mode, notes, sources)


@pytest.mark.parametrize(
    "chroma, embedder, backend, mode, about",
    [
        (True, True, "hybrid", SearchMode.HYBRID, ""), (True, True, "chroma", SearchMode.HYBRID, ""),
        (False, True, "hybrid", SearchMode.HYBRID, CHROMA), (False, True, "chroma", SearchMode.LEXICAL, CHROMA),
        (True, False, "hybrid", SearchMode.LEXICAL, EMBEDDER), (False, False, "chroma", SearchMode.LEXICAL, EMBEDDER),
    ],
)  # fmt: skip
def test_what_is_true_in_each_phase(chroma: bool, embedder: bool, backend: str, mode: SearchMode, about: str) -> None:
    assert Phase("x", chroma, embedder).truth(backend) == (mode, about)


def test_an_answer_that_hides_or_invents_a_loss_is_untrue() -> None:
    assert storm.is_true(asked(SearchMode.HYBRID), SearchMode.HYBRID, "")
    assert storm.is_true(asked(SearchMode.LEXICAL, f"no vectors: {CHROMA} x sleeps"), SearchMode.LEXICAL, CHROMA)
    assert not storm.is_true(asked(SearchMode.HYBRID), SearchMode.HYBRID, CHROMA)
    assert not storm.is_true(asked(SearchMode.HYBRID, "without chroma"), SearchMode.HYBRID, "")
    assert not storm.is_true(asked(SearchMode.LEXICAL), SearchMode.HYBRID, "")


def test_mode_sources_and_notes_must_agree() -> None:
    assert storm.is_consistent(asked(SearchMode.HYBRID, lexical=1, chroma=2))
    assert storm.is_consistent(asked(SearchMode.LEXICAL, "no vectors", lexical=1, neighbours=0))
    assert not storm.is_consistent(asked(SearchMode.HYBRID, lexical=1))
    assert not storm.is_consistent(asked(SearchMode.LEXICAL, "no vectors", lexical=1, chroma=2))
    assert not storm.is_consistent(asked(SearchMode.LEXICAL, lexical=1))
