"""Qwen Code, with the hooks of the Claude dialect and a model API of its own, remembers like Codex does."""

from __future__ import annotations

import html

import pytest

from codexmem.kernel.model.privacy import CONTEXT_TAG
from tests._support.scripted_model import Call, Say
from tests._support.server import Server
from tests.agents import guide, story
from tests.agents.person import Person, Run
from tests.agents.qwen import Qwen, through_bridge

pytestmark = pytest.mark.timeout(180)

PROMPT = "订单在高负载下超时，找出原因并修好。"
SAVED = "支付网关在高负载下最多需要 20 秒，orders.py 里的 TIMEOUT_S 必须大于它。"
ANSWER = "超时已改成 30 秒。"


def tools_used(run: Run) -> list[tuple[str, bool]]:
    """The tools that Qwen Code says were used, and whether each one failed."""
    parts = [part for event in run.events if event["type"] in {"assistant", "user"}
             for part in event["message"]["content"]]  # fmt: skip
    failed = {part["tool_use_id"]: bool(part["is_error"]) for part in parts if part["type"] == "tool_result"}
    return [(part["name"], failed[part["id"]]) for part in parts if part["type"] == "tool_use"]


def went_well(run: Run) -> None:
    assert (run.code, run.events[-1]["subtype"]) == (0, "success"), run


def test_a_second_session_begins_with_what_the_first_learned(server: Server, qwen: Qwen, person: Person) -> None:
    qwen.configure(guide.blocks()["qwen-settings"])
    file = person.write(story.FILE, story.BEFORE)
    edit = {"file_path": str(file), "old_string": "TIMEOUT_S = 3\n", "new_string": "TIMEOUT_S = 30\n"}
    qwen.model.play(
        Call("run_shell_command", {"command": "ls", "is_background": False}),
        Call("read_file", {"file_path": str(file)}),
        Call("edit", edit),
        *through_bridge("mcp__codexmem__search", {"query": "订单超时"}),
        *through_bridge("mcp__codexmem__save_memory", {"text": SAVED}),
        Say(ANSWER),
    )

    run = qwen.ask(PROMPT)

    went_well(run)
    assert file.read_text() == story.AFTER
    bridge = [("tool_search", False), ("tool_call", False)]
    assert tools_used(run) == [
        ("run_shell_command", False),
        ("read_file", False),
        ("edit", False),
        *bridge,
        *bridge,
    ]
    known = story.learned(server, summaries=1)
    # It reports an empty prompt after every tool, which is nobody's.
    assert [prompt["prompt_text"] for prompt in known["prompts"]] == [PROMPT]
    assert {observation["project"] for observation in known["observations"]} == {"shop"}
    (edited,) = [each for each in known["observations"] if any(story.FILE in name for name in each["files_modified"])]
    # Looking up a tool teaches nothing.
    assert [each["title"] for each in known["observations"] if "tool_search" in each["title"]] == []
    assert story.was_searched(server, "订单超时")

    qwen.model.play(Call("run_shell_command", {"command": "true", "is_background": False}), Say("因为支付网关慢。"))
    run = qwen.ask("订单的超时为什么是 30 秒？")

    went_well(run)
    first, last = qwen.model.asked[0], qwen.model.asked[-1]
    # It writes what hooks tell it with entities instead of angle brackets, and at the end of its own instructions.
    (begun,) = [html.unescape(text) for text in first.texts("system")]
    begun = begun[begun.index(f"<{CONTEXT_TAG}>") :]
    assert SAVED in begun
    assert edited["title"] in begun
    assert ANSWER in begun
    # Nothing is told again with the answers of tools.
    assert last.results == 1
    assert str(last.body).count(CONTEXT_TAG) == str(first.body).count(CONTEXT_TAG)


def test_its_status_line_shows_what_it_was_told_and_left(server: Server, qwen: Qwen) -> None:
    qwen.configure(guide.blocks()["qwen-settings"], guide.blocks()["qwen-status-line"])
    assert server.post("/api/memory/save", {"text": SAVED, "project": "shop"}).status == 200
    qwen.model.play(
        *through_bridge("mcp__codexmem__get_observations", {"ids": [1]}),
        *through_bridge("mcp__codexmem__save_memory", {"text": "订单的超时在 orders.py 里。"}),
        Say("因为支付网关慢。"),
    )
    qwen.shows("订单的超时为什么是 30 秒？", "codexmem: 1 told, 1 opened, 1 learned")
