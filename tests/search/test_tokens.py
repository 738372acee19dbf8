"""The tokenizer: what a text is found by, in every script, for any input, in linear time."""

from __future__ import annotations

import re
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.search import tokens
from codexmem.kernel.search.tokens import MAX_TOKEN, terms, words

FORBIDDEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\"'`,;:!?()\[\]{}<>\\/|&*\ud800-\udfff]")


@pytest.mark.parametrize("text, expected", [
    ("The connections were retried", ["connect", "retri"]),
    ("RETRYING retries Retry", ["retri", "retri", "retri"]),
    ("don't can't won't user's it's they’re", ["user"]),
    ("fetchWithBackoff", ["fetchwithbackoff", "fetch", "backoff"]),
    ("user_id", ["user_id", "user", "id"]),
    ("HTTPServer parseJSON5File", ["httpserver", "http", "server", "parsejson5file", "pars", "json5", "json", "5",
                                   "file"]),
    ("rate-limit", ["rate-limit", "rate", "limit"]),
    ("src/app.py", ["src", "app.py", "app", "py"]),
    (r"C:\Users\x.txt", ["c", "user", "x.txt", "x", "txt"]),
    ("node.js .NET", ["node.js", "node", "js", ".net", "net"]),
    ("C++ c# F# C++17 notepad++", ["c++", "c#", "f#", "c++17", "c++", "17", "notepad++", "notepad"]),
    ("i++; x #1", ["i++", "x", "1"]),
    ("E0599 0x80070005", ["e0599", "0x80070005"]),
    ("ERR_CONNECTION_RESET", ["err_connection_reset", "err", "connect", "reset"]),
    ("1.2.3 v1.2.3", ["1.2.3", "1", "2", "3", "v1.2.3", "1.2.3", "v1", "2", "3"]),
    ("python3 utf8 a1b2c3", ["python3", "python", "3", "utf8", "utf", "8", "a1b2c3"]),
    ("__init__ ___", ["__init__", "init"]),
    ("user@example.com", ["user", "example.com", "exampl", "com"]),
    ("state-of-the-art", ["state-of-the-art", "state", "art"]),
    ("数据库", ["数", "据", "数据", "库", "据库"]),
    ("用React写", ["用", "react", "写"]),
    ("我的代码", ["我的", "代", "的代", "码", "代码"]),
    ("什么错误", ["什", "么", "错", "么错", "误", "错误"]),
    ("ＡＢＣ１２３ ﬁle", ["abc123", "abc", "123", "file"]),
    ("한국어", ["한", "국", "한국", "어", "국어"]),
    ("カナ", ["カ", "ナ", "カナ"]),
    ("𠮷野", ["𠮷", "野", "𠮷野"]),
    ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    ("Straße ΣΊΣΥΦΟΣ", ["strass", "σίσυφοσ"]),
    ("cafe\u0301 café", ["café", "café"]),
    ("deploy 🚀❤️", ["deploy", "🚀", "❤"]),
    ("zero\u200bwidth soft\u00adhyphen", ["zerowidth", "softhyphen"]),
    ("", []),
    ("... --- !!! \0 \ud800", []),
])  # fmt: skip
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_query_and_a_document_are_cut_alike() -> None:
    text = "Why does fetchWithBackoff() in src/app.py fail? 数据库连接 v1.2.3"
    assert terms(text) == list(dict.fromkeys(words(text)))


def test_stop_words_are_dropped_unless_nothing_else_is_left() -> None:
    assert words("the of and 的 了") == []
    assert terms("to be or not to be") == ["to", "be", "or", "not"]
    assert terms("what is the timeout") == ["timeout"]


def test_a_long_query_keeps_its_beginning_and_its_end() -> None:
    text = " ".join(f"w{number}q" for number in range(500))
    found, everything = terms(text), words(text)
    half = tokens.MAX_TERMS // 2
    assert found == everything[:half] + everything[-half:]
    assert len(terms(text, limit=7)) == 7


