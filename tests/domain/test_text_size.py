"""Sizes: honest for alphabets, Chinese, Japanese, Korean and symbols."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from codexmem.kernel.model.text_size import tokens


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("x" * 400, 100), ("端口", 2), ("数据库迁移完成。", 8),
        ("端口是 37877", 5), ("日本語テスト", 6), ("한국어", 3), ("（全角）", 4), ("😀😀", 2), ("é" * 8, 2),
        ("Привет", 2),
    ],
)  # fmt: skip
def test_sizes(text: str, expected: int) -> None:
    assert tokens(text) == expected


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less(one: str, two: str) -> None:
    assert max(tokens(one), tokens(two)) <= tokens(one + two) <= tokens(one) + tokens(two) <= len(one) + len(two)
