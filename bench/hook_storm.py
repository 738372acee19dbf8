"""Hooks of many sessions at once while the server is killed and started again: every event is captured, once.

Agents call the hook one event after the other, several agents at a time. The server is killed with SIGKILL at random
moments and is away for a while; some hooks are killed too. At the end what waits is delivered and the store is read:
each event of a hook that ended must be there once, each event of a hook that was killed at most once.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import report
from bench.hook_calls import Hooks, tool_event
from bench.stores import stores
from bench.victim import Victim
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.sqlite.engine import plain_engine

AGENTS = 6
EVENTS_IN_SESSION = 50
KILLED = 0.01  # share of hooks that are killed
ALIVE_S, AWAY_S = (0.2, 12.0), (0.0, 2.0)
PATIENCE_S = 120.0  # without any progress


@dataclass
class Ledger:
    """What was sent, and what came of it."""

    sent: list[str] = field(default_factory=list)  # markers of events whose hook ended
    unknown: list[str] = field(default_factory=list)  # of those whose hook was killed
    codes: Counter[int] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)  # output that no agent could read
    ms: list[float] = field(default_factory=list)
    order: dict[str, list[str]] = field(default_factory=dict)  # per session, tool markers as they happened
    lock: threading.Lock = field(default_factory=threading.Lock)


def events(session: str, count: int, cwd: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """One session: hook event, marker and payload of each step. Half of the tool calls have no id of their own."""
    about = {"session_id": session, "cwd": cwd}
    for number in range(count):
        marker = f"{session}-{number:05d}"
        if number % 10 == 0:
            yield "session-init", marker, {**about, "prompt": f"go on with {marker} 继续"}
        elif number % 10 == 9:
            yield "summarize", marker, {**about, "last_assistant_message": f"done {marker}"}
        else:
            yield "observation", marker, tool_event(session, marker, cwd, call=marker if number % 2 else None)


class Agent(threading.Thread):
    """One agent after the other works through sessions, waiting for each hook as agents do."""

    def __init__(self, hooks: Hooks, sessions: Sequence[tuple[str, int]], ledger: Ledger, cwd: str, seed: str) -> None:
        super().__init__(daemon=True)
        self._hooks = hooks
        self._sessions = sessions
        self._ledger = ledger
        self._cwd = cwd
        self._chance = random.Random(seed)
        self.failure: BaseException | None = None

    def run(self) -> None:
        """All sessions, one after the other."""
        try:
            for session, count in self._sessions:
                for event, marker, payload in events(session, count, self._cwd):
                    self._hook(session, event, marker, payload)
        except BaseException as error:  # reported by the thread that controls us
            self.failure = error

    def _hook(self, session: str, event: str, marker: str, payload: dict[str, Any]) -> None:
        began = time.perf_counter()
        process = subprocess.Popen(
            self._hooks.command("claude-code", event), env=self._hooks.env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        doomed = self._chance.random() < KILLED
        if doomed:
            threading.Timer(self._chance.uniform(0.0, 0.06), process.kill).start()
        out, _ = process.communicate(json.dumps(payload).encode())
        with self._ledger.lock:
            if process.returncode < 0 and doomed:
                self._ledger.unknown.append(marker)
                return
            self._ledger.sent.append(marker)
            if event == "observation":
                self._ledger.order.setdefault(session, []).append(marker)
            self._ledger.codes[process.returncode] += 1
            self._ledger.ms.append((time.perf_counter() - began) * 1000)
            if out and not _is_valid(out):
                self._ledger.said.append(out.decode(errors="replace")[:200])


def _is_valid(out: bytes) -> bool:
    try:
        return set(json.loads(out)) == {"hookSpecificOutput"}
    except ValueError:
        return False


def storm(victim: Victim, agents: Sequence[Agent], chance: random.Random, progress: report.Progress,
          ledger: Ledger) -> int:  # fmt: skip
    """Kill and start the server until the agents are done; how many times it was killed."""
    kills = 0
    while any(agent.is_alive() for agent in agents):
        victim.start()
        _while_working(agents, chance.uniform(*ALIVE_S))
        victim.kill()
        kills += 1
        _while_working(agents, chance.uniform(*AWAY_S))
        progress.tell(f"{len(ledger.sent):,} events, {kills} kills")
    return kills


def _while_working(agents: Sequence[Agent], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and any(agent.is_alive() for agent in agents):
        time.sleep(0.01)


def drained(hooks: Hooks, spool: Path) -> tuple[int, float]:
    """Wait until nothing waits, with the means that users have; how many events there were, and the seconds it took."""
    began = moved = time.monotonic()
    waiting = left = _waiting(spool)
    while left:
        hooks.call("raw", "drain", {})
        time.sleep(0.2)
        now = _waiting(spool)
        if now < left:
            left, moved = now, time.monotonic()
        elif time.monotonic() - moved > PATIENCE_S:
            raise RuntimeError(f"{left} events are still waiting")
    return waiting, time.monotonic() - began


def _waiting(spool: Path) -> int:
    """Events, and files that a killed hook left unfinished, which are looked at after a minute."""
    return len([*spool.glob("*.event"), *spool.glob(".*.part")]) if spool.is_dir() else 0


def captured(url: str) -> tuple[Counter[str], dict[str, list[str]]]:
    """How often each marker is in the store, and the order of each session's tools."""
    found: Counter[str] = Counter()
    order: dict[str, list[str]] = {}
    path = sqlite_path(url)
    assert path is not None
    engine = plain_engine(path)
    with engine.connect() as connection:
        for kind, body in connection.exec_driver_sql("SELECT kind, body FROM captured_events ORDER BY seq"):
            said = json.loads(body) if isinstance(body, str | bytes) else body or {}
            if kind == "tool":
                marker = said["input"]["command"].split()[-1]
                order.setdefault(marker.rpartition("-")[0], []).append(marker)
                found[marker] += 1
            elif kind == "stop":
                found[said["message"].split()[-1]] += 1
        for (content,) in connection.exec_driver_sql("SELECT content FROM memories WHERE kind = 'prompt'"):
            found[content.split()[-2]] += 1
    engine.dispose()
    return found, order


