"""What the Codex app-server asks before it acts, as requests for policy, and the answers it understands.

A command asks by `item/commandExecution/requestApproval`, a patch by `item/fileChange/requestApproval` (its files stand
in the item that began just before), more rights by `item/permissions/requestApproval`; a tool of an MCP server asks by
an elicitation that names the server, and its item names the tool. Older servers ask by `execCommandApproval` and
`applyPatchApproval`. Granting is always for this one time.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codexmem.codecli.agents.codex_exec import AGENT, tool_of
from codexmem.codecli.agents.json_lines import Value, list_in, table_in, text_in
from codexmem.codecli.agents.requests import request_of
from codexmem.kernel.model.tool_access import Risk, ToolRequest

ELICITATION = "mcpServer/elicitation/request"


@dataclass(frozen=True, slots=True)
class CodexQuestion:
    """One question of Codex about a tool."""

    request: ToolRequest
    yes: Value
    no: Value
    thread: str
    turn: str


def question_of(method: str, params: Value, items: Mapping[str, Value], cwd: str) -> CodexQuestion | None:
    """The question that a request of the app-server is; None if it is about something else."""
    item = items.get(text_in(params.get("itemId")), {})
    named: dict[str, Any] = {
        "agent": AGENT,
        "call_id": text_in(params.get("itemId")) or text_in(params.get("callId")),
        "cwd": text_in(params.get("cwd")) or cwd,
    }
    yes: Value = {"decision": "accept"}
    no: Value = {"decision": "decline"}
    match method:
        case "item/commandExecution/requestApproval":
            request = _command(params, item, named)
        case "item/fileChange/requestApproval":
            changed = tool_of(item, cwd) if item else None
            root = text_in(params.get("grantRoot"))
            paths = (*(changed.paths if changed else ()), *((root,) if root else ()))
            request = request_of("apply_patch", changed.arguments if changed else params, risk=Risk.WRITE,
                                 also_paths=paths, **named)  # fmt: skip
        case "item/permissions/requestApproval":
            wanted = params.get("permissions")
            request = request_of("request_permissions", wanted, risk=Risk.EXECUTE, **named)
            yes, no = {"permissions": table_in(wanted), "scope": "turn"}, {"permissions": {}}
        case "execCommandApproval":
            command = shlex.join(text_in(word) for word in list_in(params.get("command")))
            request = request_of("Bash", {"command": command}, **named)
            yes, no = {"decision": "approved"}, {"decision": "denied"}
        case "applyPatchApproval":
            files = [text_in(name) for name in table_in(params.get("fileChanges"))]
            request = request_of("apply_patch", {"paths": files}, risk=Risk.WRITE, **named)
            yes, no = {"decision": "approved"}, {"decision": "denied"}
        case _ if method == ELICITATION and _is_tool(params):
            request = _mcp_tool(params, items, named)
            yes, no = {"action": "accept", "content": {}}, {"action": "decline", "content": None}
        case _:
            return None
    return CodexQuestion(request, yes, no, text_in(params.get("threadId")), text_in(params.get("turnId")))


def _command(params: Value, item: Value, named: dict[str, Any]) -> ToolRequest:
    if params.get("kind") == "writeStdin":
        # Input for a shell that runs already can be any command.
        return request_of("write_stdin", {"command": params.get("command") or item.get("command")},
                          risk=Risk.EXECUTE, **named)  # fmt: skip
    network = table_in(params.get("networkApprovalContext"))
    arguments: Value = {"command": params.get("command") or item.get("command")}
    if network:
        host, scheme = text_in(network.get("host")), text_in(network.get("protocol")) or "https"
        arguments["url"] = f"{scheme}://{host}"
    return request_of("Bash", arguments, **named)


def _is_tool(params: Value) -> bool:
    return table_in(params.get("_meta")).get("codex_approval_kind") == "mcp_tool_call"


def _mcp_tool(params: Value, items: Mapping[str, Value], named: dict[str, Any]) -> ToolRequest:
    server = text_in(params.get("serverName"))
    arguments = table_in(params.get("_meta")).get("tool_params")
    for key, item in reversed(list(items.items())):
        if item.get("type") == "mcpToolCall" and item.get("server") == server:
            named = {**named, "call_id": key}
            return request_of(f"mcp__{server}__{text_in(item.get('tool'))}", arguments or item.get("arguments"),
                              server=server, **named)  # fmt: skip
    return request_of(f"mcp__{server}__unknown", arguments, server=server, **named)
