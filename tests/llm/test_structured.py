"""A model's answer: what is fixed, what is refused, and as what it is counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.kernel.llm import structured
from codexmem.kernel.llm.material import ModelOutcome
from codexmem.kernel.llm.structured import UnusableAnswer
from tests._support.model_server import memory_answer


def said(**more: Any) -> str:
    return json.dumps(memory_answer([1], **more), ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        said(),
        f"```json\n{said()}\n```",
        f"```\n{said()}```",
        f"  \n{said()}\n ",
        f"<think>First I look at {{}} and ```.</think>\n{said()}",
        json.dumps(memory_answer([1])["memories"]),
        json.dumps(memory_answer([1])["memories"][0]),
        json.dumps(memory_answer([1]) | {"reason": None, "thoughts": ["ignored"]}),
    ],
)
def test_an_answer_is_read_through_its_packaging(text: str) -> None:
    (found,) = structured.memories(text)
    assert (found.title, found.rests_on) == ("A scripted memory", (1,))


@pytest.mark.parametrize(
    "text",
    ["", "I cannot do that.", "{", said()[:-5], f"Here you are:\n```json\n{said()}\n```", "[" * 100_000, "1" * 5_000],
)
def test_what_is_no_json_is_a_parse_failure(text: str) -> None:
    with pytest.raises(UnusableAnswer) as caught:
        structured.memories(text)
    assert caught.value.outcome is ModelOutcome.PARSE_FAIL


@pytest.mark.parametrize(
    "found",
    ["text", 7, None, {}, {"memories": "none"}, {"memories": [1]}, {"memories": [{"title": ["a"]}]},
     {"memories": [{"title": "a", "text": {"b": 1}}]}],
)  # fmt: skip
def test_json_of_another_shape_is_a_schema_failure(found: Any) -> None:
    with pytest.raises(UnusableAnswer) as caught:
        structured.memories(json.dumps(found))
    assert caught.value.outcome is ModelOutcome.SCHEMA_FAIL
    assert caught.value.problem


@pytest.mark.parametrize("memories", [[], [{}], [{"title": " ", "text": None, "kind": "rule"}]])
def test_nothing_worth_remembering_is_an_answer(memories: list[Any]) -> None:
    assert structured.memories(json.dumps({"reason": "only ls", "memories": memories})) == ()


def test_slips_are_fixed() -> None:
    (found,) = structured.memories(said(kind=None, target=None, rests_on=["2", 3, "x", -1, True, 2.5, 10**12]))
    assert (found.kind, found.target, found.rests_on) == ("", "", (2, 3))


def test_texts_are_bounded_and_clean() -> None:
    (found,) = structured.memories(said(title="a\x00b" + "c" * 900, text="长" * 9_000))
    assert (found.title[:3], len(found.title), len(found.text)) == ("abc", 200, 4_000)


def test_a_flood_is_cut() -> None:
    many = memory_answer([1])["memories"] * 50
    assert len(structured.memories(json.dumps({"reason": "", "memories": many}))) == 20
