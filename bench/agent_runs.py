"""Real coding agents as programs: a home and a checkout made anew for each run, with or without codexmem.

Each agent is set up once, bare, and once more by `codexmem install`; both homes are kept, and a run begins with a copy
of one of them at the same path. A run ends by itself, or is ended with all that it started.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from codexmem.kernel.model.privacy import CONTEXT_TAG
from tests._support.scripted_model import Asked, Call, Say, ScriptedModel, Step
from tests.agents import codex, four_agents, qwen
from tests.agents.installation import Installation
from tests.agents.person import Person, start_repository

_INSTALLS_WITHIN_S = 180
_SPOKEN = ("text", "content", "output", "arguments", "input", "instructions")  # fields that a model reads
_HANDED_OVER = re.compile(rf"<{CONTEXT_TAG}>.*?</{CONTEXT_TAG}>", re.DOTALL)


class RunFailed(Exception):
    """A run that says nothing about memory: the program failed, or did not do what it was started for."""


@dataclass(frozen=True)
class Endpoint:
    """Where the model is."""

    url: str
    name: str
    key: str = "x"
    scripted: bool = True


@dataclass(frozen=True)
class Turn:
    """What an agent said at the end of a turn, and in which session."""

    session: str
    said: str


class DrivenAgent(ABC):
    """One agent program in a folder of its own."""

    name: ClassVar[str]  # as `codexmem install` knows it
    title: ClassVar[str]

    def __init__(self, installation: Installation, folder: Path, project: str, endpoint: Endpoint) -> None:
        self._installation = installation
        self._folder = folder
        self._endpoint = endpoint
        self.person = Person(folder, project)
        self._programs = folder / "bin"
        self._programs.mkdir()
        (self._programs / self.program).write_text(
            "#!/bin/sh\nexec " + " ".join(f'"{word}"' for word in self.words) + ' "$@"\n'
        )
        (self._programs / self.program).chmod(0o755)

    def set_up(self, data_dir: Path) -> None:
        """Make both homes: one without codexmem, and one in which it is installed for the server of this folder."""
        self.configure()
        self._keep("bare")
        command = [sys.executable, "-m", "codexmem.cli", "install", self.name, "--yes", "--json",
                   "--data-dir", str(data_dir)]  # fmt: skip
        done = subprocess.run(
            command, cwd=self.person.repository, env=self._environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=_INSTALLS_WITHIN_S,
        )  # fmt: skip
        if done.returncode != 0 or not all(each["recording"] for each in json.loads(done.stdout)["agents"]):
            raise RuntimeError(f"codexmem install {self.name} failed: {done.stdout}{done.stderr}")
        self._keep("installed")

    def prepare(self, *, installed: bool, hooks: bool = True, checkout: Path | None = None) -> None:
        """A home and a checkout as nobody has used them."""
        for path in (self.person.home, self.person.repository):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self._folder / ("installed" if installed else "bare"), self.person.home, symlinks=True)
        if checkout is None:
            start_repository(self.person.repository)
        else:
            shutil.copytree(checkout, self.person.repository, symlinks=True)
        if installed and not hooks:
            self.switch_off_hooks()

    def turn(self, prompt: str, timeout_s: float, session: str = "", **environment: str) -> Turn:
        """One prompt, in a new session or in one that goes on; `RunFailed` if the agent fails or takes too long."""
        started = subprocess.Popen(
            self.command(prompt, session), cwd=self.person.repository, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=self._environment(**self.variables(), **environment),
        )  # fmt: skip
        with started as process:
            try:
                out, err = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                raise RunFailed(f"not done within {timeout_s:.0f} s") from None
            finally:
                # It leads a group of its own; servers that it has started may outlive it.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode != 0:
            raise RunFailed(f"ended with {process.returncode}: {(err or out).strip()[-300:]}")
        turn = self.read([json.loads(line) for line in out.splitlines() if line.startswith("{")])
        if not turn.session:
            raise RunFailed("named no session")
        return turn

    def _environment(self, **more: str) -> dict[str, str]:
        path = f"{self._programs}:{self.person.environment()['PATH']}"
        return self.person.environment(**{"PATH": path, **more})

    def _keep(self, name: str) -> None:
        shutil.copytree(self.person.home, self._folder / name, symlinks=True)

    # What is different from agent to agent.

    @property
    @abstractmethod
    def program(self) -> str:
        """Its name on a person's PATH."""

    @property
    @abstractmethod
    def words(self) -> Sequence[object]:
        """How it is started."""

    @abstractmethod
    def configure(self) -> None:
        """Its own files in an empty home."""

    @abstractmethod
    def switch_off_hooks(self) -> None:
        """By the agent's own setting."""

    @abstractmethod
    def command(self, prompt: str, session: str) -> list[str]:
        """One turn without a person."""

    @abstractmethod
    def variables(self) -> dict[str, str]:
        """What it needs in its environment."""

    @abstractmethod
    def read(self, events: Sequence[Mapping[str, Any]]) -> Turn:
        """What it printed."""

    @abstractmethod
    def search(self, query: str) -> tuple[Step, ...]:
        """How its model asks our MCP server."""

    @abstractmethod
    def write(self, name: str, text: str) -> tuple[Step, ...]:
        """How its model writes a file of the checkout."""


