"""The assistant's last words, out of the transcripts that agents write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codexmem.hook import transcript

CLAUDE = {
    "type": "assistant",
    "message": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "The port"},
            {"type": "text", "text": "is 8123."},
        ],
    },
}
CODEX = {
    "timestamp": "t",
    "type": "response_item",
    "payload": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "The port\nis 8123."}],
    },
}
QWEN = {
    "type": "assistant",
    "message": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "The port\nis 8123."}]},
}
COPILOT = {"type": "assistant.message", "data": {"model": "m", "content": "The port\nis 8123.", "toolRequests": []}}
KIMI = {
    "type": "agent.message.appended",
    "message": {
        "message": {"role": "assistant", "content": [{"type": "text", "text": "The port\nis 8123."}], "toolCalls": []},
        "meta": {"source": "llm"},
    },
}
PLAIN = {"role": "assistant", "content": "The port\nis 8123."}
TOOL = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash"}]}}
USER = {"type": "user", "message": {"role": "user", "content": 'say "assistant"'}}


def written(path: Path, *lines: Any) -> str:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


@pytest.mark.parametrize(
    "line",
    [CLAUDE, CODEX, QWEN, COPILOT, KIMI, PLAIN],
    ids=["claude", "codex", "qwen", "copilot", "kimi", "plain"],
)
def test_last_words(line: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", PLAIN | {"content": "before"}, line, TOOL, USER, "{broken assistant", "")
    assert transcript.last_message(path) == "The port\nis 8123."


def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", *[USER] * 100_000, PLAIN, *[USER] * 10)
    assert transcript.last_message(path) == "The port\nis 8123."
    assert len(transcript._end(path)) < 20_000


@pytest.mark.parametrize("content", ["", "not json", '{"type":"user"}', "[]", "null"])
def test_a_transcript_may_say_nothing(content: str, tmp_path: Path) -> None:
    assert transcript.last_message(written(tmp_path / "t.jsonl", content)) == ""


def test_no_transcript(tmp_path: Path) -> None:
    assert transcript.last_message(str(tmp_path / "missing")) == ""
    assert transcript.last_message(str(tmp_path)) == ""
    assert transcript.last_message("\0") == ""
