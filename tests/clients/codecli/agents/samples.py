"""Messages as agents send them, and the same spoilt in every way: for tests that nothing can go wrong with them."""

from __future__ import annotations

import json
import random
from typing import Any

ASKED = {"threadId": "t", "turnId": "u", "itemId": "call_1", "startedAtMs": 1}
RAN = {"type": "commandExecution", "id": "call_1", "command": "/bin/bash -lc 'rm x'", "cwd": "/repo", "exitCode": 0,
       "status": "completed", "durationMs": 5}  # fmt: skip
PATCHED = {"type": "fileChange", "id": "call_2", "changes": [{"path": "/repo/a", "kind": {"type": "add"}, "diff": "x"}]}
CALLED = {"toolCallId": "call_1", "status": "pending", "title": "touch a", "kind": "execute", "locations": [],
          "rawInput": {"command": "touch a"}, "_meta": {"toolName": "run_shell_command"}}  # fmt: skip
OPTIONS = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]

EXEC: list[Any] = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.started", "item": {"id": "item_1", "type": "command_execution", "command": "ls", "exit_code": None}},
    {"type": "item.completed", "item": {"id": "item_1", "type": "command_execution", "command": "ls", "exit_code": 0,
                                        "status": "completed"}},
    {"type": "item.completed", "item": {"id": "i", "type": "file_change", "changes": [{"path": "a", "kind": "add"}]}},
    {"type": "item.completed", "item": {"id": "i", "type": "mcp_tool_call", "server": "s", "tool": "t", "error": None}},
    {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "好"}},
    {"type": "item.completed", "item": {"id": "i", "type": "error", "message": "a warning"}},
    {"type": "error", "message": "Reconnecting... 1/5"},
    {"type": "turn.completed", "usage": {}},
    {"type": "turn.failed", "error": {"message": "no"}},
]  # fmt: skip
APP_SERVER: list[Any] = [
    {"id": "mem-codecli-1", "result": {"thread": {"id": "t"}}},
    {"id": "mem-codecli-2", "error": {"code": 1, "message": "no"}},
    {"method": "item/started", "params": {"item": RAN, "threadId": "t", "turnId": "u"}},
    {"method": "item/started", "params": {"item": PATCHED}},
    {"method": "item/started", "params": {"item": {"type": "mcpToolCall", "id": "call_3", "server": "s", "tool": "t"}}},
    {"method": "item/completed", "params": {"item": RAN}},
    {"method": "item/completed", "params": {"item": {"type": "agentMessage", "id": "m", "text": "好"}}},
    {"method": "item/agentMessage/delta", "params": {"itemId": "m", "delta": "好"}},
    {"id": 1, "method": "item/commandExecution/requestApproval", "params": {**ASKED, "command": "bash -lc 'rm x'"}},
    {"id": 2, "method": "item/fileChange/requestApproval", "params": {**ASKED, "itemId": "call_2"}},
    {"id": 3, "method": "item/permissions/requestApproval", "params": {**ASKED, "permissions": {"network": {}}}},
    {"id": 4, "method": "mcpServer/elicitation/request",
     "params": {"serverName": "s", "_meta": {"codex_approval_kind": "mcp_tool_call", "tool_params": {"a": 1}}}},
    {"id": 5, "method": "execCommandApproval", "params": {"command": ["rm", "x"], "callId": "c"}},
    {"id": 6, "method": "applyPatchApproval", "params": {"fileChanges": {"a": {"type": "add"}}}},
    {"id": 7, "method": "item/tool/requestUserInput", "params": {}},
    {"method": "turn/completed", "params": {"turn": {"id": "u", "status": "failed", "error": {"message": "no"}}}},
    {"id": 8, "method": "thread/start", "params": {"developerInstructions": "own"}},
    {"id": 9, "method": "turn/start", "params": {"threadId": "t", "input": [{"type": "text", "text": "go"}]}},
    {"id": 10, "method": "turn/steer", "params": {"input": [{"type": "text", "text": "go"}]}},
]  # fmt: skip
ACP: list[Any] = [
    {"jsonrpc": "2.0", "id": "mem-codecli-1", "result": {"protocolVersion": 1}},
    {"jsonrpc": "2.0", "id": "mem-codecli-2", "result": {"sessionId": "s"}},
    {"jsonrpc": "2.0", "id": "mem-codecli-3", "result": {"stopReason": "end_turn"}},
    {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call", **CALLED}}},
    {"method": "session/update", "params": {"sessionId": "s", "update": {
        "sessionUpdate": "tool_call_update", "toolCallId": "call_1", "status": "failed"}}},
    {"method": "session/update", "params": {"sessionId": "s", "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "好"}}}},
    {"id": 0, "method": "session/request_permission",
     "params": {"sessionId": "s", "toolCall": CALLED, "options": OPTIONS}},
    {"id": 1, "method": "fs/read_text_file", "params": {"path": "a"}},
    {"id": "p", "method": "session/prompt", "params": {"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]}},
    {"id": "p", "result": {"stopReason": "end_turn"}},
    {"method": "session/cancel", "params": {"sessionId": "s"}},
]  # fmt: skip
CLAUDE: list[Any] = [
    {"type": "system", "subtype": "init"},
    {"type": "assistant", "message": {"id": "m", "content": [
        {"type": "text", "text": "好"}, {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "rm"}}]}},
    {"type": "assistant", "message": {"id": "m", "content": "好"}},
    {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}},
    {"type": "user", "message": {"role": "user", "content": "go"}},
    {"type": "stream_event", "event": {"type": "message_start", "message": {"id": "m"}}},
    {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "好"}}},
    {"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}},
    {"type": "control_request", "request_id": "r", "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "c", "input": {"command": "rm"}}},
    {"type": "control_response", "response": {"subtype": "success", "request_id": "mem-codecli-initialize"}},
    {"type": "result", "subtype": "success", "is_error": False, "result": "好"},
]  # fmt: skip
GENERIC: list[Any] = [
    {"text": "好", "done": True},
    {"tool": "rm", "arguments": {"path": "a"}, "call_id": "c", "server": "s"},
    {"tool_call": {"name": "rm", "input": {}, "id": "c"}},
    {"call_id": "c", "ok": False},
    {"choices": [{"delta": {"content": "好"}}], "error": {"message": "no"}},
]
TEXTS = [b"TOOL_REQUEST: rm x", b"\x1b[31mTOOL_REQUEST:\x1b[0m {\"tool\": \"rm\"}", b"TOOL_REQUEST:",
         b"TOOL_REQUEST: {", b"words", b"data: [DONE]", b"data", b": x", b"\xff\xfe", b"", b"\r", b"\x1b]0;",
         b"[" * 3000, b"{", b"9" * 5000, b'{"id":1e999}', b"\xef\xbb\xbf{}"]  # fmt: skip
JUNK: list[Any] = [None, True, 0, -1, 1e300, "", "x", "\ud800", [], {}, [None], [[]], {"a": 1}, "mem-codecli-1", 10**30]


def spoilt(value: Any, chance: random.Random, rate: float = 0.12) -> Any:
    """The value with parts of it replaced or missing."""
    if chance.random() < rate:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        return {key: spoilt(each, chance) for key, each in value.items() if chance.random() > rate / 2}
    if isinstance(value, list):
        return [spoilt(each, chance) for each in value]
    return value


def lines(samples: list[Any], chance: random.Random) -> list[bytes]:
    """Some lines of a conversation, sound and spoilt."""
    made: list[bytes] = []
    for _ in range(chance.randint(1, 12)):
        if chance.random() < 0.2:
            made.append(chance.choice(TEXTS))
            continue
        sample = chance.choice(samples)
        text = json.dumps(sample if chance.random() < 0.3 else spoilt(sample, chance)).encode()
        made.append(text if chance.random() > 0.05 else text[: chance.randint(0, len(text))])
    return made
