"""The scripted model plays its script the same way however often it is asked, and refuses what it cannot play."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests._support.scripted_model import Call, Say, ScriptedModel

TOOLS = [
    {"type": "function", "name": "shell"},
    {"type": "namespace", "name": "mcp__codexmem", "tools": [{"type": "function", "name": "search"}]},
    {"type": "custom", "name": "apply_patch"},
]
DONE = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
SCRIPT = (
    Call("shell", {"command": "ls"}),
    Call("mcp__codexmem__search", {"query": "端口"}),
    Call("apply_patch", source="*** Begin Patch"),
    Say("完成。"),
)


def ask(model: ScriptedModel, path: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{model.url}{path}", json={"model": "scripted", **body}, timeout=10, trust_env=False)


def played(model: ScriptedModel, results: int) -> dict[str, Any]:
    answer = ask(model, "/responses", tools=TOOLS, input=[DONE] * results)
    item: dict[str, Any] = answer.json()["output"][0]
    return item


def test_the_number_of_results_chooses_the_step(model: ScriptedModel) -> None:
    model.play(*SCRIPT)
    steps = [played(model, results) for results in (0, 1, 2, 3, 3, 0)]
    assert [step["type"] for step in steps] == [
        "function_call", "function_call", "custom_tool_call", "message", "message", "function_call",
    ]  # fmt: skip
    assert (steps[1]["namespace"], steps[1]["name"]) == ("mcp__codexmem", "search")
    assert json.loads(steps[1]["arguments"]) == {"query": "端口"}
    assert steps[2]["input"] == "*** Begin Patch"
    assert steps[3]["content"][0]["text"] == "完成。"
    assert len(model.asked) == 6


def test_a_stream_ends_with_the_whole_response(model: ScriptedModel) -> None:
    model.play(Say("done"))
    answer = ask(model, "/responses", tools=TOOLS, input=[], stream=True)
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert [event["type"] for event in events] == [
        "response.created", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert events[-1]["response"]["output"] == [events[1]["item"]]


def test_chat_completions_streamed_and_whole(model: ScriptedModel) -> None:
    model.play(Call("shell", {"command": "ls"}), Say("done"))
    tools = [{"type": "function", "function": {"name": "shell"}}]
    whole = ask(model, "/chat/completions", tools=tools, messages=[{"role": "user", "content": "list"}]).json()
    assert whole["choices"][0]["message"]["tool_calls"][0]["function"] == {
        "name": "shell", "arguments": '{"command": "ls"}',
    }  # fmt: skip
    streamed = ask(model, "/chat/completions", tools=tools, messages=[{"role": "tool", "content": "a"}], stream=True)
    lines = [line.removeprefix("data: ") for line in streamed.text.splitlines() if line]
    assert lines[-1] == "[DONE]"
    assert json.loads(lines[0])["choices"][0]["delta"]["content"] == "done"


def test_a_request_without_tools_is_an_aside(model: ScriptedModel) -> None:
    model.play(Call("shell"))
    aside = ask(model, "/chat/completions", messages=[{"role": "user", "content": "a title, please"}]).json()
    assert aside["choices"][0]["message"]["content"] == model.aside


def test_a_tool_that_is_not_offered_is_an_error(model: ScriptedModel) -> None:
    model.play(Call("no_such_tool"))
    answer = ask(model, "/responses", tools=TOOLS, input=[])
    assert answer.status_code == 400
    assert "no_such_tool" in answer.json()["error"]["message"]
