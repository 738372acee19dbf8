"""Five real agents that keep a conversation of several turns, without codexmem; with a hook if one is given.

Each plays a script: what its model does in a turn is given with the prompt, in the words of that agent's own tools.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests._support.scripted_model import Call, Say, ScriptedModel, Step
from tests.agents import four_agents
from tests.agents.anthropic_model import AnthropicModel
from tests.agents.codex import Codex
from tests.agents.four_agents import OPENCODE_QUIET, Place
from tests.agents.gemini_model import GeminiModel
from tests.agents.qwen import Qwen

Value = dict[str, Any]
GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
}


@dataclass
class Conversation:
    """An agent that is set up; every prompt after the first resumes the same conversation."""

    name: str
    ask: Callable[[str, bool], None]  # with this prompt, resuming or not
    play: Callable[..., None]
    shell: Callable[[str], Step]
    write: Callable[[Path, str], Step]
    turnwise: bool = False  # whether its model counts the tool results of a turn, not of all
    _past: list[Step] = field(default_factory=list)
    _turns: int = 0

    def turn(self, prompt: str, *steps: Step) -> None:
        """One turn: the tools of these steps, then its last words."""
        self.play(*(() if self.turnwise else self._past), *steps)
        self.ask(prompt, self._turns > 0)
        self._turns += 1
        self._past += [step for step in steps if isinstance(step, Call)]


class ScriptedAnthropic(AnthropicModel):
    """Plays a script: the step is the number of tool results in a request; one without tools gets a title."""

    def __init__(self) -> None:
        super().__init__()
        self._script: Sequence[Step] = ()
        self._numbers = itertools.count(1)

    def script(self, *steps: Step) -> None:
        """A new script."""
        self._script = steps

    def events(self, body: Value) -> list[Value]:
        """A text, or the call of a tool."""
        results = sum(
            part.get("type") == "tool_result"
            for message in body.get("messages", [])
            for part in (message["content"] if isinstance(message["content"], list) else [])
        )
        left = self._script[results:] if body.get("tools") else ()
        step = left[0] if left else Say("A title")
        self.answer = step.text if isinstance(step, Say) else ""
        events = super().events(body)
        events[0]["message"]["id"] = f"msg_{next(self._numbers)}"
        if isinstance(step, Call):
            number = f"toolu_{next(self._numbers):04}"
            events[1]["content_block"] = {"type": "tool_use", "id": number, "name": step.tool, "input": {}}
            events[2]["delta"] = {"type": "input_json_delta", "partial_json": json.dumps(dict(step.arguments))}
            events[4]["delta"]["stop_reason"] = "tool_use"
        return events


class TurnwiseGemini(GeminiModel):
    """Plays a script for one turn: a resumed conversation may tell an answer of a tool twice."""

    def answer(self, body: Value) -> Value:
        """What it says to one request, by the answers of tools after the person's last words."""
        said = body.get("contents", [])
        asked = [at for at, each in enumerate(said) if any("text" in part for part in each.get("parts", []))
                 and each.get("role") == "user"]  # fmt: skip
        return super().answer({**body, "contents": said[asked[-1] :] if asked else said})


@contextlib.contextmanager
def codex(place: Place, hook: str = "") -> Iterator[Conversation]:
    """Codex."""
    with ScriptedModel() as model:
        agent = Codex(place.pinned, place.person, model)
        trusted = f'[projects."{place.person.repository}"]\ntrust_level = "trusted"\n'
        moments = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop") if hook else ()
        named = f'[{{hooks = [{{type = "command", command = {json.dumps(hook)}, timeout = 30}}]}}]'
        agent.configure("".join(f"hooks.{each} = {named}\n" for each in moments), trusted)
        threads: list[str] = []

        def ask(prompt: str, resume: bool) -> None:
            command = [str(place.pinned.codex), "exec", "--json", "-C", str(place.person.repository)]
            run = place.person.run([*command, *(["resume", threads[0]] if resume else []), prompt], SCRIPTED_KEY="x")
            assert run.code == 0, run
            threads.append(run.events[0]["thread_id"])

        def write(path: Path, text: str) -> Step:
            lines = "".join(f"+{line}\n" for line in text.splitlines())
            return Call("apply_patch", source=f"*** Begin Patch\n*** Add File: {path.name}\n{lines}*** End Patch")

        yield Conversation("codex", ask, model.play, lambda line: Call("exec_command", {"cmd": line}), write)


