"""Answers: what is refused, what the model is told, and what fails honestly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.kernel.model.event import EventType
from codexmem.lab.model import RunStatus
from tests._support.model_server import refused
from tests.services.lab.agent.conftest import KEY, LESSON, Make
from tests.services.lab.agent.lines import ANSWER, QUERY, RECIPE, changed, submit


@pytest.fixture
def engine_name() -> str:
    """One engine is enough: what is stored, and how, is tested elsewhere on both."""
    return "sqlite"


def test_without_a_model_a_run_says_so(make: Make) -> None:
    bench = make(configured=False)
    run = bench.run()
    assert run.status is RunStatus.FAILED
    assert str(run.error).startswith("dependency_unavailable: no model is configured")
    assert "OPENAI_API_KEY" in str(run.error)


@pytest.mark.parametrize(
    "wrong, told",
    [
        (("submit", "{not json"), "not one complete JSON object"),
        (("submit", {"recipes": [RECIPE]}), "'overall_notes' is a required property"),
        (submit(recipes=[RECIPE, RECIPE]), "recipes: has 2 entries, maxItems is 1"),
        (submit(recipes=[]), "recipes: has 0 entries, minItems is 1"),
        (changed(M1="copper"), "recipes[0].M1: 'copper' does not match"),
        (changed(rationale="no source"), "recipes[0]: cites no piece"),
        (changed(rationale="[C1] and [C99, C1]"), "C99: no such piece"),
        (changed(rationale="【C1，C98】"), "C98: no such piece"),
        (submit(overall_notes="see mem:no-such-lesson."), "mem:no-such-lesson: there is no such lesson"),
        (submit(overall_notes="see [mem:<id>]"), "mem:"),
        (("submit", {"recipes": [RECIPE], "overall_notes": float("nan")}), "numbers that JSON does not know"),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_told_and_fixed(make: Make, wrong: tuple[str, Any], told: str) -> None:
    bench = make()
    bench.play(orchestrator=[[QUERY], [wrong], [submit()]])
    run = bench.run()
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    asked = bench.payloads(run, EventType.LLM_REQUEST)
    assert [each["attempt"] for each in asked] == [1, 1, 2]
    problem = asked[2]["messages"][-2]["content"]
    assert "not accepted" in problem
    assert told in problem


def test_an_answer_as_text_counts_and_talk_does_not(make: Make) -> None:
    bench = make()
    answer = "```json\n" + json.dumps(ANSWER, ensure_ascii=False) + "\n```"
    bench.play(orchestrator=["我先想一想。", [QUERY], "{", answer])
    run = bench.run()
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    assert [each["attempt"] for each in bench.payloads(run, EventType.LLM_REQUEST)] == [1, 1, 1, 2]


def test_a_model_that_does_not_learn_fails_the_run_honestly(make: Make) -> None:
    bench = make()
    bench.play(orchestrator=[[QUERY], [changed(rationale="[C7]")]])
    run = bench.run()
    assert run.status is RunStatus.FAILED
    assert "refused 4 times" in str(run.error)
    assert "C7: no such piece" in str(run.error)
    assert bench.server.count == 5


def test_an_archived_or_unseen_lesson_can_be_cited_if_it_is_there(make: Make) -> None:
    bench = make()
    bench.bank.archive(LESSON)
    bench.play(orchestrator=[[QUERY], [submit(overall_notes=f"看 [C2; mem:{LESSON}]，以及 mem:{LESSON}。")]])
    run = bench.run()
    assert bench.output(run)["memory_ids"] == [LESSON]
    assert list(bench.output(run)["citations"]) == ["C1", "C2"]


def test_an_empty_knowledge_base_waives_citations_but_only_after_asking(make: Make) -> None:
    bench = make()
    bench.library.texts = {"kb_principles": [], "kb_modulation": []}
    plain = changed(rationale="我的假设")
    bench.play(orchestrator=[[plain], [QUERY], [plain]])
    run = bench.run()
    assert (run.status, bench.output(run)["citations"]) == (RunStatus.COMPLETED, {})
    assert bench.server.count == 3


def test_what_will_not_pass_fails_with_its_class(make: Make) -> None:
    bench = make()
    bench.play(orchestrator=[refused(401)])
    run = bench.run()
    assert run.status is RunStatus.FAILED
    assert str(run.error).startswith("auth_invalid: ")
    assert KEY not in str(bench.lab.trace(run))
