"""Codex: servers, hooks and trust in hooks in `config.toml`; hooks in `hooks.json` for people who have them there.

Hooks in both places make Codex warn at every start, so ours go where the person's are. Tools are approved beforehand,
because `codex exec` refuses what it would have to ask for. The server is not `required`: Codex shall start without us.
"""

from __future__ import annotations

from codexmem.agents import InstallableAgent, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.entries import Element
    from codexmem.agents.install.targets import ConfigTarget, McpServerEntry, UserHome

_TAIL = 256 << 10  # bytes at the end of a rollout in which a call is looked for that has just ended
BLOCKED, UNFIT = "Command blocked by PreToolUse hook: ", "apply_patch verification failed"
_STARTS_WITHIN_S = 30  # a server that is only now started makes its store first


class Codex(InstallableAgent):
    """`codex`."""

    name = "codex"
    title = "Codex"
    programs = ("codex",)
    adapter = "codex"
    second = 1
    trusts_hooks = True
    reads = (
        "AGENTS.md",
        "AGENTS.override.md",
        "~/.codex/AGENTS.md",
        "~/.codex/AGENTS.override.md",
        "~/.codex/memories/*.md",
        "~/.codex/memories/rollout_summaries/*.md",
    )
    reads_below = False  # from the root of the checkout down to the working directory, once

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], dict[str, str]] = {}

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """The family's; it says when it stops because a hook told it to go on."""
        record = super().dialect(payload, environ)
        if payload.get("stop_hook_active") is True:
            record["goes_on"] = True
        output, call = record.get("tool_response"), str(record.get("tool_use_id") or "")
        if isinstance(output, str) and call and record.get("transcript_path"):
            code = _exit_code(str(record["transcript_path"]), call)
            if code is not None:
                record["tool_response"] = {"output": output, "exit_code": code}
        return record

    def unreported_calls(self, record: Mapping[str, object]) -> list[dict[str, object]]:
        """Patches that failed and calls that were denied stand in the rollout alone."""
        path, turn = str(record.get("transcript_path") or ""), str(record.get("turn_id") or "")
        lines = _tail(path).split(b"\n") if path and turn else []
        lines = lines[next((at for at, line in enumerate(lines) if turn.encode() in line), len(lines)) :]
        asked: dict[str, dict[str, object]] = {}  # by the id of the call
        answers: dict[str, dict[str, object]] = {}
        for payload in map(_payload, lines):
            item = part_of(payload, "item") or payload
            call = str(item.get("call_id") or item.get("id"))
            if given := _asked(item):
                asked.setdefault(call, given)
            if answer := _refusal(item):
                answers.setdefault(call, answer)
        return [
            asked[call] | {"tool_response": answer, "tool_use_id": call}
            for call, answer in answers.items()
            if call in asked
        ]

    def folder(self, person: UserHome) -> Path:
        """Its home."""
        return person.folder("CODEX_HOME", ".codex")

    def hooks_file(self, person: UserHome) -> Path:
        """The file that a person may have hooks in."""
        return self.folder(person) / "hooks.json"

    def servers_file(self, person: UserHome) -> Path:
        """Its configuration, with everything else."""
        return self.folder(person) / "config.toml"

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """Its configuration, and its file of hooks if the person has one."""
        from codexmem.agents.install import codex_config, json_settings
        from codexmem.agents.install.entries import Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget

        groups = json_settings.groups(self.moments, commands, self.name, self.timeout)
        program, *words = commands.mcp
        entry = {
            "command": program,
            "args": words,
            "startup_timeout_sec": _STARTS_WITHIN_S,
            "default_tools_approval_mode": "approve",
        }
        server = Member(("mcp_servers", SERVER), entry)
        hashes = self._told_hashes(person, groups)
        config, apart = self.servers_file(person), self.hooks_file(person)
        if not codex_config.has_hooks(apart):
            return [codex_config.CodexConfig(config, [server], groups, hashes)]
        target = codex_config.CodexConfig(config, [server], (), {})
        target.trust(apart, groups, hashes)
        return [ConfigTarget(apart, "json", groups), target]

    def plugin(self, commands: ProgramCommands) -> dict[str, str]:
        """Manifest, hooks, server, and skills in place of slash commands."""
        from codexmem.agents.install import plugins

        entry: dict[str, object] = {"startup_timeout_sec": _STARTS_WITHIN_S, "default_tools_approval_mode": "approve"}
        servers = {name: server | entry for name, server in plugins.server(commands).items()}
        parts = {"hooks": "./hooks/hooks.json", "mcpServers": "./.mcp.json", "skills": "./skills/"}
        shown = {
            "displayName": plugins.NAME,
            "shortDescription": plugins.DESCRIPTION,
            "developerName": plugins.OWNER,
            "category": "Productivity",
        }
        manifest = plugins.ABOUT | {"keywords": plugins.KEYWORDS} | parts | {"interface": shown}
        return {
            ".codex-plugin/plugin.json": plugins.as_json(manifest),
            ".mcp.json": plugins.as_json({"mcpServers": servers}),
            "hooks/hooks.json": plugins.as_json(plugins.hooks(self, commands)),
            **plugins.skills(commands),
        }

    def hook(self, person: UserHome, event: str) -> str:
        """As its files name it."""
        from codexmem.agents.install import json_settings

        for settings in (json_settings.read(self.hooks_file(person)), self._configuration(person)):
            if command := json_settings.command_in(settings, self.moments[event]):
                return command
        return ""

    def server(self, person: UserHome) -> McpServerEntry | None:
        """As its configuration names it."""
        from codexmem.agents.install import json_settings

        return json_settings.server_in(self._configuration(person), "mcp_servers")

    def obstacles(self, person: UserHome) -> list[str]:
        """The switch for hooks."""
        from codexmem.agents.install import json_settings

        path = self.servers_file(person)
        return json_settings.switched_off(path, self._configuration(person), "features", "hooks")

    def untrusted(self, person: UserHome) -> list[str] | None:
        """Commands of ours that Codex would skip; None if it cannot be asked."""
        from codexmem.agents.install import codex_config
        from codexmem.agents.install.entries import is_ours

        program = self._found(person)
        listed = codex_config.listed(program, person.environ, person.home) if program else []
        states = {
            str(hook.get("command")): hook.get("trustStatus") == "trusted" and hook.get("enabled") is not False
            for hook in listed
            if is_ours(str(hook.get("command")))
        }
        if not states:
            return None
        return [command for command, trusted in states.items() if not trusted]

    def unmarked(self, person: UserHome) -> int:
        """How many of our hooks have no trust written down; whether what is written is right, only Codex can say."""
        from codexmem.agents.install import codex_config, json_settings

        hooks = self.hooks_file(person)
        sources = [(hooks, json_settings.read(hooks)), (self.servers_file(person), self._configuration(person))]
        return codex_config.unmarked(sources)

    def _told_hashes(self, person: UserHome, groups: Sequence[Element]) -> dict[str, str]:
        """The hashes of these hooks, as Codex computes them; asked for once."""
        import json

        from codexmem.agents.install import codex_config

        program = self._found(person)
        if not program:
            return {}
        key = (program, json.dumps([each.value for each in groups]))
        if key not in self._hashes:
            asked = {group.path[-1]: group.value for group in groups}
            self._hashes[key] = codex_config.hashes(program, person.environ, asked)
        return self._hashes[key]

    def _found(self, person: UserHome) -> str:
        """Where its program is."""
        import shutil

        return shutil.which(self.program, path=person.environ.get("PATH", "")) or ""

    def _configuration(self, person: UserHome) -> dict[str, object]:
        from codexmem.agents.install import json_settings

        return json_settings.read(self.servers_file(person), "toml")


