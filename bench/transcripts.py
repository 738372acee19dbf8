"""Importing transcripts: how fast, beside live hooks, killed in between, repeated and taken back.

Real sessions of the set `coding-sessions` are written as Claude Code keeps them (those that the set has, then the same
again under other names until there are enough) and imported by the command, into a server that has memories already.
Two stores: one imported in one go while hooks report, one where command and server are killed in turn. Both must say
the same in the end, each memory once; a second import must write nothing; undo must leave what was there before. On
SQLite, as one person has it.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from typing import Any

from bench import coding_log, report
from bench.hook_calls import Hooks, tool_event
from bench.stores import stores
from bench.victim import Victim
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.listing import Lists
from codexmem.kernel.store.opening import open_reading
from tests._support import warm
from tests._support.warm import ForkedProcess

LIVE_TURNS = 5  # that are captured before anything is imported
HOOK_EVERY_S = 0.25
FIRST_KILL_S = (1.0, 6.0)
PATIENCE_S = 3_600.0
_KINDS = frozenset({Kind.PROMPT, Kind.OBSERVATION, Kind.SUMMARY})


def written(data: Path, home: Path, sessions: int) -> Counter[str]:
    """Write so many sessions as Claude Code keeps them; what there is of each sort."""
    made: Counter[str] = Counter()
    for name, session in islice(_sessions(data), sessions):
        folder = home / "work" / session["project"]
        folder.mkdir(parents=True, exist_ok=True)
        place = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder))
        place.mkdir(parents=True, exist_ok=True)
        records = list(_records(session, name, str(folder), made))
        if records:
            made["sessions"] += 1
            lines = (json.dumps(record, ensure_ascii=False) for record in records)
            (place / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def _sessions(data: Path) -> Iterator[tuple[str, coding_log.CodingSession]]:
    for repeated in count():
        for project in coding_log.PROJECTS:
            for place, session in enumerate(coding_log.sessions(data, project)):
                yield f"{repeated:02d}{place:06d}-0000-4000-8000-{_number(project):012d}", session


def _number(project: str) -> int:
    return coding_log.PROJECTS.index(project)


def _records(session: coding_log.CodingSession, name: str, folder: str, made: Counter[str]) -> Iterator[dict[str, Any]]:
    """A session line by line."""
    ids = count(1)
    at_ms = _ms(session["started_at"])
    before: str | None = None

    def record(role: str, content: Any, **more: Any) -> dict[str, Any]:
        nonlocal before, at_ms
        at_ms += 1_000
        uuid = f"{name}/{next(ids)}"
        said = {"type": role, "uuid": uuid, "parentUuid": before, "sessionId": name, "cwd": folder,
                "version": "2.1.197", "isSidechain": False, "userType": "external", "timestamp": _text(at_ms),
                "message": {"role": role, "content": content}, **more}  # fmt: skip
        before = uuid
        return said

    for turn in coding_log.turns(session):
        made["turns"] += 1
        at_ms = max(at_ms, _ms(turn.prompt.get("t", "")) if turn.prompt.get("t") else 0)
        yield record("user", turn.prompt["text"])
        for item in turn.events:
            told = coding_log.as_hook(item, folder) if item["kind"] in coding_log.REPORTED else None
            if told is None:
                continue
            made["events"] += 1
            call = f"toolu_{name}_{item['i']}"
            used = {"type": "tool_use", "id": call, "name": told["tool_name"], "input": told["tool_input"]}
            yield record("assistant", [used])
            failed = "error" in told["tool_response"]
            result = {"type": "tool_result", "tool_use_id": call, "content": item.get("output", ""), "is_error": failed}
            yield record("user", [result], toolUseResult=told["tool_response"])
        yield record("assistant", [{"type": "text", "text": turn.closing or "Done."}])


def _ms(said: str) -> int:
    return int(datetime.fromisoformat(said).timestamp() * 1000)


def _text(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03d}Z"


@dataclass
class Command:
    """`codexmem import transcripts`, run to its end or killed."""

    home: Path
    data: Path
    port: int
    peak_kb: int = 0
    runs: list[dict[str, Any]] = field(default_factory=list)

    def start(self) -> subprocess.Popen[bytes] | ForkedProcess:
        """Begin, or go on."""
        environ = Hooks(self.home, self.data).env | {"CODEXMEM_PORT": str(self.port)}
        words = ["import", "transcripts", "--agent", "claude-code", "--json"]
        with self._out.open("wb") as out, self._err.open("wb") as err:
            if Victim.forks:
                environ = warm.forkable(environ)
                return warm.start(words, env=environ, out=out.fileno(), err=err.fileno(), folder=self.home)
            command = [sys.executable, "-m", "codexmem.cli", *words]
            return subprocess.Popen(command, env=environ, cwd=self.home, stdout=out, stderr=err)

    def finish(self, process: subprocess.Popen[bytes] | ForkedProcess) -> dict[str, Any]:
        """Wait for it; what it printed."""
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < deadline:
            self.peak_kb = max(self.peak_kb, peak_kb(process.pid))
            time.sleep(0.05)
        if process.returncode != 0:
            raise RuntimeError(f"the import ended with {process.returncode}: {self._err.read_text()[-2000:]}")
        document: dict[str, Any] = json.loads(self._out.read_text())
        self.runs.append(document)
        return document

    @property
    def _out(self) -> Path:
        return self.home / "import.out"

    @property
    def _err(self) -> Path:
        return self.home / "import.err"

    def run(self) -> dict[str, Any]:
        """From start to end."""
        return self.finish(self.start())


def peak_kb(pid: int) -> int:
    """The most memory that a process has had so far; 0 if it is gone."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def live(hooks: Hooks, home: Path, turns: int, session: str) -> list[float]:
    """Some turns as an agent reports them; how long each hook took, in milliseconds."""
    took: list[float] = []
    about = {"session_id": session, "cwd": str(home)}
    for number in range(turns):
        marker = f"{session}-{number}"
        took += [
            hooks.call("claude-code", "session-init", {**about, "prompt": f"go on with {marker} 继续"}).ms,
            hooks.call("claude-code", "observation", tool_event(session, marker, str(home), call=marker)).ms,
            hooks.call("claude-code", "summarize", {**about, "last_assistant_message": f"done {marker}"}).ms,
        ]
    return took


