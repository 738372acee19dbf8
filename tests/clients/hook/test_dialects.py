"""What each agent says, and what the server is told of it. The payloads are as the agents send them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codexmem import agents
from codexmem.hook.events import body_of
from codexmem.kernel.model.own_tools import OTHERWISE

PAYLOADS = Path(__file__).parent / "payloads"
CODEX, CLAUDE = "0199a213-81c0-7800-8aa1-bbab2a035a53", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
GEMINI, QWEN = "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
COPILOT, KIMI = "0c5a6e60-805f-4347-b013-c0ce447a4166", "session_7a9dcee8-9602-4825-8dd8-c764df276ac4"
CURSOR = "668320d2-2fd8-4888-b33c-2a466fec86e7"

# payload, platform, event, what the server is told (besides session, folder, transcript and turn), or None for nothing
TOLD: list[tuple[str, str, str, dict[str, Any] | None]] = [
    ("codex-user-prompt-submit", "codex", "session-init", {"prompt": "Which port does the service use?"}),
    ("codex-post-tool-use-bash", "codex", "observation", {
        "tool_name": "Bash", "tool_input": {"command": "grep -rn port src"},
        "tool_response": "src/server.py:12: PORT = 8123\n", "tool_use_id": "call_1"}),
    ("codex-post-tool-use-patch", "codex", "observation", {
        "tool_name": "apply_patch", "tool_use_id": "call_2",
        "tool_input": {"command": "*** Begin Patch\n*** Update File: src/server.py\n@@\n-PORT = 8123\n+PORT = 8124\n"
                       "*** End Patch"},
        "tool_response": "Success. Updated the following files:\nM src/server.py\n"}),
    ("codex-post-tool-use-mcp", "codex", "observation", {
        "tool_name": "mcp__issues__find", "tool_input": {"query": "port"}, "tool_use_id": "call_3",
        "tool_response": {"content": [{"type": "text", "text": "#12 port clash"}], "structuredContent": None,
                          "isError": False}}),
    ("codex-post-tool-use-own", "codex", "observation", None),
    ("codex-stop", "codex", "summarize", {"last_assistant_message": "The port is 8123."}),
    ("codex-stop-goes-on", "codex", "summarize", None),
    ("codex-session-end", "codex", "session-complete", {}),
    ("claude-user-prompt-submit", "claude-code", "session-init", {"prompt": "修复登录超时的问题"}),
    ("claude-post-tool-use-read", "claude-code", "observation", {
        "tool_name": "Read", "tool_input": {"file_path": "/home/me/shop/src/login.py"}, "tool_use_id": "toolu_01A",
        "tool_response": {"type": "text", "file": {"filePath": "/home/me/shop/src/login.py",
                                                   "content": "TIMEOUT = 3\n", "numLines": 1}}}),
    ("claude-post-tool-use-env", "claude-code", "observation", {
        "tool_name": "Read", "tool_input": {"file_path": "/home/me/shop/.env"}, "tool_use_id": "toolu_01E",
        "tool_response": "[REDACTED:file]"}),
    ("claude-post-tool-use-failure", "claude-code", "observation", {
        "tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_response": {"error": "Exit code 2"},
        "tool_use_id": "toolu_01B", "agent_id": "agent-7"}),
    ("claude-stop", "claude-code", "summarize", {"last_assistant_message": "已把超时改为 30 秒。"}),
    ("claude-subagent-stop", "claude-code", "summarize", None),
    ("claude-session-end", "claude-code", "session-complete", {}),
    ("gemini-before-agent", "gemini-cli", "session-init", {"prompt": "Which port is it?"}),
    ("gemini-after-tool-shell", "gemini-cli", "observation", {
        "tool_name": "run_shell_command", "tool_input": {"command": "ls"},
        "tool_response": {"output": "a.py", "exit_code": 0}}),
    ("gemini-after-tool-mcp", "gemini-cli", "observation", {
        "tool_name": "mcp_issues_find", "tool_input": {"query": "port"}, "tool_response": "#12 port clash"}),
    ("gemini-after-tool-own", "gemini-cli", "observation", None),
    ("gemini-after-tool-error", "gemini-cli", "observation", {
        "tool_name": "read_file", "tool_input": {"file_path": "/nowhere"},
        "tool_response": {"output": "File not found",
                          "error": {"message": "File not found", "type": "file_not_found"}}}),
    ("gemini-after-agent", "gemini-cli", "summarize", {"last_assistant_message": "It is 8123."}),
    ("gemini-session-end", "gemini-cli", "session-complete", {}),
    ("qwen-user-prompt-submit", "qwen-code", "session-init", {"prompt": "Which port does the service use?"}),
    ("qwen-user-prompt-submit-empty", "qwen-code", "session-init", None),
    ("qwen-post-tool-use", "qwen-code", "observation", {
        "tool_name": "read_file", "tool_input": {"absolute_path": "/home/me/shop/src/server.py"},
        "tool_response": "PORT = 8123\n", "tool_use_id": "toolu_q1"}),
    ("qwen-stop", "qwen-code", "summarize", {
        "last_assistant_message": "The port is 8123.", "stop_hook_active": True}),
    ("cursor-before-submit-prompt", "cursor", "session-init", {"prompt": "Why is the build red?"}),
    ("cursor-post-tool-use", "cursor", "observation", {
        "tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_use_id": "abc123",
        "tool_response": {"output": "1 failed", "exitCode": 1}}),
    ("cursor-after-shell-execution", "cursor", "observation", {
        "tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_response": "1 failed"}),
    ("cursor-after-mcp-execution", "cursor", "observation", {
        "tool_name": "MCP:find", "tool_input": {"query": "red"},
        "tool_response": {"content": [{"type": "text", "text": "#7"}]}}),
    ("cursor-after-mcp-execution-own", "cursor", "observation", None),
    ("cursor-after-mcp-execution-own-server", "cursor", "observation", None),
    ("cursor-after-file-edit", "cursor", "observation", {
        "tool_name": "write_file", "tool_response": None,
        "tool_input": {"file_path": "/home/me/shop/a.ts", "edits": [{"old_string": "1", "new_string": "2"}]}}),
    ("cursor-after-agent-response", "cursor", "summarize", {"last_assistant_message": "The build is green again."}),
    ("cursor-stop", "cursor", "summarize", {"last_assistant_message": ""}),
    ("cursor-session-end", "cursor", "session-complete", {}),
    ("opencode-chat-message", "opencode", "session-init", {"prompt": "Which port\nis it?"}),
    ("opencode-tool-execute-after", "opencode", "observation", {
        "tool_name": "bash", "tool_input": {"command": "ls"}, "tool_use_id": "call_9",
        "tool_response": {"output": "a.py\n", "exit_code": 0}}),
    ("opencode-tool-execute-after-own", "opencode", "observation", None),
    ("opencode-session-idle", "opencode", "summarize", {"last_assistant_message": "It is 8123."}),
    ("opencode-session-deleted", "opencode", "session-complete", {}),
    ("cline-user-prompt-submit", "cline", "session-init", {"prompt": "And the host?"}),
    ("cline-task-start", "cline", "session-init", {"prompt": "Find the port"}),
    ("cline-post-tool-use", "cline", "observation", {
        "tool_name": "run_commands", "tool_input": {"commands": ["ls"]}, "tool_response": "a.py\n",
        "tool_use_id": "tc_1"}),
    ("cline-post-tool-use-editor", "cline", "observation", {
        "tool_name": "read_file", "tool_input": {"path": "a.py"}, "tool_response": "PORT = 8123"}),
    ("cline-post-tool-use-own", "cline", "observation", None),
    ("cline-task-complete", "cline", "summarize", {"last_assistant_message": "It is 8123."}),
    ("cline-task-complete-subagent", "cline", "summarize", None),
    ("copilot-user-prompt-submit", "copilot-cli", "session-init", {"prompt": "Which port is it?"}),
    ("copilot-post-tool-use", "copilot-cli", "observation", {
        "tool_name": "Bash", "tool_input": {"command": "cat nofile", "description": "look"},
        "tool_response": {"output": "cat: nofile: No such file or directory", "exit_code": 1}}),
    ("copilot-post-tool-use-write", "copilot-cli", "observation", {
        "tool_name": "Write", "tool_input": {"path": "/home/me/shop/a.py", "file_text": "x = 1\n"},
        "tool_response": "Created file /home/me/shop/a.py with 6 characters"}),
    ("copilot-post-tool-use-failure", "copilot-cli", "observation", {
        "tool_name": "Read", "tool_input": {"path": "/home/me/shop/b.py"},
        "tool_response": {"error": "Path does not exist"}}),
    ("copilot-post-tool-use-own", "copilot-cli", "observation", None),
    ("copilot-stop", "copilot-cli", "summarize", {"last_assistant_message": ""}),
    ("copilot-session-end", "copilot-cli", "session-complete", {}),
    ("kimi-user-prompt-submit", "kimi-code", "session-init", {"prompt": "Which port is it?"}),
    ("kimi-post-tool-use", "kimi-code", "observation", {
        "tool_name": "Edit", "tool_use_id": "call_859a",
        "tool_input": {"path": "/home/me/shop/a.py", "old_string": "x = 1", "new_string": "x = 2"},
        "tool_response": "Replaced 1 occurrence in /home/me/shop/a.py"}),
    ("kimi-post-tool-use-failure", "kimi-code", "observation", {
        "tool_name": "Bash", "tool_input": {"command": "cat nofile", "description": "look"}, "tool_use_id": "call_e3d3",
        "tool_response": {"output": "cat: nofile: No such file or directory\n", "exit_code": 1}}),
    ("kimi-stop", "kimi-code", "summarize", {"last_assistant_message": ""}),
]  # fmt: skip
SESSIONS = {"codex": CODEX, "claude-code": CLAUDE, "gemini-cli": GEMINI, "qwen-code": QWEN, "cursor": CURSOR,
            "opencode": "ses_5b1a", "cline": "root-1", "copilot-cli": COPILOT, "kimi-code": KIMI}  # fmt: skip


def payload(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name, platform, event, told", TOLD, ids=[row[0] for row in TOLD])
def test_what_the_server_is_told(name: str, platform: str, event: str, told: dict[str, Any] | None) -> None:
    body = body_of(event, agents.agent_of(platform).read(payload(name), {}), ())
    if told is None:
        assert body is None
        return
    assert body is not None
    about = {"contentSessionId", "cwd", "transcript_path", "turn_id"}
    assert {key: value for key, value in body.items() if key not in about} == told
    assert body["contentSessionId"] == ("task-1" if name == "cline-post-tool-use-editor" else SESSIONS[platform])
    assert body["cwd"] == "/home/me/shop"


def test_every_payload_is_used() -> None:
    used = {row[0] for row in TOLD}
    others = {path.stem for path in PAYLOADS.glob("*.json")} - used
    assert others == {
        "codex-session-start", "claude-session-start", "gemini-session-start", "qwen-session-start",
        "cursor-session-start", "cursor-windows", "copilot-session-start", "opencode-session-created",
        "raw-snake", "raw-camel",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["raw-snake", "raw-camel"])
def test_raw_understands_both_spellings(name: str) -> None:
    assert agents.agent_of("raw").read(payload(name), {}) == {
        "contentSessionId": "s-1", "project": "my-app", "cwd": "/home/me/shop", "prompt": "hello", "tool_name": "Read",
        "tool_input": {"file_path": "a"}, "tool_response": ["x", "y"], "tool_use_id": "u-1",
        "last_assistant_message": "bye", "transcript_path": "/t", "turn_id": "t-1", "agent_id": "a-1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name, platform, session",
    [
        ("codex-session-start", "codex", CODEX),
        ("claude-session-start", "claude-code", CLAUDE),
        ("gemini-session-start", "gemini-cli", GEMINI),
        ("qwen-session-start", "qwen-code", QWEN),
        ("cursor-session-start", "cursor", CURSOR),
        ("opencode-session-created", "opencode", "ses_5b1a"),
        ("cline-task-start", "cline", "root-1"),
        ("copilot-session-start", "copilot-cli", COPILOT),
    ],
)
def test_the_start_of_a_session_names_it(name: str, platform: str, session: str) -> None:
    record = agents.agent_of(platform).read(payload(name), {})
    assert (record["contentSessionId"], record["cwd"]) == (session, "/home/me/shop")


def test_codex_ends_a_command_in_its_rollout(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    ended = {"type": "CommandExecution", "id": "call_1", "exit_code": 127, "status": "failed"}
    rows = [{"type": "event_msg", "payload": {"type": "item_completed", "item": ended}}, {"payload": {"id": "call_1"}}]
    rollout.write_text("half a line\n" + "\n".join(map(json.dumps, rows)))
    given = payload("codex-post-tool-use-bash") | {"transcript_path": str(rollout), "tool_response": "not found\n"}
    codex = agents.agent_of("codex")
    assert codex.read(given, {})["tool_response"] == {"output": "not found\n", "exit_code": 127}
    assert codex.read(given | {"tool_use_id": "call_2"}, {})["tool_response"] == "not found\n"
    assert codex.read(given | {"transcript_path": None}, {})["tool_response"] == "not found\n"


def test_codex_writes_down_what_it_reports_to_no_hook(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
    own = f"Denied by the rule r1 bash: it deletes. {OTHERWISE}"
    unfit = "apply_patch verification failed: Failed to find expected lines in a.py:\nx"
    rows: list[tuple[str, dict[str, Any]]] = [
        ("event_msg", {"type": "item_completed", "turn_id": "t0", "item": {
            "type": "CommandExecution", "id": "old", "command": ["sh", "-c", "rm a"], "status": "declined"}}),
        ("event_msg", {"type": "task_started", "turn_id": "t1"}),
        ("response_item", {"type": "custom_tool_call", "call_id": "p1", "name": "apply_patch", "input": patch}),
        ("response_item", {"type": "custom_tool_call_output", "call_id": "p1",
                           "output": unfit}),
        ("event_msg", {"type": "item_completed", "turn_id": "t1", "item": {
            "type": "FileChange", "id": "p2", "status": "failed", "stdout": "", "stderr": "no room",
            "changes": {"b.py": {"type": "delete"}}}}),
        ("event_msg", {"type": "item_completed", "turn_id": "t1", "item": {
            "type": "CommandExecution", "id": "c1", "command": ["sh", "-c", "rm b"], "status": "declined"}}),
        ("event_msg", {"type": "item_completed", "turn_id": "t1", "item": {
            "type": "CommandExecution", "id": "c2", "command": ["sh", "-c", "false"], "status": "failed",
            "exit_code": 1, "aggregated_output": ""}}),
        ("response_item", {"type": "function_call", "call_id": "c3", "name": "exec_command",
                           "arguments": json.dumps({"cmd": "rm c"})}),
        ("response_item", {"type": "function_call_output", "call_id": "c3",
                           "output": f"Command blocked by PreToolUse hook: {own}. Command: rm c"}),
    ]  # fmt: skip
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text("".join(json.dumps({"type": kind, "payload": told}) + "\n" for kind, told in rows))
    codex = agents.agent_of("codex")
    record = codex.read(payload("codex-stop") | {"transcript_path": str(rollout), "turn_id": "t1"}, {})
    calls = codex.unreported_calls(record)
    assert [(call["tool_use_id"], call["tool_response"]) for call in calls] == [
        ("p1", {"output": unfit, "success": False}),
        ("p2", {"output": "no room", "success": False}),
        ("c1", {"output": "", "declined": True}),
        ("c3", {"output": own, "declined": True}),
    ]
    bodies = [body_of("observation", record | call, ()) for call in calls]
    assert [body and body["tool_use_id"] for body in bodies] == ["p1", "p2", "c1", None]


@pytest.mark.parametrize(
    "said, answer",
    [
        ("Output: boom\nExit Code: 3\nProcess Group PGID: 9", {"output": "boom", "exit_code": 3}),
        ("Output: a\nb\nProcess Group PGID: 9", {"output": "a\nb", "exit_code": 0}),
        ("Output: (empty)\nExit Code: 0\nExit Code: 127\nProcess Group PGID: 9",
         {"output": "", "exit_code": 127}),
        ("Output: a\nSignal: 15\nProcess Group PGID: 9", {"output": "a"}),
        ("Output: a\nError: spawn failed", {"output": "a"}),
        ("Command: x\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 0\nSignal: (none)",
         {"output": "a", "exit_code": 0}),
        ("Command was cancelled.", "shown"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("platform", ["gemini-cli", "qwen-code"])
def test_a_shell_ends_in_what_the_model_is_told(platform: str, said: str, answer: Any) -> None:
    told = {"llmContent": f"<untrusted_context>\n{said}\n</untrusted_context>", "returnDisplay": "shown"}
    given = {"session_id": "s", "tool_name": "run_shell_command", "tool_input": {}, "tool_response": told}
    assert agents.agent_of(platform).read(given, {})["tool_response"] == answer


def test_cline_says_of_each_command_whether_it_succeeded() -> None:
    def answer(*ended: dict[str, Any]) -> Any:
        used = {"name": "run_commands", "input": {"commands": ["x"]}, "output": list(ended)}
        return agents.agent_of("cline").read({"taskId": "t", "tool_result": used}, {})["tool_response"]

    good = {"query": "x", "result": "fine", "success": True}
    bad = {"query": "y", "result": "no", "error": "Command exited with code 3", "success": False}
    assert answer(good) == {"output": "fine", "exit_code": 0}
    assert answer(good, bad) == {"error": "fine\nno\nCommand exited with code 3"}


def test_kimi_code_reports_a_command_that_succeeded_apart() -> None:
    given = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_output": "a.py\n"}
    assert agents.agent_of("kimi-code").read(given, {})["tool_response"] == {"output": "a.py\n", "exit_code": 0}
    denied = payload("kimi-post-tool-use-failure") | {"error": {"message": f"Denied by the rule r1 bash. {OTHERWISE}"}}
    assert body_of("observation", agents.agent_of("kimi-code").read(denied, {}), ()) is None


def test_cursor_on_windows() -> None:
    assert agents.agent_of("cursor").read(payload("cursor-windows"), {})["cwd"] == "c:/code/shop"


def test_gemini_puts_facts_into_the_environment() -> None:
    environ = {"GEMINI_SESSION_ID": "g-1", "GEMINI_PROJECT_DIR": "/home/me/shop"}
    record = agents.agent_of("gemini-cli").read({"hook_event_name": "SessionStart"}, environ)
    assert (record["contentSessionId"], record["cwd"]) == ("g-1", "/home/me/shop")


def test_cursor_may_name_its_transcript_in_the_environment() -> None:
    record = agents.agent_of("cursor").read(payload("cursor-stop"), {"CURSOR_TRANSCRIPT_PATH": "/t.jsonl"})
    assert record["transcript_path"] == "/t.jsonl"


def test_the_log_of_a_session_of_kimi_code_is_found(tmp_path: Path) -> None:
    log = tmp_path / "sessions" / "wd_shop_1" / KIMI / "agents" / "main" / "wire.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("")
    kimi = agents.agent_of("kimi-code")
    assert kimi.read(payload("kimi-stop"), {"KIMI_CODE_HOME": str(tmp_path)})["transcript_path"] == str(log)
    elsewhere = payload("kimi-stop") | {"session_id": f"../wd_shop_1/{KIMI}"}
    assert "transcript_path" not in kimi.read(elsewhere, {"KIMI_CODE_HOME": str(tmp_path)})


@pytest.mark.parametrize("platform", [*agents.NAMES, "raw"])
@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"session_id": 7, "prompt": None, "tool_name": ["x"], "tool_response": 3},
        {"session_id": "s", "prompt": {"text": ["a", {"content": "b"}, 5]}, "input": "x", "output": [], "event": "y"},
        {"args": [], "workspace_roots": [], "workspaceRoots": {}, "turn": 1, "tool_result": [], "properties": None},
        {"conversation_id": "c", "result_json": "{broken", "command": 5, "edits": None, "file_path": None},
        {"tool": 5, "input": {"tool": None}, "output": {"parts": {"text": 5}}},
    ],
)
def test_odd_payloads_never_fail(platform: str, odd: dict[str, Any]) -> None:
    record = agents.agent_of(platform).read(odd, {})
    for event in ("session-init", "observation", "summarize", "session-complete"):
        body_of(event, record, ())


@pytest.mark.parametrize(
    "name, platform",
    [
        ("claude-code", "claude-code"), ("CODEX", "codex"), ("qwen", "qwen-code"), ("qwen-code", "qwen-code"),
        ("gemini", "gemini-cli"), ("windsurf", "raw"), ("", "raw"), (" cursor ", "cursor"),
    ],
)  # fmt: skip
def test_an_unknown_platform_is_raw(name: str, platform: str) -> None:
    assert agents.agent_of(name).name == platform


@pytest.mark.parametrize("name", agents.NAMES)
def test_an_agent_is_found_under_its_own_name(name: str) -> None:
    assert agents.agent_of(name).name == name


CONTEXT = "端口 8123"
SPECIFIC = "hookSpecificOutput"


@pytest.mark.parametrize(
    "platform, event, said, told",
    [
        ("codex", "context", "SessionStart",
         {SPECIFIC: {"hookEventName": "SessionStart", "additionalContext": CONTEXT}}),
        ("codex", "session-init", "UserPromptSubmit",
         {SPECIFIC: {"hookEventName": "UserPromptSubmit", "additionalContext": CONTEXT}}),
        ("claude-code", "context", "", {SPECIFIC: {"hookEventName": "SessionStart", "additionalContext": CONTEXT}}),
        ("claude-code", "context", "UserPromptSubmit",
         {SPECIFIC: {"hookEventName": "UserPromptSubmit", "additionalContext": CONTEXT}}),
        ("claude-code", "context", "PreCompact",
         {SPECIFIC: {"hookEventName": "SessionStart", "additionalContext": CONTEXT}}),
        ("qwen-code", "session-init", "UserPromptSubmit",
         {SPECIFIC: {"hookEventName": "UserPromptSubmit", "additionalContext": CONTEXT}}),
        ("gemini-cli", "session-init", "BeforeAgent",
         {SPECIFIC: {"hookEventName": "BeforeAgent", "additionalContext": CONTEXT}}),
        ("cursor", "context", "sessionStart", {"continue": True, "additional_context": CONTEXT}),
        ("cursor", "session-init", "beforeSubmitPrompt", {"continue": True}),
        ("cursor", "summarize", "stop", {"continue": True}),
        ("cline", "context", "TaskStart", {"cancel": False, "contextModification": CONTEXT}),
        ("cline", "observation", "PostToolUse", {"cancel": False, "contextModification": CONTEXT}),
        ("opencode", "context", "", {"context": CONTEXT}),
        ("copilot-cli", "context", "SessionStart", {"additionalContext": CONTEXT}),
        ("copilot-cli", "session-init", "UserPromptSubmit", {"additionalContext": CONTEXT}),
        ("kimi-code", "session-init", "UserPromptSubmit", {"message": CONTEXT}),
        ("kimi-code", "context", "SessionStart", None),
        ("raw", "context", "", {"context": CONTEXT}),
        ("codex", "summarize", "Stop", None),
        ("codex", "observation", "PostToolUse", None),
        ("claude-code", "session-complete", "SessionEnd", None),
    ],
)  # fmt: skip
def test_answers_have_the_agents_form(platform: str, event: str, said: str, told: dict[str, Any] | None) -> None:
    assert agents.agent_of(platform).answer(event, said, CONTEXT) == told


@pytest.mark.parametrize("platform", [*agents.NAMES, "raw"])
@pytest.mark.parametrize("event", ["context", "session-init", "observation", "summarize", "session-complete"])
def test_without_context_there_is_nothing_to_say(platform: str, event: str) -> None:
    quiet = {"cursor": {"continue": True}, "cline": {"cancel": False}}
    assert agents.agent_of(platform).answer(event, "", "") == quiet.get(platform)