def test_a_long_token_is_cut_but_stays_itself() -> None:
    one, other = "a" * 500 + "1", "a" * 500 + "2"
    assert words(one) == words(one.upper())
    assert words(one) != words(other)
    assert len(words(one)[0]) == MAX_TOKEN


@pytest.mark.slow
def test_every_character_makes_clean_tokens() -> None:
    plane = 0x10000
    for start in range(0, sys.maxunicode + 1, 64):
        block = [chr(code) for code in range(start, start + 64)]
        # Most planes hold nothing, or what everybody defines for themselves: of those only the ends.
        inside = 0 < start % plane < plane - 64
        if start >= plane and inside and {unicodedata.category(each) for each in block} <= {"Cn", "Co"}:
            continue
        for text in (" ".join(block), "a".join(block)):
            for token in words(text):
                assert token
                assert len(token) <= MAX_TOKEN
                assert not FORBIDDEN.search(token), (hex(start), token)


@given(st.text())
def test_any_text_is_legal(text: str) -> None:
    for token in (*words(text), *terms(text)):
        assert token
        assert len(token) <= MAX_TOKEN
        assert not FORBIDDEN.search(token)
    assert len(terms(text, limit=5)) <= 5


@given(st.text(st.characters(codec="utf-8")))
def test_tokens_of_tokens_still_hold_the_token(text: str) -> None:
    for token in words(text):
        if len(token) < MAX_TOKEN and not (token.isascii() and token.isalpha()):
            assert token in words(token), token


GARBAGE = {
    "marks": "a" + "\u0328\u0301" * 120_000,
    "spread marks": ("a" + "\u0328\u0301" * 40) * 3_000,
    "hangul": "\u1100\u1161\u11a8" * 80_000,
    "one word": "a" * 240_000,
    "humps": "aB" * 120_000,
    "0A": "0A" * 120_000,
    "kebab": "a-" * 120_000,
    "dots": "." * 240_000,
    "plus": "c++" * 80_000,
    "quotes": "x'" * 120_000,
    "underscores": "_" * 240_000,
    "ligatures": "\ufdfa" * 12_000,
    "chinese": "数据库连接" * 48_000,
}


@pytest.mark.parametrize("name", GARBAGE)
@pytest.mark.slow
def test_time_is_linear(name: str) -> None:
    text = GARBAGE[name]
    started = time.process_time()
    words(text)
    # Quadratic work on a quarter of a million characters would take a minute.
    assert time.process_time() - started < 2.5


@pytest.mark.parametrize("name", GARBAGE)
@pytest.mark.slow
def test_terms_are_bounded(name: str) -> None:
    assert len(terms(GARBAGE[name])) <= tokens.MAX_TERMS


@pytest.mark.parametrize(
    "text, groups",
    [
        ("Docker networks", [("docker",), ("network",)]),
        ("fetchWithBackoff", [("fetchwithbackoff", "fetch"), ("fetchwithbackoff", "backoff")]),
        ("foo_barBaz-qux", [("foo_barbaz-qux", part) for part in ("foo", "bar", "baz", "qux")]),
        ("部署服务", [("部署",), ("部署", "署服"), ("署服", "服务"), ("服务",)]),
        ("怎么部署的", [("么部", "部署"), ("部署", "署的")]),
        ("猫", [("猫",)]),
        ("the 的 server", [("server",)]),
        ("what is it", [("what",), ("is",), ("it",)]),
        ("", []),
    ],
)
def test_what_a_text_must_have_to_contain_the_words(text: str, groups: list[tuple[str, ...]]) -> None:
    assert tokens.required(text) == groups


def test_what_must_be_there_is_bounded() -> None:
    assert len(tokens.required(" ".join(f"word{number}" for number in range(10_000)))) == tokens.MAX_TERMS
