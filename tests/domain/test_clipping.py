"""What is too long is cut where words end, says so, and ends up small however it was long."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.model.clipping import LEFT_OUT, MAX_TEXT, clip, clip_value


def test_a_short_text_is_left_alone() -> None:
    assert clip("x" * MAX_TEXT) == "x" * MAX_TEXT


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    words = " ".join(f"词{number}" for number in range(20_000))
    cut = clip(words)
    head, mark, tail = cut.split("\n")
    assert words.startswith(head + " ")
    assert words.endswith(tail)
    assert tail.startswith(" 词")
    assert mark == f"[… {len(words) - len(head) - len(tail):,} characters left out …]"
    assert 13_000 < len(cut) <= MAX_TEXT


@given(st.text(alphabet="ab \n词", min_size=101, max_size=1000), st.integers(50, 100))
def test_cut_texts_fit_and_add_up(text: str, limit: int) -> None:
    cut = clip(text, limit)
    head, _, rest = cut.partition("\n[… ")
    number, _, tail = rest.partition(" characters left out …]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(number.replace(",", "")) + len(tail) == len(text)
    assert len(head) + len(tail) <= limit


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 15_000] * 500,
        list(range(200_000)),
        {f"k{number}": number for number in range(200_000)},
        {f"{number}" + "k" * 10_000: 1 for number in range(500)},
        [[[]] * 300] * 300,
    ],
    ids=["texts", "numbers", "entries", "keys", "lists"],
)
def test_endless_values_end(value: Any) -> None:
    text = json.dumps(clip_value(value))
    assert len(text) < 1_300_000
    assert LEFT_OUT in text


def test_values_keep_their_shape() -> None:
    value = {"a": [1, 2.5, None, True, "x"], "b": {"c": []}}
    assert clip_value(value) == value
    assert clip_value([float("inf"), float("nan")]) == [None, None]
    assert clip_value({"a": "x" * 20_000})["a"] == clip("x" * 20_000)
