"""OpenCode: one database for all sessions; versions before it kept a JSON file for each session, message and part.

A call of a tool is a part of the agent's message and holds its own answer. A sub-agent has a session of its own, which
the call that began it names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from codexmem.agents.opencode import AGENT
from codexmem.agents.transcripts import opencode_store, turns
from codexmem.agents.transcripts.files import (
    MAX_LINE,
    files,
    folder_of,
    folders,
    loaded,
    opened,
    stamped,
    table,
    text,
    time_ms,
)
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.agents.transcripts.turns import TurnBuilder
from codexmem.kernel.model.errors import Unavailable

_MOST = 50_000  # messages of a session, and parts of a message, that are read from files
_DEEPEST = 4  # sub-agents of sub-agents
_Records = Iterator[tuple[dict[str, object], dict[str, object]]]
_ENDED = frozenset({"stop", "length", "content-filter", "error"})


class OpenCodeTranscripts:
    """OpenCode keeps all sessions together: a session is known by its id, not by its file."""

    program = AGENT.name

    def find(self, home: Path, environ: Mapping[str, str], checkouts: Sequence[Path]) -> Iterator[TranscriptFile]:
        """The sessions of its databases; of its files where there is no database."""
        folder = folder_of(home, environ, "XDG_DATA_HOME", ".local/share") / "opencode"
        moved = environ.get("OPENCODE_DB", "").strip()
        named = [folder / moved] if moved and moved != ":memory:" else []
        databases = [*named, *(path for path in files(folder, ".db") if path.name.startswith("opencode"))]
        for path in dict.fromkeys(databases):
            yield from _in_database(path)
        if not databases:
            yield from _in_files(folder / "storage")

    def turns(self, file: TranscriptFile, flaws: TranscriptFlaws | None = None) -> Iterator[TranscriptTurn]:
        """The turns of one session."""
        flaws = flaws if flaws is not None else TranscriptFlaws()
        turn = TurnBuilder(AGENT, flaws)
        if file.path.suffix == ".json":
            storage = file.path.parents[2]
            yield from _Session(turn, lambda session: _from_files(storage, session, flaws)).turns(file.session)
            return
        try:
            with opencode_store.database(file.path) as database:
                reader = _Session(turn, lambda session: opencode_store.messages(database, session, flaws))
                yield from reader.turns(file.session)
        except (OSError, ValueError) as error:
            raise Unavailable(
                f"the sessions of OpenCode in {file.path} cannot be read: {error}",
                hint="Try again when OpenCode is not running; other programs' transcripts can be imported without it.",
            ) from error


def _in_database(path: Path) -> Iterator[TranscriptFile]:
    with contextlib.suppress(OSError, ValueError), opencode_store.database(path) as database:
        for session, folder, began, changed in opencode_store.sessions(database):
            yield TranscriptFile(AGENT.name, path, session, folder, time_ms(began), time_ms(changed), 0)


def _in_files(storage: Path) -> Iterator[TranscriptFile]:
    for project in folders(storage / "session"):
        for path in files(project, ".json"):
            about = table(_document(path))
            if not text(about.get("id")) or about.get("parentID"):
                continue
            changed, size = stamped(path)
            times = table(about, "time")
            yield TranscriptFile(
                AGENT.name, path, text(about.get("id")), text(about.get("directory")), time_ms(times.get("created")),
                time_ms(times.get("updated")) or changed, size,
            )  # fmt: skip


def _from_files(storage: Path, session: str, flaws: TranscriptFlaws) -> _Records:
    for path in _listed(storage / "message" / Path(session).name):
        about = table(_document(path))
        flaws.broken += not about
        found = False
        for part in _listed(storage / "part" / path.stem):
            found = True
            inside = table(_document(part))
            flaws.broken += not inside
            yield about, inside
        if not found:
            yield about, {}


def _listed(folder: Path) -> list[Path]:
    """The records of a folder in order, which is that of their ids."""
    return sorted(islice(files(folder, ".json"), _MOST))


def _document(path: Path) -> Any:
    try:
        with opened(path) as file:
            found = file.read(MAX_LINE + 1)
    except (OSError, ValueError):
        return None
    return loaded(found) if len(found) <= MAX_LINE else None


class _Session:
    """One session, part by part."""

    def __init__(self, turn: TurnBuilder, records: Callable[[str], _Records]) -> None:
        self._turn = turn
        self._records = records
        self._agents: set[str] = set()  # whose sessions were read

    def turns(self, session: str) -> Iterator[TranscriptTurn]:
        """Its turns, the last one included."""
        asked: dict[str, object] = {}  # the person's message that is being read, and what it says so far
        said: list[str] = []
        for about, part in self._records(session):
            if asked and about is not asked:
                if turn := self._asked(said, _at(asked)):
                    yield turn
                asked, said = {}, []
            if about.get("role") == "user":
                asked = about
                said.append(_typed(part))
            else:
                self._told(about, part, "", 0)
        if asked and (turn := self._asked(said, _at(asked))):
            yield turn
        if turn := self._turn.end():
            yield turn

    def _asked(self, parts: list[str], at_ms: int) -> TranscriptTurn | None:
        said = "\n".join(filter(None, parts))
        prompt = turns.prompt_in(said)
        return self._turn.begin(prompt, at_ms) if prompt or turns.is_command(said) else None

    def _told(self, about: Mapping[str, object], part: Mapping[str, object], agent: str, depth: int) -> None:
        at_ms = time_ms(table(part, "time").get("end")) or time_ms(part.get("at")) or _at(about)
        match part.get("type"):
            case "text" if not agent and not part.get("synthetic") and about.get("summary") is not True:
                self._turn.say(text(part.get("text")), at_ms)
            case "tool":
                self._used(part, at_ms, agent, depth)
        if not agent and about.get("role") == "assistant":
            self._turn.ended = text(about.get("finish")) in _ENDED

    def _used(self, part: Mapping[str, object], at_ms: int, agent: str, depth: int) -> None:
        state = table(part, "state")
        if text(state.get("status")) not in {"completed", "error"}:
            return
        about = table(state, "metadata")
        self._delegated(text(about.get("sessionId")), depth)
        output = state.get("output")
        if state.get("status") == "error":
            output = {"error": state.get("error")}
        answer = {"output": output, "metadata": {"exit": about.get("exit")}}
        told = {"input": {"tool": part.get("tool"), "args": state.get("input")}, "output": answer}
        self._turn.use(text(part.get("callID")), told, time_ms(table(state, "time").get("end")) or at_ms, agent)

    def _delegated(self, session: str, depth: int) -> None:
        """What a sub-agent did, before what it answers."""
        if not session or session in self._agents or depth >= _DEEPEST:
            return
        self._agents.add(session)
        for about, part in self._records(session):
            if about.get("role") == "assistant":
                self._told(about, part, session, depth + 1)


def _typed(part: Mapping[str, object]) -> str:
    """What a part of a person's message says that they typed."""
    if part.get("type") != "text" or part.get("synthetic") or part.get("ignored"):
        return ""
    return text(part.get("text"))


def _at(about: Mapping[str, object]) -> int:
    return time_ms(table(about, "time").get("created")) or time_ms(about.get("at"))
