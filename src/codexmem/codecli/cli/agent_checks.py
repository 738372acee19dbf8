"""What `doctor` finds out about the agent and what holds it back: program, redaction, policy and audit log."""

import subprocess
from pathlib import Path

from codexmem.codecli import programs, project_context, surroundings
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.configuration import Config
from codexmem.codecli.policy_loading import policy_of
from codexmem.codecli.redactor import Redactor
from codexmem.console.messages import explain
from codexmem.kernel.model.errors import CodexmemError, NotFound
from codexmem.operations.cli.doctor.finding import Finding

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
