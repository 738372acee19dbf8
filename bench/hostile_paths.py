"""Hostile names and paths against the knowledge endpoints: nothing outside their folders is touched, nothing breaks.

Task names, backup paths and note addresses are made up or mutated by the thousand and sent over HTTP to a running
server, while links are planted in its folders and names are swapped between folder and link as fast as possible. What
lies outside is hashed before and after and holds canaries that no answer may show; each file there is watched for
having been opened by the time it was last read.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import report
from bench.stores import folder
from tests._support.server import Server

CANARY = "CANARY-7f3a-外面"
INTERNAL = -32603
_PARTS = (
    "..", ".", "/", "\\", "%2e%2e", "%2f", "..%2f", "~", "a", "task", "etc", "passwd", "\u2215", "\uff0f",
    "\u2024\u2024", "\u202e", "\u200b", "C:", "CON", "nul", "$HOME", "`id`", ";", "|", "\n", "\r", "\t", " ", "*", "?",
    "任务", "file://", "\x7f", "memory_backup_20250813_120000.json", "backups/memory", ".workspaces", "lock", "journal",
    "workspaces", "-rf", "outside", "secret.txt",
)  # fmt: skip
_LONG = ("x" * 129, "x" * 255, "../" * 200, "a/" * 2_000, "." * 4_096)


@dataclass
class Figures:
    """What the run has seen."""

    inputs: dict[str, int] = field(default_factory=dict)
    swaps: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    internal: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)  # no answer of the protocol

    def count(self, what: str, table: dict[str, int]) -> None:
        """One more."""
        table[what] = table.get(what, 0) + 1


class Outside:
    """What no request may touch: files with canaries, beside and above the server's folders."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "outside"
        (self.folder / "deep" / "er").mkdir(parents=True)
        for name in ("secret.txt", "deep/secret.txt", "deep/er/memory_backup_20250813_120000.json"):
            (self.folder / name).write_text(f"{CANARY} {name}")
        # Read times that lie in the past show a later read, also where the file system is lazy about them.
        for path in self.files():
            os.utime(path, (1_000_000_000, 1_000_000_000))
        self.shows_reads = self._shows_reads()
        self._before = self.state()

    def _shows_reads(self) -> bool:
        probe = self.folder / "probe"
        probe.write_text("x")
        os.utime(probe, (1_000_000_000, 1_000_000_000))
        probe.read_text()
        seen = probe.stat().st_atime > 1_000_000_000
        probe.unlink()
        return seen

    def files(self) -> list[Path]:
        """Every file."""
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def state(self) -> list[tuple[str, int, int, int, float, str]]:
        """Names, modes, sizes, links, read times; contents last, because looking is reading."""
        facts = []
        for path in sorted([self.folder, *self.folder.rglob("*")]):
            seen = path.lstat()
            read_at = seen.st_atime if path.is_file() else 0.0
            facts.append((str(path), seen.st_mode, seen.st_size, seen.st_nlink, read_at, ""))
        return facts

    def untouched(self) -> list[str]:
        """What changed or was read; nothing if all is well."""
        after = self.state()
        changed = [str(each[0]) for each in set(self._before) ^ set(after)]
        for path in self.files():
            expected = f"{CANARY} {path.relative_to(self.folder).as_posix()}"
            if hashlib.sha256(path.read_bytes()).digest() != hashlib.sha256(expected.encode()).digest():
                changed.append(f"content of {path}")
        return sorted(set(changed))


