"""What the wrapper costs an agent: wall time of one that prints much, and how late its first byte is.

Each round runs every contender once, in random order, so that whatever else the machine does hits all alike; ratios are
the median of the rounds' own ratios to the bare agent on the same kind of stream. `off` is `mem-codecli run` with
nothing switched on; `between` sits between for a trace. Both write in large blocks and in small ones, to a pipe and to
a terminal. Then both streams are written at once, line by line with numbers, to see that nothing is lost or reordered.
"""

from __future__ import annotations

import os
import pty
import random
import re
import select
import statistics
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import report
from bench.stores import folder

GOAL_RATIO, GOAL_MS = 1.3, 50.0
MEGABYTES = 100
WAYS = ("bare", "off", "between")
STREAMS = ("pipe", "terminal")
_ROOT = Path(__file__).resolve().parents[1]
_PRINTER = """#!{python} -SE
import os, sys
total, size = int(sys.argv[1]), int(sys.argv[2])
block = (b"0123456789abcdef" * (size // 16))[:-1] + b"\\n"
for _ in range(total // size):
    left = memoryview(block)
    while left:
        left = left[os.write(1, left):]
"""
_LINES = """#!{python} -SE
import os, sys, threading
count = int(sys.argv[1])
def lines(stream, name):
    for first in range(0, count, 50):
        left = memoryview(b"".join(b"%s %d\\n" % (name, n) for n in range(first, first + 50)))
        while left:
            left = left[os.write(stream, left):]
threads = [threading.Thread(target=lines, args=each) for each in ((1, b"out"), (2, b"err"))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


@dataclass(frozen=True)
class Ran:
    """One run of a contender."""

    wall_ms: float
    first_ms: float  # until the first byte came
    octets: int


class Machine:
    """A home with the agent that prints, and the wrapper as a person starts it."""

    def __init__(self, home: Path) -> None:
        (home / "bin").mkdir()
        (home / "work").mkdir()
        for name, text in (("codecli", _PRINTER), ("lines", _LINES)):
            path = home / "bin" / name
            path.write_text(text.format(python=sys.executable))
            path.chmod(0o755)
        self._home = home
        self._environ = {"HOME": str(home), "PATH": f"{home / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(_ROOT / "src")}

    def command(self, way: str, *arguments: str) -> list[str]:
        """How a contender is started: as the installed program does it."""
        if way == "bare":
            return [str(self._home / "bin" / "codecli"), *arguments]
        start = [sys.executable, "-c", "from codexmem.codecli.cli import main; main()", "run"]
        return [*start, *(["--trace-json", str(self._home / "trace")] if way == "between" else []), "--", *arguments]

    def use(self, name: str) -> None:
        """Let `codecli` be another of the agents."""
        (self._home / "bin" / name).replace(self._home / "bin" / "codecli")

    def on_pipe(self, command: Sequence[str]) -> Ran:
        """With its output in a pipe that is read as fast as it comes."""
        return self._read(command, *os.pipe(), terminal=False)

    def on_terminal(self, command: Sequence[str]) -> Ran:
        """With a terminal of its own, which does nothing to its output."""
        master, slave = pty.openpty()
        tty.setraw(slave, termios.TCSANOW)
        return self._read(command, master, slave, terminal=True)

    def _read(self, command: Sequence[str], near: int, far: int, *, terminal: bool) -> Ran:
        began = time.perf_counter()
        process = subprocess.Popen(command, env=self._environ, cwd=self._home / "work", stdout=far,
                                   stdin=far if terminal else subprocess.DEVNULL, stderr=far)  # fmt: skip
        os.close(far)
        first, octets = 0.0, 0
        while True:
            try:
                piece = os.read(near, 1 << 20)
            except OSError:  # how a terminal ends
                piece = b""
            if not piece:
                break
            first = first or time.perf_counter()
            octets += len(piece)
        code = process.wait()
        wall = time.perf_counter() - began
        os.close(near)
        if code:
            raise RuntimeError(f"{command[:4]} ended with {code}")
        return Ran(wall * 1000, (first - began) * 1000, octets)

    def both(self, command: Sequence[str]) -> tuple[bytes, bytes]:
        """What came on each of two pipes, read as they come."""
        outs, errs = os.pipe(), os.pipe()
        process = subprocess.Popen(command, env=self._environ, cwd=self._home / "work", stdin=subprocess.DEVNULL,
                                   stdout=outs[1], stderr=errs[1])  # fmt: skip
        os.close(outs[1])
        os.close(errs[1])
        said: dict[int, bytearray] = {outs[0]: bytearray(), errs[0]: bytearray()}
        waiting = set(said)
        while waiting:
            for each in select.select(list(waiting), [], [])[0]:
                piece = os.read(each, 1 << 20)
                said[each] += piece
                if not piece:
                    waiting.discard(each)
        process.wait()
        for each in said:
            os.close(each)
        return bytes(said[outs[0]]), bytes(said[errs[0]])


def measure(
    machine: Machine, rounds: int, megabytes: int, seed: int, *, ways: Sequence[str] = WAYS, unmeasured: int = 1
) -> dict[str, list[Ran]]:
    """Every contender in every round; names are `stream, block size, way`."""
    chance, progress = random.Random(seed), report.Progress("passthrough")
    contenders: dict[str, Callable[[], Ran]] = {}
    total = megabytes << 20
    for size, label in ((1 << 20, "1 MiB"), (4 << 10, "4 KiB")):
        for way in ways:
            command = machine.command(way, str(total), str(size))
            contenders[f"pipe, {label}, {way}"] = partial(machine.on_pipe, command)
            contenders[f"terminal, {label}, {way}"] = partial(machine.on_terminal, command)
    found: dict[str, list[Ran]] = {name: [] for name in contenders}
    for number in range(-unmeasured, rounds):  # the first one fills caches
        for name in chance.sample(list(contenders), len(contenders)):
            ran = contenders[name]()
            if ran.octets != total:
                raise RuntimeError(f"{name}: {ran.octets} bytes of {total} came")
            if number >= 0:
                found[name].append(ran)
            progress.tell(f"round {number + 1} of {rounds}, {name}")
    progress.close()
    return found


def disorder(machine: Machine, lines: int) -> dict[str, int]:
    """How many lines were lost, doubled or out of their order on two busy streams, for each way."""
    machine.use("lines")
    found = {}
    for way in WAYS:
        out, err = machine.both(machine.command(way, str(lines)))
        wrong = 0
        for name, said in ((b"out", out), (b"err", err)):
            numbers = [int(n) for n in re.findall(rb"^%s (\d+)$" % name, said, re.MULTILINE)]
            wrong += sum(1 for place, number in enumerate(numbers) if place != number) + abs(lines - len(numbers))
            wrong += said.count(b"\n") - len(numbers)  # lines that are no lines of this stream
        found[way] = wrong
    return found


def ratio(found: dict[str, list[Ran]], name: str) -> float:
    """How many times as long as the bare agent, in the middle of all rounds."""
    bare = f"{name.rpartition(', ')[0]}, bare"
    return statistics.median(mine.wall_ms / its.wall_ms for mine, its in zip(found[name], found[bare], strict=True))


def delay(found: dict[str, list[Ran]], name: str) -> float:
    """By how many milliseconds the first byte is later than the bare agent's, in the middle of all rounds."""
    bare = f"{name.rpartition(', ')[0]}, bare"
    return statistics.median(mine.first_ms - its.first_ms for mine, its in zip(found[name], found[bare], strict=True))


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES)
    parser.add_argument(
        "--ways", choices=("off", "all"), default="all", help="off: leave out `between`, which takes long"
    )
    parser.add_argument("--lines", type=int, default=200_000)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    with folder(durable=True) as home:
        machine = Machine(home)
        ways = WAYS if options.ways == "all" else WAYS[:2]
        found = measure(machine, options.rounds, options.megabytes, seed, ways=ways)
        wrong = disorder(machine, options.lines)
    figures = {
        name: {
            "median_ms": statistics.median(ran.wall_ms for ran in runs),
            "ratio": ratio(found, name),
            "first_byte_ms": delay(found, name),
        }
        for name, runs in sorted(found.items())
    }
    off = [each for name, each in figures.items() if name.endswith(", off")]
    kept = all(each["ratio"] <= GOAL_RATIO and each["first_byte_ms"] <= GOAL_MS for each in off)
    kept = kept and not any(wrong.values())
    text = f"seed {seed}, {options.rounds} rounds of {options.megabytes} MiB\n" + report.table(
        ["", "median ms", "times bare", "first byte later, ms"],
        [[name, *each.values()] for name, each in figures.items()],
    )
    text += f"\n  lines lost, doubled or reordered of {2 * options.lines:,}: {report.shown(wrong)}"
    document = {"seed": seed, "rounds": options.rounds, "megabytes": options.megabytes, "contenders": figures,
                "wrong_lines": wrong}  # fmt: skip
    return report.conclude("passthrough", document, text, kept=kept, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
