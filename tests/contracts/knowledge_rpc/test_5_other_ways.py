"""Contract 003 over stdio and as MCP tools: the same ten, the same answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests._support.mcp_calls import WAYS, Agent, text_of
from tests._support.rpc_calls import Rpc
from tests._support.server import environment

TEN = [
    "memory_init_workspace", "memory_add", "memory_query", "memory_delete", "memory_cleanup", "memory_get_status",
    "memory_dump", "memory_search", "memory_backup", "memory_restore",
]  # fmt: skip


def piped(rpc: Rpc, *lines: str | bytes, **settings: str) -> list[Any]:
    """What `codexmem rpc` writes when it is given these lines."""
    key = {"CODEXMEM_API_KEY": rpc.server.key} if rpc.server.key else {}
    where = {"CODEXMEM_URL": f"http://127.0.0.1:{rpc.server.port}"}
    done = subprocess.run(
        [sys.executable, "-m", "codexmem.cli", "rpc"], env=environment(rpc.server.data_dir, **(where | key | settings)),
        input=b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines),
        capture_output=True, check=True, timeout=50,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def call(method: str, number: object, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": number}, ensure_ascii=False)


@pytest.mark.clause("003 §0", "over stdio: one document a line, answered in order, notifications not at all")
def test_over_stdio(rpc: Rpc, task: str) -> None:
    answers = piped(
        rpc,
        call("memory_init_workspace", 1, task_id=task),
        "",
        json.dumps({"jsonrpc": "2.0", "method": "memory_get_status"}),
        "this is no JSON",
        "[]",
        f"[{call('memory_cleanup', 'a', task_id=task)}, {call('memory_cleanup', 'b', task_id=task)}]",
        call("memory_add", "二", content="从标准输入", summary="stdio"),
        "9" * 30,
    )
    assert [answer.get("id") if isinstance(answer, dict) else len(answer) for answer in answers] == [
        1, None, None, 2, "二", None,
    ]  # fmt: skip
    assert answers[0]["result"]["path"].endswith(task)
    assert (answers[1]["error"]["code"], answers[2]["error"]["code"]) == (-32700, -32600)
    assert answers[3][0]["result"]["status"] == "success"
    assert answers[3][1]["error"]["code"] == -32001
    assert answers[4]["result"]["summary"] == "stdio"
    assert answers[5]["error"]["code"] == -32700


@pytest.mark.clause("003 §0", "without a server every request is answered -32603 with what to do")
def test_over_stdio_without_a_server(rpc: Rpc) -> None:
    away = {"CODEXMEM_URL": "http://127.0.0.1:1", "CODEXMEM_AUTOSTART": "0"}
    answers = piped(
        rpc, call("memory_get_status", 5), '{"jsonrpc": "2.0", "method": "x"}', "{", f"[{call('a', 1)}, 3]", **away
    )
    assert [(each["id"], each["error"]["code"]) for each in (answers[0], answers[1], *answers[2])] == [
        (5, -32603), (None, -32700), (1, -32603),
    ]  # fmt: skip
    assert "codexmem serve" in answers[0]["error"]["message"]


@pytest.mark.clause("003 §0", "a line that is too long is refused, the next one is answered")
def test_over_stdio_lines_are_bounded(rpc: Rpc) -> None:
    answers = piped(rpc, b'{"x": "' + b"a" * (9 << 20) + b'"}', call("memory_get_status", 1))
    assert [answer["id"] for answer in answers] == [None, 1]
    assert answers[0]["error"]["code"] == -32600


@pytest.mark.parametrize("way", WAYS)
def test_the_toolset_has_the_ten(rpc: Rpc, way: str) -> None:
    async def listed(client: Any) -> list[Any]:
        return list((await client.list_tools()).tools)

    tools = Agent(rpc.server, way, "/mcp/knowledge").run(listed)
    assert [tool.name for tool in tools] == TEN
    required = {tool.name: tool.input_schema.get("required", []) for tool in tools}
    assert required["memory_add"] == ["content", "summary"]
    assert required["memory_query"] == ["query"]
    assert required["memory_get_status"] == []


def test_it_must_be_asked_for(rpc: Rpc) -> None:
    async def listed(client: Any) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert not set(Agent(rpc.server, "http-new").run(listed)) & set(TEN)


def test_tools_answer_as_methods_do(rpc: Rpc, task: str) -> None:
    agent = Agent(rpc.server, "http-new", "/mcp/knowledge")
    path = json.loads(agent.text("memory_init_workspace", task_id=task))["path"]
    (rpc.folder(path) / "note.md").write_text("工作区 meerkat")
    added = agent.call("memory_add", {"content": "知识 meerkat", "summary": "猫鼬", "tags": ["动物"], "extra": 1})
    assert added.structured_content == json.loads(text_of(added))
    number = json.loads(text_of(added))["id"]
    results = json.loads(agent.text("memory_query", query="meerkat", top_k=1))["results"]
    assert results == [{"id": number, "summary": "猫鼬", "content": "知识 meerkat"}]
    found = json.loads(agent.text("memory_search", query="meerkat", level=None))["results"]
    assert {each["key"] for each in found} >= {number, f"{task}/note.md"}
    backup = json.loads(agent.text("memory_backup"))["backup_path"]
    assert json.loads(agent.text("memory_delete", kb_id=number)) == {"status": "success", "id": number}
    assert json.loads(agent.text("memory_cleanup", task_id=task)) == {"status": "success", "path": path}
    assert json.loads(agent.text("memory_restore", backup_path=backup))["message"] == f"从 {backup} 恢复成功"
    assert number in agent.text("memory_dump", level="kb")
    assert json.loads(agent.text("memory_get_status"))["workspace_status"] == "active"
    failed = agent.call("memory_delete", {"kb_id": "kb-nowhere"})
    assert failed.is_error
    assert "not found" in text_of(failed)
    assert agent.call("memory_restore", {"backup_path": "/etc/passwd"}).is_error
    assert agent.call("memory_query", {"query": "x", "top_k": "many"}).is_error
    rpc.result("memory_cleanup", [task])


def test_a_folder_of_a_tenant_is_not_another_tenants(rpc: Rpc, task: str, tmp_path: Path) -> None:
    del tmp_path
    if rpc.server.key is None:
        assert rpc.result("memory_init_workspace", [task])["path"] == str(rpc.server.data_dir / "workspaces" / task)
    else:
        assert rpc.result("memory_init_workspace", [task])["path"] == f"workspaces/{task}"
        assert (rpc.server.data_dir / "workspaces" / "knowledge" / task).is_dir()
    rpc.result("memory_cleanup", [task])