class DrivenCodex(DrivenAgent):
    """Codex, by `codex exec`."""

    name = "codex"
    title = "Codex"
    program = "codex"

    @property
    def words(self) -> Sequence[object]:
        """A program."""
        return (self._installation.codex,)

    def configure(self) -> None:
        """The tests' configuration; a model that is not scripted has instructions of its own."""
        agent = codex.Codex(self._installation, self.person, SimpleNamespace(url=self._endpoint.url))  # type: ignore[arg-type]
        agent.configure(f'[projects.{json.dumps(str(self.person.repository))}]\ntrust_level = "trusted"\n')
        if not self._endpoint.scripted:
            text = re.sub(r"(?m)^(model_catalog_json|include_permissions_instructions|model) = .*\n", "", self._config)
            self._config = f"model = {json.dumps(self._endpoint.name)}\n{text}"

    @property
    def _config(self) -> str:
        return (self.person.home / ".codex" / "config.toml").read_text()

    @_config.setter
    def _config(self, text: str) -> None:
        (self.person.home / ".codex" / "config.toml").write_text(text)

    def switch_off_hooks(self) -> None:
        """A feature."""
        self._config = f"features.hooks = false\n{self._config}"

    def command(self, prompt: str, session: str) -> list[str]:
        """`exec`, or `exec resume`."""
        begin = [str(self._installation.codex), "exec", "--json", "-C", str(self.person.repository)]
        return [*begin, "--skip-git-repo-check", *(("resume", session) if session else ()), prompt]

    def variables(self) -> dict[str, str]:
        """The key."""
        return {"SCRIPTED_KEY": self._endpoint.key}

    def read(self, events: Sequence[Mapping[str, Any]]) -> Turn:
        """Its thread, and its last message."""
        session = next((event["thread_id"] for event in events if event["type"] == "thread.started"), "")
        said = [event["item"]["text"] for event in events
                if event["type"] == "item.completed" and event["item"]["type"] == "agent_message"]  # fmt: skip
        return Turn(session, said[-1] if said else "")

    def search(self, query: str) -> tuple[Step, ...]:
        """It asks its model before the tools of servers are known; a moment later they are."""
        return Call("exec_command", {"cmd": "sleep 2; ls"}), Call("mcp__codexmem__search", {"query": query})

    def write(self, name: str, text: str) -> tuple[Step, ...]:
        """A patch."""
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        return (Call("apply_patch", source=f"*** Begin Patch\n*** Add File: {name}\n{lines}*** End Patch"),)


class DrivenQwen(DrivenAgent):
    """Qwen Code, by a prompt on its command line."""

    name = "qwen-code"
    title = "Qwen Code"
    program = "qwen"

    @property
    def words(self) -> Sequence[object]:
        """A script for Node."""
        return self._installation.node, self._installation.qwen

    def configure(self) -> None:
        """The tests' settings."""
        agent = qwen.Qwen(self._installation, self.person, SimpleNamespace(url=self._endpoint.url))  # type: ignore[arg-type]
        agent.configure('{"$version": 4}')

    def switch_off_hooks(self) -> None:
        """A setting."""
        path = self.person.home / ".qwen" / "settings.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"disableAllHooks": True}))

    def command(self, prompt: str, session: str) -> list[str]:
        """A new session, or one by its name."""
        begin = [*map(str, self.words), "--auth-type", "openai", "--yolo", "--output-format", "stream-json"]
        return [*begin, *(("--resume", session) if session else ()), prompt]

    def variables(self) -> dict[str, str]:
        """The model, and a quicker start."""
        return {"OPENAI_API_KEY": self._endpoint.key, "OPENAI_BASE_URL": self._endpoint.url,
                "OPENAI_MODEL": self._endpoint.name, "QWEN_CODE_NO_RELAUNCH": "true",
                "NODE_COMPILE_CACHE": str(self._installation.compiled)}  # fmt: skip

    def read(self, events: Sequence[Mapping[str, Any]]) -> Turn:
        """Its session, and its result."""
        if not events or events[-1].get("subtype") != "success":
            raise RunFailed(f"no success: {str(events[-1:])[:300]}")
        session = next((str(event["session_id"]) for event in events if event.get("session_id")), "")
        return Turn(session, str(events[-1].get("result", "")))

    def search(self, query: str) -> tuple[Step, ...]:
        """Through its bridge to tools of servers."""
        return qwen.through_bridge("mcp__codexmem__search", {"query": query})

    def write(self, name: str, text: str) -> tuple[Step, ...]:
        """Its own tool."""
        return (Call("write_file", {"file_path": str(self.person.repository / name), "content": text}),)


