"""What a person has allowed once and for all in one project: rules in the user's state directory, never in a checkout.

A project is its folder. The name it gives itself in a file does not count here: a checkout could give itself any name,
and with it what was allowed to another. Each rule is as narrow as what the person saw: a command to the letter, a tool
within the project's folder, a tool with one host, one tool of one server.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from codexmem.codecli import surroundings
from codexmem.codecli.policy import domains as policy_domains
from codexmem.codecli.policy import paths as policy_paths
from codexmem.codecli.policy.names import called
from codexmem.codecli.policy.paths import Around
from codexmem.codecli.policy.rules import MOST_RULES
from codexmem.kernel.model.tool_access import ToolRequest

_MOST_BYTES = 4 << 20
_PATTERN = frozenset("*?")


class Always:
    """The rules of one project. Each is a file of its own, so that two wrappers cannot lose each other's."""

    def __init__(self, root: Path, state_dir: Path) -> None:
        self.root = os.path.realpath(root)
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:40]
        self.folder = state_dir / "always" / name

    def rules(self) -> list[dict[str, Any]]:
        """The rules, the oldest first; what cannot be read grants nothing."""
        return [note["rule"] for _, note in self._notes()]

    def add(self, rule: dict[str, Any]) -> None:
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

    def forget(self, index: int) -> dict[str, Any] | None:
        """Forget the rule at this place; None if there is none."""
        notes = self._notes()
        if not 0 <= index < len(notes):
            return None
        path, note = notes[index]
        path.unlink(missing_ok=True)
        rule: dict[str, Any] = note["rule"]
        return rule

    def _notes(self) -> list[tuple[Path, dict[str, Any]]]:
        found = []
        for path in sorted(self.folder.glob("*.json"))[:MOST_RULES]:
            try:
                note = json.loads(path.read_bytes()[:_MOST_BYTES])
            except (OSError, ValueError):
                continue
            if isinstance(note, dict) and note.get("project") == self.root and isinstance(note.get("rule"), dict):
                found.append((path, note))
        return found


def rules_for(request: ToolRequest, root: str, around: Around) -> list[dict[str, Any]]:
    """The rules by which exactly such requests would pass; none where no narrow rule can be written."""
    name = called(request.tool, request.server).granted
    if name is None or not name.plain or not _PATTERN.isdisjoint(name.folded):
        return []
    tool = {"tool": name.folded}
    if request.command:
        return [{**tool, "command_line": request.command}]
    here = Around(request.cwd or around.cwd, around.home, around.resolve)
    rules: dict[str, dict[str, Any]] = {}
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
