"""The checks of `mem-codecli doctor`: each looks at one thing, changes nothing, and says what helps.

A memory that cannot be reached is a failure where memory is switched on or its server is named, else a warning.

`mem-codecli doctor`: looks at everything a run depends on, and says how to fix it.

What `doctor` finds out about the agent and what holds it back: program, redaction, policy and audit log.

What `doctor` finds out about the memory server: one live round trip, looked at from several sides.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import click

from codexmem.client import starting
from codexmem.codecli import config_files, probing, programs, project_context, surroundings
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.cli.configured import memory_options, said
from codexmem.codecli.config_files import Loaded
from codexmem.codecli.configuration import Config
from codexmem.codecli.probing import Answered, Certificate, Reached
from codexmem.codecli.redactor import Redactor
from codexmem.codecli.remembered_permissions import policy_of
from codexmem.console.command import Command, option
from codexmem.console.messages import explain
from codexmem.kernel.model.errors import CodexmemError, NotFound
from codexmem.kernel.model.key_transport import is_loopback
from codexmem.operations.cli.doctor.finding import Finding, State, tell

_SOON_DAYS = 14


class ServerChecks:
    """The memory server as a run would meet it; every step is tried once."""

    def __init__(self, config: Config, project: str) -> None:
        self._config = config
        self._project = project
        self._place = project_context.place(config)
        self._url = starting.address(self._place)
        self._is_wanted = config.memory.on or bool(config.memory.base_url)
        self._bad: State = "failure" if self._is_wanted else "warning"

    def reachable(self) -> Finding:
        """Whether something listens there."""
        values = {"url": self._url, "ms": self._reached.took_ms, "problem": self._reached.problem}
        if not self._reached.problem:
            return Finding("server", "ok", "codecli.doctor.server", values)
        if self._is_wanted:
            return Finding("server", "failure", "codecli.doctor.server_away", values)
        return Finding("server", "warning", "codecli.doctor.server_off", values)

    def tls(self) -> Finding:
        """Whether nobody can listen in or pretend to be the server."""
        if not self._url.startswith("https://"):
            if is_loopback(self._url):
                return Finding("tls", "ok", "codecli.doctor.tls_loopback")
            if not self._place.may_have_key and self._place.key:
                return Finding("tls", "warning", "codecli.doctor.tls_key_in_clear", {"url": self._url})
            return Finding("tls", "warning", "codecli.doctor.tls_none", {"url": self._url})
        if self._reached.problem:
            return Finding("tls", "ok", "codecli.doctor.skipped", {"check": "tls"})
        found = self._certificate
        values = {"days": found.days_left, "problem": found.problem, "url": self._url}
        if found.state == "valid":
            if found.days_left < _SOON_DAYS:
                return Finding("tls", "warning", "codecli.doctor.tls_soon", values)
            return Finding("tls", "ok", "codecli.doctor.tls", values)
        match found.state:
            case "expired" | "not-yet":
                return Finding("tls", self._bad, "codecli.doctor.tls_expired", values)
            case "wrong-host":
                return Finding("tls", self._bad, "codecli.doctor.tls_wrong_host", values)
            case "unknown-issuer":
                return Finding("tls", self._bad, "codecli.doctor.tls_unknown", values)
        return Finding("tls", self._bad, "codecli.doctor.tls_failed", values)

    def authentication(self) -> Finding:
        """Whether the server takes our key: 401 and 403 are told apart."""
        if not self._speaks:
            return Finding("authentication", "ok", "codecli.doctor.skipped", {"check": "authentication"})
        values = {"url": self._url, "status": self._answered.status}
        has_key = self._place.may_have_key and bool(starting.headers(self._place))
        if self._answered.status == 401:
            key = "codecli.doctor.auth_wrong" if has_key else "codecli.doctor.auth_missing"
            return Finding("authentication", self._bad, key, values)
        if self._answered.status == 403:
            return Finding("authentication", self._bad, "codecli.doctor.auth_forbidden", values)
        if not has_key:
            return Finding("authentication", "ok", "codecli.doctor.auth_none", values)
        return Finding("authentication", "ok", "codecli.doctor.auth", values)

    def round_trip(self) -> Finding:
        """Whether a search comes back with what a search comes back with."""
        if not self._speaks or self._answered.status in {401, 403}:
            return Finding("round_trip", "ok", "codecli.doctor.skipped", {"check": "round_trip"})
        found = self._answered
        values = {"ms": found.took_ms, "status": found.status, "problem": found.problem, "project": self._project}
        if found.status == 200 and not found.problem:
            return Finding("round_trip", "ok", "codecli.doctor.round_trip", values)
        if found.status == 0:
            return Finding("round_trip", self._bad, "codecli.doctor.round_trip_silent", values)
        if found.status == 404:
            return Finding("round_trip", self._bad, "codecli.doctor.round_trip_other", values)
        return Finding("round_trip", self._bad, "codecli.doctor.round_trip_bad", values)

    def timeout(self) -> Finding:
        """Whether the memory is as fast as an agent waits for it."""
        allowed = self._config.memory.timeout_ms
        if not self._speaks or self._answered.status != 200:
            return Finding("timeout", "ok", "codecli.doctor.skipped", {"check": "timeout"})
        values = {"ms": self._answered.took_ms, "allowed": allowed}
        if self._answered.took_ms > allowed:
            return Finding("timeout", self._bad, "codecli.doctor.timeout_slow", values)
        if self._answered.took_ms * 2 > allowed:
            return Finding("timeout", "warning", "codecli.doctor.timeout_close", values)
        return Finding("timeout", "ok", "codecli.doctor.timeout", values)

    @property
    def _speaks(self) -> bool:
        if self._reached.problem:
            return False
        return not self._url.startswith("https://") or self._certificate.state == "valid"

    @cached_property
    def _reached(self) -> Reached:
        return probing.reach(self._url)

    @cached_property
    def _certificate(self) -> Certificate:
        return probing.certificate(self._url)

    @cached_property
    def _answered(self) -> Answered:
        return probing.search(self._url, self._place, self._project, probing.STEP_S)


VERSION_S = 5.0


def agent(config: Config) -> Finding:
    """Whether there is something to wrap, and which version of it."""
    environ = surroundings.environ()
    try:
        command = project_context.agent(config, environ)
    except NotFound:
        values = {"name": config.codecli.command[0], "agents": ", ".join(programs.known())}
        return Finding("agent", "failure", "codecli.doctor.agent_none", values)
    place = programs.which(command[0], environ)
    values = {"name": command[0], "path": place, "version": _version(place)}
    if not values["version"]:
        return Finding("agent", "warning", "codecli.doctor.agent_mute", values)
    if command != config.codecli.command:
        return Finding("agent", "ok", "codecli.doctor.agent_instead", values)
    return Finding("agent", "ok", "codecli.doctor.agent", values)


def redaction(config: Config) -> Finding:
    """Whether what must not be seen can be taken out."""
    values = {"level": config.redact.level, "count": len(config.redact.patterns)}
    try:
        Redactor(config.redact.level, config.redact.patterns)
    except CodexmemError as error:
        return Finding("redaction", "failure", "codecli.doctor.redaction_bad", values | {"problem": error.message})
    if config.redact.level == "off":
        return Finding("redaction", "warning", "codecli.doctor.redaction_off", values)
    return Finding("redaction", "ok", "codecli.doctor.redaction", values)


def policy(config: Config) -> Finding:
    """Whether the rules can be read."""
    rules = config.policy
    count = len(rules.allowlist) + len(rules.denylist) + len(rules.asklist)
    values = {"count": count, "mode": rules.mode, "risk": rules.max_risk}
    try:
        policy_of(config, surroundings.cwd())
    except CodexmemError as error:
        message, hint = explain(error)
        return Finding("policy", "failure", "codecli.doctor.policy_bad", {"problem": message, "hint": hint or ""})
    if config.audit.mode == "off":
        return Finding("policy", "ok", "codecli.doctor.policy_off", values)
    return Finding("policy", "ok", "codecli.doctor.policy", values)


def audit() -> Finding:
    """Whether every row of the audit log is as it was written."""
    found = AuditLog(Path(surroundings.state_dir()) / "audit").verify()
    if found.bad is not None:
        problem = f"{found.bad.file}:{found.bad.line}: {found.bad.problem}"
        return Finding("audit", "failure", "codecli.doctor.audit_broken", {"problem": problem})
    if not found.rows:
        return Finding("audit", "ok", "codecli.doctor.audit_none")
    return Finding("audit", "ok", "codecli.doctor.audit", {"count": found.rows})


def _version(place: str) -> str:
    """The first line that the agent says of its version; empty if it says none in time."""
    try:
        done = subprocess.run(
            [place, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_S, check=False,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = (done.stdout.strip() or done.stderr.strip()).decode("utf-8", "replace")
    return said.splitlines()[0][:100] if done.returncode == 0 and said else ""


def examine(flags: Mapping[str, object]) -> Iterator[Finding]:
    """Run every check; one that breaks is a finding too. Without a configuration nothing else can be judged."""
    here = Path(surroundings.cwd())
    try:
        loaded = config_files.load(flags, here)
    except CodexmemError as error:
        message, hint = explain(error)
        values = {"problem": message, "hint": hint or ""}
        yield Finding("configuration", "failure", "codecli.doctor.config_bad", values)
        return
    yield from _configuration(loaded)
    config = loaded.config
    server = ServerChecks(config, project_context.project(config, str(here))[0])
    checks: list[tuple[str, Callable[[], Finding]]] = [
        ("project", lambda: _project(loaded, here)),
        ("state", lambda: _state(Path(surroundings.state_dir()))),
        ("redaction", lambda: redaction(config)),
        ("server", server.reachable),
        ("tls", server.tls),
        ("authentication", server.authentication),
        ("round_trip", server.round_trip),
        ("timeout", server.timeout),
        ("agent", lambda: agent(config)),
        ("policy", lambda: policy(config)),
        ("audit", audit),
    ]
    for name, check in checks:
        try:
            yield check()
        except (CodexmemError, OSError) as error:
            problem = explain(error)[0] if isinstance(error, CodexmemError) else str(error)
            yield Finding(name, "failure", "doctor.broken", {"check": name, "problem": problem})


def _configuration(loaded: Loaded) -> Iterator[Finding]:
    user, project = loaded.user_file, loaded.project_file
    files = [str(user)] if user.is_file() else []
    files += [str(project.path)] if project else []
    origins = sorted({origin.partition(" ")[0] for origin in loaded.origins.values()} - {"default"})
    values = {"files": ", ".join(files) or "-", "origins": ", ".join(origins) or "-"}
    yield Finding("configuration", "ok", "codecli.doctor.config", values)
    for notice in loaded.warnings:
        yield Finding("configuration", "warning", "codecli.doctor.config_warned", {"said": said(notice)})


def _project(loaded: Loaded, here: Path) -> Finding:
    name, derived = project_context.project(loaded.config, str(here))
    values = {"name": name, "origin": loaded.origins["project_id"]}
    if not derived:
        return Finding("project", "ok", "codecli.doctor.project", values)
    if loaded.config.memory.on:
        return Finding("project", "warning", "codecli.doctor.project_derived", values)
    return Finding("project", "ok", "codecli.doctor.project_unused", values)


def _state(folder: Path) -> Finding:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    values = {"path": str(folder)}
    if not os.access(there, os.W_OK | os.X_OK):
        return Finding("state", "failure", "codecli.doctor.state_closed", values)
    if folder.is_dir() and folder.stat().st_mode & 0o077:
        return Finding("state", "warning", "codecli.doctor.state_open", values)
    return Finding("state", "ok", "codecli.doctor.state", values)


@click.command("doctor", cls=Command, key="codecli.doctor")
@option("--strict", is_flag=True, key="doctor.strict")
@memory_options
def doctor(strict: bool, project_id: str | None, memory_url: str | None) -> None:
    """Run every check; exit 1 if one fails, with --strict also if one warns."""

    tell(examine({"project_id": project_id, "memory.base_url": memory_url}), strict=strict)
