"""Backups under load and restores that are killed: a backup is one moment, a restore is done or was never begun.

Writers add and delete entries and make and remove workspaces, each in a fixed order, while backups are taken. A backup
restored elsewhere must show, for every writer, the state after some number of its acknowledged steps: all that were
acknowledged before the backup began, none that was begun after it ended, knowledge and workspaces alike. Then restores
between two states are killed, at the n-th call to the file system or at a random moment, and whoever opens the store
next must find one of the two states whole.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import report
from bench.stores import Stores, stores
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database
from codexmem.knowledge.service import Knowledge
from tests._support.knowing import entries_of, knowledge_on, tree_of

WRITERS = 4
KEPT = 10  # things of a writer that are there at a time
ROUND = 50  # backups of one source; then a fresh one, because what is deleted stays in every backup
BY = WriteContext("bench")
_COUNTED = ("rename", "fsync", "mkdir", "unlink", "rmdir", "write", "open", "close")


@contextmanager
def opened(url: str, data_dir: Path) -> Iterator[Knowledge]:
    """The knowledge services on a store, as the one tenant of it."""
    db = open_database(url, pool_size=8)
    try:
        with acting_as(LOCAL):
            yield knowledge_on(db, data_dir, clock=SystemClock())
    finally:
        db.close()


def tasks_in(home: Path, url: str) -> Path:
    """Where the tasks lie: a team's server has a folder per tenant."""
    return home.joinpath("workspaces", *_own(url))


def backups_in(home: Path, url: str) -> Path:
    """Where the backups lie."""
    return home.joinpath("backups", "memory", *_own(url))


def _own(url: str) -> tuple[str, ...]:
    return (LOCAL,) if url.startswith("postgresql") else ()


@dataclass
class Writer:
    """Makes thing after thing, entries and workspaces in turn, and takes the old ones away; one step after another."""

    number: int
    knowledge: Knowledge
    states: list[frozenset[str]] = field(default_factory=lambda: [frozenset()])  # after so many steps
    begun: int = 0
    acknowledged: int = 0
    failure: BaseException | None = None

    def run(self, ending: threading.Event) -> None:
        """Step until told to end."""
        try:
            with acting_as(LOCAL):
                for thing in range(1_000_000):
                    self._step(f"w{self.number}-{thing}", thing, adds=True, ending=ending)
                    if thing >= KEPT:
                        old = thing - KEPT
                        self._step(f"w{self.number}-{old}", old, adds=False, ending=ending)
                    if ending.is_set():
                        return
        except BaseException as error:  # reported by whoever started us
            self.failure = error

    def _step(self, name: str, thing: int, *, adds: bool, ending: threading.Event) -> None:
        self.states.append(self.states[-1] | {name} if adds else self.states[-1] - {name})
        self.begun += 1
        if thing % 2:
            self.knowledge.workspaces.init(name) if adds else self.knowledge.workspaces.cleanup(name, BY)
        elif adds:
            self._ids[name] = self.knowledge.entries.add(name, "并发", [], BY).id
        else:
            self.knowledge.entries.delete(self._ids.pop(name), BY)
        self.acknowledged += 1
        ending.wait(0.004)

    def __post_init__(self) -> None:
        self._ids: dict[str, str] = {}


def seen_by(knowledge: Knowledge, number: int) -> frozenset[str]:
    """The things of one writer that a store shows."""
    names = [*entries_of(knowledge).values(), *knowledge.workspaces.tasks()[0]]
    return frozenset(name for name in names if name.startswith(f"w{number}-"))


def backups(made: Stores, *, count: int, progress: report.Progress) -> dict[str, Any]:
    """Take so many backups under load and look at each of them elsewhere."""
    checked, wrong, steps = 0, [], 0
    began = time.monotonic()
    while checked < count:
        url, home = made.fresh(), made.home / f"source-{checked}"
        with opened(url, home) as source:
            writers = [Writer(number, source) for number in range(WRITERS)]
            ending = threading.Event()
            threads = [threading.Thread(target=writer.run, args=(ending,), daemon=True) for writer in writers]
            for thread in threads:
                thread.start()
            taken = []
            for _ in range(min(ROUND, count - checked)):
                least = [writer.acknowledged for writer in writers]
                path = source.snapshots.backup().path
                file = backups_in(home, url) / Path(path).name
                taken.append((file, least, [writer.begun for writer in writers]))
                ending.wait(0.01)
            ending.set()
            for thread in threads:
                thread.join(30)
            failures = [writer.failure for writer in writers if writer.failure is not None]
            if failures:
                raise RuntimeError("a writer failed") from failures[0]
        wrong += _looked_at(made, taken, writers)
        checked += len(taken)
        steps += sum(writer.acknowledged for writer in writers)
        shutil.rmtree(home)
        made.discard(url)
        progress.tell(f"{checked:,} of {count:,} backups, {len(wrong)} wrong")
    seconds = round(time.monotonic() - began, 1)
    return {"backups": checked, "acknowledged_steps": steps, "not_a_prefix": len(wrong), "seconds": seconds,
            "examples": wrong[:5]}  # fmt: skip


def _looked_at(
    made: Stores, taken: Sequence[tuple[Path, list[int], list[int]]], writers: Sequence[Writer]
) -> list[str]:
    """Restore each backup into another store; what none of the states in question explains."""
    wrong = []
    url, home = made.fresh(), made.home / "mirror"
    with opened(url, home) as mirror:
        mirror.snapshots.backup()  # makes the folder
        for path, least, most in taken:
            shutil.copy2(path, backups_in(home, url))
            mirror.snapshots.restore(path.name, BY)
            for writer, low, high in zip(writers, least, most, strict=True):
                found = seen_by(mirror, writer.number)
                if found not in writer.states[low : high + 1]:
                    wrong.append(f"{path.name}: writer {writer.number} shows {sorted(found)}")
    shutil.rmtree(home)
    made.discard(url)
    return wrong