class Swapper:
    """Turns names in the server's folders from folder to link and back while requests run."""

    def __init__(self, tasks: Path, backups: Path, outside: Path, seed: int) -> None:
        self._tasks, self._backups, self._outside = tasks, backups, outside
        self._chance = random.Random(f"swap {seed}")
        self._ending = threading.Event()
        self.swaps = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Swapper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join(10)

    def _run(self) -> None:
        real = self._outside / "deep" / "er" / "memory_backup_20250813_120000.json"
        while not self._ending.is_set():
            task = self._tasks / f"race-{self._chance.randrange(4)}"
            # Inside a task only where it is a folder just now: through a link we would touch the outside ourselves.
            with suppress(OSError):
                match self._chance.randrange(6):
                    case 0:
                        task.rename(task.with_name(f"{task.name}-aside"))
                        task.symlink_to(self._outside)
                    case 1:
                        task.unlink()
                        task.with_name(f"{task.name}-aside").rename(task)
                    case 2 | 3 | 4 as what:
                        self._inside(task, what)
                    case _:
                        backup = self._backups / "memory_backup_20250813_120000.json"
                        backup.unlink(missing_ok=True)
                        backup.symlink_to(real)
                self.swaps += 1
            time.sleep(0.0005)

    def _inside(self, task: Path, what: int) -> None:
        handle = os.open(task, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if what == 2:
                os.symlink(self._outside / "deep", "inner", dir_fd=handle)
            elif what == 3:
                os.unlink("inner", dir_fd=handle)
                os.mkdir("inner", dir_fd=handle)
            else:
                os.symlink(self._outside / "secret.txt", "file.txt", dir_fd=handle)
        finally:
            os.close(handle)


def texts(chance: random.Random) -> Iterator[str]:
    """Names and paths, for ever."""
    while True:
        match chance.randrange(8):
            case 0:
                yield chance.choice(_LONG)
            case 1:
                yield "".join(chr(chance.choice([chance.randrange(1, 128), chance.randrange(0x80, 0xD7FF)]))
                              for _ in range(chance.randrange(1, 40)))  # fmt: skip
            case 2:
                yield f"race-{chance.randrange(4)}"
            case 3:
                yield f"ok.{chance.randrange(50)}"
            case _:
                joint = chance.choice(["", "/", "\\", "//", "%2f"])
                yield joint.join(chance.choice(_PARTS) for _ in range(chance.randrange(1, 7)))


def paths(chance: random.Random, server: Server, outside: Path) -> Iterator[str]:
    """Where backups are said to lie."""
    root, name = server.data_dir / "backups" / "memory", "memory_backup_20250813_120000.json"
    given = texts(chance)
    while True:
        match chance.randrange(6):
            case 0:
                yield f"{root}/{next(given)}"
            case 1:
                yield f"{root}/../../{next(given)}/{name}"
            case 2:
                yield str(outside / "deep" / "er" / name)
            case 3:
                yield f"{'../' * chance.randrange(1, 12)}{outside.name}/deep/er/{name}"
            case 4:
                yield chance.choice([name, f"backups/memory/{name}", f"{root}/{name}", f"{root}//{name}", f"./{name}"])
            case _:
                yield next(given)


class Caller:
    """Sends calls on one connection and judges the answers."""

    def __init__(self, server: Server, figures: Figures, outside: Path) -> None:
        self._server = server
        self._figures = figures
        self._outside = outside
        self._connection: http.client.HTTPConnection | None = None

    def call(self, kind: str, method: str, params: dict[str, Any]) -> None:
        """One call."""
        self._figures.count(kind, self._figures.inputs)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        answer = self._posted("/rpc", body)
        shown = f"{method} {str(params)[:200]}"
        try:
            document = json.loads(answer)
            code = document["error"]["code"] if "error" in document else 0
        except (ValueError, KeyError, TypeError):
            self._figures.silent.append(shown)
            return
        self._figures.count(str(code), self._figures.answers)
        if code == INTERNAL:
            self._figures.internal.append(shown)
        if CANARY.encode() in answer or json.dumps(CANARY)[1:-1].encode() in answer:
            self._figures.leaked.append(shown)

    def _posted(self, path: str, body: bytes) -> bytes:
        for _ in range(3):
            self._connection = self._connection or http.client.HTTPConnection(
                "127.0.0.1", self._server.port, timeout=60
            )
            try:
                self._connection.request("POST", path, body, {"Content-Type": "application/json"})
                return self._connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                self._connection.close()
                self._connection = None
        return b""

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()


@contextmanager
def _serving(home: Path) -> Iterator[Server]:
    data_dir = home / "data"
    data_dir.mkdir(mode=0o700)
    with Server(data_dir, settings={"CODEXMEM_EMBEDDER": "none"}) as server:
        yield server


def soak(*, inputs: int, seed: int, parent: Path | None = None) -> dict[str, Any]:
    """Send so many hostile inputs."""
    chance, figures, began = random.Random(f"hostile {seed}"), Figures(), time.monotonic()
    progress = report.Progress("hostile paths")
    with folder(durable=False, parent=parent) as home, _serving(home) as server:
        outside = Outside(home)
        caller = Caller(server, figures, outside.folder)
        for number in range(4):
            caller.call("preparation", "memory_init_workspace", {"task_id": f"race-{number}"})
        caller.call("preparation", "memory_backup", {})
        figures.inputs.clear()
        tasks, backups = server.data_dir / "workspaces", server.data_dir / "backups" / "memory"
        names, places = texts(chance), paths(chance, server, outside.folder)
        with Swapper(tasks, backups, outside.folder, seed) as swapper:
            for number in range(inputs):
                _one(caller, chance, names, places)
                if number % 100 == 0:
                    progress.tell(f"{number:,} of {inputs:,}")
        figures.swaps = swapper.swaps
        caller.close()
        touched = outside.untouched()
        alive = server.request("GET", "/api/health").status == 200
    progress.close()
    return {
        "inputs": sum(figures.inputs.values()), "by_kind": figures.inputs, "swaps": figures.swaps,
        "answers_by_code": dict(sorted(figures.answers.items())), "internal_errors": len(figures.internal),
        "without_an_answer": len(figures.silent), "leaked": len(figures.leaked), "touched_outside": len(touched),
        "a_read_would_show": outside.shows_reads, "server_alive": alive, "seconds": round(time.monotonic() - began, 1),
        "examples": [*figures.internal[:5], *figures.silent[:5], *figures.leaked[:5], *touched[:5]],
    }  # fmt: skip


def _one(caller: Caller, chance: random.Random, names: Iterator[str], places: Iterator[str]) -> None:
    match chance.randrange(20):
        case 0:
            caller.call("look", "memory_dump", {"level": "workspace"})
        case 1:
            caller.call("look", "memory_search", {"query": CANARY[:6], "level": "workspace"})
        case 2:
            caller.call("uri", "memory_delete", {"kb_id": f"project://{next(names)}"})
        case 3 | 4 | 5 | 6 | 7:
            caller.call("backup_path", "memory_restore", {"backup_path": next(places)})
        case number:
            method = "memory_init_workspace" if number % 2 else "memory_cleanup"
            caller.call("task_id", method, {"task_id": next(names)})


def kept(figures: dict[str, Any]) -> bool:
    """Whether nothing outside was touched and nothing broke."""
    bad = ("internal_errors", "without_an_answer", "leaked", "touched_outside")
    return not any(figures[name] for name in bad) and bool(figures["server_alive"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--inputs", type=int, default=10_000)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    figures = soak(inputs=options.inputs, seed=seed)
    text = f"seed {seed}\n{report.lines(figures)}"
    return report.conclude(
        "hostile paths", {"seed": seed, **figures}, text, kept=kept(figures), as_json=options.json
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
