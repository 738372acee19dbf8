"""A second look within a search: which order it gives, what the scores say then, and what it may not disturb."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from codexmem.app import open_reading
from codexmem.app.core import open_core
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchQuery, Unit
from codexmem.kernel.store.database import Database
from codexmem.settings import Settings
from tests._support.embedding_server import Answer, Asked, EmbeddingServer
from tests._support.searching import ALL, ME, Searched, searched, seqs


class Judge:
    """Prefers what was written last, unless told otherwise."""

    def __init__(self, depth: int = 30) -> None:
        self.depth = depth
        self.seen: list[tuple[str, list[str]]] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self.fails = False

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.seen.append((query, list(texts)))
        self.meanwhile()
        if self.fails:
            raise Unavailable("it sleeps")
        return [float(text.rsplit("number", 1)[-1]) - 5.0 for text in texts]


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def store(sqlite_database: Database, judge: Judge) -> Iterator[Searched]:
    with searched(sqlite_database, reranker=judge) as made:
        yield made


def fill(store: Searched, count: int) -> None:
    """Texts that differ, the first of them the best by words."""
    for at in range(count):
        others = " ".join(f"w{at}x{more}" for more in range(at + 1))
        store.write(f"needle {others} number{at}")


def test_scores_follow_the_new_order_and_are_those_of_the_old(store: Searched, judge: Judge) -> None:
    fill(store, 20)
    judge.depth = 8
    judge.fails = True
    plain = store.search("needle", limit=20)
    judge.fails = False
    answer = store.search("needle", limit=20)
    assert seqs(answer) == [*sorted(seqs(plain)[:8], reverse=True), *seqs(plain)[8:]] != seqs(plain)
    scores = [found.score for found in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([found.score for found in plain.results], abs=1e-9)  # a clock runs
    assert plain.notes[-1] == "not reranked: it sleeps"
    assert not any("rerank" in note for note in answer.notes)
    assert "rerank" in answer.timings_ms


def test_as_many_pass_a_least_score_as_without_it_and_the_reranker_says_which(store: Searched, judge: Judge) -> None:
    fill(store, 12)
    answer = store.search("needle")
    third = answer.results[2].score - 1e-9  # a clock runs
    passed = store.found("needle", min_score=third)
    assert passed == seqs(answer)[: len(passed)]
    assert 3 <= len(passed) < 12
    judge.fails = True
    without = store.found("needle", min_score=third)
    assert len(without) == len(passed)
    assert set(without) != set(passed)


@pytest.mark.parametrize("unit", Unit)
def test_pages_fit_together(store: Searched, judge: Judge, unit: Unit) -> None:
    judge.depth = 10
    for at in range(24):
        store.write(f"needle {'same words here ' * 8 if at % 3 else f'only w{at}'} number{at}", session=f"s{at % 18}")
    whole = store.found("needle", limit=24, unit=unit)
    assert [
        seq for offset in range(0, 24, 4) for seq in store.found("needle", limit=4, offset=offset, unit=unit)
    ] == whole
    assert len(set(whole)) == len(whole)
    assert len(judge.seen) == 4  # behind the first ten there is nothing to ask


def test_near_duplicates_stay_behind(store: Searched) -> None:
    for at in (1, 2, 3):
        store.write("the needle is in the old red barn behind the house of the miller since last year number1")
        store.write(f"needle w{at} number{at + 10}")
    found = store.search("needle").results
    assert sum("barn" in result.memory.state.content for result in found[:4]) == 1
    assert all("barn" in result.memory.state.content for result in found[4:])


def test_it_reads_title_and_beginning(store: Searched, judge: Judge) -> None:
    store.write("needle in the hay number1", title="Where it is")
    store.write("needle again, and what else number2", title="needle again")
    store.write(f"needle {'x' * 5_000} number3")
    judge.meanwhile = lambda: (_ for _ in ()).throw(Unavailable("enough"))
    store.search("\ud800 needle")
    query, texts = judge.seen[0]
    assert query == "? needle"
    assert "Where it is\nneedle in the hay number1" in texts
    assert "needle again, and what else number2" in texts
    assert max(map(len, texts)) == 1_500


def test_an_explanation_tells_the_rerankers_score(store: Searched) -> None:
    fill(store, 3)
    assert [found.signals["rerank"] for found in store.search("needle", explain=True).results] == [-3.0, -4.0, -5.0]


def test_what_is_gone_or_hidden_meanwhile_is_not_shown(store: Searched, judge: Judge) -> None:
    fill(store, 2)
    first, second = sorted(store.found("needle"))
    hidden = store.write("needle number3")

    def meddle() -> None:
        store.real.history.forget([first], ME)
        store.change(hidden, status=Status.ARCHIVED)

    judge.meanwhile = meddle
    assert store.found("needle", statuses=frozenset({Status.ACTIVE})) == [second]


@pytest.mark.parametrize("query", ["", "  \n"])
def test_nothing_asked_is_not_judged(store: Searched, judge: Judge, query: str) -> None:
    fill(store, 2)
    store.search(query)
    assert judge.seen == []


def test_one_result_needs_no_second_look_and_the_past_has_none(store: Searched, judge: Judge) -> None:
    fill(store, 1)
    store.search("needle")
    fill(store, 2)
    store.search("needle", as_of_ms=store.now())
    assert judge.seen == []


def test_the_settings_reach_the_server_and_the_command(tmp_path: Path) -> None:
    def longest(asked: Asked) -> Answer:
        texts = asked.body["documents"]
        return 200, {"results": [{"index": at, "relevance_score": len(text)} for at, text in enumerate(texts)]}

    search = SearchQuery("needle", Filter(ALL))
    with EmbeddingServer(script=longest) as server:
        settings = Settings(
            tmp_path, f"sqlite:///{tmp_path / 'codexmem.db'}", embedder="none", reranker="api", rerank_url=server.url,
            rerank_model="judge", rerank_api_key="rerank-key-7", rerank_depth=3,
        )  # fmt: skip
        assert "rerank-key-7" not in repr(settings)
        core = open_core(settings)
        try:
            for text in ("needle", "needle in much hay", "needle in very very much hay"):
                core.memories.remember(MemoryDraft(Kind.NOTE, State(text, NoteAttrs()), Origin.AGENT), ME)
            reading = open_reading(settings)
            try:
                found = [seqs(core.recall.search(search)), seqs(reading.recall.search(search))]
            finally:
                reading.close()
        finally:
            core.close()
    assert found == [[3, 2, 1]] * 2
    assert [(asked.body["model"], asked.key, asked.body["top_n"]) for asked in server.asked] == [
        ("judge", "Bearer rerank-key-7", 3)
    ] * 2
