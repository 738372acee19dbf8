"""Whatever a model says: a run ends within its bounds, and its journal alone leads to the same end again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codexmem.kernel.llm.chat import ChatMessage, ChatReply, ChatTool, ToolCall, distinct
from codexmem.kernel.llm.model import Check
from codexmem.kernel.model.event import TRACED
from codexmem.lab.model import Run, RunOutput, RunStatus, RunTask
from codexmem.lab.service.agent import Rejected
from codexmem.lab.service.agent.recap import Recap
from codexmem.lab.service.agent.tools import RunBudget, Toolbox
from codexmem.lab.service.journal import Journal
from codexmem.lab.service.profiles import RunLimits, load
from tests._support.lab_desk import SmallBank, SmallLibrary
from tests.services.lab.agent.conftest import PROFILES, TEXTS

LIMITS = RunLimits(depth=2, steps=9, task_steps=4, repairs=2, context_tokens=4_000)
BAKERY = replace(load(str(PROFILES / "bakery.toml")), limits=LIMITS)
LOAF = BAKERY.example_output["loaves"][0]
GOOD = {"loaves": [LOAF], "warnings": ["参见 [C1]"]}


class Memory(Journal):
    """A journal in memory, which loses nothing and masks nothing."""

    def __init__(self) -> None:
        self.steps: dict[str, str] = {}
        self.events: list[str] = []

    def done(self, key: str) -> dict[str, Any] | None:
        return json.loads(self.steps[key]) if key in self.steps else None

    def record(self, key: str, result: Mapping[str, object], *events: Any) -> dict[str, Any]:
        assert key not in self.steps
        assert 0 < len(key) <= 200
        assert all(each in TRACED for each, _ in events)
        self.steps[key] = json.dumps(result)
        self.events += [each.value for each, _ in events]
        kept: dict[str, Any] = json.loads(self.steps[key])
        return kept

    def note(self, type: Any, payload: Mapping[str, object]) -> str:
        json.dumps(payload)
        self.events.append(type.value)
        return "evt"

    def check(self) -> None:
        pass


@dataclass
class Fixed:
    """Says what it was given, in order; then it submits what is right."""

    replies: Sequence[tuple[str, list[ToolCall]]]
    at: int = 0
    name: str = "fixed"
    largest: int = field(default=0)

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[ChatTool], *, temperature: float, max_tokens: int,
              check: Check, deadline_s: float | None = None) -> ChatReply:  # fmt: skip
        said = (json.dumps(GOOD), []) if self.at >= len(self.replies) else self.replies[self.at]
        self.at += 1
        ids = [call.id for message in messages for call in message.tool_calls]
        answered = [message.tool_call_id for message in messages if message.role == "tool"]
        assert ids == answered  # servers refuse a conversation in which a call has no result
        self.largest = max(self.largest, len(messages))
        return ChatReply(said[0], distinct(said[1]), 10, 5)


def task() -> RunTask:
    run = Run("run_1", "batch_1", 1, RunStatus.RUNNING, 0, 0, None, None, None, None, None, None, 0, 1, {})
    return RunTask(run, "想要面包", 1, 0.5, False, {})


def ended(journal: Memory, model: Fixed, library: SmallLibrary) -> RunOutput | str:
    budget = RunBudget(LIMITS)
    tools = Toolbox(BAKERY, journal, library.shelf(task()), SmallBank(), budget)
    try:
        return Recap(task(), journal, BAKERY, model, tools, budget).run()
    except Rejected as error:
        return str(error)


ARGUMENTS = st.sampled_from([
    {}, {"query": "steam"}, {"query": "黑麦", "namespace": "kb_flours"}, {"alias": "C1"}, {"alias": "C9"}, [], "x",
    {"role": "dough_maker", "task": "再想想"}, {"role": "miller", "task": "?"}, {"think": "想", "subtasks": ["一"]},
    None, {"subtasks": 3}, {"limit": 10**30}, {"limit": 1.5}, {"mem_id": "mem:x"}, GOOD, GOOD | {"warnings": ["[C77]"]},
])  # fmt: skip
NAMES = st.sampled_from([
    "plan", "delegate", "delegate", "submit", "kb_query", "kb_get", "kb_list", "mem_search", "mem_get", "mem_list",
    "sh", "",
])  # fmt: skip
CALLS = st.builds(
    lambda name, given, broken: ToolCall("same", name, json.dumps(given)[: 5 if broken else None]),
    NAMES, ARGUMENTS, st.booleans(),
)  # fmt: skip
REPLIES = st.lists(
    st.tuples(st.sampled_from(["", "想", "{", "[]", json.dumps(GOOD)]), st.lists(CALLS, max_size=4)), max_size=14
)


@settings(max_examples=160, deadline=None, derandomize=True)
@given(replies=REPLIES, crash=st.integers(0, 40))
@pytest.mark.slow
def test_any_model_is_bounded_and_any_crash_leads_to_the_same_end(
    replies: list[tuple[str, list[ToolCall]]], crash: int
) -> None:
    whole, model, library = Memory(), Fixed(replies), SmallLibrary(TEXTS)
    end = ended(whole, model, library)
    assert model.at <= LIMITS.steps + LIMITS.repairs
    assert whole.events.count("llm_request") == whole.events.count("llm_response") == model.at
    if isinstance(end, RunOutput):
        assert end.citations.keys() <= {f"C{number}" for number in range(1, 9)}
    # As if the process had ended after some of the steps were recorded: the rest is done, nothing is done again.
    halved, kept = Memory(), list(whole.steps.items())[:crash]
    halved.steps = dict(kept)
    rest = Fixed(replies, at=sum(1 for key, _ in kept if key.startswith("model:")))
    assert ended(halved, rest, library) == end
    assert halved.steps.keys() == whole.steps.keys()
    assert rest.at == model.at


def test_the_journal_alone_is_enough() -> None:
    whole, library = Memory(), SmallLibrary(TEXTS)
    down = [
        ToolCall("a", "delegate", '{"role": "dough_maker", "task": "?"}'),
        ToolCall("b", "kb_query", '{"query": "x"}'),
    ]
    end = ended(whole, Fixed([("", down), ("", down[:1]), ("报告", [])]), library)
    assert isinstance(end, RunOutput)
    silent = Fixed([], at=10**6)
    before = dict(whole.steps)
    assert ended(whole, silent, library) == end
    assert silent.at == 10**6
    assert whole.steps == before
