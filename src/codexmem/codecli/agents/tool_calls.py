"""Tool calls in a JSON value, whoever printed it: one walk that knows by tables how agents and model APIs write them.

A call is an object whose `type` (or the event, or the key it stands under) says so, or that names a tool and gives
arguments. What says that it is a call and cannot be read as one is `Unclear`: somebody has to be told. Nothing inside a
call's arguments, inside a definition of tools or inside a text is looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from codexmem.codecli.agents.json_lines import Value, list_in, table_in, text_in

_DEEPEST = 24
_MOST_NODES = 20_000

# All names are compared in lower case and without what stands between words: tool_use, tool-use and toolUse are one.
_CALLS = frozenset({
    *("tooluse", "servertooluse", "mcptooluse", "toolcall", "functioncall", "customtoolcall", "mcpcall", "toolrequest"),
    *("localshellcall", "shellcall", "applypatchcall", "websearchcall", "filesearchcall", "computercall"),
    *("codeinterpretercall", "imagegenerationcall", "commandexecution", "filechange", "mcptoolcall", "websearch"),
    *("dynamictoolcall", "collabtoolcall", "collabagenttoolcall", "execcommandbegin", "mcptoolcallbegin"),
    *("patchapplybegin", "execapprovalrequest", "applypatchapprovalrequest", "toolstart", "toolstarted"),
    *("toolexecutionstart", "toolinvocation", "toolscall"),
})  # fmt: skip
_RESULTS = frozenset({
    *("toolresult", "functioncalloutput", "customtoolcalloutput", "toolcalloutput", "localshellcalloutput"),
    *("shellcalloutput", "applypatchcalloutput", "mcptoolresult", "websearchtoolresult", "toolresponse", "toolend"),
    *("functionresponse", "toolcallend", "toolcallresult", "execcommandend", "mcptoolcallend", "patchapplyend"),
    *("toolended", "toolcompleted", "toolexecutionend", "tooloutput", "toolerror", "codeexecutiontoolresult"),
})  # fmt: skip
# What tells of a call that is told whole elsewhere.
_PROGRESS = frozenset({
    *("inputjsondelta", "functioncallargumentsdelta", "functioncallargumentsdone", "toolinputstart", "toolinputdelta"),
    *("toolinputend", "toolcalldelta", "toolcallupdate", "execcommandoutputdelta", "toolexecutionupdate", "toolusage"),
    *("mcpcallargumentsdelta", "mcpcallargumentsdone", "customtoolcallinputdelta", "customtoolcallinputdone"),
    *("toolprogress", "toolusesummary", "toolcallinprogress", "mcplisttools"),
})  # fmt: skip
_DEFINITIONS = frozenset({
    *("tools", "toolchoice", "availabletools", "functions", "inputschema", "schema", "tooldefinitions", "mcpservers"),
    *("toolconfig", "capabilities", "usage", "modelusage", "servertoolusage", "permissiondenials"),
})  # fmt: skip
# Keys under which a call stands, or a list of them.
_KEYS = frozenset({
    *("toolcall", "toolcalls", "functioncall", "functioncalls", "tooluse", "tooluses", "toolinvocation"),
    "toolinvocations",
})  # fmt: skip
_LOOKS_LIKE = re.compile(
    r"(?:tool|function|shell|exec|command|patch|mcp)\w*(?:use|call|request|begin|start|invocation|execution|invoke|execute)(?:e?d)?s?$"
)
_SHELL = {"localshellcall", "shellcall", "commandexecution", "execcommandbegin", "execapprovalrequest"}
_PATCH = {"applypatchcall", "filechange", "patchapplybegin", "applypatchapprovalrequest"}
_NAMES = ("tool_name", "toolName", "name", "tool", "function", "recipient_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "tool_input", "toolInput", "rawInput", "action",
              "action_input", "kwargs")  # fmt: skip
# Arguments that stand beside the name.
_WHAT = ("command", "cmd", "query", "queries", "changes", "code", "operation", "path", "url")
_IDS = ("call_id", "callId", "callID", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "tool_id", "id")
_SERVERS = ("server", "server_name", "serverName", "server_label")
_INSIDE = ("data", "payload", "part", "state", "function", "tool_call", "toolCall", "function_call", "functionCall",
           "tool_use", "invocation", "call", "item", "params")  # fmt: skip
_MARKS = ("type", "event", "kind", "sessionUpdate", "session_update", "method", "msg_type", "subtype")


@dataclass(frozen=True, slots=True)
class AgentToolCall:
    """A whole call."""

    tool: str
    arguments: Any
    call_id: str = ""
    server: str = ""
    ok: bool | None = None  # how it ended, if the same object says so


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a call that comes in pieces: its name first, then its arguments as text."""

    key: Hashable
    tool: str = ""
    call_id: str = ""
    text: str = ""
    last: bool = False


