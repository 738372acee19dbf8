"""Codex as an author: `codex exec`, with the person's model and provider, and everything else switched off.

Tables of its configuration are merged with what the command line says, so that an empty table of MCP servers changes
nothing: each server is switched off by its name. A file of instructions in the person's Codex folder is always read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from codexmem.agents.authors.author import Author, Invocation, RunFiles, Said, asked, count, json_lines
from codexmem.agents.authors.process import ProgramRun
from codexmem.agents.codex import AGENT
from codexmem.agents.install.json_settings import read, table
from codexmem.agents.install.targets import UserHome
from codexmem.kernel.llm.model import ModelPrompt

_SYSTEM = Path("/etc/codex/config.toml")
_OFF = (
    "hooks", "plugins", "remote_plugin", "apps", "shell_tool", "unified_exec", "multi_agent", "view_image", "goals",
    "image_generation", "memories", "skill_search", "tool_suggest", "shell_snapshot", "sleep_tool",
)  # fmt: skip
_SETTINGS = (
    "notify=[]", 'developer_instructions=""', "project_doc_max_bytes=0", 'web_search="disabled"',
    "include_environment_context=false", "include_permissions_instructions=false",
    "include_apps_instructions=false", "skills.include_instructions=false", 'approval_policy="never"',
    "check_for_update_on_startup=false",
    *(f"features.{name}=false" for name in _OFF),
)  # fmt: skip


class CodexAuthor(Author):
    """`codex exec --json --output-schema`."""

    takes_schema = True
    prefixes = ("CODEX_",)

    def login(self, environ: Mapping[str, str]) -> frozenset[str]:
        """The keys that its providers name."""
        providers = [
            each for path in _configs(environ) for each in table(read(path, "toml"), "model_providers").values()
        ]
        return frozenset(str(table(each).get("env_key", "")) for each in providers)

    def invocation(self, prompt: ModelPrompt, files: RunFiles, environ: Mapping[str, str]) -> Invocation:
        """No session, no sandbox to write in, and the schema as a file."""
        schema = files.written("schema.json", json.dumps(prompt.schema))
        servers = ",".join(f"{json.dumps(name)}={{enabled=false}}" for name in sorted(set(_servers(environ))))
        settings = (*_SETTINGS, f"mcp_servers={{{servers}}}")
        words = (
            "exec", "--json", "--ephemeral", "--ignore-rules", "--skip-git-repo-check", "--sandbox", "read-only",
            "--color", "never", "--cd", str(files.work), "--output-schema", str(schema),
            *(word for setting in settings for word in ("-c", setting)), "-",
        )  # fmt: skip
        return Invocation(words, asked(prompt, with_schema=False))

    def said(self, run: ProgramRun, files: RunFiles) -> Said:
        """The last message; items of the type `error` are mere warnings."""
        answer, used, failure = None, {}, ""
        for event in json_lines(run.output):
            match event.get("type"):
                case "item.completed" if table(event, "item").get("type") == "agent_message":
                    answer = str(table(event, "item").get("text", ""))
                case "turn.completed":
                    # What went wrong before was made good: it connects anew by itself.
                    used, failure = table(event, "usage"), ""
                case "turn.failed":
                    failure = str(table(event, "error").get("message", ""))
                case "error":
                    failure = failure or str(event.get("message", ""))
        if failure or run.code or not used:
            return Said(failure=failure or run.errors or "the turn was not completed")
        return Said(answer, "", count(used.get("input_tokens")), count(used.get("output_tokens")))


def _servers(environ: Mapping[str, str]) -> Iterator[str]:
    """The names of the MCP servers that the person has."""
    for path in _configs(environ):
        yield from table(read(path, "toml"), "mcp_servers")


def _configs(environ: Mapping[str, str]) -> tuple[Path, Path]:
    return AGENT.servers_file(UserHome(Path(environ.get("HOME", "")), environ)), _SYSTEM


AUTHOR = CodexAuthor(AGENT)
