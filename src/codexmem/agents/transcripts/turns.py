"""Turns put together from records that come one by one.

A call counts when it is answered. A turn is held until the next one begins, so what it may hold is limited.

Which of the words in a transcript are a person's.

Programs put much under the person's name that nobody typed: the surroundings, files of instructions, reminders, output
of commands, summaries of what came before, our own memory. What is left without it is the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codexmem.agents import CodingAgent
from codexmem.agents.transcripts.model import TranscriptFlaws, TranscriptTool, TranscriptTurn
from codexmem.kernel.model import clipping, own_prompts, privacy
from codexmem.kernel.model.privacy import CONTEXT_TAG, HOST_TAGS

MAX_TOOLS = 5_000  # of a turn
MAX_CHARS = 32 << 20  # of the tools of a turn
_LARGE = 200_000  # characters of a value from which on it is shortened
_SHORTENED = 50_000  # characters that are left of each text


class TurnBuilder:
    """The turn that is being read; with `once`, of several answers under one id of a call the first counts.

    Not every model gives each call an id of its own, so that this is for programs that tell a call twice.
    """

    def __init__(self, agent: CodingAgent, flaws: TranscriptFlaws, *, once: bool = False) -> None:
        self._agent = agent
        self._flaws = flaws
        self._once = once
        self._last_ms = 0
        self._open(None, 0)

    def begin(self, prompt: str, at_ms: int) -> TranscriptTurn | None:
        """A person asks, or without words: something begins that no person asked for. The turn before it, if any."""
        turn = self._made(finished=True)
        self._open(prompt, at_ms)
        return turn

    def end(self) -> TranscriptTurn | None:
        """The file is at its end; its last turn, if any."""
        turn = self._made(finished=self.ended and not self._calls)
        self._open(None, 0)
        return turn

    @property
    def prompt(self) -> str | None:
        """What was asked; None before anything was."""
        return self._prompt

    @property
    def idle(self) -> bool:
        """Whether nothing has happened since the prompt."""
        return not self._tools and not self._calls and not self._message

    def call(self, call: str, tool: str, given: Any, at_ms: int) -> None:
        """A tool is called."""
        if call and len(self._calls) < MAX_TOOLS:
            self._calls[call] = (tool, bounded(given))
        self.at(at_ms)
        self.ended = False

    def waiting(self, call: str) -> tuple[str, Any] | None:
        """The tool and the input of a call that has no answer yet."""
        return self._calls.get(call)

    def drop(self, call: str) -> None:
        """A call that does not count."""
        self._calls.pop(call, None)

    def answer(self, call: str, told: Mapping[str, object], at_ms: int, agent: str = "", known_as: str = "") -> None:
        """The answer to a call, under the names that the agent's hooks use for it.

        `known_as` is an id of the call that is better than the model's.
        """
        known = self._calls.pop(call, None)
        if known is not None:
            self.use(known_as or call, {"tool_name": known[0], "tool_input": known[1], **told}, at_ms, agent)

    def use(self, call: str, told: Mapping[str, object], at_ms: int, agent: str = "") -> None:
        """A whole call, as the agent's hooks would tell it."""
        self._calls.pop(call, None)
        self.at(at_ms)
        self.ended = False
        record = self._agent.read({name: value for name, value in told.items() if value is not None}, {})
        tool = record.get("tool_name")
        if not isinstance(tool, str) or call in self._answered:
            return
        given, response = bounded(record.get("tool_input")), bounded(record.get("tool_response"))
        size = _size(given) + _size(response)
        if len(self._tools) >= MAX_TOOLS or self._chars + size > MAX_CHARS:
            self._flaws.dropped += 1
            return
        self._chars += size
        if call and self._once:
            self._answered.add(call)
        self._tools.append(TranscriptTool(tool, given, response, call, at_ms, agent))

    def say(self, words: str, at_ms: int) -> None:
        """The agent speaks."""
        if words.strip():
            self._message = bounded(words).strip()
        self.at(at_ms)

    def at(self, at_ms: int) -> None:
        """Something happens in this turn."""
        self._last_ms = max(self._last_ms, at_ms)

    def _open(self, prompt: str | None, at_ms: int) -> None:
        self._prompt = prompt
        self._began_ms = at_ms
        self._last_ms = at_ms
        self._tools: list[TranscriptTool] = []
        self._calls: dict[str, tuple[str, Any]] = {}
        self._answered: set[str] = set()
        self._chars = 0
        self._message = ""
        self.ended = False

    def _made(self, *, finished: bool) -> TranscriptTurn | None:
        prompt = self._prompt or ""
        if own_prompts.is_own(prompt) or not (prompt or self._tools):
            return None
        began = self._began_ms or min((tool.at_ms for tool in self._tools if tool.at_ms), default=0)
        return TranscriptTurn(
            bounded(prompt), began, tuple(self._tools), self._message, max(self._last_ms, began), finished
        )  # fmt: skip


