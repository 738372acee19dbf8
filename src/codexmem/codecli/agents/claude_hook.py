"""Our policy hook in Claude Code and in Qwen Code, for one run, without touching a file of the person.

Claude Code takes settings on its command line. Qwen Code takes them from a file that the environment names: the file of
system defaults, whose hooks are run besides the person's own; what stands in such a file already is kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from codexmem.codecli.agents.codex_hook import TIMEOUT_S, shell_command
from codexmem.codecli.agents.command_line import QWEN, Scanned, fits, program_of
from codexmem.codecli.agents.json_lines import list_in, table_in, value_of
from codexmem.codecli.agents.protocol import Launch, Wiring

_DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
_USUAL_DEFAULTS = "/etc/qwen-code/system-defaults.json"
_EVENT = "PreToolUse"


def held(launch: Launch, agent: str, scanned: Scanned, wiring: Wiring) -> Launch | None:
    """The launch with our hook in it; None if it cannot be put there."""
    if not wiring.hook_command:
        return None
    if agent == QWEN:
        if wiring.keep is None or scanned.has("--safe-mode", "--bare"):
            return None
        there = value_of((wiring.text_of(launch.environ.get(_DEFAULTS) or _USUAL_DEFAULTS) or "").encode()) or {}
        command = shell_command(wiring.hook_command, agent)
        path = wiring.keep("qwen-defaults.json", json.dumps(_with_hook(there, command, per_second=1_000)))
        return Launch(launch.argv, {**launch.environ, _DEFAULTS: path}, launch.cwd)
    given = scanned.value("--settings")
    if given is not None and not given.lstrip().startswith("{"):
        given = wiring.text_of(given)
        if given is None:
            return None
    command = shell_command(wiring.hook_command, agent)
    settings = _with_hook(value_of((given or "").encode()) or {}, command, per_second=1)
    start = program_of(launch.argv).words
    # One takes the place of the other, which it holds.
    words = ("--settings", json.dumps(settings), *_without_settings(launch.argv[start:]))
    return Launch((*launch.argv[:start], *words), launch.environ, launch.cwd) if fits(words) else None


def _with_hook(settings: dict[str, Any], command: str, *, per_second: int) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": TIMEOUT_S * per_second}
    hooks = table_in(settings.get("hooks"))
    groups = [{"matcher": "*", "hooks": [hook]}, *list_in(hooks.get(_EVENT))]
    return {**settings, "hooks": {**hooks, _EVENT: groups}}


def _without_settings(words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word != "--settings" and not word.startswith("--settings="):
            kept.append(word)
        skip = not skip and word == "--settings"
    return kept
