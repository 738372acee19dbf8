"""OpenCode: it has no hook programs, so that a plugin of ours calls the hook; servers are in its configuration.

The plugin passes on what its own hooks are given: `{"directory": …, "input": …, "output": …}` with the two arguments of
the hook, or `{"event": …}` for an event of the bus, with the last text of the assistant in `text`.
"""

from __future__ import annotations

from codexmem.agents import InstallableAgent, part_of, plain, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.targets import ConfigTarget, McpServerEntry, UserHome

_MARK = "// From codexmem:"
_HOOK = "const HOOK = "
_PARTS = frozenset(("input", "output", "event", "args"))  # hold something else


class OpenCode(InstallableAgent):
    """`opencode`."""

    name = "opencode"
    title = "OpenCode"
    comments = commas = True
    programs = ("opencode",)
    reads = ("AGENTS.md", "CLAUDE.md", "~/.config/opencode/AGENTS.md", "~/.claude/CLAUDE.md")
    replaced: Mapping[str, tuple[str, ...]] = {
        "CLAUDE.md": ("AGENTS.md",),
        "~/.claude/CLAUDE.md": ("~/.config/opencode/AGENTS.md",),
    }
    acp = "acp"

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """What the plugin sends."""
        given = payload.get("args")
        first, second = [*given, None, None][:2] if isinstance(given, list) else (None, None)
        said = part_of(payload, "input") or (first if isinstance(first, dict) else {})
        made = part_of(payload, "output") or (second if isinstance(second, dict) else {})
        happened = part_of(part_of(payload, "event"), "properties")
        flat = {name: value for name, value in payload.items() if name not in _PARTS}
        record = plain({**happened, **said, **flat})
        if "parts" in made or "message" in made:  # chat.message
            record["prompt"] = text_in(made.get("parts") or made.get("message"))
        if "tool" in said:  # tool.execute.after
            record["tool_name"] = str(said["tool"])
            record["tool_input"] = said.get("args") or made.get("args")
            code = part_of(made, "metadata").get("exit")
            output = made.get("output", made)
            record["tool_response"] = {"output": output, "exit_code": code} if type(code) is int else output
        if isinstance(payload.get("text"), str):
            record["last_assistant_message"] = payload["text"]
        described = part_of(happened, "info")
        if "contentSessionId" not in record and isinstance(described.get("id"), str):
            record["contentSessionId"] = described["id"]
        return record

    def told(self, event: str, said: str, context: str) -> dict[str, object]:
        """As the plugin reads it."""
        return {"context": context}

    def folder(self, person: UserHome) -> Path:
        """Its folder."""
        return person.folder("XDG_CONFIG_HOME", ".config") / "opencode"

    def hooks_file(self, person: UserHome) -> Path:
        """The plugin."""
        return self.folder(person) / "plugins" / "codexmem.js"

    def servers_file(self, person: UserHome) -> Path:
        """Its configuration."""
        folder = self.folder(person)
        commented = folder / "opencode.jsonc"
        return commented if commented.is_file() else folder / "opencode.json"

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """Its configuration, and the plugin."""
        from codexmem.agents.install.entries import Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget, WholeFile

        plugin = WholeFile(self.hooks_file(person), _script(commands, {}), _MARK)
        server = Member(("mcp", SERVER), _server(commands))
        return [ConfigTarget(self.servers_file(person), "json", [server]), plugin]

    def plugin(self, commands: ProgramCommands) -> dict[str, str]:
        """A package of npm, which adds the server and slash commands to the configuration as it is read."""
        from codexmem.agents.install import plugins

        offered = {
            "mcp": {plugins.NAME: _server(commands)},
            "command": {
                each.name: {"description": each.summary, "template": each.prompt(commands, "$ARGUMENTS")}
                for each in plugins.COMMANDS
            },
        }
        about = {"type": "module", "main": "index.js", "exports": {".": "./index.js"}, "files": ["index.js"]}
        manifest = plugins.ABOUT | {"name": "codexmem-opencode", "license": plugins.LICENSE} | about
        return {"package.json": plugins.as_json(manifest), "index.js": _script(commands, offered)}

    def hook(self, person: UserHome, event: str) -> str:
        """As the plugin calls it."""
        import json
        import shlex

        try:
            lines = self.hooks_file(person).read_text(encoding="utf-8").splitlines()
            words = json.loads(next(line for line in lines if line.startswith(_HOOK)).removeprefix(_HOOK))
        except (OSError, ValueError, StopIteration):
            return ""
        return shlex.join((*map(str, words), self.name, event))

    def server(self, person: UserHome) -> McpServerEntry | None:
        """As its configuration names it."""
        from codexmem.agents.install import json_settings
        from codexmem.agents.install.targets import SERVER, McpServerEntry

        entry = json_settings.table(json_settings.read(self.servers_file(person)), "mcp", SERVER)
        words = entry.get("command")
        if not isinstance(words, list) or not words:
            return None
        environ = {name: str(value) for name, value in json_settings.table(entry, "environment").items()}
        return McpServerEntry(tuple(map(str, words)), environ)

    def obstacles(self, person: UserHome) -> list[str]:
        """Our server, switched off by hand."""
        from codexmem.agents.install import json_settings
        from codexmem.agents.install.targets import SERVER

        path = self.servers_file(person)
        return json_settings.switched_off(path, json_settings.read(path), "mcp", SERVER, "enabled")

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, object]:
        """A prompt, as the plugin passes it on."""
        parts = [{"type": "text", "text": prompt}]
        return {"directory": cwd, "input": {"sessionID": session}, "output": {"parts": parts}}


def _server(commands: ProgramCommands) -> dict[str, object]:
    return {"type": "local", "command": list(commands.mcp), "enabled": True}


def _script(commands: ProgramCommands, offered: Mapping[str, object]) -> str:
    """The plugin's text; `offered` is what it adds to the configuration."""
    import json
    from importlib.resources import files

    text = files("codexmem.agents").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    text = text.replace("__HOOK__", json.dumps(list(commands.hook_prefix), ensure_ascii=False))
    return text.replace("__OFFERED__", json.dumps(offered, ensure_ascii=False, indent=2))


AGENT = OpenCode()
