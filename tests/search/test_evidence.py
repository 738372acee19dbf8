"""Which words a text has, and what they tell."""

from __future__ import annotations

import pytest

from bench import background as builder
from codexmem.kernel.search import evidence, tokens
from codexmem.kernel.search.evidence import CandidateText, StoreCounts, Wanted
from tests._support.pools import candidate

STORE = StoreCounts(100, {}, 100)


def share(query: str, text: str, **fields: str) -> float:
    return Wanted(evidence.telling(tokens.terms(query)), STORE).found(CandidateText(candidate(1, text, **fields))).share


@pytest.mark.parametrize(
    "query, text",
    [
        ("retries", "a retry"), ("memories", "our memory"), ("deploy", "deployed twice"),
        ("backoff", "fetchWithBackoff"), ("user", "user_id"), ("app.py", "src/app.py"),
        ("网关", "支付网关很慢"), ("E11000", "error e11000"),
        ("port", "端口port号"), ("utf", "utf8"),
    ],
)  # fmt: skip
def test_a_word_is_there_in_another_form_or_inside_an_identifier(query: str, text: str) -> None:
    assert share(query, text) == pytest.approx(1.0)


@pytest.mark.parametrize("query, text", [("port", "a report"), ("act", "an activist"), ("网关", "网络与关口")])
def test_a_part_of_another_word_is_not_the_word(query: str, text: str) -> None:
    assert share(query, text) == 0.0


def test_the_fields_of_a_kind_count_and_their_names_do_not() -> None:
    attrs = '{"files_read":["src/gateway.py"],"facts":["it retries"]}'
    assert share("gateway retry", "text", attrs=attrs) == pytest.approx(1.0)
    assert share("facts files", "text", attrs=attrs) == 0.0


def test_the_rarer_word_is_the_larger_share() -> None:
    assert share("test jitter", "jitter") > 0.6
    assert share("test jitter", "test") < 0.4


def test_a_long_text_surprises_less_than_a_short_one() -> None:
    short, long = (
        Wanted(["jitter"], STORE).found(CandidateText(candidate(1, "jitter " + "word " * count))).surprise
        for count in (5, 250)
    )
    assert short > long > 0.0


def test_a_long_query_is_judged_in_pieces_and_a_short_one_whole() -> None:
    terms = [f"t{number}" for number in range(75)]
    assert evidence.pieces(terms[:30]) == [terms[:30]]
    assert [len(piece) for piece in evidence.pieces(terms)] == [20, 20, 20, 15]


def test_one_character_tells_only_where_the_query_has_nothing_longer() -> None:
    assert evidence.telling(tokens.terms("乌龟吃 2")) == ["乌龟", "龟吃"]
    assert evidence.telling(tokens.terms("猫 狗")) == ["猫", "狗"]
    assert evidence.telling(tokens.terms("hunter2")) == ["hunter2", "hunter"]


def test_a_pair_that_crosses_two_words_is_not_missed() -> None:
    text = "发布只在周二进行，先跑冒烟测试。"
    whole = share("新版发布之前", text)
    assert share("新版本发布之前", text) < whole < 1.0  # a word that is missing is
    heard = StoreCounts(100, {"本发": 3}, 100)
    counted = Wanted(evidence.telling(tokens.terms("新版本发布")), heard).found(CandidateText(candidate(1, text))).share
    assert counted < share("新版本发布", text)  # somebody has it, so it is a word or as good as one


def test_words_that_nobody_has_are_missed() -> None:
    assert share("红烧牛肉怎么做", "金额怎么做成整数") < 0.5
    # What stands between words counts if there is nothing else.
    assert share("前后", "之前之后，前后一致") == pytest.approx(1.0)


def test_the_table_that_ships_is_small_and_knows_both_languages() -> None:
    assert builder.TABLE.stat().st_size < 100_000
    table = evidence.background()
    assert all(texts > 1_000 for texts in table.texts)
    assert table.having["test"] > table.having["deploy"] > 0
    assert table.having["文件"] > 0
    assert all(word == word.lower() and count >= 8 for word, count in table.having.items())


def test_a_table_is_read_as_it_was_written() -> None:
    sources = {name: builder.Counts() for name in ("a", "b", "c")}
    for counts in sources.values():
        for _ in range(5):
            counts.add("The gateway of the checkout failed again 支付网关超时了")
    made = evidence.read(builder.table(sources))
    assert made.texts == (15, 15)
    assert made.having["gateway"] == made.having["网关"] == 15
    del sources["c"]
    assert evidence.read(builder.table(sources)).having == {}  # two sources are too few
