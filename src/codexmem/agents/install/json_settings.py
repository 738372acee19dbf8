"""Reading what stands in an agent's JSON files, and the hooks that most agents write in the same shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from codexmem.agents.install import formats
from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.entries import Element, is_ours
from codexmem.agents.install.formats import Form
from codexmem.agents.install.targets import SERVER, McpServerEntry


def read(path: Path, form: Form = "json") -> dict[str, object]:
    """What the file says; empty if there is none or it is malformed."""
    try:
        return formats.value_of(form, path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}


def table(value: Any, *names: str) -> dict[str, object]:
    """A table inside; empty if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def groups(
    moments: Mapping[str, str], commands: ProgramCommands, platform: str, timeout: Callable[[str], int]
) -> list[Element]:
    """A group with our one hook for each moment; `timeout` says how long an agent waits for it."""
    return [
        Element(
            ("hooks", name),
            {"hooks": [{"type": "command", "command": commands.hook(platform, event), "timeout": timeout(event)}]},
        )
        for event, name in moments.items()
    ]


def command_in(settings: Mapping[str, object], name: str) -> str:
    """Our command among the hooks of an event: in a group, or on its own."""
    listed = table(settings, "hooks").get(name)
    for group in listed if isinstance(listed, list) else []:
        inner = group.get("hooks") if isinstance(group, dict) else None
        for hook in inner if isinstance(inner, list) else [group]:
            if isinstance(hook, dict) and is_ours(hook):
                return str(hook.get("command", ""))
    return ""


def server_in(settings: Mapping[str, object], names: str = "mcpServers") -> McpServerEntry | None:
    """Our server, in the shape that most agents have."""
    entry = table(settings, names, SERVER)
    program, words = entry.get("command"), entry.get("args")
    if not isinstance(program, str):
        return None
    environ = {name: str(value) for name, value in table(entry, "env").items()}
    return McpServerEntry((program, *(map(str, words) if isinstance(words, list) else ())), environ)


def switched_off(path: Path, settings: Mapping[str, object], *names: str) -> list[str]:
    """A switch that keeps hooks from running, as it is written."""
    return [f"{'.'.join(names)} = false ({path})"] if _value(settings, names) is False else []


def switched_on(path: Path, settings: Mapping[str, object], *names: str) -> list[str]:
    """A switch against hooks that is on, as it is written."""
    return [f"{'.'.join(names)} = true ({path})"] if _value(settings, names) is True else []


def _value(settings: Mapping[str, object], names: tuple[str, ...]) -> Any:
    return table(settings, *names[:-1]).get(names[-1])
