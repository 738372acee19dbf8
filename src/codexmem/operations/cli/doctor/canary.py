"""`doctor --canary`: a memory with a unique word is written through each interface, found there, and erased.

Every interface writes its own, so that each tells of itself alone. Where an interface knows projects, it is one that
nobody works in. Nothing is started: where no server runs, the store itself is tried, and the interfaces are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codexmem.console.backend import Remote, opened
from codexmem.console.messages import explain, say
from codexmem.console.store import place_of
from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.operations.cli.doctor.checks import hooked
from codexmem.operations.cli.doctor.finding import Finding
from codexmem.operations.cli.install.text import commands_of, person

if TYPE_CHECKING:
    from codexmem.agents import InstallableAgent
    from codexmem.settings import Settings

PROJECT = "codexmem-doctor"
_ANSWERS_WITHIN_S = 15.0
_TITLE = "codexmem doctor"
_HTTP, _MCP, _RPC, _QA, _HOOK = "HTTP (/api)", "MCP (/mcp)", "JSON-RPC (/rpc)", "QA (/v1/qa)", "codexmem hook"
_NAMES = {_HTTP: "canary:http", _MCP: "canary:mcp", _RPC: "canary:rpc", _QA: "canary:qa", _HOOK: "canary:hook"}
_LETTERS = str.maketrans("0123456789", "ghijklmnop")  # a word of letters is one word to every index


def through_interfaces(settings: Settings, *, sound: bool) -> Iterator[Finding]:
    """One finding per interface: found, or exactly what failed, or why it was not tried; a damaged store is spared."""
    from codexmem.client import background, starting

    place = place_of(settings)
    url = starting.told(place)
    if place.port_given and not place.url:
        # A port may lead to the server of another store, where nothing of ours may be written.
        running = background.look(place)
        url = url if running is not None and running.own else ""
    try:
        headers = starting.headers(place)
    except CodexmemError as error:
        problem, hint = _problem(error)
        for interface, name in _NAMES.items():
            yield Finding(
                name, "failure", "doctor.interface_failed", {"interface": interface, "problem": problem, "hint": hint}
            )
        return
    server = Remote(url.rstrip("/"), headers, _ANSWERS_WITHIN_S)
    if not url or not _answers(server):
        yield _store(settings, sound=sound)
        for interface, name in _NAMES.items():
            yield Finding(name, "skipped", "doctor.interface_skipped", {"interface": interface})
        return
    interfaces, states = _Interfaces(server), {}
    try:
        for interface, attempt in (
            (_HTTP, interfaces.http),
            (_MCP, interfaces.mcp),
            (_RPC, interfaces.rpc),
            (_QA, interfaces.qa),
        ):
            found = tried(_NAMES[interface], interface, attempt)
            states[interface] = found.state
            yield found
    finally:
        problem = interfaces.clear()
    if problem:
        yield Finding("canary", "failure", "doctor.canary_stays", {"problem": problem, "project": PROJECT})
    # An event that we can neither look for nor erase would be remembered, if need be from the spool some day.
    if states[_HTTP] == "ok" and _answers(server):
        yield from _hooks(settings)
    else:
        yield Finding(_NAMES[_HOOK], "skipped", "doctor.hook_skipped", {"interface": _HOOK, "other": _HTTP})


class _Interfaces:
    """The interfaces of one server. Each answers whether what it wrote was found; `clear` erases all of it."""

    def __init__(self, server: Remote) -> None:
        self._server = server
        self._written: list[str] = []  # what provenance calls them

    def http(self) -> bool:
        """Save and search, as the web application and scripts do."""
        word = _word()
        saved = self._server.post("/api/memory/save", {"text": word, "title": _TITLE, "project": PROJECT})
        self._written.append(str(saved["id"]))
        rows = self._server.get("/api/search", query=word, project=PROJECT, format="json")["observations"]
        return saved["id"] in [row["id"] for row in rows]

    def mcp(self) -> bool:
        """The tools that agents call."""
        word = _word()
        saved = self._tool("save_memory", text=word, title=_TITLE, project=PROJECT)
        self._written.append(str(saved["id"]))
        rows = self._tool("search", query=word, project=PROJECT, format="json")["observations"]
        return saved["id"] in [row["id"] for row in rows]

    def rpc(self) -> bool:
        """An entry of the knowledge base."""
        word = _word()
        added = self._call("memory_add", content=word, summary=_TITLE, tags=[PROJECT])["id"]
        self._written.append(added)
        return added in [row["id"] for row in self._call("memory_query", query=word)["results"]]

    def qa(self) -> bool:
        """A question and its answer, unproven."""
        word = _word()
        body = {"project_id": PROJECT, "question": f"{_TITLE}: {word}?", "answer": word}
        made = self._server.post("/v1/qa/candidates", body)["qa_id"]
        self._written.append(made)
        found = self._server.post("/v1/qa/search", {"project_id": PROJECT, "query": word})["items"]
        return made in [row["qa_id"] for row in found]

    def clear(self) -> str:
        """Erase what was written, with its history; what kept it from that, or nothing."""
        try:
            seqs = [int(self._server.get(f"/api/provenance/{name}")["memory"]["seq"]) for name in self._written]
            if seqs:
                self._server.post("/api/forget", {"ids": seqs})
                if self._server.post("/api/forget", {"ids": seqs, "preview": True})["found"]:
                    return say("doctor.canary_found")
        except (CodexmemError, KeyError, TypeError, ValueError) as error:
            return _problem(error)[0]
        return ""

    def _tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self._answer("/mcp", "tools/call", {"name": name, "arguments": arguments})
        if result.get("isError"):
            raise CodexmemError("; ".join(str(part.get("text", "")) for part in result.get("content", [])))
        found: dict[str, Any] = result["structuredContent"]
        return found

    def _call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self._answer("/rpc", name, arguments)

    def _answer(self, path: str, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        said = self._server.post(path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if not isinstance(said.get("result"), dict):
            raise CodexmemError(str((said.get("error") or {}).get("message") or "no result"))
        found: dict[str, Any] = said["result"]
        return found


def _store(settings: Settings, *, sound: bool) -> Finding:
    """The store in this process, by the services behind every interface."""
    from codexmem.kernel.store import inspection

    fit = sound and not settings.on_postgres
    if not fit or not inspection.is_fit(settings.database_url):
        return Finding("canary:store", "skipped", "doctor.store_skipped")
    return tried("canary:store", say("doctor.interface_store"), lambda: _found_here(settings))


def _found_here(settings: Settings) -> bool:
    from codexmem.kernel.model.attrs import ObservationAttrs
    from codexmem.kernel.model.history import WriteContext
    from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
    from codexmem.kernel.model.query import Filter
    from codexmem.kernel.model.search import SearchQuery
    from codexmem.kernel.model.tenant import LOCAL

    word, by, kinds = _word(), WriteContext("doctor"), frozenset({Kind.OBSERVATION})
    with opened(settings, LOCAL) as core:
        state = State(word, ObservationAttrs(), project=PROJECT, title=_TITLE)
        saved = core.saving.save(MemoryDraft(Kind.OBSERVATION, state, Origin.TOOL), by).memory
        try:
            results = core.recall.search(SearchQuery(word, Filter(kinds=kinds, project=PROJECT), limit=3)).results
        finally:
            core.forgetting.ids([saved.seq], by)
    return saved.seq in [found.memory.seq for found in results]


def _hooks(settings: Settings) -> Iterator[Finding]:
    """The hook as each agent's own files name it; where none does, as we would write it there."""
    from codexmem.agents import PROMPT
    from codexmem.agents.claude_code import AGENT

    whose = person()
    found = hooked(whose)
    for agent, command in found:
        yield _fired(
            settings, f"canary:hook:{agent.name}", say("doctor.interface_hook", agent=agent.title), agent, command
        )
    if not found:
        yield _fired(settings, _NAMES[_HOOK], _HOOK, AGENT, commands_of(settings).hook(AGENT.name, PROMPT))