@contextlib.contextmanager
def claude(place: Place, hook: str = "") -> Iterator[Conversation]:
    """Claude Code."""
    program = next(place.more.glob("@anthropic-ai/claude-code-linux-*[!l]/claude"))
    with ScriptedAnthropic() as model:
        settings = place.person.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        login = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-x"}
        moments = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop")
        settings.write_text(json.dumps({"env": login, "model": "scripted", "hooks": _hooks(hook, moments)}))

        def ask(prompt: str, resume: bool) -> None:
            words = ["-p", "--permission-mode", "bypassPermissions", *(["--continue"] if resume else []), prompt]
            place.run([str(program), *words], CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", IS_SANDBOX="1")

        yield Conversation(
            "claude-code", ask, model.script, lambda line: Call("Bash", {"command": line, "description": "Runs"}),
            lambda path, text: Call("Write", {"file_path": str(path), "content": text}),
        )  # fmt: skip


@contextlib.contextmanager
def qwen(place: Place, hook: str = "") -> Iterator[Conversation]:
    """Qwen Code."""
    place.program("qwen", place.pinned.qwen)
    with ScriptedModel() as model:
        moments = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop")
        Qwen(place.pinned, place.person, model).configure(json.dumps({"$version": 4, "hooks": _hooks(hook, moments)}))

        def ask(prompt: str, resume: bool) -> None:
            words = ["--auth-type", "openai", "--yolo", *(["--continue"] if resume else []), prompt]
            place.run(
                [str(place.programs / "qwen"), *words], OPENAI_API_KEY="x", OPENAI_BASE_URL=model.url,
                OPENAI_MODEL="scripted", QWEN_CODE_NO_RELAUNCH="true",
                NODE_COMPILE_CACHE=str(place.pinned.compiled),
            )  # fmt: skip

        yield Conversation(
            "qwen-code", ask, model.play,
            lambda line: Call("run_shell_command", {"command": line, "is_background": False}),
            lambda path, text: Call("write_file", {"file_path": str(path), "content": text}),
        )  # fmt: skip


@contextlib.contextmanager
def gemini(place: Place, hook: str = "") -> Iterator[Conversation]:
    """Gemini CLI."""
    place.program("gemini", place.more / "@google/gemini-cli/bundle/gemini.js")
    config = place.person.home / ".gemini" / "settings.json"
    config.parent.mkdir()
    moments = ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent")
    config.write_text(json.dumps({**GEMINI_SETTINGS, "hooks": _hooks(hook, moments)}))
    with TurnwiseGemini() as model:

        def ask(prompt: str, resume: bool) -> None:
            words = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-o", "json",
                     *(["--resume", "latest"] if resume else []), "-p", prompt]  # fmt: skip
            place.run([str(place.programs / "gemini"), *words], GEMINI_API_KEY="x", GOOGLE_GEMINI_BASE_URL=model.url)

        yield Conversation(
            "gemini-cli", ask, model.play, lambda line: Call("run_shell_command", {"command": line}),
            lambda path, text: Call("write_file", {"file_path": str(path), "content": text}), turnwise=True,
        )  # fmt: skip


@contextlib.contextmanager
def opencode(place: Place, hook: str = "") -> Iterator[Conversation]:
    """OpenCode."""
    program = place.programs / "opencode"
    program.symlink_to(four_agents.opencode_program(place.more))
    with ScriptedModel() as model:
        four_agents.configure_opencode(place.person, place.more, model.url)

        def ask(prompt: str, resume: bool) -> None:
            words = ["run", "--format", "json", *(["--continue"] if resume else []), prompt]
            place.run([str(program), *words], **OPENCODE_QUIET)

        yield Conversation(
            "opencode", ask, model.play, lambda line: Call("bash", {"command": line, "description": "Runs"}),
            lambda path, text: Call("write", {"filePath": str(path), "content": text}),
        )  # fmt: skip


def _hooks(command: str, moments: Sequence[str]) -> Value:
    """In the form of the family of Claude Code."""
    entry = [{"hooks": [{"type": "command", "command": command}]}]
    return {moment: entry for moment in moments if command}


PROGRAMS = {"codex": codex, "claude-code": claude, "qwen-code": qwen, "gemini-cli": gemini, "opencode": opencode}
