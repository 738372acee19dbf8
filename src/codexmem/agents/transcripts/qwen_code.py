"""Qwen Code: a file of JSON lines for each session, named after it, in a folder for each working folder.

Calls and answers are in the model's own form; what a tool answered is told once more for people. Records name their
kind, and newer versions who they are from. A model may give two calls the same id, and hooks are told other ids: a call
is known by the record that answers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codexmem.agents.qwen_code import AGENT
from codexmem.agents.transcripts import turns
from codexmem.agents.transcripts.files import (
    files,
    folder_of,
    folders,
    head,
    items,
    reading,
    records,
    stamped,
    table,
    text,
    time_ms,
)
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.agents.transcripts.turns import TurnBuilder


class QwenTranscripts:
    """Qwen Code keeps a file for each session."""

    program = AGENT.name

    def find(self, home: Path, environ: Mapping[str, str], checkouts: Sequence[Path]) -> Iterator[TranscriptFile]:
        """The sessions of every working folder."""
        folder = folder_of(home, environ, "QWEN_HOME", ".qwen")
        runtime = environ.get("QWEN_RUNTIME_DIR", "").strip()
        for place in dict.fromkeys((folder, Path(runtime) if runtime else folder)):
            for project in folders(place / "projects"):
                for path in files(project / "chats", ".jsonl"):
                    if found := _described(path):
                        yield found

    def turns(self, file: TranscriptFile, flaws: TranscriptFlaws | None = None) -> Iterator[TranscriptTurn]:
        """The turns of one file."""
        flaws = flaws if flaws is not None else TranscriptFlaws()
        chat = _Chat(TurnBuilder(AGENT, flaws))
        with reading(file.path) as source:
            for record in records(source, flaws):
                if turn := chat.read(record):
                    yield turn
        if turn := chat.last():
            yield turn


def _described(path: Path) -> TranscriptFile | None:
    first = next(head(path), {})
    if first.get("isSidechain") is True:
        return None
    changed, size = stamped(path)
    session, cwd = text(first.get("sessionId")) or path.stem, text(first.get("cwd"))
    return TranscriptFile(AGENT.name, path, session, cwd, time_ms(first.get("timestamp")), changed, size)


class _Chat:
    """One session, record by record."""

    def __init__(self, turn: TurnBuilder) -> None:
        self._turn = turn

    def read(self, record: dict[str, object]) -> TranscriptTurn | None:
        """The turn that ends with this record, if one does."""
        at_ms = time_ms(record.get("timestamp"))
        parts = [table(part) for part in items(table(record, "message").get("parts"))]
        agent = text(record.get("agentId")) or text(record.get("agentName"))
        match record.get("type"):
            case "user" if text(record.get("provenance")) in {"", "real_user"}:
                return self._asked(spoken(parts), at_ms)
            case "assistant":
                for call in (table(part, "functionCall") for part in parts):
                    self._call(call, at_ms)
                if not agent:
                    said = spoken(parts)
                    self._turn.say(said, at_ms)
                    self._turn.ended = bool(said) and not any("functionCall" in part for part in parts)
            case "tool_result":
                told = table(record, "toolCallResult")
                for number, answer in enumerate(table(part, "functionResponse") for part in parts):
                    self._answer(answer, told, at_ms, agent, f"{text(record.get('uuid'))}:{number}")
        return None

    def last(self) -> TranscriptTurn | None:
        """What the file ends with."""
        return self._turn.end()

    def _asked(self, said: str, at_ms: int) -> TranscriptTurn | None:
        prompt = turns.prompt_in(said)
        return self._turn.begin(prompt, at_ms) if prompt or turns.is_command(said) else None

    def _call(self, call: dict[str, object], at_ms: int) -> None:
        if name := text(call.get("name")):
            self._turn.call(text(call.get("id")), name, call.get("args"), at_ms)

    def _answer(
        self, answer: Mapping[str, object], told: Mapping[str, object], at_ms: int, agent: str, number: str
    ) -> None:  # fmt: skip
        call, response = text(answer.get("id")) or text(told.get("callId")), answer.get("response")
        self._turn.answer(call, answered(response, told.get("resultDisplay")), at_ms, agent, number)


def spoken(parts: Sequence[Mapping[str, object]]) -> str:
    """What was said in a message, without thoughts."""
    return "\n".join(text(part.get("text")) for part in parts if part.get("text") and not part.get("thought"))


def answered(response: Any, shown: Any) -> dict[str, object]:
    """An answer in the form of the hooks: what the model sees and what people see, or what went wrong."""
    fields = response if isinstance(response, dict) else {"output": response}
    if fields.get("error") and "output" not in fields:
        return {"error": fields["error"]}
    told = {"llmContent": fields.get("output", fields), "returnDisplay": shown}
    return {"tool_response": told | ({"error": fields["error"]} if fields.get("error") else {})}
