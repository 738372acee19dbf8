"""Agents that the gate does not have, set up by `codexmem install`: `just try-agents`.

Each real program is fetched from npm, its files are changed as `install` changes them, and it works offline with a
scripted model: what it is told, what it calls and what was recorded of it is looked at. Then everything is taken out
again, and no file that was there before may differ by a byte; of the file in which Claude Code keeps its own state,
nothing of ours may be left. Ends with an error if anything is not so. Names on the command line choose agents.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from codexmem.agents import installable
from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.installing import Installer
from codexmem.agents.install.targets import UserHome
from tests._support.scripted_model import Call, Say, ScriptedModel, Step
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.agents import four_agents, story
from tests.agents.four_agents import Place
from tests.agents.loopback import loopback_only
from tests.agents.person import PROGRAMS, Person
from tests.agents.plugins import CLAUDE_CODE, SAVED, Shop, Shopped, claude, empty_home, prompts, told

PACKAGES = (CLAUDE_CODE, "@github/copilot@1.0.102", "@moonshot-ai/kimi-code@2.1.0", "cline@3.0.65")
QUESTION = "Which orders need two signatures?"
ANSWER = "Those of 900 euros and more."


class Tried:
    """An agent, how it is asked, and how far it tells hooks and models what it knows."""

    start = True  # whether the model is told what is remembered before it answers
    prompt = True  # whether hooks are told what a person asked
    state = ""  # a file that it writes while it runs, as well as we do

    def __init__(self, name: str, model: ScriptedModel, ask: Callable[[str], object], tool: str) -> None:
        self.name, self.ask, self.play = name, ask, model.play
        self._model, self._tool = model, tool

    def told(self) -> str:
        """The beginning of the newest session."""
        return told(self._model)

    def offered(self) -> list[str]:
        """The tools of the newest request."""
        return [name for _, name in self._model.asked[-1].tools]

    def tool(self, name: str, arguments: dict[str, Any]) -> tuple[Step, ...]:
        """A call of our MCP server's tool, as this agent spells it."""
        return (Call(self._tool.format(name), arguments),)


class TriedClaudeCode:
    """Claude Code, whose model speaks another protocol: as plugins are tried, by the names that `install` gives."""

    name = "claude-code"
    start = prompt = True
    state = ".claude.json"

    def __init__(self, agent: Shopped) -> None:
        self.ask, self.play, self.told, self.tool, self.offered = (
            agent.ask, agent.play, agent.told, agent.tool, agent.offered
        )  # fmt: skip


@contextlib.contextmanager
def claude_code(place: Place) -> Iterator[TriedClaudeCode]:
    """Claude Code with a key of the person's own."""
    with claude(place, "mcp__codexmem") as agent:
        yield TriedClaudeCode(agent)


@contextlib.contextmanager
def copilot(place: Place) -> Iterator[Tried]:
    """Copilot CLI with a model provider of the person's own; it needs no login then."""
    program = place.programs / "copilot"
    program.symlink_to(next(place.more.glob("@github/copilot-linux-*[!l]*/copilot")))
    with ScriptedModel() as model:
        login = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": model.url,
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": "scripted",
        }
        shop = Shop(place)
        yield Tried(
            "copilot-cli", model, lambda prompt: shop.run(program, "-p", prompt, "--allow-all-tools", **login),
            "codexmem-{}",
        )  # fmt: skip


@contextlib.contextmanager
def kimi(place: Place) -> Iterator[Tried]:
    """Kimi Code with a provider of the person's own; without a terminal it decides by itself, as `--auto` does."""
    place.program("kimi", place.more / "@moonshot-ai/kimi-code/dist/main.mjs")
    with ScriptedModel() as model:
        config = place.person.home / ".kimi-code" / "config.toml"
        config.parent.mkdir()
        config.write_text(
            'default_model = "scripted" # mine\ntelemetry = false\n\n'
            f'[providers.here]\ntype = "openai"\nbase_url = "{model.url}"\napi_key = "x"\n\n'
            '[models.scripted]\nprovider = "here"\nmodel = "scripted"\nmax_context_size = 100000\n'
            'capabilities = ["tool_use"]\n'
        )
        shop = Shop(place)
        quiet = {"KIMI_DISABLE_TELEMETRY": "1", "KIMI_CODE_NO_AUTO_UPDATE": "1"}
        yield Tried(
            "kimi-code", model, lambda prompt: shop.run(place.programs / "kimi", "-p", prompt, **quiet),
            "mcp__codexmem__{}",
        )  # fmt: skip


