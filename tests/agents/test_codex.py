"""Codex remembers: what one session did is in the model request of the next, and only there where it belongs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pysqlite3 import dbapi2 as sqlite

from codexmem.kernel.model.privacy import CONTEXT_TAG
from codexmem.kernel.model.spooled import SUFFIX
from tests._support.scripted_model import Asked, Call, Say
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.agents import example, guide, story
from tests.agents.codex import Codex
from tests.agents.person import SERVER, Person, Run

pytestmark = pytest.mark.timeout(180)

TEXTS = ("memories", "memory_versions", "captured_events", "events")


def items(run: Run, kind: str) -> list[dict[str, Any]]:
    """What Codex says it finished, of one kind."""
    return [
        event["item"] for event in run.events if event["type"] == "item.completed" and event["item"]["type"] == kind
    ]


def went_well(run: Run) -> None:
    """No error, and none of the warnings that Codex calls errors."""
    assert (run.code, items(run, "error"), run.events[-1]["type"]) == (0, [], "turn.completed"), run


def told(asked: Asked) -> str:
    """The memory that a model was given before the person's words."""
    messages = asked.messages
    last = max(at for at, (role, _) in enumerate(messages) if role == "user")
    (block,) = [text for role, text in messages[:last] if role == "developer" and f"<{CONTEXT_TAG}>" in text]
    return block


def kept(person: Person) -> str:
    """Every text that the store holds."""
    with sqlite.connect(f"file:{person.data_dir / 'codexmem.db'}?mode=ro", uri=True) as db:
        return "\n".join(str(row) for table in TEXTS for row in db.execute(f"SELECT * FROM {table}"))


def test_a_second_session_begins_with_what_the_first_learned(server: Server, codex: Codex, person: Person) -> None:
    blocks = guide.blocks()
    codex.configure(codex.tools(blocks["codex-mcp"]), blocks["codex-hooks"])

    run = story.first_session(codex)

    went_well(run)
    assert [item["exit_code"] for item in items(run, "command_execution")] == [0]
    assert [item["status"] for item in items(run, "file_change")] == ["completed"]
    assert (person.repository / story.FILE).read_text() == story.AFTER
    calls = items(run, "mcp_tool_call")
    assert [(call["tool"], call["status"], call["error"]) for call in calls] == [
        ("search", "completed", None),
        ("save_memory", "completed", None),
    ]

    known = story.learned(server, summaries=1)
    assert [prompt["prompt_text"] for prompt in known["prompts"]] == [story.PROMPT]
    assert [observation["project"] for observation in known["observations"]] == ["shop"] * len(known["observations"])
    (edited,) = [each for each in known["observations"] if any(story.FILE in name for name in each["files_modified"])]
    assert [each for each in known["observations"] if story.SAVED in each["narrative"]]
    assert story.was_searched(server, story.SEARCHED)
    assert story.has_ended(server)

    run, asked = story.second_session(codex)

    went_well(run)
    block = told(asked)
    assert edited["title"] in block
    assert story.SAVED in block
    assert asked.texts("user")[-1] == story.NEXT_PROMPT
    assert example.shown(asked, person) == guide.blocks()[example.BLOCK], "run: just agents-example"


def test_in_code_mode_and_in_chinese_over_http(server: Server, codex: Codex, person: Person) -> None:
    blocks = guide.blocks()
    address = blocks["codex-mcp-url"].replace(guide.DEFAULT_PORT, str(server.port))
    codex.configure(codex.tools(address), blocks["codex-hooks"], code_mode=True)
    person.write(story.FILE, story.BEFORE)
    saved = "支付网关在高负载下最多需要 20 秒，orders.py 里的 TIMEOUT_S 必须大于它。"
    script = f"""
        text(await tools.exec_command({{cmd: "cat {story.FILE}"}}));
        text(await tools.apply_patch({json.dumps(story.PATCH)}));
        text(await tools.mcp__codexmem__search({{query: "订单超时"}}));
        text(await tools.mcp__codexmem__save_memory({json.dumps({"text": saved, "project": "shop"})}));
    """
    codex.model.play(Call("exec", source=script), Say("超时已改成 30 秒。"))

    run = codex.exec("订单在高负载下超时，找出原因并修好。")

    went_well(run)
    assert (person.repository / story.FILE).read_text() == story.AFTER
    assert [(call["tool"], call["error"]) for call in items(run, "mcp_tool_call")] == [
        ("search", None),
        ("save_memory", None),
    ]
    known = story.learned(server, summaries=1)
    assert [prompt["prompt_text"] for prompt in known["prompts"]] == ["订单在高负载下超时，找出原因并修好。"]
    (edited,) = [each for each in known["observations"] if any(story.FILE in name for name in each["files_modified"])]

    codex.model.play(Say("因为支付网关慢。"))
    run = codex.exec("订单的超时为什么是 30 秒？")

    went_well(run)
    block = told(codex.model.asked[0])
    assert saved in block
    assert edited["title"] in block
    assert "超时已改成 30 秒。" in block


