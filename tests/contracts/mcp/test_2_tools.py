"""Contract 000 §2: the five tools, over every transport that agents use."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests._support import warm
from tests._support.mcp_calls import WAYS, Agent, text_of
from tests._support.server import Server, environment

FIVE = ["__IMPORTANT", "search", "timeline", "get_observations", "save_memory"]


@pytest.fixture(params=WAYS)
def agent(api: Server, request: pytest.FixtureRequest) -> Agent:
    return Agent(api, request.param)


@pytest.fixture
def quick(api: Server) -> Agent:
    """For what does not depend on the transport."""
    return Agent(api, "http-new")


def save(agent: Agent, project: str, text: str, title: str) -> int:
    told = agent.call("save_memory", {"text": text, "title": title, "project": project}).structured_content
    number: int = told["id"]
    return number


@pytest.mark.clause("000 §2.1", "tools/list has the five tools, each with every property")
def test_2_1_tools_list(agent: Agent) -> None:
    async def listed(client: Client) -> list[types.Tool]:
        return (await client.list_tools()).tools

    tools = agent.run(listed)[:5]
    assert [tool.name for tool in tools] == FIVE
    schemas = {tool.name: tool.input_schema for tool in tools}
    assert all(schema["type"] == "object" and schema["additionalProperties"] is True for schema in schemas.values())
    assert all("title" not in value for schema in schemas.values() for value in schema["properties"].values())
    assert set(schemas["search"]["properties"]) == {
        "query", "limit", "offset", "project", "type", "obs_type", "concepts", "files", "dateStart", "dateEnd",
        "orderBy", "format", "scope", "passage_tokens",
    }  # fmt: skip
    assert {"anchor", "query", "depth_before", "depth_after", "project"} <= set(schemas["timeline"]["properties"])
    assert set(schemas["get_observations"]["properties"]) == {
        "ids", "orderBy", "limit", "project", "type", "concepts", "files",
    }  # fmt: skip
    assert (schemas["get_observations"]["required"], schemas["save_memory"]["required"]) == (["ids"], ["text"])
    assert set(schemas["save_memory"]["properties"]) == {"text", "title", "project"}
    hints = {tool.name: tool.annotations.read_only_hint for tool in tools if tool.annotations}
    assert hints == {**dict.fromkeys(FIVE, True), "save_memory": False}
    assert all(word in (tools[0].description or "") for word in FIVE[1:4])


@pytest.mark.sqlite
@pytest.mark.clause("000 §2.1", "tools/list over stdio has the five tools while the server is down")
def test_2_1_tools_list_without_a_server(tmp_path: Path) -> None:
    env = environment(tmp_path, CODEXMEM_AUTOSTART="0", CODEXMEM_PORT="1")
    down = StdioServerParameters(command=warm.program("codexmem"), args=["mcp"], env=env, cwd=str(tmp_path))

    async def listed() -> tuple[list[str], types.CallToolResult]:
        async with Client(stdio_client(down)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            return names[:5], await client.call_tool("save_memory", {"text": "端口"})

    names, called = asyncio.run(listed())
    assert names == FIVE
    assert called.is_error
    assert "does not answer" in text_of(called)


@pytest.mark.clause("000 §2.2", "any arguments, or none, get the workflow in three steps")
@pytest.mark.parametrize("arguments", [None, {}, {"anything": [1, {"at": "all"}]}])
@pytest.mark.parametrize("name", ["__IMPORTANT", "important_workflow"])
def test_2_2_important(quick: Agent, name: str, arguments: dict[str, Any] | None) -> None:
    result = quick.call(name, arguments)
    assert result.content[0].type == "text"
    text = text_of(result)
    places = [text.index(f"{number}. `{tool}`") for number, tool in enumerate(FIVE[1:4], 1)]
    assert places == sorted(places)
    assert not result.is_error


@pytest.mark.clause("000 §2.3", "search: an index in text, rows as JSON text, filters without a query")
def test_2_3_search(agent: Agent, project: str) -> None:
    port = save(agent, project, "The port is 37877. 端口是 37877。", "Port")
    other = save(agent, project, "Nothing else", "Other")
    text = agent.text("search", query="端口 port", project=project, limit=5, offset=0)
    assert 'result(s) matching "端口 port" (' in text.splitlines()[0]
    assert f"| #{port} |" in text
    ranked = json.loads(agent.text("search", query="端口 port", project=project, format="json"))
    assert ranked["observations"][0]["id"] == port
    result = agent.call("search", {"project": project, "format": "json", "orderBy": "date_asc", "type": "observations"})
    rows = json.loads(text_of(result))
    assert [row["id"] for row in rows["observations"]] == [port, other]
    assert result.structured_content == rows
    assert (rows["totalResults"], rows["sessions"], rows["prompts"], rows["query"]) == (2, [], [], "")


@pytest.mark.clause("000 §2.3", "every parameter is taken, in the types that models send")
@pytest.mark.parametrize("arguments, count", [
    ({"type": ["discovery", "bugfix"]}, 1), ({"type": "sessions,prompts"}, 0), ({"obs_type": "bugfix"}, 0),
    ({"obs_type": ["discovery"]}, 1), ({"concepts": ["gotcha"]}, 0), ({"files": "app.py"}, 0),
    ({"dateStart": 1, "dateEnd": "2999-01-01"}, 1), ({"dateStart": "2999-01-01"}, 0), ({"limit": 1.0}, 1),
    ({"limit": "1", "offset": "0"}, 1), ({"offset": 1}, 0), ({"orderBy": "relevance"}, 1),
    ({"orderBy": "date_desc", "query": "port"}, 1), ({"query": None, "files": None}, 1), ({"unknown": {}}, 1),
])  # fmt: skip
def test_2_3_every_parameter(quick: Agent, project: str, arguments: dict[str, Any], count: int) -> None:
    save(quick, project, "the port", "Port")
    rows = json.loads(quick.text("search", project=project, format="json", **arguments))
    assert rows["totalResults"] == count


@pytest.mark.clause("000 §2.4", "timeline by anchor, else by query; the anchor wins")
def test_2_4_timeline(agent: Agent, project: str) -> None:
    numbers = [save(agent, project, f"step {word}", f"Step {word}") for word in ("alpha", "beta", "gamma")]
    text = agent.text("timeline", anchor=numbers[1], depth_before=1, depth_after=0, project=project)
    assert text.splitlines()[0] == f"# Timeline around anchor: {numbers[1]}"
    assert f"| #{numbers[0]} |" in text
    assert "| Step beta <- **ANCHOR** |" in text
    assert f"#{numbers[2]}" not in text
    assert agent.text("timeline", anchor=str(numbers[1]), query="gamma", depth_before=1, depth_after=0) == text
    by_query = agent.text("timeline", query="gamma", project=project)
    assert by_query.splitlines()[:2] == [
        '# Timeline for query: "gamma"',
        f"**Anchor:** Observation #{numbers[2]} - Step gamma",
    ]


@pytest.mark.clause("000 §2.5", "get_observations: pretty JSON, newest first; no ids, an empty list")
def test_2_5_get_observations(agent: Agent, project: str) -> None:
    first, second = save(agent, project, "一", "One"), save(agent, project, "二", "Two")
    text = agent.text("get_observations", ids=[first, second, 10**12])
    assert [row["id"] for row in json.loads(text)] == [second, first]
    assert text.startswith("[\n  {\n")
    assert "一" in text
    asked = {"ids": [first, second], "orderBy": "date_asc", "limit": 1, "project": project, "type": "discovery"}
    assert [row["id"] for row in json.loads(agent.text("get_observations", **asked))] == [first]
    assert agent.text("get_observations", ids=[]) == "[]"
    assert agent.text("get_observations", ids=[first], concepts="gotcha", files=["x"]) == "[]"


@pytest.mark.clause("000 §2.5", "ids that are no array or no integers are an error text, not a protocol error")
@pytest.mark.clause("000 §4.6", "wrong ids are is_error with a text")
@pytest.mark.parametrize("ids, said", [
    ("abc", "ids must be an array of numbers"), (7, "ids must be an array of numbers"),
    (None, "ids must be an array of numbers"), ([1, "x"], "All ids must be integers"),
    ([1.5], "All ids must be integers"), ([True], "All ids must be integers"),
])  # fmt: skip
def test_2_5_wrong_ids(quick: Agent, ids: object, said: str) -> None:
    result = quick.call("get_observations", {"ids": ids})
    assert (result.is_error, text_of(result)) == (True, said)
    assert text_of(quick.call("get_observations")) == "ids must be an array of numbers"


@pytest.mark.clause("000 §2.6", "save_memory answers with number and project")
def test_2_6_save_memory(agent: Agent, project: str) -> None:
    result = agent.call("save_memory", {"text": "API 需要 X-API-Key", "title": "Auth", "project": project})
    told = result.structured_content
    assert text_of(result) == f"Memory saved as observation #{told['id']} in project {project}"
    assert (told["success"], told["title"], told["project"]) == (True, "Auth", project)
    again = agent.call("save_memory", {"text": "API 需要 X-API-Key", "title": "Auth", "project": project})
    assert (again.structured_content["id"], again.structured_content["duplicate"]) == (told["id"], True)
    assert "already saved" in text_of(again)


@pytest.mark.clause("000 §4.6", "whatever goes wrong in a tool is is_error with a text")
@pytest.mark.parametrize("tool, arguments, said", [
    ("save_memory", {}, "text is required and must be non-empty"),
    ("save_memory", {"text": "  "}, "text is required and must be non-empty"),
    ("save_memory", {"text": ["x"]}, "text is required and must be non-empty"),
    ("timeline", {}, 'Error: Must provide either "anchor" or "query" parameter'),
    ("timeline", {"anchor": 99999999}, "Observation #99999999 not found"),
    ("timeline", {"anchor": "S99999999"}, "Session #99999999 not found"),
    ("timeline", {"anchor": "soon"}, "Invalid timestamp: soon"),
    ("timeline", {"anchor": {"id": 1}}, "Invalid timestamp: {'id': 1}"),
    ("timeline", {"anchor": True}, "Invalid timestamp: True"),
    ("search", {"limit": "many"}, "limit: "), ("search", {"limit": 0}, "limit: "), ("search", {"query": 5}, "query: "),
    ("search", {"dateStart": "soon"}, "Invalid date: soon"), ("search", {"files": {"a": 1}}, "files: "),
    ("search", {"query": "x" * 100_001}, "the query is longer than"),
    ("nothing", {}, "Unknown tool: nothing. There are: __IMPORTANT, search"),
])  # fmt: skip
def test_4_6_errors_are_answers(quick: Agent, tool: str, arguments: dict[str, Any], said: str) -> None:
    result = quick.call(tool, arguments)
    assert result.is_error
    assert text_of(result).startswith(said)


@pytest.mark.parametrize("way", ["http-new", "stdio-old"])
def test_a_toolset_narrows_the_list(api: Server, way: str) -> None:
    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert Agent(api, way, "/mcp/recall").run(names) == FIVE
    reply = api.post("/mcp/nothing", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (reply.status, reply.json["jsonrpc"]) == (404, "2.0")


def test_a_conversation_of_many_calls_at_once(agent: Agent, project: str) -> None:
    import anyio

    found: list[str] = []

    async def conversation(client: Client) -> None:
        async def one(number: int) -> None:
            result = await client.call_tool("save_memory", {"text": f"m{number}", "project": project})
            found.append(text_of(result))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)

    agent.run(conversation)
    assert len(set(found)) == 20
