"""The tools that agents call, called by a person, so that a command and an agent mean the same by the same words.

What a tool advises is in the names of tools; here it is said in those of commands.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import quote

from codexmem.cli.backend import ACTOR, Answer, Backend, InProcess, backend
from codexmem.cli.remote import LONG_S
from codexmem.domain.errors import BY_CODE, CodexmemError

if TYPE_CHECKING:
    from codexmem.app import Core

Toolset = Literal["notes", "knowledge"]
_ERROR_KEY = "codexmem/error"
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


class Tools(Protocol):
    """A toolset."""

    def call(self, name: str, **arguments: Any) -> Answer:
        """What the tool answers to these arguments; those that are None are left out."""
        ...


class _Here:
    """Tools in this process, on a store that it has opened; the protocol's own server would cost a second to load."""

    def __init__(self, core: "Core", toolset: Toolset, project: str) -> None:
        from codexmem.app import Services
        from codexmem.domain.ids import SystemClock
        from codexmem.services.status import Status
        from codexmem.surfaces.mcp.toolsets import TOOLSETS

        self._services = Services(Status(version="", clock=SystemClock()))
        self._services.opened(core)
        self._tools = {tool.name: tool for tool in TOOLSETS[toolset].tools}
        self._project = project

    def call(self, name: str, **arguments: Any) -> Answer:
        """Call it."""
        from codexmem.surfaces.mcp.tool import Call

        try:
            said = self._tools[name].answer(self._services, Call(_given(arguments), ACTOR, self._project or None))
        except CodexmemError as error:
            raise _spoken(error) from None
        return said.structured or {}


class _There:
    """Tools of a server."""

    def __init__(self, server: Backend, toolset: Toolset, project: str) -> None:
        self._server = server
        self._path = f"/mcp/{toolset}" + (f"?project={quote(project, safe='')}" if project else "")

    def call(self, name: str, **arguments: Any) -> Answer:
        """Call it."""
        params = {"name": name, "arguments": _given(arguments)}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        told = self._server.post(self._path, message, timeout_s=LONG_S)
        result = told.get("result")
        if not isinstance(result, dict):
            raise CodexmemError(str((told.get("error") or {}).get("message") or "the server did not answer the call"))
        if result.get("isError"):
            raise _spoken(_refusal(result))
        found: Answer = result.get("structuredContent") or {}
        return found


@contextmanager
def tools(toolset: Toolset, *, project: str = "", create: bool = False, **where: Any) -> Iterator[Tools]:
    """The toolset of the store that these flags name; one that does not exist yet is made only if that is said."""
    with backend(write=True, create=create, **where) as store:
        yield _Here(store.core, toolset, project) if isinstance(store, InProcess) else _There(store, toolset, project)


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _refusal(result: dict[str, Any]) -> CodexmemError:
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


def _spoken(error: CodexmemError) -> CodexmemError:
    """The same error with commands for tools."""
    if error.hint is None:
        return error
    hint = _CALL.sub(r"codexmem memory rollback \1 \2", error.hint)
    hint = _NAME.sub(lambda found: f"codexmem {_COMMANDS[found[1]]}", hint)
    return type(error)(error.message, hint=hint, details=error.details)