def _furnish(knowledge: Knowledge, tasks: Path, label: str) -> str:
    """Replace everything by one state; returns its backup."""
    for memory in list(knowledge.entries.all()):
        knowledge.entries.delete(memory.id, BY)
    for task in knowledge.workspaces.tasks()[0]:
        knowledge.workspaces.cleanup(task, BY)
    for number in range(25):
        knowledge.entries.add(f"{label} 条目 {number}", label, [label], BY)
    for number in range(4):
        knowledge.workspaces.init(f"{label}-{number}")
        folder = tasks / f"{label}-{number}"
        (folder / "src").mkdir()
        for file in range(3):
            (folder / "src" / f"{file}.txt").write_text(f"{label} {number} {file}")
    return Path(knowledge.snapshots.backup().path).name


def _state(knowledge: Knowledge, tasks: Path) -> tuple[list[str], dict[str, bytes | None]]:
    return sorted(entries_of(knowledge).values()), tree_of(tasks)


def _victim(url: str, home: Path, name: str, kill_at: int, told: int) -> None:
    """Restore in a process of its own, which ends itself at the n-th call to the file system or tells how many."""
    calls = 0

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **named)

        return called

    with opened(url, home) as knowledge:
        for function in _COUNTED:
            setattr(os, function, counted(getattr(os, function)))
        knowledge.snapshots.restore(name, BY)
        total = calls
    os.write(told, str(total).encode())


def _forked(url: str, home: Path, name: str, *, kill_at: int = 0, kill_after_s: float | None = None) -> int | None:
    """Run the victim; the number of its calls, None if it was killed."""
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(heard)
            _victim(url, home, name, kill_at, told)
        except BaseException as error:
            os.write(2, f"the victim failed: {type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    os.close(told)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(heard, "rb") as stream:
        said = stream.read()
    if os.WIFSIGNALED(status):
        return None
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError("the victim failed by itself")
    return int(said)


def kills(made: Stores, *, count: int, seed: int, progress: report.Progress) -> dict[str, Any]:
    """Interrupt so many restores and look at what stands afterwards."""
    chance, began = random.Random(f"kills {seed}"), time.monotonic()
    url, home = made.fresh(), made.home / "killed"
    tasks, files = tasks_in(home, url), backups_in(home, url)
    outcomes, wrong, done = {"old": 0, "new": 0}, [], 0
    with opened(url, home) as knowledge:
        names = [_furnish(knowledge, tasks, label) for label in ("a", "b")]
        second = _state(knowledge, tasks)
    began_one = time.monotonic()
    calls = _forked(url, home, names[0])
    assert calls is not None
    whole_s = time.monotonic() - began_one
    with opened(url, home) as knowledge:
        states, current = [_state(knowledge, tasks), second], 0
    while done < count:
        other = 1 - current
        if chance.random() < 0.6:
            # Every second one late: that is where knowledge is committed and trees are exchanged.
            first = chance.choice([1, calls - calls // 4])
            ended = _forked(url, home, names[other], kill_at=chance.randrange(first, calls + 1))
        else:
            ended = _forked(url, home, names[other], kill_after_s=chance.uniform(0.0, whole_s))
        with opened(url, home) as knowledge:
            found = _state(knowledge, tasks)
            left = [path.name for path in (home / ".workspaces" / LOCAL).iterdir() if path.name == "journal"]
        if ended is None:
            done += 1
            outcomes["new" if found == states[other] else "old"] += found in states
        if found not in states or left:
            wrong.append(f"after kill {done}: {len(found[0])} entries, {sorted(found[1])[:3]}, left {left}")
            break
        current = states.index(found)
        for old in sorted(files.glob("*before_restore*"))[:-2]:
            old.unlink()
        progress.tell(f"{done} of {count} killed restores, {outcomes}")
    shutil.rmtree(home)
    made.discard(url)
    return {"killed_restores": done, "wholly_old": outcomes["old"], "wholly_new": outcomes["new"], "mixed": len(wrong),
            "file_calls_of_one": calls, "seconds": round(time.monotonic() - began, 1), "examples": wrong}  # fmt: skip


def soak(engine: str, *, count: int, killed: int, seed: int, parent: Path | None = None) -> dict[str, Any]:
    """Both halves on one engine; PostgreSQL and its databases are this program's own."""
    progress = report.Progress(f"snapshots {engine}")
    with stores(engine, durable=False, parent=parent) as made:
        figures = {"backups": backups(made, count=count, progress=progress),
                   "restores": kills(made, count=killed, seed=seed, progress=progress)}  # fmt: skip
    progress.close()
    return figures


def kept(figures: dict[str, Any]) -> bool:
    """Whether every backup was one moment and no restore was left half done."""
    return not figures["backups"]["not_a_prefix"] and not figures["restores"]["mixed"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--backups", type=int, default=1_000, help="per engine")
    parser.add_argument("--kills", type=int, default=200, help="per engine")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {
        engine: soak(engine, count=options.backups, killed=options.kills, seed=seed)
        for engine in report.chosen_engines(options.engine)
    }
    text = "\n".join(
        f"{engine}, seed {seed}\n{report.lines(figures['backups'])}\n{report.lines(figures['restores'])}"
        for engine, figures in results.items()
    )
    done = all(kept(figures) for figures in results.values())
    return report.conclude("snapshots", {"seed": seed, "engines": results}, text, kept=done, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
