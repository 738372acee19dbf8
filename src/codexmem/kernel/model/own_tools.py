"""Our own tools as agents spell them: what a memory tool said is memory already and is not captured again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SERVER = "codexmem"
# The hook cannot load the toolsets. A tool whose name is missing here cannot be made (`surfaces.mcp.tool`), and a test
# finds a name that no tool has.
TOOLS = frozenset((
    "__IMPORTANT", "important_workflow", "search", "timeline", "get_observations", "save_memory",
    "read_memory", "create_memory", "update_memory", "delete_memory", "search_memory", "preload_memory",
    "save_session", "list_memories", "get_memory_stats", "export_memories", "import_memories", "add_alias",
    "get_memory_versions", "rollback_memory", "diff_versions", "list_rollbacks",
    "memory_init_workspace", "memory_add", "memory_query", "memory_delete", "memory_cleanup", "memory_get_status",
    "memory_dump", "memory_search", "memory_backup", "memory_restore", "forget", "change_memory",
))  # fmt: skip
# How our refusals of a tool end or begin, in whatever words an agent wraps them.
OTHERWISE = "Do not try it again; reach the goal another way, or say what you need and stop."
DENIED_BY_PERSON = "A person denied it"


def is_denial(response: Any) -> bool:
    """Whether a tool's answer is our refusal to let it run, which says nothing of the tool."""
    if isinstance(response, dict):
        return any(is_denial(value) for value in response.values())
    text = response.strip() if isinstance(response, str) else ""
    return text.endswith(OTHERWISE) or text.startswith(DENIED_BY_PERSON)


def is_own(tool: str, tool_input: Any = None) -> bool:
    """Whether this is a tool of ours, in the spelling of any agent.

    `mcp__codexmem__search` (Claude Code, Codex, Qwen), `mcp__plugin_codexmem_codexmem__search` (as a plugin),
    `mcp_codexmem_search` (Gemini), `codexmem_search` (OpenCode), `codexmem__search`, `codexmem.search`, `MCP:search`
    (Cursor, which does not name the server), and a general tool whose input names the server (Cline).
    """
    name = tool.strip().lower()
    if name.startswith("mcp:"):
        return tool.strip()[4:].strip() in TOOLS or SERVER in name
    if name.startswith("mcp_"):
        return SERVER in name.removeprefix("mcp_").lstrip("_").rpartition("__")[0] or name.startswith(f"mcp_{SERVER}_")
    if name.startswith((f"{SERVER}_", f"{SERVER}.", f"{SERVER}-", f"{SERVER}/", f"{SERVER}:")):
        return True
    if isinstance(tool_input, dict):
        server = tool_input.get("server_name") or tool_input.get("serverName") or tool_input.get("server")
        return isinstance(server, str) and server.strip().lower() == SERVER
    return False