def _fired(settings: Settings, name: str, interface: str, agent: InstallableAgent, command: str) -> Finding:
    from codexmem.agents.install.proof import fire
    from codexmem.operations.cli.install.text import spoken

    check = fire(agent, command, person(), replace(place_of(settings), may_start=False))
    if check.ok:
        return Finding(name, "ok", "doctor.interface", {"interface": interface})
    why, how = spoken(check)
    return Finding(name, "failure", "doctor.interface_failed", {"interface": interface, "problem": why, "hint": how})


def tried(name: str, interface: str, attempt: Callable[[], bool]) -> Finding:
    """What an attempt says of an interface, whatever happens in it."""
    try:
        found = attempt()
    except (CodexmemError, OSError, KeyError, TypeError, ValueError) as error:
        problem, hint = _problem(error)
        values = {"interface": interface, "problem": problem, "hint": hint or say("doctor.interface_hint")}
        return Finding(name, "failure", "doctor.interface_failed", values)
    if not found:
        return Finding(name, "failure", "doctor.interface_lost", {"interface": interface})
    return Finding(name, "ok", "doctor.interface", {"interface": interface})


def _answers(server: Remote) -> bool:
    try:
        return bool(server.get("/api/health"))
    except Unavailable:
        return False
    except CodexmemError:
        return True  # somebody is there, and says so at the interfaces


def _problem(error: Exception) -> tuple[str, str | None]:
    if isinstance(error, CodexmemError):
        return explain(error)
    return say("doctor.interface_strange", what=f"{type(error).__name__}: {error}"), None


def _word() -> str:
    from codexmem.hook.surroundings import fresh_id

    return f"canary{fresh_id().translate(_LETTERS)}"
