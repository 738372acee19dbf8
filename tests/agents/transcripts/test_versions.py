"""Forms of older versions, and what happens beside a conversation: written by hand after what those versions write."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.agents.transcripts.turns import MAX_TOOLS
from tests.agents.transcripts.conversation import reader_of
from tests.agents.transcripts.home import database

ID = "01a1ebbc-31f0-7621-b2e8-550c37d17b78"
AT = "2025-09-01T10:00:00.000Z"
Record = dict[str, Any]


def written(path: Path, *records: Record) -> Path:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(program: str, home: Path) -> tuple[TranscriptFile, list[TranscriptTurn], TranscriptFlaws]:
    """The only conversation of a home."""
    reader, flaws = reader_of(program), TranscriptFlaws()
    (file,) = reader.find(home, {}, [Path("/home/ana/shop")])
    return file, list(reader.turns(file, flaws)), flaws


def codex(home: Path, *records: Record) -> tuple[TranscriptFile, list[TranscriptTurn], TranscriptFlaws]:
    """What is read of a rollout."""
    written(home / ".codex" / "sessions" / "2025" / "09" / "01" / f"rollout-2025-09-01T10-00-00-{ID}.jsonl", *records)
    return read("codex", home)


def item(payload: Record) -> Record:
    """A record of Codex's conversation."""
    return {"timestamp": AT, "type": "response_item", "payload": payload}


def event(payload: Record) -> Record:
    """An event of Codex's."""
    return {"timestamp": AT, "type": "event_msg", "payload": payload}