class DrivenOpenCode(DrivenAgent):
    """OpenCode, by `opencode run`; too large for the gate, it is fetched from npm when it is first asked for."""

    name = "opencode"
    title = "OpenCode"
    program = "opencode"

    @property
    def words(self) -> Sequence[object]:
        """A program."""
        modules = four_agents.HOME / "node_modules"
        found = four_agents.opencode_program(modules)
        return (found if found.exists() else four_agents.opencode_program(four_agents.install()),)

    def configure(self) -> None:
        """The tests' settings."""
        modules = four_agents.HOME / "node_modules"
        four_agents.configure_opencode(
            self.person, modules, self._endpoint.url, self._endpoint.name, self._endpoint.key
        )

    def switch_off_hooks(self) -> None:
        """It has no setting for a plugin; what is not there is not loaded."""
        (self.person.home / ".config" / "opencode" / "plugins" / "codexmem.js").unlink()

    def command(self, prompt: str, session: str) -> list[str]:
        """A new session, or one by its name."""
        begin = [*map(str, self.words), "run", "--format", "json"]
        return [*begin, *(("--session", session) if session else ()), prompt]

    def variables(self) -> dict[str, str]:
        """Nothing is fetched."""
        return dict(four_agents.OPENCODE_QUIET)

    def read(self, events: Sequence[Mapping[str, Any]]) -> Turn:
        """Its session, and its last text."""
        session = next((str(event["sessionID"]) for event in events if event.get("sessionID")), "")
        said = [str(event["part"]["text"]) for event in events if event.get("type") == "text"]
        return Turn(session, said[-1] if said else "")

    def search(self, query: str) -> tuple[Step, ...]:
        """By the server's name."""
        return (Call("codexmem_search", {"query": query}),)

    def write(self, name: str, text: str) -> tuple[Step, ...]:
        """Its own tool."""
        return (Call("write", {"filePath": str(self.person.repository / name), "content": text}),)


AGENTS: dict[str, type[DrivenAgent]] = {each.program: each for each in (DrivenCodex, DrivenQwen, DrivenOpenCode)}


@dataclass
class DecidingModel(ScriptedModel):
    """Looks first if it is told to, then fixes rightly if what it was sent tells how, and wrongly if not."""

    look: Sequence[Step] = ()
    knows: Callable[[str], bool] = lambda _: False
    fix: Callable[[bool], Sequence[Step]] = lambda _: ()
    decided: str | None = None  # what it was sent when it decided
    deciding: Mapping[str, Any] = field(default_factory=dict)  # … the whole of it
    _before: int | None = None  # results of tools in earlier turns

    def begin(self, knows: Callable[[str], bool], fix: Callable[[bool], Sequence[Step]],
              look: Sequence[Step] = ()) -> None:  # fmt: skip
        """A turn; the first request after looking decides."""
        self.play()
        self.knows, self.fix, self.look, self.decided, self._before = knows, fix, look, None, None

    def _step(self, asked: Asked) -> Step:
        if self._before is None:
            self._before = asked.results
        at = asked.results - self._before
        if at < len(self.look):
            return self.look[at]
        if self.decided is None:
            self.decided, self.deciding = request_text(asked.body), asked.body
        steps = self.fix(self.knows(self.decided))
        at -= len(self.look)
        return steps[at] if at < len(steps) else Say("Done.")


def request_text(body: Mapping[str, Any]) -> str:
    """What a model reads of a request: instructions, messages, calls and results of tools; not the tools themselves."""
    sent = {name: body[name] for name in ("instructions", "messages", "input") if name in body}
    return html.unescape("\n".join(_spoken(sent)))


def _spoken(value: object, *, counts: bool = False) -> Iterator[str]:
    if isinstance(value, str):
        if counts:
            yield value
    elif isinstance(value, list):
        for each in value:
            yield from _spoken(each, counts=counts)
    elif isinstance(value, dict) and value.get("type") != "additional_tools":
        for name, each in value.items():
            yield from _spoken(each, counts=name in _SPOKEN)


def handed_over(request: str) -> str:
    """What codexmem put into a request."""
    return "\n".join(_HANDED_OVER.findall(request))


def last_result(body: Mapping[str, Any]) -> str:
    """What the newest call of a tool has answered."""
    items = [item for item in body.get("input") or () if str(item.get("type", "")).endswith("_call_output")]
    messages = [message for message in body.get("messages") or () if message["role"] == "tool"]
    newest = (items or messages)[-1:]
    return html.unescape("\n".join(_spoken(newest)))


def written(folder: Path, before: Path | None = None) -> str:
    """The lines in text files of a checkout that no file of it had before."""
    known = {line for _, text in _texts(before) for line in text.splitlines()} if before else set()
    return "\n".join(line for _, text in _texts(folder) for line in text.splitlines() if line not in known)


def _texts(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") for part in parts):
            with contextlib.suppress(UnicodeDecodeError):
                yield path, path.read_text(encoding="utf-8")
