"""Each signal on a pool made by hand: what it says of whom, between 0 and 1, in Chinese as in English."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model.memory import Origin, Status
from codexmem.kernel.search.calibration import calibrate
from codexmem.kernel.search.parsed_query import ParsedQuery
from codexmem.kernel.search.pool import Pool, gather
from codexmem.kernel.search.recipes import DEFAULT, RECIPES
from codexmem.kernel.search.signals import NAMES, RankingSignals
from tests._support.pools import DAY_MS, NOW_MS, candidate, of_texts, pool, read

PLAIN = read("needle")


def signal(name: str, of: Pool, query: ParsedQuery = PLAIN, *, share: float = 0.5, now_ms: int = NOW_MS) -> list[float]:
    return RankingSignals(query, of, lexical_share=share, now_ms=now_ms).of(name)


def three(**fields: Any) -> Pool:
    """Three texts; the first is found best by its words, the last by its meaning."""
    found = [candidate(number, f"text {number}", **fields) for number in (1, 2, 3)]
    return pool(found, lexical=[8.0, 4.0, 0.0], dense=[0.2, 0.3, 0.6])


def test_words_are_compared_with_the_best_and_meaning_with_nearest_and_farthest() -> None:
    assert signal("words", three()) == [1.0, 0.5, 0.0]
    assert signal("meaning", three()) == pytest.approx([0.0, 0.25, 1.0])


def test_where_no_vector_took_part_meaning_says_nothing() -> None:
    lexical = replace(three(), dense=None)
    for name in ("meaning", "meaning_before", "meaning_after"):
        assert signal(name, lexical) == [0.0, 0.0, 0.0]


def test_all_alike_says_nothing() -> None:
    assert signal("meaning", replace(three(), dense=[0.4, 0.4, 0.4])) == [0.0, 0.0, 0.0]
    assert signal("words", replace(three(), lexical=[0.0, 0.0, 0.0])) == [0.0, 0.0, 0.0]


def test_a_neighbour_lends_what_it_has() -> None:
    beside = replace(three(), before=[None, 0, 1], after=[1, 2, None])
    assert signal("words_before", beside) == [0.0, 1.0, 0.5]
    assert signal("words_after", beside) == [0.5, 0.0, 0.0]
    assert signal("meaning_before", beside) == pytest.approx([0.0, 0.0, 0.25])
    assert signal("meaning_after", beside) == pytest.approx([0.25, 1.0, 0.0])


def test_a_reply_follows_a_question_whose_words_fit() -> None:
    talk = pool([candidate(1, "Which port?"), candidate(2, "37877"), candidate(3, "Thanks")],
                lexical=[2.0, 1.0, 0.0], before=[None, 0, 1])  # fmt: skip
    assert signal("replies", talk) == [0.0, 1.0, 0.0]


def test_a_question_ends_with_a_question_mark_of_either_script() -> None:
    assert signal("question", of_texts("Which port?", "哪个端口？", "37877")) == [1.0, 1.0, 0.0]


def test_coverage_counts_the_words_of_the_query_the_rare_ones_most() -> None:
    told = of_texts("the needle lies in the haystack", "a haystack", "another haystack", "nothing of it")
    values = signal("coverage", told, read("needle in the haystack"))
    assert values[0] == 1.0
    assert 0.0 < values[1] == values[2] < 0.5
    assert values[3] == 0.0


def test_coverage_reads_titles_and_chinese() -> None:
    told = pool([candidate(1, "重试三次", title="数据库连接失败"), candidate(2, "数据库"), candidate(3, "天气")])
    first, second, third = signal("coverage", told, read("数据库连接失败怎么办"))
    assert first > second > third


def test_what_has_the_one_word_of_a_query_is_sought() -> None:
    for one in ("needle", "NEEDLE_POOL_SIZE", "容器"):
        assert signal("sought", three(), read(one)) == [1.0, 0.5, 0.0]
    for more in ("needle in the haystack", "数据库连接失败怎么办"):
        assert signal("sought", three(), read(more)) == [0.0, 0.0, 0.0]


def test_whoever_asks_for_a_tag_gets_it_before_what_only_means_the_like() -> None:
    # A person's rule of three thousand characters, nearest by meaning, and an agent's note filed under the tag.
    like = candidate(1, "always use the other one", origin=Origin.HUMAN, length=3_000)
    found = pool([like, candidate(2, "text", origin=Origin.AGENT)], lexical=[0.0, 3.0], dense=[0.9, 0.1])
    signals = RankingSignals(PLAIN, found, lexical_share=DEFAULT.share, now_ms=NOW_MS)
    weights = DEFAULT.weights_for(vectors=True, unspaced=False, turns=False)
    shares = {name: [weight * value for value in signals.of(name)] for name, weight in weights.items()}
    assert calibrate(found, shares, DEFAULT).order == [1, 0]


def test_a_bridge_leads_from_the_best_to_what_shares_its_other_words() -> None:
    best = candidate(1, "The ticket for Melbourne has number ZX81")
    fillers = [candidate(number, f"filler{number}") for number in range(2, 6)]
    linked, other = candidate(6, "ZX81 was booked by Ada"), candidate(7, "Nobody booked a train")
    told = pool([best, *fillers, linked, other], lexical=[9.0, 0.3, 0.2, 0.0, 0.0, 0.0, 0.0])
    values = signal("bridge", told, read("ticket for Melbourne"))
    assert values[0] == 1.0  # the best themselves
    assert values[5] > values[6] == 0.0


def test_a_session_is_as_good_as_its_best() -> None:
    told = [candidate(1, session="a"), candidate(2, session="a"), candidate(3, session="b"), candidate(4)]
    assert signal("session", pool(told, lexical=[8.0, 0.0, 2.0, 4.0])) == [1.0, 1.0, 0.25, 0.5]


def test_a_session_is_judged_by_words_and_meaning_in_their_shares() -> None:
    told = pool([candidate(1, session="a"), candidate(2, session="b")], lexical=[1.0, 0.0], dense=[0.0, 1.0])
    assert signal("session", told, share=0.8) == pytest.approx([1.0, 0.25])
    assert signal("session", told, share=0.2) == pytest.approx([0.25, 1.0])


def test_who_asks_for_the_one_person_who_is_named() -> None:
    said = pool([candidate(1, speaker="Ada"), candidate(2, speaker="ADA"), candidate(3, speaker="Bo"), candidate(4)])
    assert signal("who", said, read("What did Ada say?", "Ada", "Bo")) == [1.0, 1.0, 0.0, 0.0]
    assert signal("who", said, read("What did Ada tell Bo?", "Ada", "Bo")) == [0.0] * 4
    assert signal("who", said, read("What was said?", "Ada")) == [0.0] * 4


def test_people_are_told_from_agents() -> None:
    made = pool([candidate(number, origin=origin) for number, origin in enumerate(Origin)])
    people = [float(origin is Origin.HUMAN) for origin in Origin]
    assert signal("person", made) == people
    assert signal("own", made, read("What is my dog called?")) == people
    assert signal("own", made, read("我的狗叫什么")) == people
    assert signal("own", made, read("What is the dog called?")) == [0.0] * len(people)
    assert signal("assistant", made, read("What did you recommend to me?")) == [1.0 - value for value in people]
    assert signal("assistant", made, read("你上次推荐了什么")) == [1.0 - value for value in people]
    assert signal("assistant", made, read("What did she recommend?")) == [0.0] * len(people)


@pytest.mark.parametrize("query", ["What happened yesterday?", "昨天发生了什么"])
def test_when_is_near_the_time_that_is_named(query: str) -> None:
    days = pool([candidate(ago, created_ms=NOW_MS - ago * DAY_MS) for ago in (0, 1, 2, 30)])
    values = signal("when", days, read(query))
    assert values[1] == 1.0 > values[0] > values[2] > values[3]
    assert signal("when", days, read("What happened?")) == [0.0] * 4


def test_a_time_is_told_where_one_is_asked_for() -> None:
    told = of_texts("We met last Tuesday", "上周三开的会", "We met at the office")
    for query in ("When did we meet?", "什么时候开会"):
        assert signal("tells_time", told, read(query)) == [1.0, 1.0, 0.0]
    assert signal("tells_time", told, read("Where did we meet?")) == [0.0] * 3


def test_a_number_is_told_where_one_is_asked_for() -> None:
    told = of_texts("The server listens on 37877", "一共三台", "The server listens")
    for query in ("How many servers?", "有多少台服务器"):
        assert signal("tells_number", told, read(query)) == [1.0, 1.0, 0.0]
    assert signal("tells_number", told, read("Which server?")) == [0.0] * 3


def test_a_standing_rule_is_laid_down_by_a_person() -> None:
    texts = ("Always run the tests first", "I prefer tabs", "以后都用中文回答", "We ran the tests")
    by_people = pool([candidate(n, text, origin=Origin.HUMAN) for n, text in enumerate(texts)])
    assert signal("standing", by_people) == [1.0, 1.0, 1.0, 0.0]
    assert signal("standing", of_texts(*texts)) == [0.0] * 4  # an agent's own words are no rule


def test_what_is_new_counts_little_unless_it_is_asked_for() -> None:
    ages = pool([candidate(days, created_ms=NOW_MS - days * DAY_MS) for days in (-5, 0, 30, 60)])
    assert signal("recency", ages) == pytest.approx([0.1, 0.1, 0.05, 0.025])
    for query in ("What did we do lately?", "最近做了什么"):
        assert signal("recency", ages, read(query)) == pytest.approx([1.0, 1.0, 0.5, 0.25])


def test_much_is_said_in_a_long_text() -> None:
    values = signal("length", pool([candidate(length, length=length) for length in (0, 10, 300, 3_000, 1_000_000)]))
    assert values[0] == 0.0
    assert values == sorted(values)
    assert values[3:] == [1.0, 1.0]


def test_priority_counts_above_the_usual() -> None:
    assert signal("priority", pool([candidate(p, priority=p) for p in (0, 4, 5, 10)])) == [1.0, 0.2, 0.0, 0.0]


def test_confirmations_prove_and_refutations_cast_doubt_cautiously() -> None:
    judged = pool([
        candidate(1), candidate(2, valid=1), candidate(3, valid=8), candidate(4, status=Status.VALIDATED),
        candidate(5, invalid=8), candidate(6, valid=8, invalid=8),
    ])  # fmt: skip
    assert signal("proven", judged) == pytest.approx([0.0, 1 / 3, 0.8, 0.5, 0.0, 8 / 18])
    assert signal("doubted", judged) == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.8, 8 / 18])


def test_an_empty_pool_has_empty_signals() -> None:
    for name in NAMES:
        assert signal(name, pool([])) == signal(name, pool([], dense=[])) == []


def test_every_recipe_weighs_signals_that_there_are() -> None:
    for recipe in RECIPES.values():
        assert recipe.weights.keys() <= NAMES
        assert recipe.weights_lexical.keys() <= NAMES


_text = st.text(max_size=40)
_candidates = st.builds(
    candidate, st.integers(1, 10**6), _text, session=st.none() | st.sampled_from(["a", "b"]), title=_text,
    origin=st.sampled_from(Origin), status=st.sampled_from(Status), speaker=st.sampled_from(["", "Ada"]),
    length=st.integers(0, 10**6), asks=st.booleans(), priority=st.integers(0, 10), valid=st.integers(0, 50),
    invalid=st.integers(0, 50), created_ms=st.integers(0, 2 * NOW_MS),
)  # fmt: skip


@given(st.lists(_candidates, max_size=6, unique_by=lambda each: each.seq), _text, st.data())
@pytest.mark.slow
def test_every_signal_of_any_pool_lies_between_0_and_1(found: list[Any], query: str, data: st.DataObject) -> None:
    size = len(found)
    scores = st.lists(st.floats(0, 50), min_size=size, max_size=size)
    cosines = st.lists(st.floats(-1, 1), min_size=size, max_size=size)
    place = st.lists(st.none() | st.integers(0, size - 1), min_size=size, max_size=size) if size else st.just([])
    of = pool(found, lexical=data.draw(scores), dense=data.draw(st.none() | cosines), before=data.draw(place))
    for name in NAMES:
        values = signal(name, of, read(query, "Ada"))
        assert len(values) == size
        assert all(0.0 <= value <= 1.0 for value in values), name


def test_gathering_brings_neighbours_to_their_places_and_the_unmeasured_to_the_farthest() -> None:
    found = {seq: candidate(seq) for seq in (30, 10, 20)}
    made = gather(found, {10: 3.0}, {10: 0.5, 30: 0.2}, {20: (10, 30), 10: (None, 20), 30: (99, None)})
    assert [each.seq for each in made.candidates] == [10, 20, 30]
    assert (made.lexical, made.dense) == ([3.0, 0.0, 0.0], [0.5, 0.2, 0.2])
    assert (made.before, made.after) == ([None, 0, None], [1, 2, None])


def test_gathering_lets_words_speak_for_what_has_no_vector_yet() -> None:
    found = {seq: candidate(seq) for seq in (10, 20, 30, 40)}
    made = gather(found, {10: 4.0, 20: 4.0, 30: 1.0}, {10: 0.6, 40: 0.2}, {})
    assert made.dense == pytest.approx([0.6, 0.6, 0.3, 0.2])
    assert gather(found, {}, {}, {}).dense == [0.0] * 4
