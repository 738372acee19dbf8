"""A permission request of the Agent Client Protocol, as a request for policy, and the option that answers it.

`session/request_permission` names a tool call (kind, title, and with most agents its arguments) and options of the
kinds allow_once, allow_always, reject_once and reject_always. Only what is meant for this one time is ever granted: an
agent that offers lasting permission alone is refused.
"""

from __future__ import annotations

from typing import Any

from codexmem.clients.codecli.agents.json_lines import Value, list_in, table_in, text_in
from codexmem.clients.codecli.agents.requests import request_of
from codexmem.domain.tool_access import Risk, ToolRequest

# What a kind of tool can do at worst. "other" and what is new say nothing.
_RISKS = {
    **dict.fromkeys(("read", "search", "think"), Risk.READ),
    **dict.fromkeys(("edit", "delete", "move"), Risk.WRITE),
    "fetch": Risk.NETWORK,
    "execute": Risk.EXECUTE,
}
_TOOLS = {"read": "read_file", "edit": "edit", "delete": "delete", "move": "move", "search": "search",
          "execute": "Bash", "fetch": "web_fetch"}  # fmt: skip
_GRANTS, _REFUSES = ("allow_once",), ("reject_once", "reject_always")


def tool_call_of(call: Value, *, agent: str, cwd: str, known: Value | None = None) -> ToolRequest:
    """The request that a tool call is; `known` is what was told of it before it was asked about."""
    asked, known = known is not None, known or {}
    kind = text_in(call.get("kind")) or text_in(known.get("kind"))
    title = text_in(call.get("title")) or text_in(known.get("title"))
    meta = {**table_in(known.get("_meta")), **table_in(call.get("_meta"))}
    tool = text_in(meta.get("toolName")) or _TOOLS.get(kind) or title or "tool"
    arguments: Any = call.get("rawInput") or known.get("rawInput")
    if not arguments and asked:
        # Some agents put the command in the title of the question and nowhere else.
        arguments = {"command": title} if kind == "execute" else {"title": title}
    places = [*list_in(known.get("locations")), *list_in(call.get("locations"))]
    paths = tuple(path for each in places if (path := text_in(table_in(each).get("path"))))
    return request_of(tool, arguments, agent=agent, call_id=text_in(call.get("toolCallId")), cwd=cwd,
                      risk=_RISKS.get(kind), also_paths=paths)  # fmt: skip


def outcome(options: Any, *, granted: bool) -> tuple[Value, bool]:
    """The answer, and whether it grants."""
    offered = [table_in(each) for each in list_in(options)]
    for kind in _GRANTS if granted else ():
        for option in offered:
            if option.get("kind") == kind:
                return _selected(option), True
    for kind in _REFUSES:
        for option in offered:
            if option.get("kind") == kind:
                return _selected(option), False
    return {"outcome": {"outcome": "cancelled"}}, False


def _selected(option: Value) -> Value:
    return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}
