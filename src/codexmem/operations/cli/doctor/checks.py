"""The checks of `doctor`: each looks at one thing, changes nothing, says what is wrong, why it matters and what helps.

A finding carries keys of the message catalogue, not text. The running server is asked over HTTP, like any client would.
"""

import os
import pwd
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from codexmem.client import starting, transport
from codexmem.console import writer
from codexmem.console.messages import language
from codexmem.console.store import place_of, transfer_of
from codexmem.hook.spool import outside
from codexmem.hook.surroundings import environment
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store import inspection
from codexmem.lab.service import profiles
from codexmem.operations.cli.doctor import agent_checks, search_checks
from codexmem.operations.cli.doctor.finding import Finding, State
from codexmem.settings import Settings

_LOW_BYTES = 100 << 20
_SCARCE_BYTES = 1 << 30
_OLD_MS = 7 * 86_400_000
_PEOPLE = range(1000, 60_000)  # the numbers that ordinary users have
_RUNS = "runs"
_LAB = frozenset({_RUNS})
_NO_LOGIN = ("nologin", "false", "sync")


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
        ("words", search_checks.words),
        ("vectors", lambda: search_checks.vectors(settings)),
        ("embedder", lambda: search_checks.embedder(settings)),
        ("index", lambda: _index(settings, server, sound=seen["integrity"] == "ok")),
        ("writer", lambda: _writer(settings)),
        ("backup", lambda: _backup(settings)),
        ("neighbours", lambda: _neighbours(settings)),
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
        yield from agent_checks.agents(settings, served=server.alive)
    except (CodexmemError, OSError, ValueError) as error:
        yield Finding("agents", "failure", "doctor.broken", {"check": "agents", "problem": str(error)})


def _library() -> Finding:
    version, fixed = inspection.library()
    if not fixed:
        return Finding("library", "failure", "doctor.library_old", {"version": version})
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


def _index(settings: Settings, server: "_Server", *, sound: bool) -> Finding:
    # Nothing is to be learned from a damaged store but that it is damaged.
    if not sound:
        return Finding("index", "ok", "doctor.index_unknown")
    return search_checks.index(settings, served=server.alive)


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


def _neighbours(settings: Settings) -> Finding:
    others = [
        entry.pw_name
        for entry in pwd.getpwall()
        if entry.pw_uid in _PEOPLE and entry.pw_uid != os.geteuid() and not entry.pw_shell.endswith(_NO_LOGIN)
    ]
    if others and not settings.on_postgres and not settings.auth:
        return Finding("neighbours", "warning", "doctor.neighbours", {"count": len(others)})
    return Finding("neighbours", "ok", "doctor.alone")


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
