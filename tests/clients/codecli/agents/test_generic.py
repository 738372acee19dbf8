"""Agents that print JSON lines, events or text."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

import pytest

from codexmem.codecli.agents.generic import EventsWatcher, Generic, LinesWatcher, Mapped, refusal_line
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    Injection,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from codexmem.codecli.agents.text import Text, TextWatcher, plain, refusal
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict
from tests.clients.codecli.agents import wired

MAPPING = {"text": "said.words", "tool": "calls.0.name", "arguments": "calls.0.with", "call_id": "calls.0.no",
           "ok": "calls.0.fine", "done": "over", "error": "why"}  # fmt: skip


def mapped(**mapping: str) -> Mapped:
    return Mapped(mapping, agent="a", cwd="/repo", decide=None)


def of_lines(values: Iterable[Any], mapping: dict[str, str]) -> list[Happening]:
    watcher = LinesWatcher(mapped(**mapping))
    return [each for value in values for each in watcher.feed(json.dumps(value).encode() + b"\n")]


def test_a_mapping_says_where_things_stand() -> None:
    found = of_lines(
        [{"said": {"words": "好"}}, {"calls": [{"name": "rm", "with": {"path": "a"}, "no": "7"}]},
         {"calls": [{"no": "7", "fine": False}]}, {"over": True, "why": "no"}, {"said": 5}, {"calls": []}],
        MAPPING,
    )  # fmt: skip
    said, started, ended, over = found
    assert isinstance(started, ToolStarted)
    assert (started.request.tool, started.request.paths, started.request.call_id) == ("rm", ("a",), "7")
    assert (said, ended, over) == (AgentMessage("好"), ToolEnded("7", False), TurnEnded(False, "no"))


def test_what_is_not_mapped_is_looked_for_where_it_usually_is() -> None:
    gemini = [
        {"type": "message", "role": "user", "content": "the question"},
        {"type": "message", "role": "assistant", "content": "好", "delta": True},
        {"type": "tool_use", "tool_name": "read_file", "tool_id": "1", "parameters": {"file_path": "a"}},
    ]
    said, started = of_lines(gemini, {})
    assert isinstance(started, ToolStarted)
    assert (said, started.request.tool, started.request.paths) == (AgentMessage("好"), "read_file", ("a",))


def test_events_hold_json_or_words() -> None:
    watcher = EventsWatcher(mapped())
    stream = 'data: {"choices":[{"delta":{"content":"好"}}]}\n\ndata: just\ndata: words\n\ndata: [DONE]\n\n'.encode()
    assert list(watcher.feed(stream)) == [AgentMessage("好"), AgentMessage("just\nwords")]


def text(stream: str, marker: str = "TOOL_REQUEST:") -> list[Happening]:
    watcher = TextWatcher(agent="a", cwd="/repo", marker=marker)
    return [*watcher.feed(stream.encode()), *watcher.close()]


@pytest.mark.clause(
    "001 §5.1", "a line of text that begins with the marker is a request, which text alone never grants"
)
@pytest.mark.parametrize("asked, tool, arguments", [
    ('{"tool": "fetch", "arguments": {"url": "https://a.b"}}', "fetch", {"url": "https://a.b"}),
    ('{"name": "fetch", "url": "x"}', "fetch", {"name": "fetch", "url": "x"}),
    ("fetch https://a.b", "fetch", {"text": "https://a.b"}),
    ('fetch {"url": "x"}', "fetch", {"url": "x"}),
    ("fetch: https://a.b", "fetch", {"text": "https://a.b"}),
    ("", "unknown", {"text": ""}),
    ("{broken", "{broken", {"text": ""}),
])  # fmt: skip
def test_a_marker_raises_a_question(asked: str, tool: str, arguments: Any) -> None:
    (started,) = text(f"\x1b[1m  TOOL_REQUEST:\x1b[0m {asked}\n")
    assert isinstance(started, ToolStarted)
    request = started.request
    assert (request.tool, request.arguments, request.from_text, request.call_id) == (tool, arguments, True, "text-1")


def test_a_marker_within_a_line_is_none() -> None:
    assert text("write TOOL_REQUEST: rm to ask\n") == [AgentMessage("write TOOL_REQUEST: rm to ask\n")]
    assert text("TOOL_REQUEST: rm\n", marker="") == [AgentMessage("TOOL_REQUEST: rm\n")]
    assert [type(each) for each in text("[[ASK]] rm\n", marker="[[ASK]]")] == [ToolStarted]


def test_a_refusal_is_one_line() -> None:
    told = refusal(ToolRequest("rm\nx"), ToolDecision(Verdict.DENY, "no\nway 不行")).decode()
    assert (told.count("\n"), "rm x" in told, "no way 不行" in told) == (1, True, True)


def test_colours_are_taken_off() -> None:
    assert plain("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\ \x1b(Bplain") == "red link plain"


def test_colours_are_taken_off_in_linear_time() -> None:
    for hostile in ("\x1b]" * 40_000, "\x1b[" * 40_000, "\x1b[" + "1;" * 40_000, "\x1bP" * 40_000):
        began = time.perf_counter()
        plain(hostile)
        assert time.perf_counter() - began < 0.5


def test_the_adapters_put_memory_before_the_only_prompt_there_can_be() -> None:
    for adapter in (Text(), Generic("jsonl", {})):
        prepared = adapter.prepare(wired.launch("aider", "--message", "fix it now"), Injection("S", "U"), wired.WIRING)
        assert prepared.launch.argv == ("aider", "--message", "S\n\nU\n\nfix it now")
        assert (prepared.in_launch, prepared.by_input, prepared.before_input) == (True, False, "")
        assert (prepared.prompt, len(prepared.notes)) == ("fix it now", 1)
        assert prepared.refusal is (refusal if isinstance(adapter, Text) else refusal_line)
        unknown = adapter.prepare(wired.launch("tool", "a", "b"), Injection("S"), wired.UNHELD)
        assert (unknown.launch.argv, unknown.notes) == (("tool", "a", "b"), ())
        assert (unknown.in_launch, unknown.by_input, unknown.before_input) == (False, True, "S")
        long = adapter.prepare(wired.launch("tool", "two words"), Injection("x" * 200_000), wired.UNHELD)
        assert (long.launch.argv, long.in_launch, len(long.notes)) == (("tool", "two words"), False, 1)
        assert adapter.prompt_of(wired.launch("tool", "exec")) is None
        assert adapter.prompt_of(wired.launch("tool", "-x", "word")) is None
        assert adapter.prompt_of(wired.launch("tool", "run", "-m", "gpt", "订单为什么超时")) == "订单为什么超时"


def test_requests_in_text_are_decided_where_tools_are_held() -> None:
    prepared = Text().prepare(wired.launch("pi", "do something"), Injection(), wired.WIRING)
    assert prepared.stdout is not None
    (decided,) = prepared.stdout.feed(b"TOOL_REQUEST: rm everything\n")
    assert isinstance(decided, ToolDecided)
    assert (decided.decision.verdict, decided.request.from_text) == (Verdict.DENY, True)
