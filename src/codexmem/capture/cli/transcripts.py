"""`codexmem import transcripts`: conversations that agents kept. It may be broken off, repeated and taken back.

Sessions are imported from the oldest on, one after another: a session's turns in parts that fit a request, so that any
number of sessions of any length costs the memory of one part. A running server is left time between two parts.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import click

from codexmem.agents.transcripts.finding import READERS, find
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.capture.transcripts import MAX_TOOLS, SOURCE
from codexmem.console.backend import Backend, Remote, backend
from codexmem.console.command import Command, current, option
from codexmem.console.dates import day_of, stretch
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.progress import bar
from codexmem.console.store import chosen, store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.hook.surroundings import environment, refusing_file
from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.kernel.model.ids import SystemClock

_TURNS = 20  # of one part
_CHARACTERS = 300_000  # of one part, after which it is sent
_MOST_CHARACTERS = 900_000  # of one turn: a request has its limits, and a character has up to four bytes
_TIGHTER = (4_000, 1_000, 200)
_LOOKED_UP = 200  # sessions at once
_STILL_OPEN_MS = 600_000  # a turn without an end in a file that changed so lately may still go on
_REST = 0.5  # of the time that a server worked for us, in which it works for others
_PER_TOOL = 250  # characters of a tool call in a question to the writer
_PER_TOKEN = 3  # characters
_SHOWN = 20  # projects
_FATES = ("imported", "excluded", "captured", "known")  # of a session's turns, the first that there is


_LEFT_OUT = {
    "known": "import.transcripts.known",
    "captured": "import.transcripts.captured",
    "excluded": "import.transcripts.excluded",
    "empty": "import.transcripts.empty",
    "unreadable": "import.transcripts.unreadable",
}


class _Unreadable(Exception):
    """A file that was found and cannot be read; others can."""


@dataclass
class _Tally:
    """What became of the transcripts so far."""

    sessions: Counter[str] = field(default_factory=Counter)  # imported, known, captured, excluded, empty, unreadable
    turns: Counter[str] = field(default_factory=Counter)
    memories: Counter[str] = field(default_factory=Counter)
    agents: Counter[str] = field(default_factory=Counter)  # sessions
    projects: Counter[str] = field(default_factory=Counter)
    events: int = 0
    delta: str | None = None
    undone: str | None = None  # what hides an earlier import

    def add(self, answer: Mapping[str, Any]) -> None:
        """What the store says of one part."""
        self.turns.update(answer["turns"])
        self.memories.update(answer["memories"])
        self.events += answer["events"]
        self.delta = answer["delta"] or self.delta


@dataclass(frozen=True, slots=True)
class _Asked:
    """Of which sessions the writer is asked, and what that is likely to cost."""

    sessions: frozenset[str] = frozenset()
    questions: int = 0
    tokens: int = 0


@click.command("transcripts", cls=Command, key="import.transcripts")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
@option("--agent", "agents", multiple=True, type=click.Choice(tuple(READERS)), key="import.transcripts.agent")
@option("--project", key="import.transcripts.project")
@option("--since", metavar="DATE", key="import.transcripts.since")
@option("--questions", type=click.IntRange(0), default=0, key="import.transcripts.questions")
@option("--dry-run", is_flag=True, key="import.dry_run")
@tenant_option
@store_options
def transcripts(folders: Sequence[Path], agents: Sequence[str], project: str | None, since: str | None,
                questions: int, dry_run: bool, **where: Any) -> None:  # fmt: skip
    """Import the conversations that agents kept."""
    since_ms = stretch(since).first_ms if since is not None else 0
    found = _found(folders or (Path.cwd(),), agents, project, since_ms)
    tally, flaws = _Tally(), TranscriptFlaws()
    room = chosen(data_dir=where["data_dir"], database_url=where["database_url"]).author_tokens
    asked = _Asked()
    if dry_run:
        asked = _count(found, tally, flaws, room)
    elif found:
        with backend(write=True, create=True, **where) as store:
            asked = _chosen_for_writer(store, found, questions, room)
            _import(store, found, asked, tally, flaws)
    _tell(found, tally, flaws, asked, dry_run=dry_run)


def _found(
    folders: Sequence[Path], programs: Sequence[str], project: str | None, since_ms: int
) -> list[tuple[TranscriptFile, str]]:
    """The conversations to import with their projects, oldest first."""
    named = ((file, _project(file)) for file in find(Path.home(), environment(), folders, programs or tuple(READERS)))
    wanted = [
        (file, name) for file, name in named if file.changed_ms >= since_ms and (project is None or name == project)
    ]
    return sorted(wanted, key=lambda pair: (pair[0].started_ms, pair[0].session))


def _project(file: TranscriptFile) -> str:
    from codexmem.hook.surroundings import text_of
    from codexmem.kernel.model.project import identity

    return identity(file.cwd, text_of) if file.cwd else ""


def _count(found: Sequence[tuple[TranscriptFile, str]], tally: _Tally, flaws: TranscriptFlaws, room: int) -> _Asked:
    """Read everything and send nothing."""
    questions = tokens = done = 0
    total = sum(file.bytes for file, _ in found)
    with bar(say("import.reading")) as progress:
        for file, project in found:
            size = turns = 0
            try:
                for turn in _turns(file, flaws):
                    turns += 1
                    size += _size_in_question(turn)
            except _Unreadable:
                tally.sessions["unreadable"] += 1
                continue
            _note_session(tally, file, project, "imported" if turns else "empty")
            tally.turns["imported"] += turns
            questions, tokens = questions + _questions(size, room), tokens + size // _PER_TOKEN
            done += file.bytes
            progress(done, total)
    return _Asked(frozenset(), questions, tokens)


def _chosen_for_writer(store: Backend, found: Sequence[tuple[TranscriptFile, str]], most: int, room: int) -> _Asked:
    """The newest sessions about which so many questions can be asked."""
    if not most:
        return _Asked()
    if not store.post("/api/transcripts/known", {"sessions": []})["asks_writer"]:
        current().note(say("import.transcripts.no_writer"), good=False)
        return _Asked()
    sessions: list[str] = []
    questions = tokens = 0
    for file, _ in reversed(found):
        if refusing_file(file.cwd):
            continue
        try:
            size = sum(map(_size_in_question, _turns(file, TranscriptFlaws())))
        except _Unreadable:
            continue
        if questions + _questions(size, room) > most:
            break
        sessions.append(file.session)
        questions, tokens = questions + _questions(size, room), tokens + size // _PER_TOKEN
    current().note(_estimate("import.transcripts.will_ask", len(sessions), questions, tokens))
    return _Asked(frozenset(sessions), questions, tokens)


def _import(store: Backend, found: Sequence[tuple[TranscriptFile, str]], asked: _Asked, tally: _Tally,
            flaws: TranscriptFlaws) -> None:  # fmt: skip
    done, total = 0, sum(file.bytes for file, _ in found)
    pages = iter(found)
    try:
        with bar(say("import.importing")) as progress:
            while page := list(islice(pages, _LOOKED_UP)):
                keys = [file.session for file, _ in page]
                answer = store.post("/api/transcripts/known", {"sessions": keys})
                tally.undone = answer["undone"]
                for file, project in page:
                    _import_one(store, file, project, answer["sessions"].get(file.session), asked, tally, flaws)
                    done += file.bytes
                    progress(done, total)
    except (CodexmemError, KeyboardInterrupt):
        if imported := tally.memories.total():
            current().note(say("import.broken_off", count=f"{imported:,}"), good=False)
            current().note(say("import.undo", command=_undo()))
        raise


def _import_one(store: Backend, file: TranscriptFile, project: str, known: Mapping[str, Any] | None, asked: _Asked,
                tally: _Tally, flaws: TranscriptFlaws) -> None:  # fmt: skip
    if known is not None and not known["imported"]:
        _note_session(tally, file, project, "captured")
        return
    before = Counter(tally.turns)
    try:
        for part in _parts(file, flaws):
            said = {
                "contentSessionId": file.session, "platform": file.program, "project": project, "cwd": file.cwd,
                "ask_writer": file.session in asked.sessions, "delta": tally.delta,
                "rules_only": bool(refusing_file(file.cwd)), **part,
            }  # fmt: skip
            began = time.monotonic()
            tally.add(store.post("/api/transcripts", said))
            if isinstance(store, Remote):
                time.sleep((time.monotonic() - began) * _REST)
    except _Unreadable:
        tally.sessions["unreadable"] += 1
        return
    fates = tally.turns - before
    _note_session(tally, file, project, next((fate for fate in _FATES if fates[fate]), "empty"))


def _note_session(tally: _Tally, file: TranscriptFile, project: str, fate: str) -> None:
    tally.sessions[fate] += 1
    if fate == "imported":
        tally.agents[file.program] += 1
        tally.projects[project] += 1


def _turns(file: TranscriptFile, flaws: TranscriptFlaws) -> Iterator[TranscriptTurn]:
    """Those that have ended, or never will."""
    lately = SystemClock().now_ms() - _STILL_OPEN_MS
    try:
        for turn in _joined(READERS[file.program].turns(file, flaws)):
            if turn.finished or file.changed_ms < lately:
                yield turn
    except Unavailable as problem:
        raise _Unreadable from problem


def _joined(turns: Iterator[TranscriptTurn]) -> Iterator[TranscriptTurn]:
    """Work that no words began, but a command of the agent's own, belongs to the turn before it, as it does live."""
    held: TranscriptTurn | None = None
    for turn in turns:
        if held is not None and not turn.prompt.strip():
            held = replace(
                held, tools=(*held.tools, *turn.tools), message=turn.message or held.message,
                ended_ms=turn.ended_ms or held.ended_ms, finished=turn.finished,
            )  # fmt: skip
            continue
        if held is not None:
            yield held
        held = turn
    if held is not None:
        yield held


