"""Gemini CLI: a file for each session in a folder for each project, which a small file beside it names.

Newer versions write JSON lines: a head, messages, and changes of both; a message that is written again replaces the
earlier one, and a session that is resumed begins with another head and its whole past. Older versions wrote one JSON
document. A message is known by its id, so that nothing counts twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codexmem.agents import text_in
from codexmem.agents.gemini_cli import AGENT
from codexmem.agents.transcripts import turns
from codexmem.agents.transcripts.files import (
    MAX_LINE,
    files,
    folder_of,
    folders,
    head,
    items,
    loaded,
    opened,
    reading,
    records,
    stamped,
    table,
    text,
    time_ms,
)
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.agents.transcripts.qwen_code import answered
from codexmem.agents.transcripts.turns import TurnBuilder

_ROOT = ".project_root"
_MAX_ROOT = 4_096  # bytes of that file
_MAX_SEEN = 500_000  # messages and calls of a file that are told apart


class GeminiTranscripts:
    """Gemini CLI keeps a file for each session."""

    program = AGENT.name

    def find(self, home: Path, environ: Mapping[str, str], checkouts: Sequence[Path]) -> Iterator[TranscriptFile]:
        """The sessions of every project; what sub-agents were told is left out."""
        # Older versions name the folder of a project by a hash of its path.
        hashed = {hashlib.sha256(str(each).encode()).hexdigest(): str(each) for each in checkouts}
        for project in folders(folder_of(home, environ, "GEMINI_CLI_HOME", "") / ".gemini" / "tmp"):
            cwd = _root(project / _ROOT) or hashed.get(project.name, "")
            for ending in (".jsonl", ".json"):
                for path in files(project / "chats", ending):
                    if path.name.startswith("session-") and (found := _described(path, cwd)):
                        yield found

    def turns(self, file: TranscriptFile, flaws: TranscriptFlaws | None = None) -> Iterator[TranscriptTurn]:
        """The turns of one file."""
        flaws = flaws if flaws is not None else TranscriptFlaws()
        chat = _Chat(TurnBuilder(AGENT, flaws))
        for message in _messages(file.path, flaws):
            if turn := chat.read(message):
                yield turn
        if turn := chat.last():
            yield turn


def _root(path: Path) -> str:
    try:
        with opened(path) as file:
            return file.read(_MAX_ROOT).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def _described(path: Path, cwd: str) -> TranscriptFile | None:
    changed, size = stamped(path)
    first = next(head(path), {}) if path.suffix == ".jsonl" else table(_document(path))
    if text(first.get("kind")) not in {"", "main"}:
        return None
    session = text(first.get("sessionId"))
    if not session:
        return None
    return TranscriptFile(AGENT.name, path, session, cwd, time_ms(first.get("startTime")), changed, size)


def _document(path: Path) -> Any:
    """A whole document; None if it is too long or none."""
    try:
        with opened(path) as file:
            found = file.read(MAX_LINE + 1)
    except (OSError, ValueError):
        return None
    return loaded(found) if len(found) <= MAX_LINE else None


def _messages(path: Path, flaws: TranscriptFlaws) -> Iterator[dict[str, object]]:
    """Messages as they were written, again and again."""
    with reading(path) as source:
        if path.suffix == ".json":
            raw = source.read(MAX_LINE + 1)
            found = loaded(raw) if len(raw) <= MAX_LINE else None
            flaws.too_long += len(raw) > MAX_LINE
            flaws.broken += found is None and len(raw) <= MAX_LINE
            yield from (table(each) for each in items(table(found).get("messages")))
            return
        for record in records(source, flaws):
            yield from (table(each) for each in items(table(record, "$set").get("messages")))
            if "type" in record:
                yield record


class _Chat:
    """One session, message by message."""

    def __init__(self, turn: TurnBuilder) -> None:
        self._turn = turn
        self._asked: set[str] = set()  # prompts, by message
        self._calls: set[str] = set()  # calls that were told
        self._spoken: set[str] = set()  # messages of the agent
        self._newest = ("", "")  # of them, and what it says so far

    def read(self, message: dict[str, object]) -> TranscriptTurn | None:
        """The turn that ends with this message, if one does."""
        number, at_ms = text(message.get("id")), time_ms(message.get("timestamp"))
        match message.get("type"):
            case "user":
                return self._user(number, message.get("content"), at_ms)
            case "gemini":
                calls = [table(each) for each in items(message.get("toolCalls"))]
                for call in calls:
                    self._used(call, at_ms)
                self._say(number, _text(message.get("content")), at_ms, ends=not calls)
        return None

    def last(self) -> TranscriptTurn | None:
        """What the file ends with."""
        return self._turn.end()

    def _say(self, number: str, said: str, at_ms: int, *, ends: bool) -> None:
        """A message that is written again counts while it is the newest."""
        known = bool(number) and number in self._spoken and number != self._newest[0]
        if not said or known or self._newest == (number, said):
            return
        if len(self._spoken) < _MAX_SEEN:
            self._spoken.add(number)
        self._newest = (number, said)
        self._turn.say(said, at_ms)
        self._turn.ended = ends

    def _user(self, number: str, content: Any, at_ms: int) -> TranscriptTurn | None:
        said = _text(content)
        prompt = turns.prompt_in(said)
        if not (prompt or turns.is_command(said)) or (number and number in self._asked):
            return None
        if number and len(self._asked) < _MAX_SEEN:
            self._asked.add(number)
        return self._turn.begin(prompt, at_ms)

    def _used(self, call: Mapping[str, object], at_ms: int) -> None:
        number, result = text(call.get("id")), call.get("result")
        if result is None or (number and number in self._calls):
            return
        if number and len(self._calls) < _MAX_SEEN:
            self._calls.add(number)
        response = table(next(iter(items(result)), None), "functionResponse").get("response", result)
        told = answered(response, call.get("resultDisplay"))
        about = {"tool_name": call.get("name"), "tool_input": call.get("args"), **told}
        self._turn.use(number, about, time_ms(call.get("timestamp")) or at_ms)


def _text(content: Any) -> str:
    """What was said in a message; calls and answers of tools are not."""
    parts = [part for part in items(content) if isinstance(part, str) or "text" in table(part)]
    return text_in(parts) if isinstance(content, list) else text(content)
