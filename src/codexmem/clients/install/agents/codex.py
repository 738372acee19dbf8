"""Codex: servers, hooks and trust in hooks in `config.toml`; hooks in `hooks.json` for people who have them there.

Hooks in both places make Codex warn at every start, so ours go where the person's are. Tools are approved beforehand,
because `codex exec` refuses what it would have to ask for. The server is not `required`: Codex shall start without us.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codexmem.clients.install import codex_hooks, formats
from codexmem.clients.install.agent import CONTEXT, END, PROMPT, SERVER, STOP, TOOL, Person, Server, Target
from codexmem.clients.install.agents import json_settings
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.entries import Element, Entry, Member, is_complete, is_ours, without_entries

MOMENTS = {CONTEXT: "SessionStart", PROMPT: "UserPromptSubmit", TOOL: "PostToolUse", STOP: "Stop", END: "SessionEnd"}
_LABELS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PostToolUse": "post_tool_use",
    "Stop": "stop",
    "SessionEnd": "session_end",
}
_STARTS_WITHIN_S = 30  # a server that is only now started makes its store first


class Codex:
    """`codex`."""

    name = "codex"
    title = "Codex"
    programs: tuple[str, ...] = ("codex",)

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], dict[str, str]] = {}

    def folder(self, person: Person) -> Path:
        """Its home."""
        return person.folder("CODEX_HOME", ".codex")

    def targets(self, person: Person, commands: Commands) -> list[Target]:
        """Its configuration, and its file of hooks if the person has one."""
        groups = json_settings.groups(MOMENTS, commands, self.name)
        program, *words = commands.mcp
        server = Member(
            ("mcp_servers", SERVER),
            {"command": program, "args": words, "startup_timeout_sec": _STARTS_WITHIN_S,
             "default_tools_approval_mode": "approve"},
        )  # fmt: skip
        hashes = self._told(person, groups)
        apart = self._hooks_file(person)
        if not self._has_hooks(apart):
            return [_Config(self._config(person), [server], groups, hashes)]
        config = _Config(self._config(person), [server], (), {})
        config.trust(apart, groups, hashes)
        return [Target(apart, "json", groups), config]

    def hook(self, person: Person, event: str) -> str:
        """As its files name it."""
        for settings in (json_settings.read(self._hooks_file(person)), self._read(person)):
            if command := json_settings.command_in(settings, MOMENTS[event]):
                return command
        return ""

    def server(self, person: Person) -> Server | None:
        """As its configuration names it."""
        return json_settings.server_in(self._read(person), "mcp_servers")

    def obstacles(self, person: Person) -> list[str]:
        """The switch for hooks."""
        path = self._config(person)
        return json_settings.switched_off(path, self._read(person), "features", "hooks")

    def untrusted(self, person: Person) -> list[str] | None:
        """Commands of ours that Codex would skip; None if it cannot be asked."""
        program = self._program(person)
        listed = codex_hooks.listed(program, person.environ, person.home) if program else []
        states = {
            str(hook.get("command")): hook.get("trustStatus") == "trusted" and hook.get("enabled") is not False
            for hook in listed
            if is_ours(str(hook.get("command")))
        }
        if not states:
            return None
        return [command for command, trusted in states.items() if not trusted]

    def unmarked(self, person: Person) -> int:
        """How many of our hooks have no trust written down; whether what is written is right, only Codex can say."""
        config = self._read(person)
        trusted = json_settings.table(config, "hooks", "state")
        hooks = self._hooks_file(person)
        places = ((hooks, json_settings.read(hooks)), (self._config(person), config))
        found = [mark for source, value in places for mark in _states(source, value, _present(value), None)]
        return sum(not json_settings.table(trusted, mark.path[-1]).get("trusted_hash") for mark in found)

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, Any]:
        """A prompt."""
        return {"session_id": session, "cwd": cwd, "hook_event_name": MOMENTS[PROMPT], "prompt": prompt}

    def _told(self, person: Person, groups: Sequence[Element]) -> dict[str, str]:
        program = self._program(person)
        if not program:
            return {}
        key = (program, json.dumps([each.value for each in groups]))
        if key not in self._hashes:
            asked = {group.path[-1]: group.value for group in groups}
            self._hashes[key] = codex_hooks.hashes(program, person.environ, asked)
        return self._hashes[key]

    def _program(self, person: Person) -> str:
        return shutil.which(self.programs[0], path=person.environ.get("PATH", "")) or ""

    def _config(self, person: Person) -> Path:
        return self.folder(person) / "config.toml"

    def _hooks_file(self, person: Person) -> Path:
        return self.folder(person) / "hooks.json"

    def _read(self, person: Person) -> dict[str, Any]:
        return json_settings.read(self._config(person), "toml")

    @staticmethod
    def _has_hooks(path: Path) -> bool:
        return path.is_file() and bool(json_settings.table(json_settings.read(path), "hooks") or not _is_json(path))


class _Config(Target):
    """`config.toml`. A hook's trust is kept under its place in the file, which is known when the file is."""

    def __init__(
        self, path: Path, entries: Sequence[Entry], groups: Sequence[Element], hashes: Mapping[str, str]
    ) -> None:
        super().__init__(path, "toml", [*entries, *groups])
        self._groups = groups
        self._hashes = hashes
        self._apart: tuple[Entry, ...] = ()

    def trust(self, source: Path, groups: Sequence[Element], hashes: Mapping[str, str]) -> None:
        """Trust hooks that stand in another file."""
        self._apart = _states(source, json_settings.read(source), groups, hashes)

    def edited(self, text: str) -> str:
        """With hooks and trust."""
        value = formats.value_of("toml", text)
        wanted = [*self.entries, *self._states(value)]
        if is_complete(value, wanted):
            return text
        bare = self.stripped(text, None)
        return formats.edited("toml", bare, [*self.entries, *self._states(formats.value_of("toml", bare))])

    def stripped(self, text: str, before: str | None) -> str:
        """Without hooks and trust in them."""
        kept = formats.value_of("toml", before) if before else None
        present = _states(self.path, formats.value_of("toml", text), _present(formats.value_of("toml", text)), None)
        return formats.stripped("toml", text, [*self.entries, *present, *self._apart], kept)

    def _states(self, value: Any) -> tuple[Entry, ...]:
        return (*_states(self.path, value, self._groups, self._hashes), *self._apart)


def _present(value: Any) -> list[Element]:
    """Our groups as they stand in a configuration."""
    lists = json_settings.table(value, "hooks")
    return [
        Element(("hooks", name), group)
        for name in _LABELS
        for group in (lists[name] if isinstance(lists.get(name), list) else [])
        if is_ours(group)
    ]


def _states(
    source: Path, value: Any, groups: Sequence[Element], hashes: Mapping[str, str] | None
) -> tuple[Member, ...]:
    """Trust in these groups, which stand in that file or will be added behind what is in it."""
    bare = without_entries(value, groups)
    found = []
    for group in groups:
        listed = json_settings.table(value, "hooks").get(group.path[-1])
        listed = listed if isinstance(listed, list) else []
        others = json_settings.table(bare, "hooks").get(group.path[-1])
        place = listed.index(group.value) if group.value in listed else len(others) if isinstance(others, list) else 0
        command = group.value["hooks"][0]["command"] if hashes is not None else ""
        if hashes is None or command in hashes:
            key = f"{source}:{_LABELS[group.path[-1]]}:{place}:0"
            found.append(Member(("hooks", "state", key), {"trusted_hash": (hashes or {}).get(command, "")}))
    return tuple(found)


def _is_json(path: Path) -> bool:
    try:
        formats.value_of("json", path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return False
    return True
