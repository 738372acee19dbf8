"""Which words a text has, and what they tell."""

from __future__ import annotations

import pytest

from bench import background as builder
from codexmem.kernel.search import evidence, tokens
from codexmem.kernel.search.evidence import CandidateText, StoreCounts, Wanted
from tests._support.pools import candidate

STORE = StoreCounts(100, {}, 100)


def share(query: str, text: str, **fields: str) -> float:
    return shares(query, text, STORE, **fields)


def shares(query: str, text: str, store: StoreCounts, **fields: str) -> float:
    (whole,) = evidence.pieces(evidence.telling(tokens.terms(query)), store)
    return whole.found(CandidateText(candidate(1, text, **fields))).share


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
    terms = [f"{chr(97 + number % 26)}{number // 26}word" for number in range(75)]
    assert len(evidence.pieces(terms[:30], STORE)) == 1
    text = CandidateText(candidate(1, " ".join(terms[40:60])))
    found = [piece.found(text) for piece in evidence.pieces(terms, STORE)]
    assert [(each.share, each.every) for each in found] == [(0.0, False), (0.0, False), (1.0, True), (0.0, False)]


def test_one_character_tells_only_where_the_query_has_nothing_longer() -> None:
    assert evidence.telling(tokens.terms("乌龟吃 2")) == ["乌龟", "龟吃"]
    assert evidence.telling(tokens.terms("猫 狗")) == ["猫", "狗"]
    assert evidence.telling(tokens.terms("hunter2")) == ["hunter2", "hunter"]


def test_a_pair_that_crosses_two_words_is_not_missed() -> None:
    text = "发布只在周二进行，先跑冒烟测试。"
    whole = share("新版发布之前", text)
    assert share("新版本发布之前", text) < whole < 1.0  # a word that is missing is
    heard = StoreCounts(100, {"本发": 3}, 100)
    # What somebody has is a word, or as good as one.
    assert shares("新版本发布", text, heard) < share("新版本发布", text)


def test_what_only_asks_may_be_missing_and_counts_where_it_stands() -> None:
    terms, text = evidence.telling(tokens.terms("什么时候发布版本")), "发布只在周二进行"
    spare, strict = (Wanted(terms, STORE, asking) for asking in (("么时", "时候", "候发"), ()))
    lacks, has = (CandidateText(candidate(1, each)) for each in (text, f"{text}，别的时候不行"))
    assert spare.found(lacks).share > strict.found(lacks).share
    assert spare.found(has).share > spare.found(lacks).share
    assert spare.found(has).surprise == strict.found(has).surprise
    only = Wanted(terms, STORE, terms)  # there is nothing else
    assert only.found(lacks) == strict.found(lacks)


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