@dataclass(frozen=True, slots=True)
class AgentToolResult:
    """A call came to its end."""

    call_id: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Unclear:
    """It looks like a call and cannot be read as one."""

    what: str
    value: Any = None


Found = AgentToolCall | Fragment | AgentToolResult | Unclear


def found_in(value: Any, event: str = "") -> Iterator[Found]:
    """All that a value tells of calls; `event` is the name that a server-sent event gave it."""
    waiting: list[tuple[Any, str, int]] = [(value, event if _plain(event) in _CALLS else "", 0)]
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node, mark, depth = waiting.pop()
        if isinstance(node, list):
            waiting += [(each, mark, depth + 1) for each in reversed(node)]
        elif isinstance(node, dict):
            told = _told(node, mark)
            yield from told
            if told or depth >= _DEEPEST:
                continue
            for key, each in reversed(node.items()):
                if _plain(key) not in _DEFINITIONS and isinstance(each, dict | list):
                    waiting.append((each, key if _plain(key) in _KEYS else "", depth + 1))
        elif mark and node not in (None, ""):
            yield Unclear(mark, node)
    if waiting:
        yield Unclear("a value with too many parts")


def names_call(name: str) -> bool:
    """Whether the name of an event says that it is a call."""
    return _plain(name) in _CALLS or _LOOKS_LIKE.search(_plain(name)) is not None


def whole(text: str) -> Any:
    """The JSON value that a text is, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _told(node: Value, mark: str) -> list[Found]:
    """What one object tells by itself; nothing if it only holds others."""
    streamed = _streamed(node)
    if streamed:
        return streamed
    kinds = [_plain(node[name]) for name in _MARKS if isinstance(node.get(name), str)]
    if any(kind in _PROGRESS for kind in kinds):
        return [Fragment(None)]
    if any(kind in _RESULTS for kind in kinds) or _plain(node.get("role")) in {"tool", "function"}:
        return [AgentToolResult(_text_at(node, _IDS), _went_well(node))]
    kind = next((kind for kind in kinds if kind in _CALLS), "")
    if not kind and mark:
        kind = _plain(mark)
    if not kind:
        kind = next((each for each in kinds if _LOOKS_LIKE.search(each)), "")
    if kind:
        call = _call(node, kind)
        # What holds a list of calls is none itself.
        holds = any(_plain(key) in _KEYS and isinstance(each, list) for key, each in node.items())
        return [] if isinstance(call, Unclear) and holds else [call]
    if _flat(node):
        ok = node.get("ok", node.get("success"))
        if isinstance(ok, bool) and _arguments(node) is None:
            return [AgentToolResult(_text_at(node, _IDS), ok)]
        return [_call(node, "")]
    if isinstance(node.get("ok", node.get("success")), bool) and _text_at(node, _IDS[:-1]):
        return [AgentToolResult(_text_at(node, _IDS), bool(node.get("ok", node.get("success"))))]
    return []


def _call(node: Value, kind: str) -> Found:
    tool, holder = _named(node)
    ids = _text_at(holder, _IDS) if holder is not node else ""
    call_id = _text_at(node, _IDS[:-1]) or ids or _text_at(node, _IDS)
    if not tool:
        tool = "Bash" if kind in _SHELL else "apply_patch" if kind in _PATCH else ""
    if not tool and kind.startswith("websearch"):
        tool = "web_search"
    if not tool and kind.endswith("call") and kind not in {"toolcall", "functioncall", "customtoolcall", "mcpcall"}:
        tool = kind.removesuffix("call")
    if not tool:
        return Unclear(kind or "tool", node)
    arguments = _arguments(holder)
    if arguments is None and holder is not node:
        arguments = _arguments(node)
    server = _text_at(holder, _SERVERS) or _text_at(node, _SERVERS)
    if server and kind in {"mcptoolcall", "mcpcall", "mcptooluse", "mcptoolcallbegin"}:
        tool = f"mcp__{server}__{tool}"
    ended = node.get("status") in ("completed", "failed", "error", "declined") or "exit_code" in node
    return AgentToolCall(tool, arguments, call_id, server, _went_well(node) if ended else None)


def _named(node: Value) -> tuple[str, Value]:
    """The tool's name, and the object that it stands in."""
    for name in _NAMES:
        if text := text_in(node.get(name)).strip():
            return text, node
    for name in _INSIDE:
        inner = node.get(name)
        if isinstance(inner, dict):
            tool, holder = _named(inner)
            if tool:
                return tool, holder
            # {"tool_call": {"shellToolCall": {"args": …}}}
            if len(inner) == 1 and _plain(key := next(iter(inner))).endswith("toolcall"):
                return re.sub(r"[-_]?tool[-_]?call$", "", key, flags=re.IGNORECASE), table_in(inner[key])
    title = text_in(node.get("title")).strip()  # the Agent Client Protocol names a call for people only
    return (title, node) if title else ("", node)


