"""What a query asks: whom it names, which time, and how it is put, in English and Chinese; any text is legal."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.search import parsed_query, tokens
from codexmem.kernel.search.times import Grain
from tests._support.pools import DAY_MS, NOW_MS, read


def test_names_of_those_who_speak_are_taken_out_of_the_text() -> None:
    query = read("What did Caroline research?", "Caroline")
    assert query.people == {"Caroline"}
    assert "caroline" not in query.text.lower()
    assert query.terms == tokens.terms("research")


@pytest.mark.parametrize(
    "text, left",
    [
        ("What is Ada's dog called?", "dog call"),
        ("What is Ada\u2019s dog called?", "dog call"),
        ("James' book", "book"),
        ("Where does ADA live, Ada?", "live"),
        ("Ada: which port?", "port"),
    ],
)
def test_possessives_capitals_and_punctuation_go_with_the_name(text: str, left: str) -> None:
    assert read(text, "Ada", "ADA", "James").terms == left.split()


def test_a_name_is_a_whole_word() -> None:
    query = read("Does Ada use Adafruit boards or ADA_HOME?", "Ada")
    assert query.people == {"Ada"}
    assert {"adafruit", "ada_home"} <= set(query.terms)


@pytest.mark.parametrize("text", ["Ada昨天说了什么?", "昨天Ada说了什么", "问一下Ada的电话"])
def test_a_name_between_chinese_needs_no_spaces(text: str) -> None:
    query = read(text, "Ada")
    assert query.people == {"Ada"}
    assert "ada" not in query.text.lower()


def test_nobody_is_named_who_has_not_spoken() -> None:
    query = read("What did Caroline research in Paris?")
    assert query.people == frozenset()
    assert query.text == "What did Caroline research in Paris?"


class Listening:
    """Knows nobody, and remembers whom it was asked about."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, names: list[str]) -> set[str]:
        self.names += names
        return set()


class Everybody:
    """Has heard of all."""

    def __call__(self, names: list[str]) -> set[str]:
        return set(names)


def test_function_words_and_small_letters_are_no_names() -> None:
    known = Listening()
    parsed_query.read("When Will the Server of Ada and O'Brien-Smith. stop?", asked_ms=NOW_MS, known=known)
    assert known.names == ["Server", "Ada", "O'Brien-Smith"]


def test_only_so_many_names_are_looked_up() -> None:
    known = Listening()
    parsed_query.read(" ".join(f"Name{letter}" for letter in "abcdefghijkl"), asked_ms=NOW_MS, known=known)
    assert len(known.names) == 8


def test_a_query_that_is_nothing_but_a_name_is_about_that_name() -> None:
    query = read("Ada?", "Ada")
    assert query.people == {"Ada"}
    assert query.terms == ["ada"]


def test_several_people_are_all_named() -> None:
    assert read("Did Ada meet Bo?", "Ada", "Bo").people == {"Ada", "Bo"}


@pytest.mark.parametrize("text", ["What is my dog called?", "Where do I live?", "我的狗叫什么", "咱们怎么部署"])
def test_first_person(text: str) -> None:
    assert read(text).first_person


@pytest.mark.parametrize("text", ["What is the dog called?", "myths of memory", "他的狗叫什么"])
def test_not_first_person(text: str) -> None:
    assert not read(text).first_person


@pytest.mark.parametrize(
    "text", ["What did you suggest?", "Remind me of the plan", "in our last chat", "你之前推荐了什么", "你说过什么"]
)
def test_asking_the_assistant(text: str) -> None:
    assert read(text).asks_assistant
    assert not read("What did she say? 她说了什么").asks_assistant


@pytest.mark.parametrize("text", ["When did we meet?", "What date was it?", "什么时候开会", "会议在几号", "何时上线"])
def test_asking_when(text: str) -> None:
    assert read(text).asks_when
    assert not read("Where did we meet? 在哪里开会").asks_when


@pytest.mark.parametrize("text", ["How many servers?", "how old is she", "有多少台", "几个人参加", "用的什么版本"])
def test_asking_for_a_number(text: str) -> None:
    assert read(text).asks_number
    assert not read("Which server? 哪台服务器").asks_number


def test_chinese_is_noticed_wherever_it_stands() -> None:
    assert read("部署").unspaced
    assert read("deploy 部署").unspaced
    assert not read("deploy über alles").unspaced


@pytest.mark.parametrize("text", ["what did we do yesterday", "昨天做了什么"])
def test_times_are_counted_from_when_it_was_asked(text: str) -> None:
    (span,) = read(text, asked_ms=NOW_MS).spans
    assert span.from_ms == (NOW_MS // DAY_MS - 1) * DAY_MS
    (other,) = read(text, asked_ms=NOW_MS - 10 * DAY_MS).spans
    assert span.from_ms - other.from_ms == 10 * DAY_MS


def test_a_named_month_is_a_span() -> None:
    (span,) = read("What happened in May 2023?").spans
    assert (span.grain, span.from_ms) == (Grain.MONTH, datetime(2023, 5, 1, tzinfo=UTC).timestamp() * 1_000)


@pytest.mark.parametrize("text", ["what have we done lately", "最近做了什么"])
def test_what_is_new_is_a_leaning_and_not_a_span(text: str) -> None:
    query = read(text)
    assert query.recent
    assert query.spans == ()


@given(st.text(st.characters(exclude_categories=()), max_size=300), st.integers(-(10**15), 10**15))
@pytest.mark.slow
def test_any_text_at_any_time_is_legal(text: str, asked_ms: int) -> None:
    for known in (Listening(), Everybody()):
        query = parsed_query.read(text, asked_ms=asked_ms, known=known)
        assert len(query.text) <= len(text)
        assert query.terms or not tokens.terms(text)


@pytest.mark.parametrize(
    "text",
    ["A" * 100_000, "Ada " * 25_000, "昨天" * 50_000, "'s." * 30_000, "a" * 2_000 + "\ud800" * 50_000, "-" * 100_000],
)
def test_a_long_query_is_read_in_time(text: str) -> None:
    started = time.monotonic()
    read(text, "Ada")
    assert time.monotonic() - started < 5.0
