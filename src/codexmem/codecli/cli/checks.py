"""The checks of `mem-codecli doctor`: each looks at one thing, changes nothing, and says what helps.

A memory that cannot be reached is a failure where memory is switched on, and a warning where it is not.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from codexmem.codecli import config_files, project_context, surroundings
from codexmem.codecli.cli import agent_checks
from codexmem.codecli.cli.configured import said
from codexmem.codecli.cli.server_checks import ServerChecks
from codexmem.codecli.config_files import Loaded
from codexmem.console.messages import explain
from codexmem.kernel.model.errors import CodexmemError
from codexmem.operations.cli.doctor.finding import Finding


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
        ("redaction", lambda: agent_checks.redaction(config)),
        ("server", server.reachable),
        ("tls", server.tls),
        ("authentication", server.authentication),
        ("round_trip", server.round_trip),
        ("timeout", server.timeout),
        ("agent", lambda: agent_checks.agent(config)),
        ("policy", lambda: agent_checks.policy(config)),
        ("audit", agent_checks.audit),
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
