"""A model's answer: what is fixed, what is refused, and as what it is counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.kernel.llm import structured
from codexmem.kernel.llm.material import ModelOutcome
from codexmem.kernel.llm.structured import UnusableAnswer
from tests._support.model_server import observation_answer, summary_answer


def said(**more: Any) -> str:
    return json.dumps(observation_answer(**{"events": [1]} | more), ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        said(),
        f"```json\n{said()}\n```",
        f"```\n{said()}```",
        f"  \n{said()}\n ",
        f"<think>First I look at {{}} and ```.</think>\n{said()}",
        json.dumps(observation_answer([1])["observations"]),
        json.dumps(observation_answer([1])["observations"][0]),
        json.dumps(observation_answer([1]) | {"skip": None, "thoughts": ["ignored"]}),
    ],
)
def test_an_answer_is_read_through_its_packaging(text: str) -> None:
    (found,) = structured.observations(text)
    assert (found.title, found.events) == ("A scripted observation", (1,))


@pytest.mark.parametrize(
    "text",
    ["", "I cannot do that.", "{", said()[:-5], f"Here you are:\n```json\n{said()}\n```", "[" * 100_000, "1" * 5_000],
)
def test_what_is_no_json_is_a_parse_failure(text: str) -> None:
    with pytest.raises(UnusableAnswer) as caught:
        structured.observations(text)
    assert caught.value.outcome is ModelOutcome.PARSE_FAIL


@pytest.mark.parametrize(
    "found",
    [
        "text", 7, None, {}, {"observations": "none"}, {"observations": [1]}, {"observations": []},
        {"skip": "yes", "observations": []}, {"observations": [{"title": ["a"]}]},
        {"observations": [{"title": "a", "facts": {"b": 1}}]}, {"observations": [{}]},
        {"observations": [{"title": " ", "narrative": None, "facts": [""], "concepts": ["cheese"]}]},
        {"skip": False, "reason": "nothing", "observations": []},
    ],
)  # fmt: skip
def test_json_of_another_shape_is_a_schema_failure(found: Any) -> None:
    with pytest.raises(UnusableAnswer) as caught:
        structured.observations(json.dumps(found))
    assert caught.value.outcome is ModelOutcome.SCHEMA_FAIL
    assert caught.value.problem


def test_nothing_worth_remembering_is_an_answer() -> None:
    assert structured.observations('{"skip": true, "reason": "only ls", "observations": []}') == ()
    assert structured.observations('{"skip": true, "reason": ""}') == ()


def test_slips_are_fixed() -> None:
    (found,) = structured.observations(
        said(type=None, subtitle=None, facts="一个事实", concepts="gotcha", events=["2", 3, "x", -1, True, 2.5, 10**12])
    )
    assert (found.type, found.subtitle, found.facts) == ("", "", ("一个事实",))
    assert found.known_concepts == ("gotcha",)
    assert found.events == (2, 3)


def test_concepts_are_cut_at_the_colon_and_kept_if_known() -> None:
    given = ["How-It-Works: the cache", "gotcha", "gotcha", "bugfix", "缓存", "pattern", "trade-off", "why-it-exists"]
    (found,) = structured.observations(said(concepts=[*given, "what-changed", "problem-solution"]))
    assert found.known_concepts == ("how-it-works", "gotcha", "pattern", "trade-off", "why-it-exists")


def test_an_unknown_type_is_kept_and_empty_observations_are_dropped() -> None:
    answer = observation_answer([1], type="security_note")
    answer["observations"].append({"type": "bugfix", "title": "", "narrative": "", "facts": [], "concepts": []})
    (found,) = structured.observations(json.dumps(answer))
    assert found.type == "security_note"


def test_texts_are_bounded_and_without_control_characters() -> None:
    (found,) = structured.observations(
        said(title="a\u202eb\x00c" + "x" * 500, narrative="y" * 20_000, facts=["z"] * 500, files_read=["/" + "p" * 900])
    )
    assert found.title.startswith("abcx")
    assert len(found.title) == 200
    assert (len(found.narrative), len(found.facts), len(found.files_read[0])) == (4_000, 40, 400)


def test_a_lone_surrogate_does_not_pass() -> None:
    (found,) = structured.observations('{"observations": [{"title": "a\\ud800b"}]}')
    assert found.title == "ab"


def test_a_summary_is_read_skipped_or_refused() -> None:
    digest = structured.summary(json.dumps(summary_answer(learned="缓存没有失效", extra=1)))
    assert digest is not None
    assert (digest.request, digest.learned, digest.notes) == ("Do it", "缓存没有失效", "")
    assert structured.summary('{"skip": true, "reason": "a greeting"}') is None
    for wrong in ('{"notes": "only notes"}', "[]", '{"request": 1}'):
        with pytest.raises(UnusableAnswer) as caught:
            structured.summary(wrong)
        assert caught.value.outcome is ModelOutcome.SCHEMA_FAIL
