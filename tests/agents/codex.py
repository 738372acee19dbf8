"""Codex, configured as docs/agents.md says and pointed at a scripted model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests._support.scripted_model import ScriptedModel
from tests.agents.installation import Installation
from tests.agents.person import Person, Run

# The scripted model; features that would look for servers of the vendor are off. No sandbox: it needs rights that a
# container may lack, and the commands are the test's own.
_CONFIG = """\
model = "scripted"
model_provider = "scripted"
model_catalog_json = {catalog}
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
include_permissions_instructions = false
web_search = "disabled"
analytics.enabled = false
features.apps = false
features.plugins = false
features.remote_plugin = false
skills.include_instructions = false
model_providers.scripted.name = "Scripted"
model_providers.scripted.base_url = {url}
model_providers.scripted.env_key = "SCRIPTED_KEY"
model_providers.scripted.wire_api = "responses"
model_providers.scripted.request_max_retries = 0
model_providers.scripted.stream_max_retries = 0

{user}
"""
_MODEL = {
    "slug": "scripted",
    "display_name": "Scripted",
    "base_instructions": "You are a model that plays a script.",
    "visibility": "list",
    "priority": 1,
    "supported_in_api": True,
    "supported_reasoning_levels": [],
    "experimental_supported_tools": [],
    "support_verbosity": False,
    "truncation_policy": {"mode": "tokens", "limit": 10_000},
    "shell_type": "unified_exec",
    "apply_patch_tool_type": "freeform",
}


@dataclass
class Codex:
    """One person's Codex."""

    installation: Installation
    person: Person
    model: ScriptedModel

    def configure(self, *parts: str, code_mode: bool = False) -> None:
        """Write the configuration from blocks of the guide, and trust its hooks as a person who reviewed them would.

        In code mode, the way of its current models, the model writes JavaScript that calls the tools.
        """
        self._folder.mkdir()
        catalog = self._folder / "catalog.json"
        entry = _MODEL | ({"tool_mode": "code_mode_only"} if code_mode else {})
        catalog.write_text(json.dumps({"models": [entry]}))
        config = _CONFIG.format(
            catalog=json.dumps(str(catalog)), url=json.dumps(self.model.url), user="\n".join(parts)
        )  # fmt: skip
        self._config.write_text(config)
        self.trust()

    def trust(self) -> None:
        """Trust every hook that it reads, as a person does under /hooks."""
        self._config.write_text(self._config.read_text() + "".join(map(_trusted, self.hooks())))

    @staticmethod
    def tools(block: str) -> str:
        """The MCP server of the guide, waited for: else the first request may be made before its tools are known."""
        return f"{block}required = true\n"

    def exec(self, prompt: str) -> Run:
        """One session with one prompt."""
        command = [str(self.installation.codex), "exec", "--json", "-C", str(self.person.repository), prompt]
        return self.person.run(command, SCRIPTED_KEY="x")

    def hooks(self) -> list[dict[str, Any]]:
        """The hooks that it has read, with what it thinks of each."""
        with self._app_server() as server:
            server.ask("initialize", {"clientInfo": {"name": "codexmem", "title": "codexmem", "version": "1"}})
            answer = server.ask("hooks/list", {"cwds": [str(self.person.repository)]})
        return [hook for each in answer["data"] for hook in each["hooks"]]

    @property
    def _folder(self) -> Path:
        return self.person.home / ".codex"

    @property
    def _config(self) -> Path:
        return self._folder / "config.toml"

    @contextmanager
    def _app_server(self) -> Iterator[_AppServer]:
        process = subprocess.Popen(
            [self.installation.codex, "app-server"], cwd=self.person.repository, stdin=subprocess.PIPE,
            env=self.person.environment(SCRIPTED_KEY="x"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        with process:
            yield _AppServer(process)
            process.terminate()


class _AppServer:
    """`codex app-server`: JSON-RPC, one document a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._last = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """A request's result; notifications on the way are nothing to us."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._last += 1
        self._process.stdin.write(json.dumps({"id": self._last, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last and "method" not in message:
                result: dict[str, Any] = message["result"]
                return result
        raise RuntimeError("codex app-server ended")


def _trusted(hook: dict[str, Any]) -> str:
    """As Codex writes it; for the hook of a plugin with the hash of what the plugin holds."""
    command, _, content = hook["currentHash"].partition("/")
    lines = [f"[hooks.state.{json.dumps(hook['key'])}]", f"trusted_hash = {json.dumps(command)}"]
    lines += [f"trusted_content_hash = {json.dumps(content)}"] if content else []
    return "\n" + "\n".join(lines) + "\n"
