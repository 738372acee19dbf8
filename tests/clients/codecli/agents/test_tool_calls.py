"""Tool calls in whatever shape an agent or a model API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from codexmem.codecli.agents.generic import UNKNOWN, EventsWatcher, LinesWatcher, Mapped, refusal_line
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    Noticed,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

RM = "rm -rf /"
GIVEN = {"command": RM}
TEXT = json.dumps(GIVEN)

# Each is a list of lines; every one asks for one tool that runs `rm -rf /`.
SHAPES: dict[str, list[Any]] = {
    "flat": [{"tool": "shell", "arguments": GIVEN}],
    "flat, as Gemini CLI": [{"type": "tool_use", "tool_name": "shell", "tool_id": "1", "parameters": GIVEN}],
    "type tool_call": [{"type": "tool_call", "name": "shell", "arguments": GIVEN}],
    "type tool_call, arguments as text": [{"type": "tool_call", "id": "1", "tool": "shell", "args": TEXT}],
    "tool_call inside": [{"type": "event", "tool_call": {"name": "shell", "input": GIVEN}}],
    "tool-call of the AI SDK": [{"type": "tool-call", "toolCallId": "1", "toolName": "shell", "input": GIVEN}],
    "Anthropic tool_use": [{"type": "tool_use", "id": "1", "name": "shell", "input": GIVEN}],
    "Anthropic message": [{"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "text", "text": "well"}, {"type": "tool_use", "id": "1", "name": "shell", "input": GIVEN}]}}],
    "Anthropic stream": [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {
            "type": "tool_use", "id": "1", "name": "shell", "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": TEXT[:9]}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": TEXT[9:]}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "1", "name": "shell",
                                                       "input": GIVEN}]}}],
    "OpenAI function_call": [{"type": "function_call", "call_id": "1", "name": "shell", "arguments": TEXT}],
    "OpenAI function_call, old": [{"role": "assistant", "function_call": {"name": "shell", "arguments": TEXT}}],
    "OpenAI tool_calls": [{"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "shell", "arguments": TEXT}}]}],
    "OpenAI choices": [{"choices": [{"message": {"tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "shell", "arguments": TEXT}}]}}]}],
    "OpenAI stream": [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [
            {"index": 0, "id": "1", "type": "function", "function": {"name": "shell", "arguments": ""}}]}}]},
        *({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": letter}}]}}]}
          for letter in TEXT),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}],
    "OpenAI responses": [
        {"type": "response.output_item.added", "output_index": 0, "item": {
            "type": "function_call", "id": "fc", "call_id": "1", "name": "shell", "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": TEXT[:5]},
        {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": TEXT[5:]},
        {"type": "response.function_call_arguments.done", "item_id": "fc", "arguments": TEXT},
        {"type": "response.output_item.done", "item": {
            "type": "function_call", "id": "fc", "call_id": "1", "name": "shell", "arguments": TEXT}},
        {"type": "response.completed", "response": {"output": [
            {"type": "function_call", "id": "fc", "call_id": "1", "name": "shell", "arguments": TEXT}]}}],
    "OpenAI local shell": [{"type": "local_shell_call", "call_id": "1", "action": {
        "type": "exec", "command": ["rm", "-rf", "/"]}}],
    "Codex item": [
        {"type": "item.started", "item": {"id": "item_1", "type": "command_execution", "command": RM,
                                          "status": "in_progress"}},
        {"type": "item.completed", "item": {"id": "item_1", "type": "command_execution", "command": RM,
                                            "exit_code": 0, "status": "completed"}}],
    "Codex event": [{"id": "0", "msg": {"type": "exec_command_begin", "call_id": "1", "command": ["rm", "-rf", "/"]}}],
    "Gemini API": [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "shell", "args": GIVEN}}]}}]}],
    "event and data": [{"event": "tool_call", "data": {"name": "shell", "arguments": GIVEN}}],
    "OpenCode": [{"type": "tool_use", "part": {"type": "tool", "tool": "shell", "callID": "1", "state": {
        "status": "running", "input": GIVEN}}}],
    "Cursor": [{"type": "tool_call", "subtype": "started", "call_id": "1", "tool_call": {
        "shellToolCall": {"args": GIVEN}}}],
    "Agent Client Protocol": [{"jsonrpc": "2.0", "method": "session/update", "params": {"update": {
        "sessionUpdate": "tool_call", "toolCallId": "1", "title": "shell", "kind": "execute", "rawInput": GIVEN}}}],
    "MCP": [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "shell", "arguments": GIVEN}}],
    "list on a line": [[{"type": "text", "text": "x"}, {"type": "tool_use", "name": "shell", "input": GIVEN}]],
    "a new name for it": [{"type": "tool_call_requested", "name": "shell", "arguments": GIVEN}],
}  # fmt: skip
# What looks like a call and cannot be read as one.
ODD: dict[str, bytes] = {
    "no name": b'{"type": "tool_use", "id": "1", "input": {"command": "rm -rf /"}}',
    "a name that nobody knows": b'{"type": "tool_invocation_request", "what": {"do": "rm -rf /"}}',
    "no object": b'{"tool_calls": ["rm -rf /"]}',
    "cut off": b'{"type": "tool_use", "name": "shell", "input": {"command": "rm -rf',
}
# What only speaks of tools.
QUIET: dict[str, Any] = {
    "definitions": {"type": "system", "subtype": "init", "tools": [
        {"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}], "tool_choice": "auto"},
    "text": {"type": "assistant", "message": {"content": [{"type": "text", "text": '{"type":"tool_use"}'}]}},
    "a reason to stop": {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"tool_use": 3}},
    "usage": {"type": "result", "usage": {"server_tool_use": {"web_search_requests": 0}}, "permission_denials": []},
    "nothing": {"role": "assistant", "content": "hi", "tool_calls": [], "function_call": None},
}  # fmt: skip


def refuse(request: ToolRequest) -> ToolDecision:
    return ToolDecision(Verdict.DENY, "no")


def lines(values: Iterable[Any], piece: int = 1 << 20) -> list[Happening]:
    watcher = LinesWatcher(Mapped({}, agent="a", cwd="/repo", decide=refuse))
    stream = b"".join(value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n" for value in values)
    pieces = [stream[at : at + piece] for at in range(0, len(stream), piece)]
    return [*(each for part in pieces for each in watcher.feed(part)), *watcher.close()]


def events(values: Iterable[Any], *, named: bool) -> list[Happening]:
    watcher = EventsWatcher(Mapped({}, agent="a", cwd="/repo", decide=refuse))
    stream = ""
    for value in values:
        name = f"event: {value['type']}\n" if named and isinstance(value, dict) and "type" in value else ""
        stream += f"{name}data: {json.dumps(value)}\n\n"
    return [*watcher.feed(f"{stream}data: [DONE]\n\n".encode()), *watcher.close()]


def asked(found: Iterable[Happening]) -> list[ToolRequest]:
    assert not any(isinstance(each, ToolStarted) for each in found)
    return [each.request for each in found if isinstance(each, ToolDecided)]


@pytest.mark.clause("001 §5.1", "a tool call is recognised in JSON lines in every usual shape, and asked about once")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("piece", [7, 1 << 20])
def test_each_shape_is_one_request_in_lines(shape: str, piece: int) -> None:
    found = lines(SHAPES[shape], piece)
    (request,) = asked(found)
    assert (request.command, request.agent, request.cwd) == (RM, "a", "/repo")
    assert request.tool in {"shell", "Bash"}
    assert not any(isinstance(each, Noticed) for each in found)
    assert not any(RM in each.text for each in found if isinstance(each, AgentMessage))


@pytest.mark.clause("001 §5.1", "a tool call is recognised in server-sent events in every usual shape")
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "list on a line"])
@pytest.mark.parametrize("named", [True, False])
def test_each_shape_is_one_request_in_events(shape: str, named: bool) -> None:
    (request,) = asked(events(SHAPES[shape], named=named))
    assert request.command == RM


@pytest.mark.clause("001 §5.1", "an event whose name says that it is a tool call is one")
def test_the_name_of_an_event_is_enough() -> None:
    watcher = EventsWatcher(Mapped({}, agent="a", cwd="/repo", decide=refuse))
    found = list(watcher.feed(b'event: tool_call\ndata: {"name": "shell", "arguments": {"command": "rm -rf /"}}\n\n'))
    (request,) = asked(found)
    assert request.command == RM
    odd = list(watcher.feed(b"event: tool_call\ndata: rm -rf /\n\n"))
    assert [request.tool for request in asked(odd)] == [UNKNOWN]
    assert any(isinstance(each, Noticed) for each in odd)


@pytest.mark.clause("001 §5.1", "what looks like a tool call and cannot be read is told and asked about as unknown")
@pytest.mark.parametrize("shape", ODD)
def test_what_is_not_understood_is_never_silent(shape: str) -> None:
    found = lines([ODD[shape]])
    (request,) = asked(found)
    assert (request.tool, request.from_text) == (UNKNOWN, True)
    assert any(isinstance(each, Noticed) for each in found)
    assert "rm -rf" in json.dumps(request.arguments)


def test_a_line_that_is_too_long_is_told() -> None:
    found = lines([b'{"type": "tool_use", "input": "' + b"x" * (9 << 20) + b'"}\n', {"text": "on"}])
    assert [request.tool for request in asked(found)] == [UNKNOWN]
    assert AgentMessage("on") in found


@pytest.mark.parametrize("shape", QUIET)
def test_what_only_speaks_of_tools_is_no_call(shape: str) -> None:
    found = lines([QUIET[shape]])
    assert [each for each in found if not isinstance(each, AgentMessage)] == []


def test_several_calls_and_their_ends() -> None:
    found = lines([
        {"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}},
                        {"id": "2", "function": {"name": "b", "arguments": {"path": "x"}}}]},
        {"role": "tool", "tool_call_id": "1", "content": "fine"},
        {"type": "tool_result", "tool_use_id": "2", "is_error": True},
        {"type": "function_call_output", "call_id": "3", "output": "x"},
        {"tool": "c", "ok": False, "call_id": "4"}, {"success": True, "call_id": "5"},
        {"type": "item.completed", "item": {"id": "6", "type": "mcp_tool_call", "server": "s", "tool": "t",
                                            "arguments": {"q": 1}, "status": "failed"}},
        {"error": {"message": "over"}},
    ])  # fmt: skip
    assert [(request.tool, request.call_id) for request in asked(found)] == [("a", "1"), ("b", "2"), ("mcp__s__t", "6")]
    assert [(each.call_id, each.ok) for each in found if isinstance(each, ToolEnded)] == [
        ("1", True), ("2", False), ("3", True), ("4", False), ("5", True), ("6", False)]  # fmt: skip
    assert found[-1] == TurnEnded(False, "over")


def test_calls_that_interleave_are_kept_apart() -> None:
    def part(index: int, text: str, **more: Any) -> dict[str, Any]:
        function = {"arguments": text, **({"name": more["name"]} if "name" in more else {})}
        return {"choices": [{"delta": {"tool_calls": [{"index": index, "id": more.get("id"), "function": function}]}}]}

    found = lines([part(0, "", name="a", id="1"), part(1, "", name="b", id="2"), part(0, '{"command":'),
                   part(1, '{"command": "two"}'), part(0, ' "one"}'), part(2, '{"no": "name"}'),
                   part(3, "", name="c", id="3")])  # fmt: skip
    assert [(request.tool, request.command) for request in asked(found)] == [
        ("b", "two"), ("a", "one"), (UNKNOWN, ""), ("c", "")]  # fmt: skip


def test_a_refusal_can_be_read_by_whoever_asked() -> None:
    told = json.loads(refusal_line(ToolRequest("shell", call_id="7"), ToolDecision(Verdict.DENY, "不行")))
    assert (told["tool_use_id"], told["tool_call_id"], told["call_id"]) == ("7", "7", "7")
    assert (told["is_error"], told["type"]) == (True, "tool_result")
    assert "不行" in told["content"]


def test_hostile_values_are_read_to_their_end() -> None:
    deep: Any = {"type": "tool_use", "name": "x"}
    for _ in range(400):
        deep = {"a": [deep]}
    wide = {"x": [{"type": "t", "n": [1, 2]} for _ in range(30_000)]}
    open_calls = [{"choices": [{"delta": {"tool_calls": [{"index": at, "function": {"arguments": "{"}}]}}]}
                  for at in range(2_000)]  # fmt: skip
    lines([deep])
    assert any(isinstance(each, Noticed) for each in lines([wide]))
    assert len(asked(lines(open_calls))) == 2_000
