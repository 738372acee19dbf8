"""What is a result at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from codexmem.kernel.model.search import Floor
from codexmem.kernel.search import floor
from codexmem.kernel.search.evidence import StoreCounts
from codexmem.kernel.store.candidates import OPENING
from tests._support.pools import candidate, pool, read

USE = "use-multilingual-v3"
FACTS = (
    "The checkout gateway listens on port 8443 behind nginx.",
    "Retries use exponential backoff with jitter.",
    "支付网关在高负载下最多需要二十秒才能响应。",
)


def judged(query: str, *texts: str, dense: list[float] | None = None, model: str | None = USE, store: int = 24,
           having: dict[str, int] | None = None, level: Floor = Floor.ASKED, people: Sequence[str] = (),
           **fields: Any) -> floor.Judged:  # fmt: skip
    """The judgement of these texts, each found by a word."""
    candidates = [candidate(seq, text) for seq, text in enumerate(texts or FACTS, 1)]
    beside = {name: fields[name] for name in ("before", "after") if name in fields}
    found = pool(candidates, lexical=fields.get("lexical", [1.0] * len(candidates)), dense=dense, **beside)
    counts = StoreCounts(store, having or {}, fields.get("reachable", store))
    return floor.judge(read(query, *people), found, counts, model, (level,), fields.get("whole", lambda seqs: {}))


def test_what_shares_nothing_that_tells_is_no_result() -> None:
    assert judged("zebra quantum").fits == [False] * 3
    assert judged("how do bees make honey", "How do we make the tests pass?").fits == [False]
    assert judged("乌龟吃什么").fits == [False] * 3


@pytest.mark.parametrize(
    "query",
    [
        "什么时候发布", "周几发布", "发布前要做什么", "我们什么时候可以发布？", "发布要怎么做", "哪天可以发布",
        "什麼時候要发布", "请问多久发布一次", "帮我看看周几能发布",
    ],
)  # fmt: skip
@pytest.mark.parametrize("having", [{}, {"时候": 90, "候发": 1, "么时": 80, "前要": 3}])
def test_words_that_only_ask_are_not_missed_in_chinese(query: str, having: dict[str, int]) -> None:
    text = "发布只在周二进行，先跑冒烟测试，再由值班的人打 tag。"
    assert judged(query, text, FACTS[2], store=1_500, having=having | {"发布": 12}).fits == [True, False]
    assert judged(query.replace("发布", "去旅游"), text, FACTS[2], store=1_500, having=having).fits == [False, False]


def test_a_rare_word_tells_and_a_common_one_does_not() -> None:
    assert judged("why does the jitter matter", "Retries use jitter.").fits == [True]
    assert judged("why does the test matter", "A test of the file.").fits == [False]


def test_a_word_that_everything_here_has_tells_nothing() -> None:
    text, query = "frobnicator and other things", "what does the frobnicator eat"
    assert judged(query, text, store=50, having={"frobnic": 1}).fits == [True]
    assert judged(query, text, store=50, having={"frobnic": 49}).fits == [False]


def test_what_has_every_word_is_shown_to_who_asked_and_told_to_nobody_else() -> None:
    text, common = "run the test", {"run": 4_000, "test": 4_000}
    assert judged("test run", text, store=5_000, having=common).fits == [True]
    assert judged("test run", text, store=5_000, having=common, level=Floor.UNASKED).fits == [False]


def test_unasked_more_must_speak_for_it_than_asked() -> None:
    asked = "checkout gateway of the old reporting system at night"
    some = [judged(asked, FACTS[0], level=level, store=3_000).fits for level in (Floor.ASKED, Floor.UNASKED)]
    assert some == [[True], [False]]


def test_the_more_memories_there_are_the_more_likely_is_a_stranger_that_looks_alike() -> None:
    relevance = [judged("port of the old system", FACTS[0], reachable=size).relevance[0] for size in (5, 500, 50_000)]
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[0] > 2 * relevance[2]


def test_relevance_does_not_depend_on_who_else_was_found() -> None:
    alone = judged("checkout port", FACTS[0]).relevance[0]
    assert judged("checkout port").relevance[0] == alone
    assert alone > 0.5


def test_a_near_meaning_is_enough_for_a_measured_encoder_and_a_foreign_one_is_not() -> None:
    assert judged("zebra quantum", *FACTS, dense=[0.75, 0.0, 0.05]).fits == [True, False, False]
    assert judged("zebra quantum", *FACTS, dense=[0.2, 0.1, 0.1]).fits == [False] * 3


def test_where_one_fits_others_need_a_word_in_common_or_some_meaning() -> None:
    assert judged("乌龟吃什么", "乌龟在池塘里", "怎么吃药：饭后再吃", store=2).fits == [True, False]
    assert judged("checkout port", *FACTS, dense=[0.6, 0.25, 0.05], store=3).fits == [True, True, False]


def test_an_encoder_that_nobody_measured_opens_nothing_and_is_trusted_once_words_did() -> None:
    assert judged("zebra quantum", dense=[0.9, 0.9, 0.9], model="another").fits == [False] * 3
    assert judged("checkout port", dense=[0.1, 0.9, 0.9], model="another").fits == [True] * 3


def test_a_code_is_found_by_its_spelling_only() -> None:
    near = [0.9, 0.9, 0.9]
    assert judged("3f9a77c0d1", dense=near, lexical=[0.0] * 3).fits == [False] * 3
    assert judged("E11000", "the error E11000", *FACTS[1:], dense=near, lexical=[1.0, 0.0, 0.0]).fits == [
        True, False, False,
    ]  # fmt: skip
    assert judged("2023-05-08", dense=near).fits == [True] * 3


def test_who_stands_beside_a_result_is_one_for_who_asked() -> None:
    beside: dict[str, Any] = {"after": [1, None, None], "before": [None, 0, None]}
    assert judged("checkout port", **beside).fits == [True, True, False]
    assert judged("zebra", lexical=[0.0] * 3, **beside).fits == [False] * 3
    assert judged("checkout port", level=Floor.UNASKED, **beside).fits == [True, False, False]


def test_a_name_that_is_no_topic_is_evidence_all_the_same() -> None:
    text = "Melanie plays the clarinet in the evening"
    with_name, without = (judged("clarinet Melanie", text, store=400, people=who) for who in (["Melanie"], []))
    assert with_name.relevance == pytest.approx(without.relevance)


def test_one_of_many_things_that_a_long_prompt_says_is_enough() -> None:
    noise = " ".join(f"step{number} output{number} printed{number}" for number in range(30))
    assert judged(f"{noise} what is the backoff and jitter of the retries {noise[:200]}", FACTS[1]).fits == [True]
    assert judged(noise, FACTS[1]).fits == [False]


def test_a_long_memory_is_read_to_its_end_if_words_found_it() -> None:
    text = "nothing of interest " * (OPENING // 10)
    asked: list[int] = []

    def whole(seqs: Sequence[int]) -> dict[int, str]:
        asked.extend(seqs)
        return dict.fromkeys(seqs, f"{text} the checkout gateway listens on port 8443")

    assert judged("checkout gateway port", text).fits == [False]
    assert judged("checkout gateway port", text, whole=whole).fits == [True]
    assert asked == [1]


def test_what_has_no_vector_yet_is_judged_by_its_words() -> None:
    fresh, others = "I am Li, and I deploy on Fridays.", ("The chart is teal.", "The queue has two lanes.")
    texts = [candidate(seq, text) for seq, text in enumerate((fresh, *others), 1)]
    made = pool(texts, lexical=[2.0, 0.0, 0.0], dense=[0.02, 0.02, 0.01])
    query, counts = read("On which day do I deploy?"), StoreCounts(3, {"deploy": 1}, 3)
    judgement = [
        floor.judge(query, each, counts, USE, (Floor.UNASKED,), lambda seqs: {}).fits[0]
        for each in (made, replace(made, unmeasured=frozenset({0})))
    ]
    assert judgement == [False, True]