def _parts(file: TranscriptFile, flaws: TranscriptFlaws) -> Iterator[dict[str, Any]]:
    """A session's turns as they are sent."""
    turns: list[dict[str, Any]] = []
    first = number = 1
    size = 0
    for number, turn in enumerate(_turns(file, flaws), 1):
        if len(turns) == _TURNS or size > _CHARACTERS:
            yield {"first": first, "turns": turns, "ended": False}
            turns, first, size = [], number, 0
        made, characters = _sent(file, turn)
        turns.append(made)
        size += characters
    if turns:
        yield {"first": first, "turns": turns, "ended": True}


def _sent(file: TranscriptFile, turn: TranscriptTurn) -> tuple[dict[str, Any], int]:
    """A turn cleaned as hooks clean it, small enough to be sent, and its size."""
    from codexmem.hook.events import body_of
    from codexmem.kernel.model import clipping, quick_json

    about = {"contentSessionId": file.session}
    prompt = body_of("session-init", {**about, "prompt": turn.prompt}, ()) or {"prompt": ""}
    made: dict[str, Any] = {"prompt": prompt["prompt"], "private": prompt.get("private", False), "at": turn.at_ms}
    tools = []
    for tool in turn.tools[:MAX_TOOLS]:
        record = {**about, "tool_name": tool.tool, "tool_input": tool.input, "tool_response": tool.response}
        said = body_of("observation", {**record, "tool_use_id": tool.call}, ())
        if said is not None:
            del said["contentSessionId"]
            tools.append({**said, "agent_id": tool.agent, "at": tool.at_ms or turn.at_ms})
    made["tools"] = tools
    if turn.finished:
        stop = body_of("summarize", {**about, "last_assistant_message": turn.message}, ())
        assert stop is not None
        made |= {"last_assistant_message": stop["last_assistant_message"], "ended_at": turn.ended_ms or turn.at_ms}
    for limit in _TIGHTER:
        if len(quick_json.dumps(made)) <= _MOST_CHARACTERS:
            break
        made["tools"] = clipping.clip_value(made["tools"], limit)
    return made, len(quick_json.dumps(made))


