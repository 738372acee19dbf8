"""No call of our own tools is captured, as Cursor reports them: by the tool's name, without the server's."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from codexmem.app import mcp as toolsets
from codexmem.app.mcp import TOOLSETS
from codexmem.http.tool import Tool, Toolset, schema_of
from codexmem.kernel.model import own_tools
from tests._support.hook_endpoint import HookEndpoint

PAYLOADS = Path(__file__).parent / "payloads"
OFFERED = {
    name for toolset in TOOLSETS.values() for tool in toolset.tools for name in (tool.name, *tool.other_names)
}  # fmt: skip


def test_no_tool_asks_for_what_stands_elsewhere() -> None:
    """Kimi Code refused to call `save_memory` at all: its schema named a definition that was not told."""
    schemas = {tool.name: json.dumps(tool.schema) for toolset in TOOLSETS.values() for tool in toolset.tools}
    assert [name for name, schema in schemas.items() if "$ref" in schema] == []


class _Colour(StrEnum):
    RED = "red"


class _Painted(BaseModel):
    colour: _Colour | None = None


def test_what_a_schema_refers_to_stands_in_its_place() -> None:
    assert schema_of(_Painted)["properties"] == {"colour": {"type": "string", "enum": ["red"]}}


def payload(name: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / f"cursor-{name}.json").read_text())
    return found | more


@pytest.mark.parametrize("tool", sorted(OFFERED))
def test_a_call_of_ours_leaves_nothing(tool: str, hook: Any, endpoint: HookEndpoint, data: Path) -> None:
    given = {"project": "secret-project"}
    for sent in (
        payload("after-mcp-execution-own", tool_name=tool, tool_input=json.dumps(given), result_json='"Erased 12"'),
        payload("post-tool-use", tool_name=f"MCP:{tool}", tool_input=given, tool_output="Erased 12 memories"),
    ):
        assert hook("cursor", "observation", payload=sent, url=endpoint.url).code == 0
    assert endpoint.events == []
    assert not list((data / "spool").rglob("*.json")) if (data / "spool").exists() else True


def test_a_call_of_somebody_elses_is_captured(hook: Any, endpoint: HookEndpoint) -> None:
    sent = payload("post-tool-use", tool_name="MCP:find_files", tool_input={"q": "x"}, tool_output="a.py")
    hook("cursor", "observation", payload=sent, url=endpoint.url)
    assert [event.body["tool_name"] for event in endpoint.events] == ["MCP:find_files"]


def test_the_hook_knows_the_tools_that_there_are() -> None:
    assert own_tools.TOOLS == OFFERED


def test_a_tool_that_hooks_do_not_know_cannot_be_offered() -> None:
    tool: Tool[Any] = Tool("brand_new", "", "", {}, lambda *_: None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="own_tools"):
        toolsets.named(Toolset("new", (tool,), ""))
