"""Finding answers: only what fits, ordered by fit and belief, contradictions with each other, bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.query import Id
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery
from codexmem.kernel.store.database import Database
from codexmem.qa.model.items import KINDS, MAX_LIMIT
from codexmem.qa.service.items import QaEntry, QaViews, Searching
from codexmem.qa.store import Beliefs
from tests._support.asking import ME, PROJECT, Asked, asked
from tests._support.toy_embedder import ToyEmbedder


@pytest.fixture(params=["words", "hybrid"])
def any_way(request: pytest.FixtureRequest, database: Database) -> Iterator[Asked]:
    """With vectors and without."""
    with asked(database, embedder=ToyEmbedder(dimension=1024) if request.param == "hybrid" else None) as made:
        yield made


def ids(found: list[QaEntry]) -> list[str]:
    return [item.memory.id for item in found]


def test_what_fits_is_found_and_what_does_not_is_left_out(any_way: Asked) -> None:
    port = any_way.add("What is the default port?", "It is port 8080, unless the environment says otherwise.")
    cache = any_way.add("如何清理构建缓存？", "执行 make clean 并删除 .cache 目录")
    any_way.real.catch_up()
    assert ids(any_way.find("default port")) == [port]
    assert ids(any_way.find("构建缓存怎么清理")) == [cache]
    assert any_way.find("capital of France") == []
    assert any_way.find("今天天气怎么样") == []
    assert any_way.find("default port", project="elsewhere") == []


def test_no_result_scores_less_than_was_asked_for(here: Asked) -> None:
    here.add("How do I change the port?", "In the settings.")
    here.add("How do I change the password of the gateway console?", "In the settings.")
    (best, *_), scores = (
        here.find("change the port"),
        [item.score for item in here.find("change the port", min_score=0.0)],
    )
    assert best.score == max(score for score in scores if score is not None)
    for least in (0.0, 0.1, 0.5, 0.9):
        assert all((item.score or 0.0) >= least for item in here.find("change the port", min_score=least))
    assert here.find("change the port", min_score=1.0) == []


@pytest.mark.parametrize("relevance, offered", [(0.44, False), (0.45, True), (0.9, True)])
def test_what_does_not_fit_is_not_made_to_by_belief(
    here: Asked, database: Database, relevance: float, offered: bool
) -> None:
    trusted = here.add("What is the default port?", "It is port 8080.", confidence=0.95)
    for _ in range(4):
        here.tried(trusted, success=True)
    assert here.item(trusted).status is Status.VALIDATED

    def found(query: SearchQuery) -> SearchAnswer:
        answer = here.real.search(query)
        return replace(answer, results=tuple(replace(each, relevance=relevance) for each in answer.results))

    searching = Searching(QaViews(here.real.memories, Beliefs(database), here.real.clock), found)
    assert bool(searching.find(PROJECT, "default port").items) is offered
    (item,) = searching.find(PROJECT, "default port", min_score=0.0).items
    assert ((item.score or 0.0) >= 0.2) is offered


def test_an_unproven_item_never_stands_before_a_proven_one_that_fits_as_well(here: Asked) -> None:
    # The same question with clashing answers: they fit alike. The candidate's author is as sure as can be.
    proven = here.add("What is the default port?", "It is port 8080.", confidence=0.0)
    unproven = here.add("What is the default port?", "It is port 9090.", confidence=1.0)
    here.tried(proven, success=True, strong=True)
    for query in ("What is the default port?", "default port", "port", "which port does the server have by default"):
        assert ids(here.find(query, min_score=0.0)) == [proven, unproven], query


def test_what_was_learned_changes_the_order(here: Asked) -> None:
    first = here.add("What is the default port?", "It is port 8080.")
    second = here.add("What is the default port?", "It is port 9090.")
    before = ids(here.find("default port"))
    better = before[1]
    for number in range(4):
        here.used(better, f"run-{number}")
    assert ids(here.find("default port")) == [better, before[0]]
    assert {first, second} == set(before)


def test_clashing_answers_are_shown_together_and_named(any_way: Asked) -> None:
    for number in range(6):
        any_way.add(
            f"What is the default port of service{number}?", f"Look into service{number}.toml for the port line."
        )
    one = any_way.add("What is the default port?", "It is port 8080.")
    other = any_way.add("What is the default port?", "It is port 9090.")
    any_way.real.catch_up()
    found = any_way.find("What is the default port?", limit=2)
    assert set(ids(found)) == {one, other}
    assert all(len(item.contradicts) == 1 for item in found)
    # Where there is room for one, it says that it is disputed.
    (only,) = any_way.find("What is the default port?", limit=1)
    assert len(only.contradicts) == 1


def test_a_dispute_that_is_settled_is_none(here: Asked) -> None:
    right = here.add("What is the default port?", "It is port 8080.")
    wrong = here.add("What is the default port?", "It is port 9090.")
    here.qa.reviewing.reject(wrong, PROJECT, ME)
    (item,) = here.find("default port")
    assert (item.memory.id, item.contradicts) == (right, ())


@pytest.mark.parametrize("status", [Status.DEPRECATED, Status.EXPIRED, Status.DELETED, Status.ARCHIVED])
def test_only_what_is_offered_is_found(here: Asked, status: Status) -> None:
    gone = here.add("What is the default port?", "It is port 8080.")
    here.real.memories.change(Id(gone), KINDS, lambda state: replace(state, status=status), ME)
    assert here.find("default port", min_score=0.0) == []


def test_a_search_looks_at_a_bounded_number_however_many_there_are(here: Asked, database: Database) -> None:
    asked_for: list[int] = []

    def watched(search: SearchQuery) -> SearchAnswer:
        asked_for.append(search.limit)
        return here.real.recall.search(search)

    views = QaViews(here.real.memories, Beliefs(database), here.real.clock)
    for limit in (1, 6, MAX_LIMIT):
        Searching(views, watched).find(PROJECT, "port", limit=limit)
    assert asked_for == [13, 28, 60]


def test_the_answer_says_how_it_was_found(hybrid: Asked) -> None:
    hybrid.add("What is the default port?", "It is port 8080.")
    hybrid.real.catch_up()
    assert hybrid.qa.searching.find(PROJECT, "port").mode is SearchMode.HYBRID


def test_without_the_encoder_words_go_on_and_the_answer_says_so(database: Database) -> None:
    embedder = ToyEmbedder()
    with asked(database, embedder=embedder) as here:
        here.add("What is the default port?", "It is port 8080.")
        here.real.catch_up()
        embedder.fails = Unavailable("the encoder is away")
        answer = here.qa.searching.find(PROJECT, "default port")
        assert answer.mode is SearchMode.LEXICAL
        assert "the encoder is away" in answer.degraded[0]
        assert len(answer.items) == 1