def refused(said: str) -> dict[str, object]:
    """What a call is answered that a hook held back: the hook's reason, without the command that follows it."""
    return {"output": said.removeprefix(BLOCKED).rpartition(". Command: ")[0] or said, "declined": True}


def _exit_code(path: str, call: str) -> int | None:
    """How a command ended: its hook is not told, but the rollout says it before the hook starts."""
    for line in reversed(_tail(path).split(b"\n")):
        if call.encode() in line and b'"item_completed"' in line:
            item = part_of(_payload(line), "item")
            if item.get("id") == call:
                code = item.get("exit_code")
                return code if type(code) is int else None
    return None


def _asked(item: Mapping[str, object]) -> dict[str, object]:
    """The tool and the input of a call, as hooks are told them; empty if this is none that counts."""
    name, given = item.get("name"), item.get("input")
    match item.get("type"):
        case "custom_tool_call" if name == "apply_patch":
            return {"tool_name": name, "tool_input": {"command": given}}
        case "function_call":
            words = _loaded(str(item.get("arguments")))
            typed = words.get("cmd") or words.get("command")
            given = typed[-1] if isinstance(typed, list) and typed else typed
            return {"tool_name": "Bash", "tool_input": {"command": given}} if isinstance(given, str) else {}
        case "CommandExecution":
            typed = item.get("command")
            return {"tool_name": "Bash", "tool_input": {"command": typed[-1]}} if isinstance(typed, list) else {}
        case "FileChange":
            files = "\n".join(f"*** Update File: {path}" for path in part_of(item, "changes"))
            patch = f"*** Begin Patch\n{files}\n*** End Patch"
            return {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    return {}


def _refusal(item: Mapping[str, object]) -> dict[str, object]:
    """The answer to a call that did not do its work without a hook being started; empty if it is another."""
    said, status = item.get("output"), item.get("status")
    if isinstance(said, str) and said.startswith(BLOCKED):
        return refused(said)
    if isinstance(said, str) and said.startswith(UNFIT):
        return {"output": said, "success": False}
    if item.get("type") not in {"CommandExecution", "FileChange"}:
        return {}
    output = f"{item.get('stdout') or ''}{item.get('stderr') or ''}"
    if status == "declined":
        return {"output": output, "declined": True}
    return {"output": output, "success": False} if status == "failed" and item["type"] == "FileChange" else {}


def _payload(line: bytes) -> dict[str, object]:
    return part_of(_loaded(line.decode("utf-8", "replace")), "payload")


def _loaded(text: str) -> dict[str, object]:
    """An object of JSON; empty if it is none."""
    from codexmem.kernel.model import quick_json

    try:
        value = quick_json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _tail(path: str) -> bytes:
    """The end of a file; nothing of one that cannot be read."""
    import os

    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return b""
    try:
        os.lseek(file, max(0, os.fstat(file).st_size - _TAIL), os.SEEK_SET)
        pieces = []
        while got := os.read(file, _TAIL):
            pieces.append(got)
            if sum(map(len, pieces)) > 2 * _TAIL:
                break
        return b"".join(pieces)
    except OSError:
        return b""
    finally:
        os.close(file)


AGENT = Codex()
