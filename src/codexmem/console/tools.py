"""The tools that agents call, called by a person, so that a command and an agent mean the same by the same words.

What a tool advises is in the names of tools; here it is said in those of commands.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, Unpack
from urllib.parse import quote

from codexmem.console.backend import ACTOR, LONG_S, Answer, Backend, InProcess, advised, backend
from codexmem.console.store import StoreFlags
from codexmem.kernel.model.errors import BY_CODE, CodexmemError

Toolset = Literal["notes", "knowledge"]
_ERROR_KEY = "codexmem/error"
_EXACT_KEY = "codexmem/exact"  # a person's program wants what is stored, not what a model may be shown
_COMMANDS = {
    "read_memory": "memory read",
    "create_memory": "memory create",
    "update_memory": "memory update",
    "delete_memory": "memory delete",
    "search_memory": "memory search",
    "list_memories": "memory ls",
    "get_memory_versions": "memory versions",
    "list_rollbacks": "memory versions",
    "rollback_memory": "memory rollback",
    "diff_versions": "memory diff",
    "add_alias": "memory alias",
    "export_memories": "memory export",
    "import_memories": "memory import",
    "memory_add": "kb add",
    "memory_query": "kb query",
    "memory_delete": "kb rm",
    "memory_dump": "kb ls",
    "memory_init_workspace": "workspace init",
    "memory_cleanup": "workspace rm",
}
_CALL = re.compile(r"rollback_memory\(uri='([^']*)', version=([0-9]+)\)")
_NAME = re.compile(rf"\b({'|'.join(_COMMANDS)})\b")


class Tools:
    """A toolset."""

    def __init__(self, store: Backend, toolset: Toolset, project: str) -> None:
        self._store = store
        self._toolset = toolset
        self._project = project

    def call(self, name: str, **arguments: Any) -> Answer:
        """What the tool answers to these arguments; those that are None are left out."""
        given = {key: value for key, value in arguments.items() if value is not None}
        with advised(_in_commands):
            if isinstance(self._store, InProcess):
                return self._in_process(self._store, name, given)
            return self._by_server(name, given)

    def _in_process(self, store: InProcess, name: str, arguments: Mapping[str, object]) -> Answer:
        """Without the protocol's own server, which costs a second to load."""
        from codexmem.app.mcp import TOOLSETS
        from codexmem.http.tool import ToolInvocation

        tool = next(each for each in TOOLSETS[self._toolset].tools if each.name == name)
        said = tool.answer(store.services, ToolInvocation(arguments, ACTOR, self._project or None, store.origin))
        return said.structured or {}

    def _by_server(self, name: str, arguments: Mapping[str, object]) -> Answer:
        path = f"/mcp/{self._toolset}" + (f"?project={quote(self._project, safe='')}" if self._project else "")
        params = {"name": name, "arguments": arguments, "_meta": {_EXACT_KEY: True}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        told = self._store.post(path, message, timeout_s=LONG_S)
        result = told.get("result")
        if not isinstance(result, dict):
            raise CodexmemError(str((told.get("error") or {}).get("message") or "the server did not answer the call"))
        if result.get("isError"):
            raise _refusal(result)
        found: Answer = result.get("structuredContent") or {}
        return found


@contextmanager
def tools(toolset: Toolset, *, project: str = "", create: bool = False, **where: Unpack[StoreFlags]) -> Iterator[Tools]:
    """The toolset of the store that these flags name; one that does not exist yet is made only if that is said."""
    with backend(write=True, create=create, **where) as store:
        yield Tools(store, toolset, project)


def _refusal(result: Answer) -> CodexmemError:
    """The tool's error as if it had happened here."""
    told = (result.get("_meta") or {}).get(_ERROR_KEY) or {}
    text = "\n".join(str(part.get("text", "")) for part in result.get("content", []))
    hint = told.get("hint")
    kind = BY_CODE.get(str(told.get("code")), CodexmemError)
    details = told.get("details")
    return kind(
        str(told.get("message") or text), hint=str(hint) if hint else None,
        details=details if isinstance(details, dict) else None,
    )  # fmt: skip


def _in_commands(hint: str) -> str:
    hint = _CALL.sub(r"codexmem memory rollback \1 \2", hint)
    return _NAME.sub(lambda found: f"codexmem {_COMMANDS[found[1]]}", hint)
