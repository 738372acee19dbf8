"""Near duplicates step behind what differs; nothing is lost, and pages of one list fit together."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.search.finder import spread
from codexmem.kernel.store.candidates import SearchCandidate
from tests._support.pools import candidate

ALIKE = 0.9
LONG = "the server keeps a lease for every running job and gives it back when the worker that took it ends or dies"
CHINESE = "数据库连接失败以后重试三次，每次等待的时间加倍，最后写进日志并且通知值班的人员处理这个问题"


def texts(*contents: str) -> list[SearchCandidate]:
    return [candidate(number, content) for number, content in enumerate(contents, 1)]


def ordered(found: list[SearchCandidate], *, depth: int = 10) -> list[int]:
    return spread(range(len(found)), found, alike=ALIKE, depth=depth)


def test_what_nearly_repeats_a_better_result_comes_after_all_that_differ() -> None:
    assert ordered(texts(LONG, f"{LONG}!", "another thing", LONG, "a third thing")) == [0, 2, 4, 1, 3]


def test_chinese_repeats_too() -> None:
    assert ordered(texts(CHINESE, f"{CHINESE}。", "天气很好", CHINESE.replace("数据库", "服务器"))) == [0, 2, 3, 1]


def test_one_other_word_in_a_short_text_is_a_difference() -> None:
    assert ordered(texts("port is 37877", "port is 37878", "端口是三", "端口是四")) == [0, 1, 2, 3]


def test_a_title_tells_texts_apart() -> None:
    found = [candidate(n, "done", title=title) for n, title in enumerate(("deploy", "rollback", "deploy"))]
    assert ordered(found) == [0, 1, 2]
    assert ordered([found[0], found[2], found[1]]) == [0, 2, 1]


def test_a_longer_text_that_begins_alike_says_more() -> None:
    assert ordered(texts(LONG, f"{LONG} and then {' '.join(f'word{n}' for n in range(30))}")) == [0, 1]


def test_only_as_much_as_is_seen_is_looked_at() -> None:
    found = texts("one thing here", "two things there", LONG, LONG)
    assert ordered(found, depth=2) == [0, 1, 2, 3]
    assert ordered(found, depth=4) == [0, 1, 2, 3]


def test_empty_texts_are_alike_and_harm_nobody() -> None:
    assert ordered(texts("", "", "said")) == [0, 2, 1]
    assert ordered([]) == []


_some = st.lists(
    st.sampled_from([LONG, f"{LONG} indeed", CHINESE, f"{CHINESE}吗", "one", "two", "three", ""]), max_size=30
)


@given(_some, st.integers(1, 40), st.integers(1, 40))
def test_nothing_is_lost_and_what_is_seen_does_not_depend_on_how_much(
    contents: list[str], one: int, other: int
) -> None:
    found = texts(*contents)
    first, second = ordered(found, depth=one), ordered(found, depth=other)
    assert sorted(first) == sorted(second) == list(range(len(found)))
    seen = min(one, other)
    assert first[:seen] == second[:seen]


def test_pages_fit_together_where_most_repeat() -> None:
    chance = random.Random(3)
    found = texts(*(f"{LONG} number" if chance.random() < 0.7 else f"thing {n} stands alone" for n in range(100)))
    pages = [place for offset in range(0, 100, 10) for place in ordered(found, depth=offset + 11)[offset : offset + 10]]
    assert sorted(pages) == list(range(100))