@contextlib.contextmanager
def cline(place: Place) -> Iterator[Tried]:
    """Cline's command line. It leaves a program running, which is ended here."""
    program = place.programs / "cline"
    program.symlink_to(next(place.more.glob("@cline/cli-linux-*[!l]*/bin/cline")))
    shop = Shop(place)
    with ScriptedModel() as model:
        shop.run(
            program, "auth", "--provider", "openai", "--apikey", "x", "--modelid", "scripted", "--baseurl", model.url
        )
        tried = Tried("cline", model, lambda prompt: shop.run(program, "--json", "-t", "120", prompt), "codexmem__{}")
        tried.start = tried.prompt = False
        try:
            yield tried
        finally:
            _end_hub(place.person.home)


AGENTS: dict[str, Callable[[Place], contextlib.AbstractContextManager[Tried | TriedClaudeCode]]]
AGENTS = {"claude-code": claude_code, "copilot-cli": copilot, "kimi-code": kimi, "cline": cline}


def used(tried: Tried | TriedClaudeCode, server: Server, person: Person) -> None:
    """In, at work, and out again."""
    assert server.post("/api/memory/save", {"text": SAVED, "project": "shop"}).status == 200
    agent = installable()[tried.name]
    owner = UserHome(person.home, person.environment())
    commands = ProgramCommands((str(PROGRAMS / "codexmem-hook"),), (str(PROGRAMS / "codexmem"),))
    installer = Installer(owner, commands, person.data_dir)
    paths = [target.path for target in agent.targets(owner, commands)]
    before = _files(paths, tried.state)
    installer.install(agent)

    note = f"Noted by {tried.name}."
    tried.play(*tried.tool("save_memory", {"text": note}), Say(ANSWER))
    tried.ask(QUESTION)
    offered = sorted(name for name in tried.offered() if "codexmem" in name)
    assert len(offered) == 5, offered
    assert (SAVED in tried.told()) == tried.start, tried.told()[-4_000:]
    eventually(lambda: note in str(story.get(server, "/api/observations?project=shop")))
    if tried.prompt:
        eventually(lambda: QUESTION in prompts(server))
    eventually(lambda: ANSWER in str(story.get(server, "/api/summaries?project=shop")))

    assert {change.path.name for change in installer.uninstall(agent) if change.since} <= {tried.state}
    assert _files(paths, tried.state) == before
    assert [path for path in paths if path.exists() and b"codexmem" in path.read_bytes()] == []
    heard = len(prompts(server))
    tried.play(Say("Nothing."))
    tried.ask("And now?")
    assert "codexmem" not in tried.told()
    assert len(prompts(server)) == heard


def _files(paths: Sequence[Path], state: str) -> dict[Path, bytes | None]:
    """What stands in them, but for the file that the agent itself writes."""
    return {path: path.read_bytes() if path.exists() else None for path in paths if path.name != state}


def _end_hub(home: Path) -> None:
    """End what runs with this home in its environment; nothing else has it."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (
                f"HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0")
                and b"cline" in (folder / "cmdline").read_bytes()
            ):
                os.kill(int(folder.name), signal.SIGTERM)


def main(names: Sequence[str]) -> None:
    """One line for each agent."""
    more = four_agents.install(*PACKAGES)
    with loopback_only():
        for name in names or AGENTS:
            began = time.monotonic()
            with empty_home(more) as (place, server), AGENTS[name](place) as tried:
                used(tried, server, place.person)
            whole = "told, recorded, " if tried.start else "recorded, "
            print(f"{name}: installed, {whole}tool called, taken out byte for byte "  # noqa: T201 - its purpose
                  f"({time.monotonic() - began:.0f} s)", flush=True)  # fmt: skip


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    main(sys.argv[1:])
