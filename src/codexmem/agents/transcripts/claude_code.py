"""Claude Code: a file of JSON lines for each session, in a folder for each working folder, named after the session.

A session that goes on under another id begins with a copy of the lines of the first, each with its old `uuid`; those
are told of the first file alone. Sub-agents have files of their own beside the session, older versions wrote their
lines among the session's as side chains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from codexmem.agents import text_in
from codexmem.agents.claude_code import AGENT
from codexmem.agents.transcripts import turns
from codexmem.agents.transcripts.files import (
    files,
    folder_of,
    folders,
    head,
    items,
    opened,
    reading,
    records,
    stamped,
    table,
    text,
    time_ms,
)
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.agents.transcripts.turns import TurnBuilder

_AGENT_ID = re.compile(r"[\w-]{1,80}")
_AGENT_TOLD = re.compile(r"^agentId: ([\w-]{1,80})", re.MULTILINE)
_SIBLINGS = 10_000  # files of a folder that are looked at for an earlier part of one
_COPIED = 200_000  # lines of an earlier part that are remembered
_DEEPEST = 4  # sub-agents of sub-agents
_ERROR = "Error: "
_ENDED = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
_Part = tuple[tuple[int, int, str], Path]  # a file and its age


class ClaudeTranscripts:
    """Claude Code keeps a file for each session."""

    program = AGENT.name

    def __init__(self) -> None:
        # The last folder that was asked about, as it was then: which of its files begin with the same line.
        self._known: tuple[Path, int, dict[str, list[_Part]]] | None = None

    def find(self, home: Path, environ: Mapping[str, str], checkouts: Sequence[Path]) -> Iterator[TranscriptFile]:
        """The sessions of every working folder."""
        for folder in folders(folder_of(home, environ, "CLAUDE_CONFIG_DIR", ".claude") / "projects"):
            for path in files(folder, ".jsonl"):
                if found := _described(path):
                    yield found

    def turns(self, file: TranscriptFile, flaws: TranscriptFlaws | None = None) -> Iterator[TranscriptTurn]:
        """The turns of one file that are not those of another."""
        flaws = flaws if flaws is not None else TranscriptFlaws()
        seen = self._copied(file.path)
        session = _Session(TurnBuilder(AGENT, flaws), file, flaws)
        with reading(file.path) as source:
            for record in records(source, flaws):
                uuid = text(record.get("uuid"))
                if uuid and uuid in seen:
                    continue
                if uuid and len(seen) < 2 * _COPIED:
                    seen.add(uuid)
                if turn := session.read(record):
                    yield turn
        if turn := session.last():
            yield turn

    def _copied(self, path: Path) -> set[str]:
        """The ids of lines that this file has from others."""
        parts = next((parts for parts in self._parts(path.parent).values() if any(path == at for _, at in parts)), [])
        found: set[str] = set()
        for _, earlier in parts:
            if earlier == path:
                break
            found |= _ids(earlier, _COPIED - len(found))
        return found

    def _parts(self, folder: Path) -> dict[str, list[_Part]]:
        """Files that begin with the same line, the oldest first; those alone that are not the only one."""
        changed = stamped(folder)[0]
        known = self._known
        if known is None or known[:2] != (folder, changed):
            by_line: dict[str, list[_Part]] = {}
            for path in islice(files(folder, ".jsonl"), _SIBLINGS):
                first, age = _begins(path)
                if first:
                    by_line.setdefault(first, []).append((age, path))
            several = {line: sorted(parts) for line, parts in by_line.items() if len(parts) > 1}
            known = self._known = (folder, changed, several)
        return known[2]


def _described(path: Path) -> TranscriptFile | None:
    """A session of a person's; a file that holds a summary or a side chain alone is none."""
    other = False  # something that is neither a summary nor a side chain's
    cwd, started = "", 0
    for record in head(path):
        kind = text(record.get("type"))
        other |= kind != "summary" and record.get("isSidechain") is not True
        cwd = cwd or text(record.get("cwd"))
        if kind in {"user", "assistant"} and record.get("isSidechain") is not True:
            started = started or time_ms(record.get("timestamp"))
        if cwd and started:
            break
    if not other:
        return None
    changed, size = stamped(path)
    return TranscriptFile(AGENT.name, path, path.stem, cwd, started, changed, size)


def _begins(path: Path) -> tuple[str, tuple[int, int, str]]:
    """The id of its first line, and what orders files that have the same.

    Notes of when a session began come before that line and are not copied into another file.
    """
    noted = 0
    for record in head(path):
        at_ms = time_ms(record.get("timestamp"))
        noted = noted or at_ms
        if uuid := text(record.get("uuid")):
            return uuid, (noted, stamped(path)[0], path.name)
    return "", (0, 0, "")


