"""What a person has allowed once and for all in one project: rules in the user's state directory, never in a checkout.

A project is its folder. The name it gives itself in a file does not count here: a checkout could give itself any name,
and with it what was allowed to another. Each rule is as narrow as what the person saw: a command to the letter, a tool
within the project's folder, a tool with one host, one tool of one server.

The policy of a run: what is configured, what a person always allows in this project, and what guards the guard.

An agent may never touch the folder that holds the audit log, its key and the remembered rules, nor write the user's
configuration; these rules are always there. Rules that cannot be read make a policy that allows nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem.codecli import surroundings
from codexmem.codecli.policy import domains as policy_domains
from codexmem.codecli.policy import names as policy_paths
from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.names import Around, called
from codexmem.codecli.policy.rules import BUILT_IN, MOST_RULES
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.tool_access import ToolRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem.codecli.configuration import Config

_MOST_BYTES = 4 << 20
_PATTERN = frozenset("*?")


class Always:
    """The rules of one project. Each is a file of its own, so that two wrappers cannot lose each other's."""

    def __init__(self, root: Path, state_dir: Path) -> None:
        self.root = os.path.realpath(root)
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:40]
        self.folder = state_dir / "always" / name

    def rules(self) -> list[dict[str, object]]:
        """The rules, the oldest first; what cannot be read grants nothing."""
        return [rule for _, rule in self._notes()]

    def add(self, rule: dict[str, object]) -> None:
        """Remember a rule; OSError if that cannot be."""
        if rule in self.rules():
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        note = {"project": self.root, "rule": rule, "at_ms": surroundings.now_ms()}
        name = f"{note['at_ms']:015d}-{surroundings.fresh_id()}"
        fresh = self.folder / f"{name}.new"
        file = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(file, json.dumps(note, ensure_ascii=False).encode("utf-8", "backslashreplace"))
        finally:
            os.close(file)
        fresh.replace(self.folder / f"{name}.json")

    def forget(self, index: int) -> dict[str, object] | None:
        """Forget the rule at this place; None if there is none."""
        notes = self._notes()
        if not 0 <= index < len(notes):
            return None
        path, rule = notes[index]
        path.unlink(missing_ok=True)
        return rule

    def _notes(self) -> list[tuple[Path, dict[str, object]]]:
        found = []
        for path in sorted(self.folder.glob("*.json"))[:MOST_RULES]:
            try:
                note = json.loads(path.read_bytes()[:_MOST_BYTES])
            except (OSError, ValueError):
                continue
            if isinstance(note, dict) and note.get("project") == self.root and isinstance(note.get("rule"), dict):
                found.append((path, note["rule"]))
        return found


def rules_for(request: ToolRequest, root: str, around: Around) -> list[dict[str, object]]:
    """The rules by which exactly such requests would pass; none where no narrow rule can be written."""
    name = called(request.tool, request.server).granted
    if name is None or not name.plain or not _PATTERN.isdisjoint(name.folded):
        return []
    tool: dict[str, object] = {"tool": name.folded}
    if request.command:
        return [{**tool, "command_line": request.command}]
    here = Around(request.cwd or around.cwd, around.home, around.resolve)
    rules: dict[str, dict[str, object]] = {}
    for path in request.paths:
        place = policy_paths.read(path, here)
        if not place.clear:
            return []
        project = policy_paths.read(root, here)
        chosen = root if policy_paths.covers(project, place) else place.spellings[0]
        rules[f"path {chosen}"] = {**tool, "path": chosen}
    for url in request.urls:
        address = policy_domains.read(url)
        if address.host is None:
            return []
        rules[f"domain {address.host.wire}"] = {**tool, "domain": address.host.wire}
    return list(rules.values()) or [tool]


ALWAYS = "always in this project"
CONFIGURED = "configuration"


def around(cwd: str) -> Around:
    """Where paths are read from, with links resolved on this machine."""
    return Around(cwd, surroundings.home(), _resolved)


def root_of(cwd: str) -> Path:
    """The project's folder: the checkout around this place, else the place itself."""
    place = Path(cwd)
    return next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), place)


def policy_of(
    config: Config, cwd: str, always: Always | None = None, origins: Mapping[str, str] | None = None
) -> Policy:
    """The policy that holds; InvalidArgument says which rule cannot be read."""
    told = config.policy
    origins = origins or {}
    policy = Policy.parse(mode=told.mode, max_risk=told.max_risk, around=around(cwd))
    policy = policy.plus(deny=_guarding(), origin=BUILT_IN)
    policy = policy.plus(deny=told.denylist, origin=origins.get("policy.denylist", CONFIGURED))
    policy = policy.plus(ask=told.asklist, origin=origins.get("policy.asklist", CONFIGURED))
    policy = policy.plus(allow=told.allowlist, origin=origins.get("policy.allowlist", CONFIGURED))
    return policy.plus(allow=always.rules(), origin=ALWAYS) if always is not None else policy


def policy_or_nothing(config: Config, cwd: str, always: Always | None = None) -> Policy:
    """The policy that holds; where it cannot be read, one that allows nothing and says why."""
    try:
        return policy_of(config, cwd, always)
    except CodexmemError as error:
        return Policy.broken(f"{error.message}; {error.hint}" if error.hint else error.message)


def _guarding() -> list[dict[str, str]]:
    reason = "it guards what agents may do"
    return [
        {"path": surroundings.state_dir(), "reason": reason},
        {"path": surroundings.config_dir(), "risk": "write", "reason": reason},
    ]


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
