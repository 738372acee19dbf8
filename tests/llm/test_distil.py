"""Model first, one repair, then rules: every batch gets an answer that says who gave it and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from codexmem.kernel.llm.extractor import BUDGET, Extractor, ModelOutcome
from codexmem.kernel.llm.model import Check, Completion, ModelPrompt, Trouble, Unanswered
from codexmem.kernel.llm.openai import OpenAIModel
from codexmem.kernel.model.breaker import Breaker
from tests._support.model_server import (
    SILENCE,
    Asked,
    ModelServer,
    Reply,
    observation_answer,
    refused,
    said,
    summary_answer,
)
from tests.llm.events import bash, edit, material, nothing, read

EDIT = edit(11, "src/auth.py", "TTL = 3600", "TTL = 7200")
READ = read(12, "README.md", "# Shop\n")
TEST = bash(13, "pytest -q", "40 passed in 1.2s")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def extractor(server: ModelServer, may_spend: Callable[[int], bool] = lambda _: True) -> Extractor:
    asking = OpenAIModel("small", base_url=server.url, deadline_s=20.0, pause_s=0.01, breaker=Breaker(first_s=0.0))
    return Extractor(asking, may_spend=may_spend)


def scripted(server: ModelServer, *replies: Reply | str | None) -> None:
    waiting = iter(replies)
    server.script = lambda _: next(waiting)


def test_a_good_answer_is_used(server: ModelServer) -> None:
    result = extractor(server).observations(material(EDIT, READ, TEST), nothing)
    assert (result.by, result.outcomes, result.error_class) == ("model", (ModelOutcome.SUCCESS,), None)
    assert (result.prompt_tokens, result.completion_tokens) == (100, 20)
    assert result.model_ms > 0
    (found,) = result.value
    assert (found.title, found.events) == ("A scripted observation", (11, 12, 13))
    assert (found.files_read, found.files_modified) == (("README.md",), ("src/auth.py",))
    assert server.count == 1  # three events, one call


def test_an_answer_that_does_not_fit_is_fixed_once(server: ModelServer) -> None:
    scripted(server, '{"observations": 7}', None)
    result = extractor(server).observations(material(EDIT), nothing)
    assert (result.by, result.outcomes) == ("model", (ModelOutcome.SCHEMA_FAIL, ModelOutcome.SUCCESS))
    assert (result.error_class, result.prompt_tokens) == (None, 200)
    first, second = server.asked
    assert second.body["messages"][: len(first.body["messages"])] == first.body["messages"]
    assert second.body["messages"][-2] == {"role": "assistant", "content": '{"observations": 7}'}
    assert "observations: Input should be a valid list" in second.body["messages"][-1]["content"]


@pytest.mark.parametrize(
    "first, outcome", [("no json", ModelOutcome.PARSE_FAIL), ('{"observations": []}', ModelOutcome.SCHEMA_FAIL)]
)
def test_after_two_unfit_answers_rules_give_theirs(server: ModelServer, first: str, outcome: ModelOutcome) -> None:
    scripted(server, first, "still wrong")
    result = extractor(server).observations(material(EDIT), nothing)
    assert result.outcomes == (outcome, ModelOutcome.REPAIR_FAIL, ModelOutcome.FALLBACK_USED)
    assert (result.by, result.error_class) == ("rules", ModelOutcome.PARSE_FAIL.value)
    assert [each.title for each in result.value] == ["Edited src/auth.py: TTL 3600 → 7200"]
    assert (result.prompt_tokens, result.completion_tokens, server.count) == (200, 40, 2)


@pytest.mark.parametrize(
    "reply, meant",
    [(refused(401), Trouble.AUTH_INVALID), (refused(500), Trouble.TRANSIENT), (refused(400), Trouble.UNRECOVERABLE)],
)
def test_6_without_an_answer_rules_give_theirs(server: ModelServer, reply: Reply, meant: Trouble) -> None:
    server.script = lambda _: reply
    result = extractor(server).observations(material(EDIT), nothing)
    assert (result.by, result.outcomes, result.error_class) == ("rules", (ModelOutcome.FALLBACK_USED,), meant.value)
    assert result.error is not None
    assert len(result.value) == 1


def test_6_without_a_model_rules_answer_and_nothing_is_amiss() -> None:
    result = Extractor().observations(material(EDIT), nothing)
    assert (result.by, result.outcomes) == ("rules", ())
    assert (result.error_class, result.error, result.prompt_tokens) == (None, None, 0)
    assert Extractor().model is None


def test_a_fence_around_the_answer_costs_nothing(server: ModelServer) -> None:
    scripted(server, f"```json\n{json.dumps(observation_answer([1]))}\n```")
    assert extractor(server).observations(material(EDIT), nothing).outcomes == (ModelOutcome.SUCCESS,)


def test_nothing_worth_remembering_is_a_success(server: ModelServer) -> None:
    scripted(server, '{"skip": true, "reason": "routine", "observations": []}')
    result = extractor(server).observations(material(EDIT), nothing)
    assert (result.value, result.by, result.outcomes) == ((), "model", (ModelOutcome.SUCCESS,))


def test_events_are_named_by_their_numbers_in_the_prompt(server: ModelServer) -> None:
    first, second = observation_answer([2])["observations"][0], observation_answer([1, 3])["observations"][0]
    scripted(server, json.dumps({"observations": [first, second]}))
    found = extractor(server).observations(material(EDIT, READ, TEST), nothing).value
    assert [each.events for each in found] == [(12,), (11, 13)]
    assert [each.files_modified for each in found] == [(), ("src/auth.py",)]


@pytest.mark.parametrize("numbers", [[], [0], [99], ["x"], None])
def test_numbers_that_name_no_event_mean_all_of_them(server: ModelServer, numbers: Any) -> None:
    scripted(server, json.dumps(observation_answer(numbers)))
    (found,) = extractor(server).observations(material(EDIT, READ), nothing).value
    assert found.events == (11, 12)


def test_a_change_that_the_model_passed_over_is_not_lost(server: ModelServer) -> None:
    scripted(server, json.dumps(observation_answer([2])))
    result = extractor(server).observations(material(EDIT, READ), nothing)
    assert [(each.title, each.events) for each in result.value] == [
        ("A scripted observation", (12,)),
        ("Edited src/auth.py: TTL 3600 → 7200", (11,)),
    ]
    assert result.by == "model"


def test_what_was_changed_is_never_the_models_word(server: ModelServer) -> None:
    claims = {"files_modified": ["/etc/passwd"], "files_read": ["/home/ana/shop/docs/a.md", "src/auth.py", "\x00", ""]}
    scripted(server, json.dumps(observation_answer([1], **claims)))
    (found,) = extractor(server).observations(material(EDIT), nothing).value
    assert found.files_modified == ("src/auth.py",)
    assert found.files_read == ("docs/a.md",)


@pytest.mark.parametrize("event, meant", [(EDIT, "change"), (READ, "discovery")])
def test_a_missing_type_follows_from_the_evidence(server: ModelServer, event: Any, meant: str) -> None:
    scripted(server, json.dumps(observation_answer([1], type="")))
    (found,) = extractor(server).observations(material(event), nothing).value
    assert found.type == meant


def test_an_observation_without_a_title_gets_one(server: ModelServer) -> None:
    scripted(server, json.dumps(observation_answer([1], title="", narrative="The cache\nwas cold.")))
    (found,) = extractor(server).observations(material(READ), nothing).value
    assert found.title == "The cache"


def test_beyond_the_budget_nobody_is_asked(server: ModelServer) -> None:
    wanted: list[int] = []

    def may_spend(tokens: int) -> bool:
        wanted.append(tokens)
        return False

    result = extractor(server, may_spend).observations(material(EDIT), nothing)
    assert (result.by, result.error_class, server.count) == ("rules", BUDGET, 0)
    assert 4_000 < wanted[0] < 10_000  # prompt and the longest answer


def test_a_repair_must_fit_the_budget_too(server: ModelServer) -> None:
    allowed = iter([True, False])
    scripted(server, "no json")
    result = extractor(server, lambda _: next(allowed)).observations(material(EDIT), nothing)
    assert result.outcomes == (ModelOutcome.PARSE_FAIL, ModelOutcome.FALLBACK_USED)
    assert (result.error_class, server.count) == (BUDGET, 1)


def test_what_a_cut_call_probably_cost_is_counted(server: ModelServer) -> None:
    server.script = lambda _: SILENCE
    asking = OpenAIModel("small", base_url=server.url, deadline_s=0.3)
    result = Extractor(asking).observations(material(EDIT), nothing)
    assert result.error_class == Trouble.TRANSIENT.value
    assert result.prompt_tokens > 300
    assert result.model_ms >= 250


def test_an_interruption_is_not_taken_for_a_failure(server: ModelServer) -> None:
    class Stopped(Exception):
        pass

    def check() -> None:
        raise Stopped

    for distilling in (extractor(server), Extractor(Away())):
        with pytest.raises(Stopped):
            distilling.observations(material(EDIT), check)
    assert server.count == 0


class Away:
    """A model that is never there."""

    name = "away"

    def answer(self, prompt: ModelPrompt, check: Check) -> Completion:
        raise Unanswered("away", Trouble.TRANSIENT, hint="wait")


def test_the_error_says_what_to_do() -> None:
    result = Extractor(Away()).summary(material(EDIT), "Done.", nothing)
    assert (result.error, result.by) == ("away (wait)", "rules")


def test_a_summary_by_the_model(server: ModelServer) -> None:
    seen: list[Asked] = []

    def script(asked: Asked) -> Reply:
        seen.append(asked)
        return said(json.dumps(summary_answer(next_steps="发布")))

    server.script = script
    result = extractor(server).summary(material(EDIT, READ, prompt="把令牌改成两小时"), "改好了。", nothing)
    assert (result.by, result.outcomes) == ("model", (ModelOutcome.SUCCESS,))
    assert result.value is not None
    assert result.value.next_steps == "发布"
    assert "编辑 src/auth.py：TTL 3600 → 7200" in seen[0].prompt
    assert "改好了。" in seen[0].prompt
    assert "Simplified Chinese" in seen[0].prompt


def test_a_turn_that_is_not_worth_a_summary_has_none(server: ModelServer) -> None:
    scripted(server, '{"skip": true, "reason": "a greeting"}')
    result = extractor(server).summary(material(READ), "Hello!", nothing)
    assert (result.value, result.by, result.outcomes) == (None, "model", (ModelOutcome.SUCCESS,))


def test_an_empty_turn_asks_nobody(server: ModelServer) -> None:
    assert extractor(server).summary(material(prompt=""), " ", nothing).value is None
    assert extractor(server).observations(material(), nothing).value == ()
    assert server.count == 0
