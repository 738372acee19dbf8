"""Contract 004 over every transport: the list of the sixteen tools, and one conversation that uses them all."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from tests._support.mcp_calls import WAYS, Agent, text_of
from tests._support.server import Server

PARAMETERS = {
    "read_memory": {"uri"},
    "create_memory": {"uri", "content", "priority", "disclosure"},
    "update_memory": {"uri", "content", "old_string", "new_string", "append", "priority", "disclosure", "status"},
    "delete_memory": {"uri", "force"},
    "search_memory": {"query", "domain", "limit", "priority_min", "priority_max"},
    "preload_memory": {"context_type", "context_data"},
    "save_session": {"title", "summary"},
    "list_memories": {"domain", "status", "limit", "priority_min", "priority_max"},
    "get_memory_stats": set(),
    "export_memories": {"domain", "include_versions", "include_relations"},
    "import_memories": {"data", "strategy"},
    "add_alias": {"target_uri", "alias_uri"},
    "get_memory_versions": {"uri", "limit"},
    "rollback_memory": {"uri", "version"},
    "diff_versions": {"uri", "version1", "version2"},
    "list_rollbacks": {"uri", "limit"},
}
REQUIRED = {
    "read_memory": ["uri"],
    "create_memory": ["uri", "content"],
    "update_memory": ["uri"],
    "delete_memory": ["uri"],
    "search_memory": ["query"],
    "preload_memory": ["context_type", "context_data"],
    "import_memories": ["data"],
    "add_alias": ["target_uri", "alias_uri"],
    "get_memory_versions": ["uri"],
    "rollback_memory": ["uri", "version"],
    "diff_versions": ["uri", "version1", "version2"],
    "list_rollbacks": ["uri"],
}
DEFAULTS = {
    ("create_memory", "priority"): 5, ("update_memory", "append"): False, ("delete_memory", "force"): False,
    ("search_memory", "limit"): 10, ("list_memories", "limit"): 20, ("export_memories", "include_versions"): False,
    ("export_memories", "include_relations"): False, ("import_memories", "strategy"): "skip",
    ("get_memory_versions", "limit"): 10, ("list_rollbacks", "limit"): 10,
}  # fmt: skip


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def listed(client: Client) -> list[types.Tool]:
    return (await client.list_tools()).tools


@pytest.mark.clause("004 §1", "tools/list has the sixteen tools with their parameters, required ones and defaults")
def test_1_sixteen_tools(api: Server, way: str) -> None:
    tools = Agent(api, way, "/mcp/notes").run(listed)
    schemas = {tool.name: tool.input_schema for tool in tools}
    assert {name: set(schema["properties"]) for name, schema in schemas.items()} == PARAMETERS
    assert list(schemas) == list(PARAMETERS)
    assert {name: schema["required"] for name, schema in schemas.items() if "required" in schema} == REQUIRED
    given = {(name, key): value["default"] for name, schema in schemas.items()
             for key, value in schema["properties"].items() if value.get("default") not in (None, "")}  # fmt: skip
    assert given == DEFAULTS
    every = [value for schema in schemas.values() for value in schema["properties"].values()]
    assert all(value["description"] and value["type"] for value in every)
    assert "$ref" not in str(schemas)
    assert all(len(tool.description or "") > 80 for tool in tools)
    hints = {tool.name: tool.annotations for tool in tools if tool.annotations}
    writing = {name for name, hint in hints.items() if not hint.read_only_hint}
    assert writing == {
        "create_memory", "update_memory", "delete_memory", "save_session", "import_memories", "add_alias",
        "rollback_memory",
    }  # fmt: skip
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {"delete_memory", "rollback_memory"}


@pytest.mark.clause("004 §1", "a client that asks for no toolset gets them beside the five of contract 000")
def test_1_the_usual_toolsets_have_21_tools(api: Server, way: str) -> None:
    names = [tool.name for tool in Agent(api, way).run(listed)]
    assert (len(names), names[5:]) == (21, list(PARAMETERS))


@pytest.mark.clause("004 §2.1", "over every transport, by address and by alias, with access counted")
@pytest.mark.clause("004 §2.2", "over every transport")
@pytest.mark.clause("004 §2.3", "over every transport: patch, append, replace")
@pytest.mark.clause("004 §2.4", "over every transport: a deleted memory is refused and brought back")
@pytest.mark.clause("004 §2.5", "over every transport")
@pytest.mark.clause("004 §2.6", "over every transport")
@pytest.mark.clause("004 §2.7", "over every transport")
@pytest.mark.clause("004 §2.8", "over every transport")
@pytest.mark.clause("004 §2.9", "over every transport")
@pytest.mark.clause("004 §2.10", "over every transport")
@pytest.mark.clause("004 §2.11", "over every transport")
@pytest.mark.clause("004 §2.12", "over every transport")
@pytest.mark.clause("004 §2.13", "over every transport")
@pytest.mark.clause("004 §2.14", "over every transport")
@pytest.mark.clause("004 §2.15", "over every transport")
@pytest.mark.clause("004 §2.16", "over every transport")
def test_2_a_conversation_with_all_sixteen(api: Server, way: str, project: str) -> None:
    used: set[str] = set()
    config, alias = f"{project}://config", f"{project}.alias://main"

    async def conversation(client: Client) -> None:
        async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            used.add(tool)
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, text_of(result)
            assert text_of(result)
            told: dict[str, Any] = result.structured_content
            return told

        made = await ask(
            "create_memory", uri=config, content="The port is 8080. 端口是 8080。", disclosure="改端口之前"
        )
        assert (made["uri"], made["priority"], made["version"]) == (config, 5, 1)
        patched = await ask("update_memory", uri=config, old_string="port is 8080", new_string="port is 37877")
        assert (patched["mode"], patched["version"]) == ("patch", 2)
        assert (await ask("update_memory", uri=config, content="Restart after.", append=True))["mode"] == "append"
        assert (await ask("update_memory", uri=config, content="端口是 37877。"))["mode"] == "replace"
        await ask("add_alias", target_uri=config, alias_uri=alias)
        read = await ask("read_memory", uri=alias)
        assert (read["uri"], read["content"], read["aliases"]) == (config, "端口是 37877。", [alias])
        assert (read["access_count"], read["version"], len(read["versions"])) == (1, 5, 5)
        found = await ask("search_memory", query="端口", domain=project)
        assert [row["uri"] for row in found["memories"]] == [config]
        loaded = await ask("preload_memory", context_type="intent", context_data="change the config")
        assert config in [row["uri"] for row in loaded["related"]]
        assert (await ask("save_session", title="端口", summary=f"Changed {config}"))["uri"].startswith("session://")
        assert (await ask("list_memories", domain=project))["count"] == 1
        assert (await ask("get_memory_stats"))["total"] >= 1
        document = await ask("export_memories", domain=project, include_versions=True, include_relations=True)
        assert (await ask("import_memories", data=document))["skipped"] == [config]
        assert (await ask("get_memory_versions", uri=config, limit=2))["current_version"] == 5
        assert "37877" in (await ask("diff_versions", uri=config, version1=1, version2=2))["diff"]
        assert len((await ask("list_rollbacks", uri=config))["rollbacks"]) == 4
        await ask("delete_memory", uri=config)
        refused = await client.call_tool("read_memory", {"uri": config})
        assert refused.is_error
        assert "rollback_memory(" in text_of(refused)
        back = await ask("rollback_memory", uri=config, version=5)
        assert (back["status"], back["version"], back["content"]) == ("active", 7, "端口是 37877。")

    Agent(api, way, "/mcp/notes").run(conversation)
    assert used == set(PARAMETERS)
