"""The published plugins in the hands of the real programs: `python -m tests.agents.plugins`, or `just try-plugins`.

Each program checks its plugin, where it has a checker, installs it by its own commands, works with it, and removes it
again. With the plugin the model must be told what is remembered, its tools must be there, a slash command must become
our task, and the hook must have recorded the prompt; without it none of that. Nothing of codexmem is left in the files
of the home that were there before. Ends with an error if anything is not so. Names on the command line choose agents.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codexmem.agents.install.plugins import tree
from tests._support.scripted_model import Call, Say, ScriptedModel, Step
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.agents import four_agents, story
from tests.agents.codex import Codex
from tests.agents.four_agents import OPENCODE_QUIET, Place
from tests.agents.gemini_model import GeminiModel
from tests.agents.installation import Installation
from tests.agents.loopback import loopback_only
from tests.agents.person import SERVER, Person
from tests.agents.qwen import Qwen, through_bridge
from tests.agents.transcripts.programs import GEMINI_SETTINGS, ScriptedAnthropic

CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.197"
AGENT_SDK = "@anthropic-ai/claude-agent-sdk@0.3.328"  # it brings a Claude Code of its own
SAVED = "Orders of 900 euros and more need two signatures."
ANSWERS_WITHIN_S = 240
CONNECTS_WITHIN_S = 20
_OF_PLUGIN = "mcp__plugin_codexmem_codexmem"  # how Claude Code calls our server when a plugin brings it


@dataclass(frozen=True)
class Shopped:
    """An agent whose plugin comes from its own shop."""

    name: str
    check: Callable[[Path], list[str]]  # what its own checker says of the published folder; empty if it has none
    install: Callable[[Path], None]
    remove: Callable[[], None]
    ask: Callable[[str], None]
    play: Callable[..., None]
    told: Callable[[], str]  # in the first request of the newest session
    tool: Callable[[str, dict[str, Any]], tuple[Step, ...]]
    slash: str  # what a person types in front of the name of a command; empty if that cannot be typed here
    offered: Callable[[], list[str]] = list  # the tools of the newest request, where somebody asks


class Shop:
    """Runs programs of agents with the person's environment."""

    ran = 0  # programs, of all agents

    def __init__(self, place: Place) -> None:
        self.place = place

    def run(self, *words: str | Path, **environment: str) -> str:
        """A program to its end, and what it said."""
        Shop.ran += 1
        path = {"PATH": f"{self.place.programs}:{self.place.person.environment()['PATH']}"}
        done = subprocess.run(
            [str(word) for word in words], cwd=self.place.person.repository, check=False, stdin=subprocess.DEVNULL,
            env=self.place.person.environment(**path, **environment), capture_output=True, text=True,
            timeout=ANSWERS_WITHIN_S,
        )  # fmt: skip
        assert done.returncode == 0, (
            f"{' '.join(map(str, words))} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return done.stdout + done.stderr


@contextlib.contextmanager
def codex(place: Place) -> Iterator[Shopped]:
    """Codex, whose plugins are on, with hooks trusted as a person does under /hooks."""
    program = place.programs / "codex"
    program.symlink_to(place.pinned.codex)
    shop = Shop(place)
    with ScriptedModel() as model:
        agent = Codex(place.pinned, place.person, model)
        agent.configure(f'[projects."{place.person.repository}"]\ntrust_level = "trusted"\n')
        config = place.person.home / ".codex" / "config.toml"
        config.write_text(config.read_text().replace("features.plugins = false", "features.plugins = true"))

        def install(folder: Path) -> None:
            shop.run(program, "plugin", "marketplace", "add", folder, SCRIPTED_KEY="x")
            shop.run(program, "plugin", "add", "codexmem@codexmem", SCRIPTED_KEY="x")
            agent.trust()

        def remove() -> None:
            shop.run(program, "plugin", "remove", "codexmem@codexmem", SCRIPTED_KEY="x")
            shop.run(program, "plugin", "marketplace", "remove", "codexmem", SCRIPTED_KEY="x")

        def ask(prompt: str) -> None:
            run = agent.exec(prompt)
            assert run.code == 0, run

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            # It asks its model before the tools of servers are known; a moment later they are.
            return Call("exec_command", {"cmd": "sleep 2"}), Call(f"mcp__codexmem__{name}", arguments)

        yield Shopped("codex", lambda _: [], install, remove, ask, model.play, lambda: told(model), tool, "$codexmem:")


@contextlib.contextmanager
def claude(place: Place, tools: str = _OF_PLUGIN) -> Iterator[Shopped]:
    """Claude Code, which calls our server by this name."""
    program = place.programs / "claude"
    program.symlink_to(next(place.more.glob("@anthropic-ai/claude-code-linux-*[!l]/claude")))
    shop = Shop(place)
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    with ScriptedAnthropic() as model:
        settings = place.person.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        login = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-x"}
        settings.write_text(json.dumps({"env": login, "model": "scripted"}, indent=2))

        def check(folder: Path) -> list[str]:
            return [shop.run(program, "plugin", "validate", each, **quiet)
                    for each in (folder, folder / "plugins" / "claude-code")]  # fmt: skip

        def install(folder: Path) -> None:
            shop.run(program, "plugin", "marketplace", "add", folder, **quiet)
            shop.run(program, "plugin", "install", "codexmem@codexmem", **quiet)

        def remove() -> None:
            shop.run(program, "plugin", "uninstall", "codexmem@codexmem", **quiet)
            shop.run(program, "plugin", "marketplace", "remove", "codexmem", **quiet)

        def ask(prompt: str) -> None:
            shop.run(program, "-p", prompt, "--allowedTools", f"{tools},Bash(sleep:*)", **quiet)

        yield _of_claude("claude-code", model, check, install, remove, ask, tools)


@contextlib.contextmanager
def agent_sdk(place: Place) -> Iterator[Shopped]:
    """An agent built with the Claude Agent SDK, which is given the plugin's folder by its own program."""
    shop, plugin = Shop(place), [""]
    with ScriptedAnthropic() as model:
        login = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-x"}
        sdk = place.more / "@anthropic-ai" / "claude-agent-sdk" / "sdk.mjs"
        allowed = f"{_OF_PLUGIN},Bash(sleep:*)"

        def install(folder: Path) -> None:
            plugin[0] = str(folder / "plugins" / "claude-code")

        def remove() -> None:
            plugin[0] = ""

        def ask(prompt: str) -> None:
            program = Path(__file__).with_name("agent_sdk.mjs")
            quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", **login}
            shop.run(place.pinned.node, program, sdk, prompt, allowed, plugin[0], **quiet)

        yield _of_claude("claude-agent-sdk", model, lambda _: [], install, remove, ask, _OF_PLUGIN)


def _of_claude(
    name: str, model: ScriptedAnthropic, check: Callable[[Path], list[str]], install: Callable[[Path], None],
    remove: Callable[[], None], ask: Callable[[str], None], tools: str,
) -> Shopped:  # fmt: skip
    """What runs on Claude Code, and asks this model."""

    def play(*steps: Step) -> None:
        model.asked.clear()
        model.script(*steps)

    def first() -> str:
        return json.dumps(next(body for body in model.asked if body.get("tools")), ensure_ascii=False)

    def tool(tool: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
        # Without a terminal it does not wait for servers; a moment later their tools are there.
        return Call("Bash", {"command": f"sleep {CONNECTS_WITHIN_S}"}), Call(f"{tools}__{tool}", arguments)

    def offered() -> list[str]:
        return [each["name"] for each in model.asked[-1].get("tools", [])]

    return Shopped(name, check, install, remove, ask, play, first, tool, "/codexmem:", offered)


@contextlib.contextmanager
def qwen(place: Place) -> Iterator[Shopped]:
    """Qwen Code."""
    place.program("qwen", place.pinned.qwen)
    program = place.programs / "qwen"
    shop = Shop(place)
    with ScriptedModel() as model:
        agent = Qwen(place.pinned, place.person, model)
        agent.configure('{"$version": 4}')
        login = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": model.url, "QWEN_CODE_NO_RELAUNCH": "true"}

        def install(folder: Path) -> None:
            shop.run(program, "extensions", "install", folder / "plugins" / "qwen-code", "--consent", **login)

        def remove() -> None:
            shop.run(program, "extensions", "uninstall", "codexmem", **login)

        def ask(prompt: str) -> None:
            run = agent.ask(prompt)
            assert run.code == 0, run

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            return through_bridge(f"mcp__codexmem__{name}", arguments)

        yield Shopped("qwen-code", lambda _: [], install, remove, ask, model.play, lambda: told(model), tool, "/")


@contextlib.contextmanager
def gemini(place: Place) -> Iterator[Shopped]:
    """Gemini CLI."""
    place.program("gemini", place.more / "@google/gemini-cli/bundle/gemini.js")
    program = place.programs / "gemini"
    shop = Shop(place)
    config = place.person.home / ".gemini" / "settings.json"
    config.parent.mkdir()
    config.write_text(json.dumps(GEMINI_SETTINGS, indent=2))
    with GeminiModel() as model:
        login = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": model.url}

        def check(folder: Path) -> list[str]:
            return [shop.run(program, "extensions", "validate", folder / "plugins" / "gemini-cli", **login)]

        def install(folder: Path) -> None:
            shop.run(program, "extensions", "install", folder / "plugins" / "gemini-cli", "--consent", **login)

        def remove() -> None:
            shop.run(program, "extensions", "uninstall", "codexmem", **login)

        def ask(prompt: str) -> None:
            shop.run(program, "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-o", "stream-json", "-p", prompt,
                     **login)  # fmt: skip

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            return (Call(f"mcp_codexmem_{name}", arguments),)

        # With `-p` it puts what a hook says at the start before what was typed, which then is no command any more.
        yield Shopped("gemini-cli", check, install, remove, ask, model.play, model.texts, tool, "")


@contextlib.contextmanager
def opencode(place: Place) -> Iterator[Shopped]:
    """OpenCode, whose configuration names the folder of the plugin."""
    program = place.programs / "opencode"
    program.symlink_to(four_agents.opencode_program(place.more))
    shop = Shop(place)
    with ScriptedModel() as model:
        four_agents.configure_opencode(place.person, place.more, model.url)
        config = place.person.home / ".config" / "opencode" / "opencode.json"
        before = config.read_text()

        def install(folder: Path) -> None:
            named = {"plugin": [str(folder / "plugins" / "opencode")]}
            config.write_text(json.dumps(json.loads(before) | named, indent=2))

        def remove() -> None:
            config.write_text(before)

        def ask(prompt: str) -> None:
            slash, _, rest = prompt.partition(" ")
            words = ["--command", slash.removeprefix("/"), rest] if slash.startswith("/") else [prompt]
            shop.run(program, "run", "--format", "json", *words, **OPENCODE_QUIET)

        def tool(name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
            return (Call(f"codexmem_{name}", arguments),)

        yield Shopped("opencode", lambda _: [], install, remove, ask, model.play,
                      lambda: told(model), tool, "/")  # fmt: skip


AGENTS = {
    "codex": codex, "claude-code": claude, "claude-agent-sdk": agent_sdk, "qwen-code": qwen, "gemini-cli": gemini,
    "opencode": opencode,
}  # fmt: skip


def told(model: ScriptedModel) -> str:
    """The first request of the newest session that offers tools."""
    return json.dumps(next(asked for asked in model.asked if asked.tools).body, ensure_ascii=False)


def published(folder: Path) -> Path:
    """What a person gets from the repository, in a folder of their own."""
    for name, text in tree().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class PluginTrial:
    """How a plugin came in."""

    checked: bool  # whether its program has a checker
    commands: int
    seconds: float

    def __str__(self) -> str:
        passed = "its own checker passed it, " if self.checked else ""
        typed = f"{self.commands} command{'s' * (self.commands != 1)}" if self.commands else "a line of configuration"
        return f"{passed}installed by {typed} in {self.seconds:.1f} s, told, recorded, tool called, removed"


def used(agent: Shopped, server: Server, folder: Path, clock: Callable[[], float] = time.monotonic) -> PluginTrial:
    """The whole life of one plugin."""
    where = published(folder)
    # Somebody else's words in the same project; the hook of the agent has no part in it.
    assert server.post("/api/memory/save", {"text": SAVED, "project": "shop"}).status == 200
    checked = bool(agent.check(where))

    began, ran = clock(), Shop.ran
    agent.install(where)
    trial = PluginTrial(checked, Shop.ran - ran, clock() - began)
    note = f"Noted by {agent.name}."
    agent.play(*agent.tool("save_memory", {"text": note}), Say("Two signatures."))
    agent.ask("Which orders need two signatures?")
    assert SAVED in agent.told(), agent.told()[:3_000]
    eventually(lambda: note in str(story.get(server, "/api/observations?project=shop")))
    # OpenCode puts what was typed in one word into quotation marks.
    eventually(lambda: any("Which orders need two signatures?" in each for each in prompts(server)))
    if agent.slash:
        agent.play(Say("Nothing."))
        agent.ask(f"{agent.slash}recall refunds of last week")
        task = agent.told()
        assert "Look for what the person asks below" in task, task[-6_000:]
        assert "refunds of last week" in task

    agent.remove()
    before = len(prompts(server))
    agent.play(Say("Nothing."))
    agent.ask("And now?")
    assert SAVED not in agent.told(), "the plugin is still there"
    assert len(prompts(server)) == before
    return trial


def prompts(server: Server) -> list[str]:
    """What was recorded of people."""
    return [each["prompt_text"] for each in story.get(server, "/api/prompts?limit=100")["items"]]


@contextlib.contextmanager
def empty_home(more: Path) -> Iterator[tuple[Place, Server]]:
    """Somebody with a checkout and no agent yet, and their server."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        person = Person(folder, "shop")
        (folder / "bin").mkdir()
        with Server(person.data_dir, settings=SERVER) as server:
            yield Place(person, folder / "bin", Installation.find(), more), server


def main(names: Sequence[str]) -> None:
    """One line for each agent."""
    more = four_agents.install(CLAUDE_CODE, AGENT_SDK)
    with loopback_only():
        for name in names or AGENTS:
            began = time.monotonic()
            with empty_home(more) as (place, server), AGENTS[name](place) as agent:
                trial = used(agent, server, place.programs.parent / "published")
            print(f"{name}: {trial} ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201 - its purpose


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    main(sys.argv[1:])