def _size_in_question(turn: TranscriptTurn) -> int:
    return min(len(turn.prompt), 4_000) + min(len(turn.message), 16_000) + _PER_TOOL * len(turn.tools)


def _questions(size: int, room: int) -> int:
    return -(-size // (_PER_TOKEN * room)) if size else 0


def _estimate(key: str, sessions: int, questions: int, tokens: int) -> str:
    return say(key, sessions=f"{sessions:,}", questions=f"{questions:,}", tokens=f"{tokens:,}")


def _tell(found: Sequence[tuple[TranscriptFile, str]], tally: _Tally, flaws: TranscriptFlaws, asked: _Asked, *,
          dry_run: bool) -> None:  # fmt: skip
    output = current()
    imported = tally.memories.total()
    days = [day_of(file.started_ms) for file, _ in found if file.started_ms]
    document: dict[str, Any] = {
        "dry_run": dry_run, "source": SOURCE, "delta": tally.delta, "found": len(found),
        "from": min(days, default=None), "to": max(days, default=None), "sessions": dict(tally.sessions),
        "turns": dict(tally.turns), "events": tally.events, "memories": dict(tally.memories),
        "agents": dict(tally.agents), "projects": dict(tally.projects.most_common()), "flaws": asdict(flaws),
        "questions": asked.questions, "question_tokens": asked.tokens, "undo": _undo() if imported else None,
        "undone": tally.undone,
    }  # fmt: skip
    if not found:
        output.result(document, "")
        output.note(say("import.transcripts.none"))
        return
    rows = [[program, f"{count:,}"] for program, count in tally.agents.most_common()]
    output.result(document, table(rows))
    for project, count in tally.projects.most_common(_SHOWN) if dry_run else ():
        output.note(say("import.project", project=one_line(project) or "-", count=f"{count:,}"))
    for fate, key in _LEFT_OUT.items():
        if sessions := tally.sessions[fate]:
            output.note(say(key, count=f"{sessions:,}"), good=fate != "unreadable")
    if tally.undone is not None and tally.sessions["known"]:
        output.note(say("import.redo", command=f"codexmem undo {tally.undone}"))
    if flaws:
        output.note(say("import.transcripts.flaws", count=f"{flaws.broken + flaws.too_long + flaws.dropped:,}"))
    if dry_run:
        would = tally.sessions["imported"]
        span = {"first": document["from"], "last": document["to"]}
        output.note(say("import.transcripts.would", count=f"{would:,}", **span))
        output.note(_estimate("import.transcripts.would_ask", would, asked.questions, asked.tokens))
        return
    output.note(
        say("import.transcripts.done", sessions=f"{tally.sessions['imported']:,}", memories=f"{imported:,}"), good=True
    )
    if imported:
        output.note(say("import.undo", command=_undo()))


def _undo() -> str:
    return f"codexmem undo {SOURCE}"
