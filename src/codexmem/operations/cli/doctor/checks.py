"""The checks of `doctor`: each looks at one thing, changes nothing, says what is wrong, why it matters and what helps.

A finding carries keys of the message catalogue, not text. The running server is asked over HTTP, like any client would.

The checks of `doctor` about search: words, vectors, the embedder, and whether the indexes keep up.

Without vectors search goes on by words, so what keeps them away is a warning, unless the settings ask for it by name.

The checks of `doctor` about agents: what stands in their files, read from the disk; no agent is started.

That an event really arrives is for `doctor --canary` and `install` to prove.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codexmem.client import starting, transport
from codexmem.console import writer
from codexmem.console.messages import explain, language, say
from codexmem.console.store import place_of, transfer_of
from codexmem.hook.spool import outside
from codexmem.hook.surroundings import environment
from codexmem.installation import install_command
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store import inspection
from codexmem.lab.service import profiles
from codexmem.operations.cli.doctor.finding import Finding, State
from codexmem.operations.cli.install.text import installer_of, person, problem_text
from codexmem.settings import Settings

if TYPE_CHECKING:
    from codexmem.agents import InstallableAgent
    from codexmem.agents.install.targets import UserHome
    from codexmem.settings import Settings


def agents(settings: Settings, *, served: bool) -> Iterator[Finding]:
    """Every agent that is here or that we were installed into: whether it is set up to record, or all that is wrong."""
    from codexmem.agents import installable

    whose, installed = person(), installer_of(settings).receipts.agents()
    here = [agent for agent in installable().values() if agent.name in installed or agent.found(whose)]
    if not here:
        yield Finding("agents", "ok", "doctor.agents_none")
    for agent in here:
        problems = list(_problems(agent, whose, installed=agent.name in installed))
        if not problems and not served and not settings.autostart:
            problems.append(Finding(_check(agent), "warning", "doctor.agent_waits", _named(agent)))
        yield from problems or [Finding(_check(agent), "ok", "doctor.agent", _named(agent))]


def hooked(whose: UserHome) -> list[tuple[InstallableAgent, str]]:
    """The agents whose files name our hook for prompts, and the command there."""
    from codexmem.agents import PROMPT, installable

    found = [(agent, agent.hook(whose, PROMPT)) for agent in installable().values()]
    return [(agent, command) for agent, command in found if command]


def _problems(agent: InstallableAgent, whose: UserHome, *, installed: bool) -> Iterator[Finding]:
    check, named = _check(agent), _named(agent)
    commands = {event: agent.hook(whose, event) for event in agent.moments}
    server = agent.server(whose)
    if not any(commands.values()) and server is None:
        if installed:
            yield Finding(check, "failure", "doctor.agent_lost", named)
        else:
            yield Finding(check, "skipped", "doctor.agent_new", named)
        return
    for path, problem in agent.unread(whose):
        yield Finding(
            check, "failure", "doctor.agent_unread", named | {"path": str(path), "problem": problem_text(problem)}
        )
    lacking = [event for event, command in commands.items() if not command]
    gone = {program for command in commands.values() if command and (program := _missing(command, whose))}
    if lacking:
        yield Finding(check, "failure", "doctor.agent_part", named | {"events": ", ".join(lacking)})
    if gone:
        yield Finding(check, "failure", "doctor.agent_moved", named | {"program": ", ".join(sorted(gone))})
    if count := agent.unmarked(whose):
        yield Finding(check, "failure", "doctor.agent_untrusted", named | {"count": count})
    if switches := agent.obstacles(whose):
        # A person has said so, which may be meant.
        yield Finding(check, "warning", "doctor.agent_off", named | {"setting": "; ".join(switches)})
    if server is None or _missing(shlex.join(server.command), whose):
        yield Finding(check, "warning", "doctor.agent_tools", named)


def _missing(command: str, whose: UserHome) -> str:
    """The program that a command names, if it is not there."""
    words = shlex.split(command)
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if "=" not in word]
    if not words:
        return command
    if Path(words[0]).is_absolute():
        return "" if Path(words[0]).is_file() else words[0]
    return "" if shutil.which(words[0], path=whose.environ.get("PATH", "")) else words[0]


def _check(agent: InstallableAgent) -> str:
    return f"agent:{agent.name}"


def _named(agent: InstallableAgent) -> dict[str, str]:
    return {"agent": agent.title, "name": agent.name}


_EXTRAS = {"local": "embed", "local-better": "embed-better"}


def words() -> Finding:
    """Whether SQLite has its text index; PostgreSQL needs nothing of the kind."""
    if inspection.lacks_words():
        return Finding("words", "failure", "doctor.words_none", {"command": install_command(anew=True)})
    return Finding("words", "ok", "doctor.words")


def vectors(settings: Settings) -> Finding:
    """Whether the store can compare vectors."""
    found = inspection.vectors(settings.database_url)
    if settings.on_postgres:
        if found is None:
            return Finding("vectors", "warning", "doctor.pgvector_none")
        return Finding("vectors", "ok", "doctor.pgvector", {"version": found})
    if found is None:
        return Finding("vectors", "warning", "doctor.sqlite_vec_none", {"command": install_command(anew=True)})
    return Finding("vectors", "ok", "doctor.sqlite_vec", {"version": found})


def embedder(settings: Settings) -> Finding:
    """Whether what turns texts into vectors is there and answers."""
    from codexmem.app import embedder_of

    name = settings.embedder
    found = embedder_of(settings)
    if found is None:
        if name == "none":
            return Finding("embedder", "ok", "doctor.embedder_off")
        return Finding("embedder", "warning", "doctor.embedder_none", {"command": install_command(_EXTRAS["local"])})
    installed = getattr(found, "installed", None)  # of a server nobody can say
    if installed is False:
        command = install_command(_EXTRAS.get(name, "fastembed"))
        return Finding("embedder", "failure", "doctor.embedder_missing", {"model": found.model, "command": command})
    try:
        found.query("memory")
    except CodexmemError as error:
        problem, hint = explain(error)
        values = {"model": found.model, "problem": problem, "hint": hint or say("doctor.embedder_hint")}
        return Finding("embedder", "failure", "doctor.embedder_fails", values)
    return Finding("embedder", "ok", "doctor.embedder", {"model": found.model})


def index(settings: Settings, *, served: bool) -> Finding:
    """Whether every memory has its words and vectors, or somebody is at it."""
    if settings.on_postgres:
        return Finding("index", "ok", "doctor.index_by_tenant")
    if not inspection.is_fit(settings.database_url):
        return Finding("index", "ok", "doctor.index_unknown")
    from codexmem.app import open_reading

    reading = open_reading(settings)
    try:
        found, unworded = reading.indexing.status(), reading.indexer.lacks_words()
    finally:
        reading.close()
    values = {"model": found.model or "-", "waiting": f"{found.waiting:,}", "problem": "; ".join(found.notes)}
    if unworded and not served:
        return Finding("index", "warning", "doctor.index_unworded")
    if found.model is None:
        return Finding("index", "ok", "doctor.index_words")
    if found.notes:
        return Finding("index", "failure", "doctor.index_silent", values)
    if found.complete and not found.waiting:
        return Finding("index", "ok", "doctor.index", values)
    if served:
        return Finding("index", "ok", "doctor.index_moving", values)
    return Finding("index", "warning", "doctor.index_behind", values)


_LOW_BYTES = 100 << 20
_SCARCE_BYTES = 1 << 30
_OLD_MS = 7 * 86_400_000
_RUNS = "runs"
_LAB = frozenset({_RUNS})


def examine(settings: Settings) -> Iterator[Finding]:
    """Run every check; one that breaks is a finding too."""
    server = _Server(settings)
    seen: dict[str, State] = {}
    checks: list[tuple[str, Callable[[], Finding]]] = [
        ("library", _library),
        ("data_dir", lambda: _data_dir(settings.data_dir)),
        ("disk", lambda: _disk(settings.data_dir)),
        ("schema", lambda: _schema(settings)),
        ("integrity", lambda: _integrity(settings)),
        ("server", server.answers),
        ("progress", server.progress),
        ("words", words),
        ("vectors", lambda: vectors(settings)),
        ("embedder", lambda: embedder(settings)),
        ("index", lambda: _index(settings, server, sound=seen["integrity"] == "ok")),
        ("writer", lambda: _writer(settings)),
        ("backup", lambda: _backup(settings)),
    ]
    if _lab_is_used(settings):
        checks.append(("profile", lambda: _profile(settings)))
    for name, check in checks:
        try:
            found = check()
        except (CodexmemError, OSError) as error:
            found = Finding(name, "failure", "doctor.broken", {"check": name, "problem": str(error)})
        seen[name] = found.state
        yield found
    yield from _outside(settings)
    try:
        yield from agents(settings, served=server.alive)
    except (CodexmemError, OSError, ValueError) as error:
        yield Finding("agents", "failure", "doctor.broken", {"check": "agents", "problem": str(error)})


def _library() -> Finding:
    version, fixed = inspection.library()
    if not fixed:
        return Finding(
            "library", "failure", "doctor.library_old", {"version": version, "command": install_command(anew=True)}
        )
    return Finding("library", "ok", "doctor.library", {"version": version})


def _data_dir(folder: Path) -> Finding:
    if not folder.exists():
        return Finding("data_dir", "ok", "doctor.data_dir_new", {"path": str(folder)})
    found = folder.stat()
    if found.st_uid != os.geteuid() or not os.access(folder, os.W_OK | os.X_OK):
        return Finding("data_dir", "failure", "doctor.data_dir_foreign", {"path": str(folder)})
    open_to_others = [
        str(path)
        for path in (folder, *sorted(folder.iterdir()))
        if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_symlink()
    ]
    # Inside a closed folder an open file is out of reach; only the folder itself decides.
    if stat.S_IMODE(found.st_mode) & 0o077 and open_to_others:
        return Finding(
            "data_dir", "warning", "doctor.data_dir_open", {"path": str(folder), "count": len(open_to_others)}
        )
    return Finding("data_dir", "ok", "doctor.data_dir", {"path": str(folder)})


def _disk(folder: Path) -> Finding:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    usage = os.statvfs(there)
    free = usage.f_bavail * usage.f_frsize
    values = {"path": str(there), "free": f"{free / (1 << 30):.1f} GiB"}
    if free < _LOW_BYTES:
        return Finding("disk", "failure", "doctor.disk_full", values)
    if free < _SCARCE_BYTES:
        return Finding("disk", "warning", "doctor.disk_scarce", values)
    return Finding("disk", "ok", "doctor.disk", values)


def _schema(settings: Settings) -> Finding:
    have, want = inspection.schema(settings.database_url), inspection.expected_schema()
    values = {"have": have or "-", "want": want}
    if have == want:
        return Finding("schema", "ok", "doctor.schema", values)
    if have is not None and have > want:
        if inspection.is_fit(settings.database_url):
            return Finding("schema", "ok", "doctor.schema_ahead", values)
        return Finding("schema", "failure", "doctor.schema_newer", values)
    if settings.on_postgres:
        return Finding("schema", "failure", "doctor.schema_old", values)
    # SQLite is created and upgraded when the server opens it.
    return Finding("schema", "ok", "doctor.schema_later" if have else "doctor.schema_none", values)


def _integrity(settings: Settings) -> Finding:
    problem = inspection.integrity(settings.database_url)
    if problem is None:
        return Finding("integrity", "ok", "doctor.integrity")
    return Finding("integrity", "failure", "doctor.integrity_bad", {"problem": problem})


def _index(settings: Settings, server: _Server, *, sound: bool) -> Finding:
    # Nothing is to be learned from a damaged store but that it is damaged.
    if not sound:
        return Finding("index", "ok", "doctor.index_unknown")
    return index(settings, served=server.alive)


def _backup(settings: Settings) -> Finding:
    newest = transfer_of(settings).newest_ms()
    if newest is None and inspection.schema(settings.database_url) is None:
        return Finding("backup", "ok", "doctor.backup_nothing")
    if newest is None:
        return Finding("backup", "warning", "doctor.backup_none")
    age = SystemClock().now_ms() - newest
    values = {"days": age // 86_400_000}
    if age > _OLD_MS:
        return Finding("backup", "warning", "doctor.backup_old", values)
    return Finding("backup", "ok", "doctor.backup", values)


def _writer(settings: Settings) -> Finding:
    if settings.url:
        return Finding("writer", "ok", "writer.elsewhere", {"url": settings.url})
    found = writer.seen(settings)
    if found.trouble is None:
        return Finding("writer", "ok", "doctor.writer", {"text": found.text()})
    values = {"text": found.text(), "how": found.writer.trouble(found.trouble, language())}
    return Finding("writer", "warning", "doctor.writer_fails", values)


def _lab_is_used(settings: Settings) -> bool:
    """Whether somebody chose a profile, or a run was ever asked for."""
    if settings.origins["lab_profile"] != "default":
        return True
    try:
        return inspection.row_counts(settings.database_url, _LAB).get(_RUNS, 0) > 0
    except (CodexmemError, OSError):
        return False  # what is wrong with the store is said by its own check


def _profile(settings: Settings) -> Finding:
    try:
        profile = profiles.load(settings.lab_profile)
    except InvalidArgument as error:
        return Finding("profile", "failure", "doctor.profile_wrong", {"problem": error.message})
    return Finding("profile", "ok", "doctor.profile", {"name": profile.name, "count": len(profile.roles)})


def _outside(settings: Settings) -> Iterator[Finding]:
    """Events of hooks that found neither a server nor room in the data directory; usually there is nothing to tell."""
    for spool in outside(str(settings.data_dir), environment()):
        if waiting := len(spool.names()):
            yield Finding("spool", "warning", "doctor.spool_outside", {"count": waiting, "path": spool.root})


class _Server:
    """The server that `server.json` tells of, if it is there."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.alive = False

    def answers(self) -> Finding:
        """Whether the store's owner can be talked to."""
        url = self._url()
        owned = inspection.owned(self._settings.database_url)
        if url is None:
            if owned:
                return Finding("server", "failure", "doctor.server_mute")
            # Hooks start one where they may; else nothing is captured until somebody does.
            return Finding("server", "notice" if self._settings.autostart else "warning", "doctor.server_none")
        status, body = self._ask(url, "/api/health")
        if status == 200:
            self.alive = True
            return Finding("server", "ok", "doctor.server", {"url": url, "version": body.get("version", "?")})
        if owned or self._settings.on_postgres:
            return Finding("server", "failure", "doctor.server_silent", {"url": url})
        return Finding("server", "warning", "doctor.server_stale", {"url": url})

    def progress(self) -> Finding:
        """Whether queued work moves, in the server's own judgement."""
        url = self._url()
        if not self.alive or url is None:
            return Finding("progress", "ok", "doctor.progress_unknown")
        status, body = self._ask(url, "/api/readiness")
        if status in {401, 404}:
            return Finding("progress", "warning", "doctor.progress_closed", {"status": status})
        if status == 200 and body.get("status") != "stalled":
            return Finding("progress", "ok", "doctor.progress")
        said = body.get("reason") or body.get("status") or status
        return Finding("progress", "failure", "doctor.progress_not", {"said": said})

    def _url(self) -> str | None:
        return starting.told(place_of(self._settings)) or None

    def _ask(self, url: str, path: str) -> tuple[int, dict[str, Any]]:
        headers = starting.headers(place_of(self._settings), withhold=True)
        try:
            reply = transport.ask(url, "GET", path, headers=headers, timeout_s=3)
            return reply.status, reply.document()
        except (OSError, ValueError):
            return 0, {}