def said(role: str, text: str) -> Record:
    """A message of Codex's conversation."""
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def test_codex_before_events_had_records_alone(tmp_path: Path) -> None:
    file, (turn,), flaws = codex(
        tmp_path, {"id": ID, "timestamp": AT, "instructions": None},
        said("user", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>"), said("user", "List it."),
        {"type": "function_call", "name": "shell", "call_id": "c1",
         "arguments": json.dumps({"command": ["bash", "-lc", "ls | wc"], "timeout_ms": 9})},
        {"type": "function_call_output", "call_id": "c1",
         "output": json.dumps({"output": "3\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}})},
        {"type": "local_shell_call", "call_id": "c2", "action": {"type": "exec", "command": ["false"]}},
        {"type": "function_call_output", "call_id": "c2",
         "output": json.dumps({"output": "", "metadata": {"exit_code": 1}})},
        said("assistant", "Three."),
    )  # fmt: skip
    assert (file.session, turn.prompt, turn.message, turn.finished) == (ID, "List it.", "Three.", False)
    assert [(tool.tool, tool.input, tool.response) for tool in turn.tools] == [
        ("Bash", {"command": "ls | wc"}, {"output": "3\n", "exit_code": 0}),
        ("Bash", {"command": "false"}, {"output": "", "exit_code": 1}),
    ]
    assert flaws == TranscriptFlaws()


def test_codex_tells_a_prompt_and_a_call_twice(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
    _, turns, _ = codex(
        tmp_path, {"timestamp": AT, "type": "session_meta", "payload": {"id": ID, "cwd": "/w", "timestamp": AT}},
        item(said("user", "Go.")), event({"type": "user_message", "message": "Go.", "kind": "plain"}),
        item({"type": "function_call", "name": "shell_command", "call_id": "c1",
              "arguments": '{"command": "make test"}'}),
        event({"type": "exec_command_end", "call_id": "c1", "command": ["bash", "-lc", "make test"], "stdout": "ok",
               "stderr": "", "exit_code": 2}),
        item({"type": "function_call_output", "call_id": "c1", "output": "Exit code: 2\nOutput:\nok"}),
        item({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": patch}),
        event({"type": "patch_apply_end", "call_id": "c2", "stdout": "", "stderr": "no such file", "success": False}),
        event({"type": "mcp_tool_call_end", "call_id": "c3", "invocation": {"server": "s", "tool": "t",
               "arguments": {"a": 1}}, "result": {"Err": "gone"}}),
        event({"type": "agent_message", "message": "Done."}), event({"type": "task_complete"}),
        item(said("user", "Go.")), event({"type": "user_message", "message": "Go."}),
        event({"type": "turn_aborted", "reason": "interrupted"}),
    )  # fmt: skip
    assert [(turn.prompt, turn.message, turn.finished) for turn in turns] == [("Go.", "Done.", True), ("Go.", "", True)]
    assert [(tool.tool, tool.input, tool.response) for tool in turns[0].tools] == [
        ("Bash", {"command": "make test"}, {"output": "ok", "exit_code": 2}),
        ("apply_patch", {"command": patch}, {"output": "no such file", "success": False}),
        ("mcp__s__t", {"a": 1}, {"error": "gone"}),
    ]


def test_a_command_that_runs_on_is_told_when_it_ends(tmp_path: Path) -> None:
    def started(call: str) -> list[Record]:
        begun = "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\nstarting"
        return [
            item({"type": "function_call", "name": "exec_command", "call_id": call, "arguments": '{"cmd": "serve"}'}),
            item({"type": "function_call_output", "call_id": call, "output": begun}),
        ]

    _, (turn,), _ = codex(
        tmp_path, event({"type": "user_message", "message": "Serve."}), *started("c1"), *started("c2"),
        item({"type": "function_call", "name": "write_stdin", "call_id": "c3", "arguments": '{"session_id": 7}'}),
        item({"type": "function_call_output", "call_id": "c3", "output": "…"}),
        event({"type": "item_completed", "item": {"type": "CommandExecution", "id": "c1", "command": ["serve"],
               "aggregated_output": "starting\nbound", "exit_code": 0}}),
        event({"type": "task_complete", "last_agent_message": "It serves."}),
    )  # fmt: skip
    assert [(tool.call, tool.response) for tool in turn.tools] == [
        ("c1", {"output": "starting\nbound", "exit_code": 0}), ("c2", "starting"),
    ]  # fmt: skip


def claude(home: Path, *records: Record) -> tuple[TranscriptFile, list[TranscriptTurn], TranscriptFlaws]:
    """What is read of a session of Claude Code."""
    given = [
        {"sessionId": ID, "cwd": "/w", "timestamp": AT, "uuid": str(at), **each} for at, each in enumerate(records)
    ]
    written(home / ".claude" / "projects" / "-w" / f"{ID}.jsonl", *given)
    return read("claude-code", home)


def user(content: Any, **more: Any) -> Record:
    """A record under the person's name."""
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(*content: Record, **more: Any) -> Record:
    """A record of the agent's."""
    return {"type": "assistant", "message": {"role": "assistant", "content": list(content), **more}}


def test_claude_code_with_side_chains_in_the_same_file(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a\nb"}]}
    _, turns, _ = claude(
        tmp_path, {"type": "summary", "summary": "Earlier"}, user("Look.", sessionId="another"), user("Ask somebody."),
        user("You are to list.", isSidechain=True), {**assistant(call), "isSidechain": True},
        user([answer], isSidechain=True), {**assistant({"type": "text", "text": "Aside."}), "isSidechain": True},
        assistant({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Two files."}),
        user("Continue.", isMeta=True), user("[Request interrupted by user]"), user("Summary …", isCompactSummary=True),
        user([{"type": "text", "text": "<command-name>/init</command-name>"}]),
        assistant({**call, "id": "t2"}, stop_reason="tool_use"), user([{**answer, "tool_use_id": "t2"}]),
        user([{"type": "image", "source": {}}, {"type": "text", "text": "What is this?"}]),
        assistant({**call, "id": "t3"}, stop_reason="tool_use"),
    )  # fmt: skip
    assert [(turn.prompt, turn.message, turn.finished, len(turn.tools)) for turn in turns] == [
        ("Ask somebody.", "Two files.", True, 1),
        ("", "", True, 1),  # what a command began
        ("What is this?", "", False, 0),
    ]
    assert (turns[0].tools[0].agent, turns[0].tools[0].response) == ("subagent", "a\nb")


def test_gemini_cli_with_one_document_for_a_session(tmp_path: Path) -> None:
    answer = {"functionResponse": {"id": "r1", "name": "read_file", "response": {"output": "text"}}}
    call = {"id": "r1", "name": "read_file", "args": {"path": "a"}, "timestamp": AT, "result": [answer]}
    document = {
        "sessionId": "s-1", "projectHash": "h", "startTime": AT, "lastUpdated": AT, "messages": [
            {"id": "1", "timestamp": AT, "type": "user", "content": "Read it."},
            {"id": "2", "timestamp": AT, "type": "info", "content": "An update is there."},
            {"id": "3", "timestamp": AT, "type": "gemini", "content": "", "toolCalls": [call]},
            {"id": "4", "timestamp": AT, "type": "gemini", "content": "It says text."},
        ],
    }  # fmt: skip
    folder = tmp_path / ".gemini" / "tmp" / hashlib.sha256(b"/home/ana/shop").hexdigest() / "chats"
    folder.mkdir(parents=True)
    (folder / "session-2025-09-01T10-00-s1.json").write_text(json.dumps(document, indent=2))
    file, (turn,), flaws = read("gemini-cli", tmp_path)
    assert (file.session, file.cwd, flaws) == ("s-1", "/home/ana/shop", TranscriptFlaws())
    assert (turn.prompt, turn.message, turn.finished) == ("Read it.", "It says text.", True)
    assert [(tool.tool, tool.response) for tool in turn.tools] == [("read_file", "text")]


def test_a_model_may_give_every_call_the_same_id(tmp_path: Path) -> None:
    def records(number: int) -> list[Record]:
        call = {"functionCall": {"id": "call_0", "name": "read_file", "args": {"path": str(number)}}}
        answer = {"functionResponse": {"id": "call_0", "name": "read_file", "response": {"output": f"text {number}"}}}
        return [
            {"type": "assistant", "message": {"role": "model", "parts": [call]}, "uuid": f"a{number}"},
            {"type": "tool_result", "message": {"role": "user", "parts": [answer]}, "uuid": f"r{number}"},
        ]

    asked = {"type": "user", "uuid": "u", "message": {"role": "user", "parts": [{"text": "Read both."}]}}
    path = tmp_path / ".qwen" / "projects" / "-w" / "chats" / f"{ID}.jsonl"
    given = [{"sessionId": ID, "cwd": "/w", "timestamp": AT, **each} for each in (asked, *records(1), *records(2))]
    written(path, *given)
    _, (turn,), _ = read("qwen-code", tmp_path)
    assert [(tool.input, tool.response, tool.call) for tool in turn.tools] == [
        ({"path": "1"}, "text 1", "r1:0"),
        ({"path": "2"}, "text 2", "r2:0"),
    ]


def test_opencode_with_a_file_for_each_record(tmp_path: Path) -> None:
    storage = tmp_path / ".local" / "share" / "opencode" / "storage"
    records: dict[str, Record] = {
        "session/p/ses_1.json": {"id": "ses_1", "directory": "/w", "time": {"created": 1756720800000}},
        "session/p/ses_2.json": {"id": "ses_2", "directory": "/w", "parentID": "ses_1", "time": {}},
        "message/ses_1/msg_1.json": {"id": "msg_1", "role": "user", "time": {"created": 1756720800001}},
        "part/msg_1/prt_1.json": {"type": "text", "text": "Ask somebody."},
        "part/msg_1/prt_2.json": {"type": "text", "text": "Called the Read tool", "synthetic": True},
        "message/ses_1/msg_2.json": {"id": "msg_2", "role": "assistant", "time": {}, "finish": "stop"},
        "part/msg_2/prt_3.json": {
            "type": "tool", "tool": "task", "callID": "c1",
            "state": {"status": "completed", "input": {}, "output": "y", "metadata": {"sessionId": "ses_2"}},
        },
        "part/msg_2/prt_4.json": {"type": "text", "text": "Done."},
        "message/ses_2/msg_3.json": {"id": "msg_3", "role": "assistant", "time": {}},
        "part/msg_3/prt_5.json": {
            "type": "tool", "tool": "read", "callID": "c2",
            "state": {"status": "error", "input": {"filePath": "a"}, "error": "gone"},
        },
    }  # fmt: skip
    for name, record in records.items():
        written(storage / name, record)
    file, (turn,), flaws = read("opencode", tmp_path)
    assert (file.session, file.cwd, flaws) == ("ses_1", "/w", TranscriptFlaws())
    assert (turn.prompt, turn.message, turn.finished) == ("Ask somebody.", "Done.", True)
    assert [(tool.tool, tool.response, tool.agent) for tool in turn.tools] == [
        ("read", {"error": "gone"}, "ses_2"),
        ("task", "y", ""),
    ]


def test_a_database_is_read_while_it_is_written(tmp_path: Path) -> None:
    path = database(tmp_path / ".local" / "share" / "opencode" / "opencode.db")
    before = path.read_bytes()
    _, turns, _ = read("opencode", tmp_path)
    assert len(turns) == 2
    assert [each.name for each in path.parent.iterdir()] == ["opencode.db"]
    assert path.read_bytes() == before
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    asked = {"role": "user", "time": {"created": 1794956400000}}
    session = turns and writer.execute("SELECT id FROM session").fetchone()[0]
    writer.execute("INSERT INTO message VALUES ('msg_9', ?, 1794956400000, 0, ?)", (session, json.dumps(asked)))
    writer.execute("INSERT INTO part VALUES ('prt_9', 'msg_9', ?, 0, 0, ?)",
                   (session, json.dumps({"type": "text", "text": "One more."})))  # fmt: skip
    writer.execute("BEGIN IMMEDIATE")  # somebody writes at this moment
    _, turns, flaws = read("opencode", tmp_path)
    assert ([turn.prompt for turn in turns][2:], turns[-1].finished, flaws) == (["One more."], False, TranscriptFlaws())
    writer.execute("ROLLBACK")
    writer.close()


def test_a_turn_holds_no_more_than_its_limit(tmp_path: Path) -> None:
    def used(number: int) -> Record:
        return event({"type": "item_completed", "item": {"type": "CommandExecution", "id": f"c{number}",
                      "command": ["true"], "aggregated_output": "", "exit_code": 0}})  # fmt: skip

    calls = [used(number) for number in range(MAX_TOOLS + 10)]
    _, (turn,), flaws = codex(tmp_path, event({"type": "user_message", "message": "Run."}), *calls)
    assert (len(turn.tools), flaws.dropped) == (MAX_TOOLS, 10)


def test_what_is_large_is_shortened_after_private_parts_are_out(tmp_path: Path) -> None:
    output = f"{'a ' * 60_000}<private>pass{'word ' * 60_000}</private>{'b ' * 60_000}"
    _, (turn,), _ = codex(
        tmp_path, event({"type": "user_message", "message": "Run."}),
        event({"type": "item_completed", "item": {"type": "CommandExecution", "id": "c", "command": ["cat"],
               "aggregated_output": output, "exit_code": 0}}),
    )  # fmt: skip
    response = turn.tools[0].response["output"]
    assert len(response) < 60_000
    assert "word" not in response
    assert response.endswith("b ")


@pytest.mark.parametrize("text", ["\\ud800 half", "nul \\u0000 here"])
def test_texts_can_be_stored(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / ".codex" / "sessions" / f"rollout-2025-09-01T10-00-00-{ID}.jsonl")
    path.write_text(f'{{"type": "event_msg", "payload": {{"type": "user_message", "message": "{text}"}}}}\n')
    _, (turn,), _ = read("codex", tmp_path)
    assert "\ufffd" in turn.prompt
    turn.prompt.encode()