def bounded(value: Any) -> Any:
    """A value of a size that can be kept; what is private is taken out before a text is cut."""
    if _size(value) <= _LARGE:
        return value
    return clipping.clip_value(privacy.strip_value(value), _SHORTENED)


def _size(value: Any, depth: int = 0) -> int:
    """The characters of a value, about; one that is nested too deeply is large."""
    if isinstance(value, str):
        return len(value)
    if depth > privacy.DEEPEST:
        return _LARGE + 1
    if isinstance(value, list):
        return len(value) + sum(_size(each, depth + 1) for each in value)
    if isinstance(value, dict):
        return sum(len(str(name)) + 1 + _size(each, depth + 1) for name, each in value.items())
    return 8


# Around what programs add. What a person keeps private is not among them: whoever stores the prompt looks for that.
_TAGS = (
    CONTEXT_TAG, "claude-mem-context", *HOST_TAGS,
    "environment_context", "user_instructions", "user_shell_command", "turn_aborted", "skills_instructions",
    "subagent_notification", "user_action", "collaboration_mode", "recommended_plugins",
    "session_context", "state_snapshot", "reference_content", "local-command-caveat", "local-command-stdout",
    "local-command-stderr", "bash-input", "bash-stdout", "bash-stderr", "command-name", "command-message",
    "command-args", "command-contents", "user-prompt-submit-hook", "session-start-hook", "ide_opened_file",
    "ide_selection", "ide_diagnostics", "new-diagnostics", "teammate-message", "user-memory-input",
    "attached_files", "open_and_recently_viewed_files", "additional_data", "editor_context",
)  # fmt: skip
_OPEN = re.compile(rf"<({'|'.join(map(re.escape, _TAGS))})(?:\s[^<>]{{0,2000}})?>", re.IGNORECASE)
_NOT_TYPED = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<skill>",
    "Caveat: The messages below were generated by the user while running local commands",
    "This session is being continued from a previous conversation",
    "[Request interrupted by user",
    "Another language model started to solve this problem and produced a summary",
    "You have exceeded the maximum number of tokens, please stop coding",
)
_REQUEST = re.compile(r"^#+ My request for \w+:?[ \t]*$", re.MULTILINE)  # after what an editor tells Codex
_IDE = "# Context from my IDE setup:"
# A folder of the system at the beginning of a sentence is no command.
_COMMAND = re.compile(
    r"/(?!(?:bin|boot|dev|etc|home|lib|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var|Users|Volumes)\b)"
    r"[A-Za-z][\w:.-]{0,60}(?:[ \t][^\n]{0,2000})?"
)


def prompt_in(said: str) -> str:
    """What of this a person typed; empty if nothing, or a command for the program itself."""
    left = without_blocks(said).strip()
    if left.startswith(_IDE) and (asked := list(_REQUEST.finditer(left))):
        left = left[asked[-1].end() :].strip()
    if left.startswith(_NOT_TYPED) or _COMMAND.fullmatch(left) or own_prompts.is_own(said):
        return ""
    return left


def is_command(said: str) -> bool:
    """Whether the person gave the program a command, which may begin work that nobody asked for in words."""
    return "<command-name>" in said[:2000] or bool(_COMMAND.fullmatch(said.strip()[:3000]))


def without_blocks(said: str) -> str:
    """The text without what programs put between tags of theirs; a tag that nothing closes stays."""
    pieces: list[str] = []
    place = 0
    unclosed: set[str] = set()
    lowered = ""
    for found in _OPEN.finditer(said):
        name = found.group(1).lower()
        if found.start() < place or name in unclosed:
            continue
        lowered = lowered or _lowered(said)
        end = lowered.find(f"</{name}>", found.end())
        if end < 0:
            unclosed.add(name)
            continue
        pieces.append(said[place : found.start()])
        place = end + len(name) + 3
    pieces.append(said[place:])
    return "".join(pieces)


def _lowered(said: str) -> str:
    """In small letters, as long as it was."""
    lowered = said.lower()
    return lowered if len(lowered) == len(said) else said.replace("\u0130", "i").lower()
