"""Recipe: an MCP tool with a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.recipes.copied import Copy, listed

pytestmark = pytest.mark.sqlite

RECIPE = "Add an MCP tool with a command"
TEXTS = """  "kb.tagged.short": "{short}",
  "kb.tagged.help": "{short}",
  "kb.tagged.example": "codexmem kb tagged ops",
"""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """The package with the tool `memory_tagged` and the command `codexmem kb tagged`."""
    copy = Copy.below(tmp_path)
    copy.insert("kernel/model/own_tools.py", '"memory_restore", ', '"memory_tagged", ')
    copy.insert("knowledge/wire.py", 'class NoParameters(Parameters):\n    """Nothing."""\n', '''

class TaggedParameters(Parameters):
    """`memory_tagged`."""

    tag: Annotated[str, Field(description="The label")]


class TaggedEntries(WireAnswer):
    """The entries under a tag."""

    summaries: tuple[str, ...]
''')  # fmt: skip
    copy.replace("knowledge/tools.py", "VERBS: tuple[Verb[Any], ...] = (\n", '''\
def _tagged(knowledge: Knowledge, given: wire.TaggedParameters, _: CallContext) -> wire.TaggedEntries:
    found = map(wire.KnowledgeEntry.of, knowledge.entries.all())
    return wire.TaggedEntries(summaries=tuple(each.summary for each in found if given.tag in each.tags))


VERBS: tuple[Verb[Any], ...] = (
    Verb(
        "memory_tagged", "List by tag", "The summaries of the entries under a tag.", wire.TaggedParameters, _tagged,
        reads_only=True,
    ),
''')  # fmt: skip
    copy.insert("knowledge/cli.py", '    """The knowledge base."""\n', '''

@kb.command("tagged", cls=Command, key="kb.tagged")
@click.argument("tag", metavar="TAG")
@tenant_option
@store_options
def tagged(tag: str, **where: Unpack[StoreFlags]) -> None:
    """List the entries under a tag."""
    with tools("knowledge", **where) as called:
        found = wire.TaggedEntries.model_validate(called.call("memory_tagged", tag=tag))
    current().result(found.document(), "\\n".join(found.summaries))
''')  # fmt: skip
    for language, short in (("en", "List the entries under a tag."), ("zh", "列出带某标签的条目。")):
        copy.insert(f"console/messages/{language}.json", "{\n", TEXTS.format(short=short))
    return copy


def test_it_is_listed_called_and_explained(copy: Copy) -> None:
    assert copy.changed == set(listed(RECIPE))
    added = ("kb", "add", "restart at night", "--summary", "when to restart", "--tag", "ops")
    tagged = ("--json", "kb", "tagged", "ops")
    asked = (("kb", "tagged", "--help", "--lang", language) for language in ("en", "zh"))
    _, listed_here, english, chinese = copy.commands(added, tagged, *asked)
    assert json.loads(listed_here)["summaries"] == ["when to restart"]
    assert "List the entries under a tag." in english
    assert "列出带某标签的条目。" in chinese
    with copy.server() as server:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        accept = {"Accept": "application/json, text/event-stream"}
        tools = {tool["name"]: tool for tool in server.post("/mcp/knowledge", message, accept).json["result"]["tools"]}
        assert tools["memory_tagged"]["inputSchema"]["required"] == ["tag"]
        assert json.loads(copy.output("-m", "codexmem.cli", *tagged))["summaries"] == ["when to restart"]
    own = "from codexmem.kernel.model.own_tools import is_own; print(is_own('MCP:memory_tagged'))"
    assert copy.output("-c", own).strip() == "True"
