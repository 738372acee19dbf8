"""What a tool call was, whatever agent made it: agents name the same tools and fields differently.

Responses come as text, as objects, as lists of blocks, or as JSON inside text; here they become plain text, an exit
code and whether the call failed. Only what is needed of a long text is looked at.
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from codexmem.kernel.model.capture import CapturedEvent
from codexmem.kernel.model.file_blobs import PATH_FIELDS

MAX_TEXT = 200_000  # characters of a response that are looked at


class Family(StrEnum):
    """What sort of thing a tool does."""

    READ = "read"
    EDIT = "edit"
    WRITE = "write"
    PATCH = "patch"
    SHELL = "shell"
    SEARCH = "search"  # inside files
    LIST = "list"  # names of files
    FETCH = "fetch"
    WEB_SEARCH = "web_search"
    AGENT = "agent"
    MCP = "mcp"
    OTHER = "other"


_FAMILIES: dict[Family, tuple[str, ...]] = {
    Family.READ: ("read", "read_file", "readfile", "view", "notebookread", "read_many_files", "view_file", "cat"),
    Family.EDIT: (
        "edit", "multiedit", "notebookedit", "replace", "edit_file", "str_replace", "str_replace_editor",
        "replace_in_file", "search_replace", "str_replace_based_edit_tool",
    ),
    Family.WRITE: ("write", "write_file", "writefile", "create_file", "write_to_file", "save_file"),
    Family.PATCH: ("apply_patch", "patch", "applypatch"),
    Family.SHELL: (
        "bash", "shell", "shell_command", "run_shell_command", "exec", "exec_command", "local_shell", "run_command",
        "run_commands", "execute_command", "run_terminal_cmd", "terminal", "powershell", "container.exec",
    ),
    Family.SEARCH: (
        "grep", "search_file_content", "grep_search", "search_files", "codebase_search", "ripgrep", "search",
    ),
    Family.LIST: (
        "glob", "ls", "list", "list_directory", "list_files", "list_dir", "file_search", "find", "find_files",
    ),
    Family.FETCH: ("webfetch", "web_fetch", "fetch", "fetch_url"),
    Family.WEB_SEARCH: ("websearch", "web_search", "google_web_search"),
    Family.AGENT: ("task", "agent", "spawn_agent", "dispatch_agent", "subagent", "delegate"),
}  # fmt: skip
_BY_NAME = {name: family for family, names in _FAMILIES.items() for name in names}
_COMMANDS = ("command", "cmd", "script", "commands")
_TEXTS = ("stdout", "stderr", "output", "aggregated_output", "text", "content", "llmContent", "returnDisplay", "result",
          "error", "message", "data")  # fmt: skip
_CODES = ("exit_code", "exitCode", "exit", "returncode", "return_code")
_CODE_LINE = re.compile(
    r"^[ \t]{0,20}(?:Process exited with code|Exit code|exit status|Command exited with code)"
    r"[ \t]{0,9}:?[ \t]{0,9}(-?\d{1,5})\b",
    re.IGNORECASE | re.MULTILINE,
)
_HEADS = ("Chunk ID: ", "Wall time: ", "Process exited with code ", "Exit code: ", "Exit code ")  # of Codex
# Where Claude Code's form says nothing of how a command ended.
_NO_END = ("interrupted", "backgroundTaskId", "returnCodeInterpretation", "error")


def family(tool: str) -> Family:
    """The family of a tool by its name."""
    if tool.startswith(("mcp__", "mcp_", "MCP:")):
        return Family.MCP
    return _BY_NAME.get(tool.lower(), Family.OTHER)


def family_of(event: CapturedEvent) -> Family:
    """The family of a call: one tool may do several things, and says in its input which."""
    kind = family(event.tool)
    if kind is Family.EDIT:
        match fields(event.input).get("command"):
            case "view":
                return Family.READ
            case "create":
                return Family.WRITE
    return kind


@dataclass(frozen=True, slots=True)
class Response:
    """What a tool answered."""

    text: str
    exit_code: int | None
    failed: bool
    declined: bool = False  # somebody did not let it run


def fields(value: Any) -> dict[str, object]:
    """An object's fields; of a text that holds an object, those."""
    if isinstance(value, str) and value.lstrip()[:1] == "{" and len(value) <= MAX_TEXT:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def first(given: Mapping[str, object], names: Iterable[str]) -> str:
    """The first of these fields that holds a text."""
    return next((value for name in names if isinstance(value := given.get(name), str) and value.strip()), "")


def path_of(event: CapturedEvent) -> str:
    """The file or folder that the call was about."""
    return first(fields(event.input), PATH_FIELDS) or first(fields(event.response), ("filePath", "file_path"))


def command_of(event: CapturedEvent) -> str:
    """The command line that was run."""
    if isinstance(event.input, str) and not fields(event.input):
        return event.input
    given = fields(event.input)
    for name in _COMMANDS:
        value = given.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            return "\n".join(value) if name == "commands" else shlex.join(value)
    return ""


def response_of(event: CapturedEvent) -> Response:
    """What came back, in one form."""
    given = fields(event.response)
    text = text_of(given or event.response)[:MAX_TEXT]
    code = _exit_code(given)
    if code is None and family(event.tool) is Family.SHELL:
        code = _code_in(text)
    failed = (
        (code is not None and code != 0)
        or given.get("isError") is True
        or given.get("is_error") is True
        or given.get("success") is False
        or bool(isinstance(given.get("error"), str | dict) and given["error"])
        or given.get("interrupted") is True
    )
    declined = given.get("declined") is True
    return Response(text, code, failed or declined, declined)


def text_of(value: Any, depth: int = 0) -> str:
    """The text of a response, without its packaging."""
    if isinstance(value, str):
        return value
    if depth > 4:
        return ""
    if isinstance(value, list):
        return "\n".join(text for each in value[:200] if (text := text_of(each, depth + 1)))
    if isinstance(value, dict):
        if isinstance(value.get("file"), dict):  # a file as Claude Code reads it
            return text_of(value["file"].get("content", ""), depth + 1)
        found = (text_of(value[name], depth + 1) for name in _TEXTS if value.get(name))
        return "\n".join(text for text in dict.fromkeys(found) if text)
    return ""


def _code_in(text: str) -> int | None:
    """The exit code in what an agent wrote around an output; a 0 that a command printed itself proves nothing."""
    codes = [int(code) for code in _CODE_LINE.findall(text)]
    if text.startswith("Command: "):
        return codes[-1] if codes else None
    return codes[0] if codes and (codes[0] or text.startswith(_HEADS)) else None


def _exit_code(given: Mapping[str, object]) -> int | None:
    if "stdout" in given and "interrupted" in given and not any(map(given.get, _NO_END)) and "exit_code" not in given:
        return 0  # Claude Code reports success alone in this form
    for place in (given, given.get("metadata")):
        if isinstance(place, dict):
            for name in _CODES:
                value = place.get(name)
                if isinstance(value, int) and not isinstance(value, bool):
                    return value
    return None
