"""What counts as a citation."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.lab.service.agent import output as citations


@pytest.mark.parametrize(
    "value, expected",
    [
        ("[C2] then [C10] and [C1]", ["C1", "C2", "C10"]),
        ("见【C3】，以及[C1，C2；C4]。", ["C1", "C2", "C3", "C4"]),
        ("[C1, mem:abc]", ["C1"]),
        ({"a": ["x [C5]", {"b": "[C6]"}], "c": 7, "d": None}, ["C5", "C6"]),
        ("C12 alkanes, [C2H4], [Cu], [C], C1, (C1)", []),
        ("[C1", []),
        ("[" + "x" * 500 + " C1]", []),
    ],
)
def test_pieces(value: Any, expected: list[str]) -> None:
    assert citations.aliases(value) == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        ("mem:a-1. Then [mem:b_2], (mem:c) and mem:a-1", ["a-1", "b_2", "c"]),
        ("参见 mem:123e4567-e89b-12d3-a456-426614174000。", ["123e4567-e89b-12d3-a456-426614174000"]),
        ("铜（mem:x）；mem:y，mem:z、", ["x", "y", "z"]),
        ("mem:<id>", ["<id"]),
        ("mem: 5 GB of item:abc, xmem:no", []),
        ({"deep": [{"er": "mem:q"}]}, ["q"]),
    ],
)
def test_lessons(value: Any, expected: list[str]) -> None:
    assert citations.cited_lessons(value) == expected


def test_long_texts_take_linear_time() -> None:
    text = "[" * 100_000 + "mem:" * 50_000 + "【" * 100_000
    assert citations.aliases(text) == []
    assert len(citations.cited_lessons(text)) <= 50_000
