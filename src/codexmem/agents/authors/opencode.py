"""OpenCode as an author: an agent of ours without tools, no plugins, and a store of sessions that is thrown away.

Configurations are merged, so that each MCP server is switched off by its name. It knows no schemas. The person's global
file of instructions is always read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from codexmem.agents.authors.author import ROLE, Author, Invocation, RunFiles, Said, asked, count, json_lines
from codexmem.agents.authors.process import ProgramRun
from codexmem.agents.install.json_settings import read, table
from codexmem.agents.install.targets import UserHome
from codexmem.agents.opencode import AGENT
from codexmem.kernel.llm.model import ModelPrompt

_NAME = "codexmem-author"
_FILES = ("config.json", "opencode.json", "opencode.jsonc")
_AGENT = {"description": "Writes memories.", "mode": "primary", "prompt": ROLE, "tools": {"*": False},
          "permission": {"*": "deny"}}  # fmt: skip
_OFF = ("AUTOUPDATE", "PROJECT_CONFIG", "CLAUDE_CODE", "EXTERNAL_SKILLS", "LSP_DOWNLOAD", "SHARE")


class OpenCodeAuthor(Author):
    """`opencode run --pure --format json`, with the schema in the prompt."""

    prefixes = ("OPENCODE_",)

    def invocation(self, prompt: ModelPrompt, files: RunFiles, environ: Mapping[str, str]) -> Invocation:
        """With a title of ours no model is asked for one."""
        config: dict[str, object] = {
            "share": "disabled",
            "autoupdate": False,
            "agent": {_NAME: _AGENT},
            "mcp": {name: {"enabled": False} for name in sorted(set(_servers(environ)))},
        }
        words = ("run", "--pure", "--format", "json", "--agent", _NAME, "--title", _NAME)
        besides = {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_DB": str(files.aside / "opencode.db"),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in _OFF},
        }
        return Invocation(words, asked(prompt, with_schema=True), besides)

    def said(self, run: ProgramRun, files: RunFiles) -> Said:
        """The texts of the last step; a failure is an event and no exit code."""
        texts: list[str] = []
        used: dict[str, object] = {}
        failure = ""
        for event in json_lines(run.output):
            match event.get("type"):
                case "step_start":
                    texts = []
                case "text":
                    texts.append(str(table(event, "part").get("text", "")))
                case "step_finish":
                    used = table(event, "part", "tokens")
                case "error":
                    error = table(event, "error")
                    failure = f"{error.get('name', '')} {table(error, 'data').get('message', '')}".strip()
        answer = "".join(texts).strip()
        if failure or run.code or not used or not answer:
            return Said(failure=failure or run.errors or "the step was not finished")
        taken = [amount for each in (used.get("input"), *table(used, "cache").values())
                if (amount := count(each)) is not None]  # fmt: skip
        return Said(answer, "", sum(taken) if taken else None, count(used.get("output")))


def _servers(environ: Mapping[str, str]) -> Iterator[str]:
    """The names of the MCP servers that the person has."""
    folder = AGENT.folder(UserHome(Path(environ.get("HOME", "")), environ))
    moved = [Path(environ[name]) for name in ("OPENCODE_CONFIG",) if environ.get(name)]
    moved += [Path(environ[name]) / file for name in ("OPENCODE_CONFIG_DIR",) if environ.get(name) for file in _FILES]
    for path in (*(folder / name for name in _FILES), *moved):
        yield from table(read(path), "mcp")


AUTHOR = OpenCodeAuthor(AGENT)