def _ids(path: Path, most: int) -> set[str]:
    found: set[str] = set()
    try:
        with opened(path) as source:
            for record in records(source, TranscriptFlaws()):
                if len(found) >= most:
                    break
                if uuid := text(record.get("uuid")):
                    found.add(uuid)
    except OSError:
        pass
    return found


class _Session:
    """One session, record by record."""

    def __init__(self, turn: TurnBuilder, file: TranscriptFile, flaws: TranscriptFlaws) -> None:
        self._turn = turn
        self._file = file
        self._flaws = flaws
        self._agents: set[str] = set()  # whose files were read

    def read(self, record: dict[str, object]) -> TranscriptTurn | None:
        """The turn that ends with this record, if one does."""
        session = text(record.get("sessionId"))
        if session and session != self._file.session:
            return None
        at_ms = time_ms(record.get("timestamp"))
        message = table(record, "message")
        side = record.get("isSidechain") is True
        agent = (text(record.get("agentId")) or "subagent") if side else ""
        if record.get("type") == "assistant":
            self._spoken(message, record, at_ms, agent)
        elif record.get("type") == "user":
            answers = [part for part in items(message.get("content")) if table(part).get("type") == "tool_result"]
            for answer in answers:
                self._answer(answer, record, at_ms, agent)
            if not answers and not side and not _injected(record):
                return self._asked(_said(message), at_ms)
        return None

    def last(self) -> TranscriptTurn | None:
        """What the file ends with."""
        return self._turn.end()

    def _asked(self, said: str, at_ms: int) -> TranscriptTurn | None:
        prompt = turns.prompt_in(said)
        if prompt or turns.is_command(said):
            return self._turn.begin(prompt, at_ms)
        if said.startswith("[Request interrupted"):
            self._turn.ended = True
        return None

    def _spoken(self, message: Mapping[str, object], record: Mapping[str, object], at_ms: int, agent: str) -> None:
        if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True:
            return
        calls = [about for part in items(message.get("content")) if (about := table(part)).get("type") == "tool_use"]
        for call in calls:
            self._turn.call(text(call.get("id")), text(call.get("name")), call.get("input"), at_ms)
        if not agent:
            said, reason = _said(message), message.get("stop_reason")
            self._turn.say(said, at_ms)
            # Older versions write a message down before they know why it ended.
            self._turn.ended = text(reason) in _ENDED or (reason is None and bool(said) and not calls)

    def _answer(
        self, part: Mapping[str, object], record: Mapping[str, object], at_ms: int, agent: str, depth: int = 0
    ) -> None:
        call, shown = text(part.get("tool_use_id")), text_in(part.get("content"))
        result = record.get("toolUseResult")
        self._delegated(result, shown, depth)
        told: dict[str, object] = {"tool_response": shown if result is None else result}
        if part.get("is_error") is True:
            error = text(result).removeprefix(_ERROR) or shown
            told = {"error": error}
        self._turn.answer(call, told, at_ms, agent)

    def _delegated(self, result: Any, shown: str, depth: int) -> None:
        """What a sub-agent did, from its own file, before what it answers."""
        known = text(table(result).get("agentId"))
        told = _AGENT_TOLD.search(shown[-4000:])
        agent = known or (told.group(1) if told else "")
        if not _AGENT_ID.fullmatch(agent) or agent in self._agents or depth >= _DEEPEST:
            return
        self._agents.add(agent)
        path = self._file.path.with_suffix("") / "subagents" / f"agent-{agent}.jsonl"
        try:
            with opened(path) as source:
                for record in records(source, self._flaws):
                    self._step(record, agent, depth + 1)
        except OSError:
            return

    def _step(self, record: Mapping[str, object], agent: str, depth: int) -> None:
        message, at_ms = table(record, "message"), time_ms(record.get("timestamp"))
        if record.get("type") == "assistant":
            self._spoken(message, record, at_ms, agent)
        for part in items(message.get("content")) if record.get("type") == "user" else ():
            if table(part).get("type") == "tool_result":
                self._answer(part, record, at_ms, agent, depth)


def _injected(record: Mapping[str, object]) -> bool:
    """What the program said in the person's name."""
    return any(record.get(mark) is True for mark in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"))


def _said(message: Mapping[str, object]) -> str:
    """The text of a message, without thoughts, calls and pictures."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, str) or table(part).get("type") == "text"]
        return "\n".join(filter(None, (text_in(part) for part in parts)))
    return text(content)