def test_what_was_put_before_the_model_is_not_captured_again(server: Server, codex: Codex, person: Person) -> None:
    server.post("/api/memory/save", {"text": story.SAVED, "project": "shop"})
    codex.configure(guide.blocks()["codex-hooks"])
    quoted = f"I was told <{CONTEXT_TAG}>\nan echo\n</{CONTEXT_TAG}> and I agree."
    codex.model.play(Call("exec_command", {"cmd": "cat ~/.codex/sessions/*/*/*/*.jsonl"}), Say(quoted))

    run = codex.exec("Show me this conversation.")

    went_well(run)
    (shown,) = items(run, "command_execution")
    assert f"<{CONTEXT_TAG}>" in shown["aggregated_output"]
    assert story.SAVED in shown["aggregated_output"]
    known = story.learned(server, summaries=1)
    assert len([each for each in known["observations"] if story.SAVED in json.dumps(each)]) == 1
    everything = kept(person)
    assert ".jsonl" in everything
    assert "I agree." in everything
    assert "an echo" not in everything
    assert "Recalled from earlier sessions" not in everything


def test_a_session_without_a_server_is_remembered_later(codex: Codex, person: Person) -> None:
    codex.configure(guide.blocks()["codex-hooks"])
    person.write(story.FILE, story.BEFORE)
    codex.model.play(Call("apply_patch", source=story.PATCH), Say(story.ANSWER))

    went_well(codex.exec(story.PROMPT))

    assert codex.model.asked[0].texts("developer") == ["You are a model that plays a script."]
    assert waiting(person)
    with Server(person.data_dir, settings=SERVER) as server:
        known = story.learned(server, summaries=1)
        run, asked = story.second_session(codex)
    went_well(run)
    assert [prompt["prompt_text"] for prompt in known["prompts"]] == [story.PROMPT]
    (edited,) = known["observations"]
    assert edited["files_modified"] == [story.FILE]
    assert edited["title"] in told(asked)
    assert not waiting(person)


def test_a_note_is_written_linked_and_preloaded(server: Server, codex: Codex, person: Person) -> None:
    codex.configure(codex.tools(guide.blocks()["codex-mcp"]))
    uri, content = "project://orders/timeout", "TIMEOUT_S 必须大于支付网关的 20 秒, see project://gateway."
    codex.model.play(
        Call("mcp__codexmem__create_memory", {"uri": uri, "content": content, "disclosure": "订单超时"}),
        Call("mcp__codexmem__preload_memory", {"context_type": "intent", "context_data": "raise the timeout"}),
        Say("Done."),
    )

    run = codex.exec("Remember why the timeout is 30 seconds.")

    went_well(run)
    calls = items(run, "mcp_tool_call")
    assert [(call["tool"], call["status"], call["error"]) for call in calls] == [
        ("create_memory", "completed", None),
        ("preload_memory", "completed", None),
    ]
    (related,) = calls[1]["result"]["structured_content"]["related"]
    assert (related["uri"], related["content"]) == (uri, content)
    assert related["reasons"] == ["is named timeout"]
    offered = {name.removeprefix("mcp__codexmem__") for _, name in codex.model.asked[0].tools}
    assert {"read_memory", "rollback_memory", "import_memories", "get_observations"} <= offered
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": "read_memory", "arguments": {"uri": uri}}
    headers = {"Accept": "application/json, text/event-stream"}
    read = server.post("/mcp/notes", {**asked, "params": params}, headers).json["result"]["structuredContent"]
    assert (read["origin"], read["project"], read["relations"][0]["uri"]) == ("agent", "shop", "project://gateway")


def waiting(person: Person) -> list[str]:
    """The files of events that no server has taken yet."""
    return [path.name for path in (person.data_dir / "spool").glob(f"*{SUFFIX}")]


def test_it_is_handed_what_other_agents_read_and_not_what_it_reads(
    server: Server, codex: Codex, person: Person
) -> None:
    """And what changed in those files since is remembered once the session has begun."""
    codex.configure(guide.blocks()["codex-hooks"])
    own, other = "Orders are tested with `just orders`.", "Orders are deployed with `just ship-orders`."
    person.write("AGENTS.md", f"# Testing orders\n{own}\n")
    changed = person.write("CLAUDE.md", f"# Deploying orders\n{other}\n")
    for name in ("AGENTS.md", "CLAUDE.md"):
        text = (person.repository / name).read_text()
        server.post("/api/import/agent-file", {"project": "shop", "file": name, "text": text, "at_ms": 1})
    changed.write_text(f"# Deploying orders\n{other} Never on Fridays.\n")
    codex.model.play(Say("With just."))

    run = codex.exec("How are orders tested and deployed with just?")

    went_well(run)
    messages = codex.model.asked[0].messages
    ours = [text for _, text in messages if f"<{CONTEXT_TAG}>" in text]
    assert any(other in text for text in ours)
    assert not any(own in text for text in ours)
    assert sum(text.count(own) for _, text in messages) == 1  # Codex's own
    assert eventually(
        lambda: "Never on Fridays." in json.dumps(story.get(server, "/api/observations?limit=10")["items"])
    )