def soak(count: int, seed: int, *, parent: Path | None = None, agents: int = AGENTS) -> dict[str, Any]:
    """From an empty store to the verdict."""
    began, progress, ledger = time.monotonic(), report.Progress("hooks"), Ledger()
    with stores("sqlite", durable=True, parent=parent) as made:
        home, url = made.home, made.fresh()
        data = home / "data"
        data.mkdir(mode=0o700)
        victim = Victim(home, url)
        hooks = Hooks(home, data, CODEXMEM_PORT=str(victim.port))
        sessions = [(f"s{n:04d}", min(EVENTS_IN_SESSION, count - at))
                    for n, at in enumerate(range(0, count, EVENTS_IN_SESSION))]  # fmt: skip
        working = [Agent(hooks, sessions[n::agents], ledger, str(home), f"{seed} {n}") for n in range(agents)]
        for agent in working:
            agent.start()
        try:
            kills = storm(victim, working, random.Random(f"storm {seed}"), progress, ledger)
            for agent in working:
                agent.join()
                if agent.failure is not None:
                    raise agent.failure
            storm_s = time.monotonic() - began
            victim.start()
            waiting, drain_s = drained(hooks, data / "spool")
            victim.stop()
        finally:
            victim.kill()
            progress.close()
        rejected = len(list((data / "spool" / "rejected").glob("*"))) if (data / "spool" / "rejected").is_dir() else 0
        found, order = captured(url)
    lost = [marker for marker in ledger.sent if not found[marker]]
    twice = [marker for marker, times in found.items() if times > 1]
    unasked = set(found) - set(ledger.sent) - set(ledger.unknown)
    return {
        "events": len(ledger.sent),
        "hooks_killed": len(ledger.unknown),
        "of_these_captured": sum(1 for marker in ledger.unknown if found[marker]),
        "server_kills": kills,
        "captured": sum(found.values()),
        "lost": len(lost),
        "duplicated": len(twice),
        "unasked": len(unasked),
        "exit_not_0": sum(times for code, times in ledger.codes.items() if code),
        "unreadable_output": len(ledger.said),
        "rejected": rejected,
        "waiting_at_the_end": waiting,
        "delivered_per_second_then": round(waiting / drain_s, 1) if waiting else None,
        "sessions_out_of_order": sum(
            1 for session in order if not _in_order(ledger.order.get(session, []), order[session])
        ),
        "hook_p50_ms": round(report.percentile(ledger.ms, 0.5), 1),
        "hook_p95_ms": round(report.percentile(ledger.ms, 0.95), 1),
        "hook_max_ms": round(max(ledger.ms, default=0.0), 1),
        "events_per_second": round(len(ledger.sent) / storm_s, 1),
        "seconds": round(time.monotonic() - began, 1),
        "problems": [*lost, *twice, *sorted(unasked), *ledger.said][:20],
    }


def _in_order(happened: list[str], stored: list[str]) -> bool:
    known = set(happened)
    return [marker for marker in stored if marker in known] == happened


_MUST_BE_NONE = ("lost", "duplicated", "unasked", "exit_not_0", "unreadable_output", "rejected")


def kept(figures: dict[str, Any]) -> bool:
    """Whether nothing was lost, doubled, invented, refused or failed."""
    return not any(figures[name] for name in _MUST_BE_NONE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--agents", type=int, default=AGENTS, help="that work at the same time")
    parser.add_argument("--dir", type=Path, default=None, help="where store and spool lie; must be a real disk")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    figures = soak(options.events, seed, parent=options.dir, agents=options.agents)
    return report.conclude("hook storm", {"seed": seed, **figures}, f"seed {seed}\n{report.lines(figures)}",
                           kept=kept(figures), as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
