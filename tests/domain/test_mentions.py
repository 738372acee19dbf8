"""Which addresses a text mentions, in both languages and in odd company."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model import address
from codexmem.kernel.model.memory import MAX_LABEL
from codexmem.kernel.model.mentions import MAX_MENTIONS, mention_label, mentions_in, without_mentions


@pytest.mark.parametrize("text, found", [
    ("see project://config.", ["project://config"]),
    ("Project://a//b/, then", ["project://a/b"]),
    ("[text](core://agent/my_user) and `db://main`", ["core://agent/my_user", "db://main"]),
    ("参见 project://数据库/主库，谢谢", ["project://数据库/主库"]),
    ("参见db://main的设置。", ["db://main的设置", "db://main"]),
    ("（见 a://b）“c://d”《e://f》", ["a://b", "c://d", "e://f"]),
    ("a://b a://b", ["a://b"]),
    ("https://x.y/z file:///tmp/a system://boot s3://bucket", []),
    ("nothing://", []),
    ("a://../b", []),
    ("time 12:30 and C://", []),
    ("**bold://x** ~old://y~", ["bold://x", "old://y"]),
])  # fmt: skip
def test_what_is_mentioned(text: str, found: list[str]) -> None:
    assert list(mentions_in(text)) == found


def test_many_mentions_are_bounded() -> None:
    assert len(mentions_in(" ".join(f"a://{number}" for number in range(10_000)))) == MAX_MENTIONS


@given(st.text(max_size=200))
def test_any_text_has_normal_mentions(text: str) -> None:
    for uri in mentions_in(f"{text} a://{text}"):
        assert address.normalise(uri) == uri


def test_a_long_address_has_a_label_of_its_own() -> None:
    one, other = (f"a://{'x' * 400}{end}" for end in "yz")
    assert mention_label(one) != mention_label(other)
    assert len(mention_label(one)) <= MAX_LABEL
    assert mention_label("a://b") == "a://b"


def test_words_without_addresses() -> None:
    assert without_mentions("open project://questions now").split() == ["open", "now"]


@pytest.mark.parametrize("uri, name", [
    ("a://x/Main_Database", "main database"), ("a://orders.py", "orders.py"), ("a://C++", "c++"),
    ("a://TypeScript", "typescript"), ("a://数据库", "数据库"), ("a://self-host", "self host"), ("a://***", "***"),
])  # fmt: skip
def test_what_people_call_it(uri: str, name: str) -> None:
    assert address.name_of(uri) == name
