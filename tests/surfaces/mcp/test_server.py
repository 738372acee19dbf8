"""Toolsets in the protocol: whatever a tool does, the model gets an answer it can read."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client

from codexmem.http.mcp import serve
from codexmem.http.tool import Tool, ToolInvocation, ToolResult, Toolset
from codexmem.kernel.model.errors import CodexmemError, NotFound, NotReady
from codexmem.kernel.model.framing import Frame
from codexmem.recall.mcp import RECALL
from codexmem.recall.mcp_context import OFFER, PromptServices
from tests._support.mcp_calls import text_of


def toolset(name: str, failure: Exception | None = None) -> Toolset[PromptServices]:
    def answer(_: PromptServices, call: ToolInvocation) -> ToolResult:
        if failure is not None:
            raise failure
        return ToolResult(f"{name} {dict(call.arguments)}", {"name": name})

    schema: dict[str, Any] = {"type": "object", "properties": {}}
    return Toolset(name, (Tool(name, name, name, schema, answer, other_names=(f"{name}_too",)),), f"about {name}")


NONE = cast("PromptServices", SimpleNamespace(frame=Frame(b"key")))  # these tools need nothing


def called(
    sets: list[Toolset[PromptServices]], tool: str, arguments: dict[str, Any] | None = None
) -> types.CallToolResult:
    async def conversation() -> types.CallToolResult:
        async with Client(serve(sets, OFFER, NONE, version="1"), mode="legacy") as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(conversation())


def test_several_toolsets_are_one_server() -> None:
    async def conversation() -> tuple[list[str], str | None]:
        async with Client(serve([toolset("one"), toolset("two")], OFFER, NONE, version="1"), mode="legacy") as client:
            return [tool.name for tool in (await client.list_tools()).tools], client.session.instructions

    names, instructions = asyncio.run(conversation())
    assert names == ["one", "two"]
    # Last stands what every server says about what it recalls.
    assert instructions is not None
    assert instructions.startswith("about one\n\nabout two\n\nWhat these tools recall")
    sets = [toolset("one"), toolset("two")]
    result = called(sets, "two_too", {"a": 1})
    assert (text_of(result), result.structured_content, result.is_error) == ("two {'a': 1}", {"name": "two"}, False)
    assert text_of(called(sets, "three")) == "Unknown tool: three. There are: one, two"


@pytest.mark.parametrize(
    "failure, said",
    [
        (NotFound("no such thing", hint="look elsewhere"), "no such thing\nlook elsewhere"),
        (NotReady("the server is still starting"), "the server is still starting"),
        (CodexmemError("odd"), "odd"),
        (ZeroDivisionError("secret detail"), "internal error; see the server's log for details"),
    ],
)
def test_what_a_tool_raises_is_an_answer(failure: Exception, said: str, caplog: pytest.LogCaptureFixture) -> None:
    result = called([toolset("one", failure)], "one")
    assert (result.is_error, text_of(result)) == (True, said)
    assert ("secret detail" in caplog.text) == isinstance(failure, ZeroDivisionError)


def test_every_tool_of_the_contract_says_what_it_takes() -> None:
    for tool in RECALL.tools:
        assert tool.description
        assert all("description" in value for value in tool.schema["properties"].values()), tool.name
        # Some clients refuse what they cannot express: references and null.
        assert "$ref" not in str(tool.schema)
        assert "null" not in str(tool.schema)