class LiveHooks(threading.Thread):
    """Reports events as an agent does while something else goes on."""

    def __init__(self, hooks: Hooks, home: Path) -> None:
        super().__init__(daemon=True)
        self._hooks = hooks
        self._home = home
        self._ended = threading.Event()
        self.ms: list[float] = []

    def run(self) -> None:
        """Until it is told to end."""
        about = {"session_id": "beside", "cwd": str(self._home)}
        self._hooks.call("claude-code", "session-init", {**about, "prompt": "work beside it"})
        for number in count():
            if self._ended.wait(HOOK_EVERY_S):
                return
            event = tool_event("beside", f"beside-{number}", str(self._home), call=f"beside-{number}")
            self.ms.append(self._hooks.call("claude-code", "observation", event).ms)

    def end(self) -> None:
        """No more."""
        self._ended.set()
        self.join()


def said(url: str) -> list[tuple[Any, ...]]:
    """Everything that a store says, memory by memory."""
    database = open_reading(url)
    found: list[tuple[Any, ...]] = []
    try:
        with acting_as(LOCAL):
            lists, page = Lists(database), PageRequest(limit=100)
            while True:
                listed = lists.page(Filter(_KINDS), page)
                found += [(each.seq, each.kind.value, each.session, each.created_ms, each.state, each.counters)
                          for each in listed.items]  # fmt: skip
                if listed.after is None:
                    return found
                page = replace(page, after=listed.after)
    finally:
        database.close()


