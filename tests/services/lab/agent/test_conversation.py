"""A conversation within a prompt's room: what stays, what shrinks, what is left out."""

from __future__ import annotations

import pytest

from codexmem.kernel.llm.chat import ToolCall, spoken
from codexmem.kernel.model.text_size import tokens
from codexmem.lab.service.agent.wording import Conversation, ConversationStep, RolePlan, ToolCallResult


def step(number: int, chars: int, *, arguments: str = "{}") -> ConversationStep:
    call = ToolCall(f"c{number}", "kb_query", arguments)
    return ConversationStep(
        f"thought {number}", [ToolCallResult(call, f"long {number} " + "x" * chars, f"short {number}")]
    )


def talk(*steps: ConversationStep) -> Conversation:
    return Conversation("You are an expert.", "# Task\n找铜", list(steps), RolePlan("first", ("one",)))


def test_everything_is_there_while_it_fits() -> None:
    messages = talk(step(1, 100), step(2, 100)).prompt("reminder", 5_000)
    assert [message.role for message in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "user",
    ]
    assert "long 1" in messages[3].content
    assert messages[-1].content == "reminder"
    assert messages[3].tool_call_id == messages[2].tool_calls[0].id


def test_the_oldest_results_shrink_first() -> None:
    messages = talk(step(1, 4_000), step(2, 4_000), step(3, 4_000)).prompt("reminder", 2_300)
    assert [message.content[:7] for message in messages if message.role == "tool"] == ["short 1", "long 2 ", "long 3 "]


def test_then_steps_are_left_out_and_the_prompt_says_so() -> None:
    many = talk(*(step(number, 4_000) for number in range(200)))
    messages = many.prompt("reminder", 1_500)
    assert tokens(spoken(messages)) < 1_500
    assert "earlier steps are left out" in messages[1].content
    assert messages[1].content.startswith("# Task\n找铜")
    assert messages[-2].content == "short 199"
    assert many.prompt("reminder", 1_500) == messages


@pytest.mark.parametrize("count", [0, 1])
def test_the_last_step_and_the_reminder_always_stay(count: int) -> None:
    messages = talk(*(step(number, 50_000) for number in range(count))).prompt("reminder", 10)
    assert messages[0].role == "system"
    assert "reminder" in messages[-1].content
    assert len(messages) == (5 if count else 2)


def test_long_arguments_are_shown_again_in_the_last_step_only() -> None:
    whole = '{"recipes": "' + "x" * 5_000 + '"}'
    messages = talk(step(1, 1, arguments=whole), step(2, 1, arguments=whole)).prompt("", 20_000)
    calls = [call.arguments for message in messages for call in message.tool_calls]
    assert calls == ['{"left_out": "too long"}', whole]
    messages = talk(step(1, 1, arguments='"' + "x" * 500_000 + '"')).prompt("", 20_000)
    assert tokens(spoken(messages)) < 1_000
