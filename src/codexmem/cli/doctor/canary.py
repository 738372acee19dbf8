"""`doctor --canary`: a memory with a word that nobody else uses goes in by each door, is found there, and is erased.

Every door writes its own, so that each tells of itself alone. Where a door knows projects it is one that nobody works
in. Nothing is started: where no server runs, the store itself is tried, and the doors are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codexmem.cli.doctor.agent_checks import hooked
from codexmem.cli.doctor.finding import Finding
from codexmem.cli.install.installed import commands_of, person
from codexmem.cli.messages import explain, say
from codexmem.cli.remote import Remote
from codexmem.cli.store import place_of
from codexmem.domain.errors import CodexmemError, Unavailable

if TYPE_CHECKING:
    from codexmem.clients.install.agent import Agent
    from codexmem.settings import Settings

PROJECT = "codexmem-doctor"
_ANSWERS_WITHIN_S = 15.0
_TITLE = "codexmem doctor"
_HTTP, _MCP, _RPC, _QA, _HOOK = "HTTP (/api)", "MCP (/mcp)", "JSON-RPC (/rpc)", "QA (/v1/qa)", "codexmem hook"
_NAMES = {_HTTP: "door:http", _MCP: "door:mcp", _RPC: "door:rpc", _QA: "door:qa", _HOOK: "door:hook"}
_LETTERS = str.maketrans("0123456789", "ghijklmnop")  # a word of letters is one word to every index


def through_doors(settings: Settings, *, sound: bool) -> Iterator[Finding]:
    """One finding for each door: found, or exactly what failed, or why it was not tried; a damaged store is spared."""
    from codexmem.clients import background, starting

    place = place_of(settings)
    url = starting.told(place)
    if place.port_given and not place.url:
        # A port may lead to the server of another store, where nothing of ours may be written.
        running = background.look(place)
        url = url if running is not None and running.own else ""
    try:
        key = starting.headers(place).get("Authorization", "").removeprefix("Bearer ")
    except CodexmemError as error:
        problem, hint = _problem(error)
        for door, name in _NAMES.items():
            yield Finding(name, "failure", "doctor.door_failed", {"door": door, "problem": problem, "hint": hint})
        return
    server = Remote(url.rstrip("/"), key, _ANSWERS_WITHIN_S)
    if not url or not _answers(server):
        yield _store(settings, sound=sound)
        for door, name in _NAMES.items():
            yield Finding(name, "skipped", "doctor.door_skipped", {"door": door})
        return
    doors, states = _Doors(server), {}
    try:
        for door, attempt in ((_HTTP, doors.http), (_MCP, doors.mcp), (_RPC, doors.rpc), (_QA, doors.qa)):
            found = tried(_NAMES[door], door, attempt)
            states[door] = found.state
            yield found
    finally:
        problem = doors.clear()
    if problem:
        yield Finding("canary", "failure", "doctor.canary_stays", {"problem": problem, "project": PROJECT})
    # An event that we can neither look for nor erase would be remembered, if need be from the spool some day.
    if states[_HTTP] == "ok" and _answers(server):
        yield from _hooks(settings)
    else:
        yield Finding(_NAMES[_HOOK], "skipped", "doctor.hook_skipped", {"door": _HOOK, "other": _HTTP})


class _Doors:
    """The doors of one server. Each answers whether what it wrote was found; `clear` erases all of it."""

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

    def _answer(self, path: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        said = self._server.post(path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if not isinstance(said.get("result"), dict):
            raise CodexmemError(str((said.get("error") or {}).get("message") or "no result"))
        found: dict[str, Any] = said["result"]
        return found


def _store(settings: Settings, *, sound: bool) -> Finding:
    """The store in this process, by the services behind every door."""
    from codexmem.store import inspection

    fit = sound and not settings.on_postgres
    if not fit or inspection.schema(settings.database_url) != inspection.expected_schema():
        return Finding("door:store", "skipped", "doctor.store_skipped")
    return tried("door:store", say("doctor.door_store"), lambda: _found_here(settings))


def _found_here(settings: Settings) -> bool:
    from codexmem.cli.backend import opened
    from codexmem.domain.attrs import ObservationAttrs
    from codexmem.domain.history import By
    from codexmem.domain.memory import Draft, Kind, Origin, State
    from codexmem.domain.query import Filter
    from codexmem.domain.search import Search
    from codexmem.domain.tenant import LOCAL

    word, by, kinds = _word(), By("doctor"), frozenset({Kind.OBSERVATION})
    with opened(settings, LOCAL) as core:
        state = State(word, ObservationAttrs(), project=PROJECT, title=_TITLE)
        saved = core.saving.save(Draft(Kind.OBSERVATION, state, Origin.TOOL), by).memory
        try:
            results = core.recall.search(Search(word, Filter(kinds=kinds, project=PROJECT), limit=3)).results
        finally:
            core.forgetting.ids([saved.seq], by)
    return saved.seq in [found.memory.seq for found in results]


def _hooks(settings: Settings) -> Iterator[Finding]:
    """The hook as each agent's own files name it; where none does, as we would write it there."""
    from codexmem.clients.install.agent import PROMPT
    from codexmem.clients.install.agents.table import BY_NAME

    whose = person()
    found = hooked(whose)
    for agent, command in found:
        yield _fired(settings, f"door:hook:{agent.name}", say("doctor.door_hook", agent=agent.title), agent, command)
    if not found:
        agent = BY_NAME["claude-code"]
        yield _fired(settings, _NAMES[_HOOK], _HOOK, agent, commands_of(settings).hook(agent.name, PROMPT))


def _fired(settings: Settings, name: str, door: str, agent: Agent, command: str) -> Finding:
    from codexmem.cli.install.text import spoken
    from codexmem.clients.install.proof import fire

    check = fire(agent, command, person(), replace(place_of(settings), may_start=False))
    if check.ok:
        return Finding(name, "ok", "doctor.door", {"door": door})
    why, how = spoken(check)
    return Finding(name, "failure", "doctor.door_failed", {"door": door, "problem": why, "hint": how})


def tried(name: str, door: str, attempt: Callable[[], bool]) -> Finding:
    """What an attempt says of a door, whatever happens in it."""
    try:
        found = attempt()
    except (CodexmemError, OSError, KeyError, TypeError, ValueError) as error:
        problem, hint = _problem(error)
        values = {"door": door, "problem": problem, "hint": hint or say("doctor.door_hint")}
        return Finding(name, "failure", "doctor.door_failed", values)
    if not found:
        return Finding(name, "failure", "doctor.door_lost", {"door": door})
    return Finding(name, "ok", "doctor.door", {"door": door})


def _answers(server: Remote) -> bool:
    try:
        return bool(server.get("/api/health"))
    except Unavailable:
        return False
    except CodexmemError:
        return True  # somebody is there, and says so at the doors


def _problem(error: Exception) -> tuple[str, str | None]:
    if isinstance(error, CodexmemError):
        return explain(error)
    return say("doctor.door_strange", what=f"{type(error).__name__}: {error}"), None


def _word() -> str:
    from codexmem.clients.hook.surroundings import fresh_id

    return f"canary{fresh_id().translate(_LETTERS)}"