def _imported(found: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """What was imported, however it was numbered."""
    return Counter(
        (kind, session, created_ms, state.title, state.content)
        for _, kind, session, created_ms, state, _ in found
        if str(session)[:2].isdigit()
    )


def calm(victim: Victim, command: Command, home: Path, url: str) -> dict[str, Any]:
    """One import in one go, with hooks beside it; then again; then taken back."""
    hooks = Hooks(home, home / "data", CODEXMEM_PORT=str(victim.port))
    victim.start()
    before_ms = live(hooks, home, LIVE_TURNS * 4, "live")
    _settled(victim)
    beside = LiveHooks(hooks, home)
    beside.start()
    began = time.monotonic()
    first = command.run()
    seconds = time.monotonic() - began
    beside.end()
    _settled(victim)
    server_kb = peak_kb(victim.pid)
    after = said(url)
    again = command.run()
    twice = said(url)
    began = time.monotonic()
    undone = victim.command("undo", first["source"], "--yes", timeout_s=PATIENCE_S)
    undo_s = time.monotonic() - began
    left = said(url)
    victim.stop()
    ours = [each for each in after if not str(each[2])[:2].isdigit()]
    return {
        "sessions": first["sessions"].get("imported", 0),
        "turns": first["turns"].get("imported", 0),
        "events": first["events"],
        "memories": sum(first["memories"].values()),
        "seconds": round(seconds, 1),
        "events_per_second": round(first["events"] / seconds, 1),
        "peak_mb_command": command.peak_kb // 1024,
        "peak_mb_server": server_kb // 1024,
        "hook_p50_ms": [round(report.percentile(each, 0.5), 1) for each in (before_ms, beside.ms)],
        "hook_p95_ms": [round(report.percentile(each, 0.95), 1) for each in (before_ms, beside.ms)],
        "second_run_wrote": sum(again["memories"].values()) + (len(twice) - len(after)),
        "undo_seconds": round(undo_s, 1),
        "undo_left_alone": undone["left"],
        "undo_differs": len(set(map(repr, left)) ^ set(map(repr, ours))),
        "imported": _imported(after),
    }


def stormy(victim: Victim, command: Command, url: str, kills: int, chance: random.Random) -> dict[str, Any]:
    """The same import while the command and the server are killed in turn."""
    victim.start()
    done = 0
    while True:
        process = command.start()
        if done < kills:
            try:
                process.wait(chance.uniform(*FIRST_KILL_S))
            except subprocess.TimeoutExpired:
                done += 1
                if done % 2:
                    victim.kill()
                    victim.start()
                process.kill()
                process.wait()
                continue
        command.finish(process)
        break
    _settled(victim)
    found = _imported(said(url))
    victim.stop()
    return {"kills": done, "imported": found}


def _settled(victim: Victim) -> None:
    """What is captured live has been written down."""
    deadline = time.monotonic() + PATIENCE_S
    connection = victim.connect()
    while time.monotonic() < deadline:
        connection.request("GET", "/api/processing-status", headers=victim.headers())
        reply = json.loads(connection.getresponse().read())
        if not reply.get("isProcessing") and not reply.get("queueDepth"):
            connection.close()
            return
        time.sleep(0.1)
    raise RuntimeError("the queue did not run empty")


def soak(data: Path, sessions: int, kills: int, seed: int) -> dict[str, Any]:
    """Both imports; the figures of the first, and how far they differ."""
    with stores("sqlite", durable=True) as made:
        chance = random.Random(f"transcripts {seed}")
        results: list[dict[str, Any]] = []
        for name in ("calm", "stormy"):
            home = made.home / "home"  # the same for both: memories name folders
            shutil.rmtree(home, ignore_errors=True)
            (home / "data").mkdir(parents=True)
            expected = written(data, home, sessions)
            url = made.fresh()
            victim = Victim(home, url, environment={"CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_EMBEDDER": "none"})
            command = Command(home, home / "data", victim.port)
            try:
                if name == "calm":
                    results.append({"written": dict(expected), **calm(victim, command, home, url)})
                else:
                    results.append(stormy(victim, command, url, kills, chance))
            finally:
                victim.kill()
    quiet, killed = (each.pop("imported") for each in results)
    return {
        **results[0],
        **results[1],
        "lost": (quiet - killed).total(),
        "twice": (killed - quiet).total(),
    }


_MUST_BE_NONE = ("second_run_wrote", "undo_differs", "lost", "twice")


def kept(figures: Mapping[str, Any]) -> bool:
    """Whether all came once, nothing came again, and undo left what was there before."""
    whole = figures["sessions"] == figures["written"]["sessions"]
    return whole and not any(figures[name] for name in _MUST_BE_NONE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds coding-sessions")
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    figures = soak(options.data, options.sessions, options.kills, seed)
    return report.conclude("transcripts", {"seed": seed, **figures}, f"seed {seed}\n{report.lines(figures)}",
                           kept=kept(figures), as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
