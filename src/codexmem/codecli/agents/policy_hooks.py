"""Our policy hook inside Codex, for one run, by options on its command line: no file of the person is touched.

Codex runs hooks that a person has trusted and skips all others without a word. Trust is a hash of what a hook is: its
event, matcher, command and time-out. We hand over the hash of our own hook with the hook, so that exactly this one is
trusted for this run; the switch that trusts all hooks (`--dangerously-bypass-hook-trust`) would also run those of a
hostile checkout. Because Codex goes on where a hook fails, is too slow or is not trusted:

- a hook that cannot say no says it by its exit status, also if Python itself does not start;
- its time-out is far beyond that of any question to a person;
- before the run, Codex is asked whether it trusts our hook, and is not started if it does not.

Our policy hook in Claude Code and in Qwen Code, for one run, without touching a file of the person.

Claude Code takes settings on its command line. Qwen Code takes them from a file that the environment names: the file of
system defaults, whose hooks are run besides the person's own; what stands in such a file already is kept.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from codexmem.codecli.agents import codex_options
from codexmem.codecli.agents.codex_options import CommandLine
from codexmem.codecli.agents.command_line import CODEX, QWEN, Scanned, fits, program_of
from codexmem.codecli.agents.json_lines import list_in, table_in, value_of
from codexmem.codecli.agents.protocol import Launch, PreflightCheck, Wiring

TIMEOUT_S = 3_600
EVERY_TOOL = "*"
MCP_TOOLS = "mcp__.*"
_EVENT, _LABEL = "PreToolUse", "pre_tool_use"
_SOURCE = "/<session-flags>/config.toml"  # what Codex calls options of the command line
_UNTRUSTED = (
    "this Codex does not trust mem-codecli's policy hook, so tools could not be held back; it was not started. "
    "Use the adapter codex-app-server, or run with --audit off"
)


def shell_command(command: Sequence[str], agent: str) -> str:
    """The hook as a shell runs it: whatever goes wrong is a refusal."""
    return f"{shlex.join((*command, agent))} || exit 2"


def trusted_hash(command: str, matcher: str) -> str:
    """What Codex remembers of a hook that a person has trusted."""
    hook = {"async": False, "command": command, "timeout": TIMEOUT_S, "type": "command"}
    identity = {"event_name": _LABEL, "hooks": [hook], "matcher": matcher}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def options(line: CommandLine, command: Sequence[str], matcher: str = EVERY_TOOL) -> tuple[str, ...]:
    """The options that add our hook to whatever hooks there are."""
    text = shell_command(command, CODEX)
    ours = {"matcher": matcher, "hooks": [{"type": "command", "command": text, "timeout": TIMEOUT_S}]}
    trust = {f"{_SOURCE}:{_LABEL}:0:0": {"trusted_hash": trusted_hash(text, matcher)}}
    # An option replaces one of the same name, so the person's own options are said again after ours.
    groups = [group for value in _given(line, _EVENT) for group in list_in(value)]
    state = {key: each for value in _given(line, "state") for key, each in table_in(value).items()}
    return (*codex_options.option(f"hooks.{_EVENT}", [ours, *groups]),
            *codex_options.option("hooks.state", state | trust))  # fmt: skip


def check(launch: Launch, line: CommandLine, more: tuple[str, ...], command: Sequence[str]) -> PreflightCheck:
    """Ask Codex, started with the same options, what it thinks of our hook."""
    kept = [word for name, value, _ in line.scanned.options if name in {"-c", "--config"} for word in ("-c", value)]
    folder = line.scanned.value("-C", "--cd") or launch.cwd
    initialize = {"clientInfo": {"name": "mem_codecli", "title": "mem-codecli", "version": "1"}}
    asked = [
        {"id": 1, "method": "initialize", "params": initialize},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}},
    ]
    wanted = shell_command(command, CODEX)

    def proves(answer: bytes) -> bool | None:
        message = value_of(answer) or {}
        if message.get("id") != 2:
            return None
        found = list_in(table_in(message.get("result")).get("data"))
        hooks = [table_in(hook) for each in found for hook in list_in(table_in(each).get("hooks"))]
        return any(
            hook.get("command") == wanted and hook.get("trustStatus") == "trusted" and hook.get("enabled") is not False
            for hook in hooks
        )

    argv = (*launch.argv[: line.words], "app-server", *kept, *more)
    return PreflightCheck(argv, tuple(json.dumps(each).encode() + b"\n" for each in asked), proves, _UNTRUSTED)


def _given(line: CommandLine, key: str) -> list[Any]:
    whole = [table_in(codex_options.value_of(text)).get(key) for text in line.configured("hooks")]
    return [*whole[-1:], *[codex_options.value_of(text) for text in line.configured(f"hooks.{key}")][-1:]][-1:]


_DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
_USUAL_DEFAULTS = "/etc/qwen-code/system-defaults.json"
_CLAUDE_EVENT = "PreToolUse"


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


def _with_hook(settings: Mapping[str, object], command: str, *, per_second: int) -> dict[str, object]:
    hook = {"type": "command", "command": command, "timeout": TIMEOUT_S * per_second}
    hooks = table_in(settings.get("hooks"))
    groups = [{"matcher": "*", "hooks": [hook]}, *list_in(hooks.get(_CLAUDE_EVENT))]
    return {**settings, "hooks": {**hooks, _CLAUDE_EVENT: groups}}


def _without_settings(words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word != "--settings" and not word.startswith("--settings="):
            kept.append(word)
        skip = not skip and word == "--settings"
    return kept
