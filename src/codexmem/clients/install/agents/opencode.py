"""OpenCode: it has no hook programs, so that a plugin of ours calls the hook; servers are in its configuration."""

from __future__ import annotations

import json
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Any

from codexmem.clients.install.agent import SERVER, Person, Server, Target, Whole
from codexmem.clients.install.agents import json_settings
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.entries import Member

_MARK = "// From codexmem:"
_HOOK = "const HOOK = "


class OpenCode:
    """`opencode`."""

    name = "opencode"
    title = "OpenCode"
    programs: tuple[str, ...] = ("opencode",)

    def folder(self, person: Person) -> Path:
        """Its folder."""
        return person.folder("XDG_CONFIG_HOME", ".config") / "opencode"

    def targets(self, person: Person, commands: Commands) -> list[Target]:
        """Its configuration, and the plugin."""
        server = Member(("mcp", SERVER), {"type": "local", "command": list(commands.mcp), "enabled": True})
        text = files("codexmem.clients.install.agents").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
        text = text.replace("__HOOK__", json.dumps(list(commands.hook_prefix), ensure_ascii=False))
        return [Target(self._config(person), "json", [server]), Whole(self._plugin(person), text, _MARK)]

    def hook(self, person: Person, event: str) -> str:
        """As the plugin calls it."""
        try:
            lines = self._plugin(person).read_text(encoding="utf-8").splitlines()
            words = json.loads(next(line for line in lines if line.startswith(_HOOK)).removeprefix(_HOOK))
        except (OSError, ValueError, StopIteration):
            return ""
        return shlex.join((*map(str, words), self.name, event))

    def server(self, person: Person) -> Server | None:
        """As its configuration names it."""
        entry = json_settings.table(json_settings.read(self._config(person)), "mcp", SERVER)
        words = entry.get("command")
        if not isinstance(words, list) or not words:
            return None
        environ = {name: str(value) for name, value in json_settings.table(entry, "environment").items()}
        return Server(tuple(map(str, words)), environ)

    def obstacles(self, person: Person) -> list[str]:
        """Our server, switched off by hand."""
        path = self._config(person)
        return json_settings.switched_off(path, json_settings.read(path), "mcp", SERVER, "enabled")

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, Any]:
        """A prompt, as the plugin passes it on."""
        parts = [{"type": "text", "text": prompt}]
        return {"directory": cwd, "input": {"sessionID": session}, "output": {"parts": parts}}

    def _config(self, person: Person) -> Path:
        folder = self.folder(person)
        commented = folder / "opencode.jsonc"
        return commented if commented.is_file() else folder / "opencode.json"

    def _plugin(self, person: Person) -> Path:
        return self.folder(person) / "plugins" / "codexmem.js"