def _arguments(node: Value) -> Any:
    for name in _ARGUMENTS:
        if name in node and node[name] is not None:
            given = node[name]
            return _parsed(given) if isinstance(given, str) else given
    for name in _INSIDE:
        if isinstance(inner := node.get(name), dict) and (given := _arguments(inner)) is not None:
            return given
    beside = {name: node[name] for name in _WHAT if name in node}
    return beside or None


def _parsed(text: str) -> Any:
    """Arguments that are JSON in a text, as APIs send them; else the text."""
    value = whole(text)
    return value if value is not None else {"text": text} if text.strip() else {}


def _flat(node: Value) -> bool:
    named = any(isinstance(node.get(name), str) and node[name] for name in ("tool", "tool_name", "toolName"))
    return named and (_arguments(node) is not None or isinstance(node.get("ok", node.get("success")), bool))


def _streamed(node: Value) -> list[Found]:
    """Calls that model APIs send piece by piece."""
    kind, at = _plain(node.get("type")), node.get("index", node.get("output_index"))
    block, item = table_in(node.get("content_block")), table_in(node.get("item"))
    if kind == "contentblockstart" and _plain(block.get("type")) in _CALLS:
        given = block.get("input")
        text = json.dumps(given) if given else ""
        return [Fragment(("block", at), text_in(block.get("name")) or "unknown", text_in(block.get("id")), text)]
    if kind == "contentblockdelta" and "partial_json" in table_in(node.get("delta")):
        return [Fragment(("block", at), text=text_in(table_in(node.get("delta"))["partial_json"]))]
    if kind == "contentblockstop":
        return [Fragment(("block", at), last=True)]
    if kind == "responseoutputitemadded" and _plain(item.get("type")) in _CALLS and not item.get("arguments"):
        key = ("item", text_in(item.get("id")) or at)
        return [Fragment(key, text_in(item.get("name")), _text_at(item, _IDS))] if item.get("name") else []
    if kind.startswith("response") and kind.endswith("argumentsdelta"):
        return [Fragment(("item", text_in(node.get("item_id")) or at), text=text_in(node.get("delta")))]
    if kind.startswith("response") and kind.endswith("argumentsdone"):
        return [Fragment(("item", text_in(node.get("item_id")) or at), last=True)]
    found: list[Found] = []
    for choice in map(table_in, list_in(node.get("choices"))):
        delta = table_in(choice.get("delta"))
        calls = list_in(delta.get("tool_calls"))
        if isinstance(delta.get("function_call"), dict):
            calls = [*calls, {"function": delta["function_call"], "index": "function_call"}]
        for place, call in enumerate(map(table_in, calls)):
            function = table_in(call.get("function"))
            where = ("choice", choice.get("index"), call.get("index", place))
            given = function.get("arguments")
            text = text_in(given) if isinstance(given, str) else json.dumps(given) if given is not None else ""
            found.append(Fragment(where, text_in(function.get("name")), text_in(call.get("id")), text))
        if delta and choice.get("finish_reason"):
            found.append(Fragment(("choice", choice.get("index")), last=True))
    return found


def _went_well(node: Mapping[str, object]) -> bool:
    told = {name: node.get(name) for name in ("is_error", "isError", "error")}
    good = node.get("ok", node.get("success"))
    status = _plain(node.get("status"))
    code = node.get("exit_code", node.get("exitCode"))
    return good is not False and not any(told.values()) and code in (0, None) and status not in {
        "failed", "error", "declined", "cancelled"}  # fmt: skip


def _text_at(node: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := text_in(node.get(name)))), "")


def _plain(name: Any) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()) if isinstance(name, str) and len(name) < 200 else ""
