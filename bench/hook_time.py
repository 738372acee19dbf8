"""What a hook costs an agent: its wall time beside that of `python -c pass` in the same run, server up and down.

Each round starts every contender once, in random order, so that whatever else the machine does hits all alike. The
ratio is the median of the rounds' own ratios.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import report
from bench.hook_calls import Called, Hooks, timed, tool_event
from bench.stores import folder, stores
from bench.victim import Victim

GOAL = 2.0
PASS = "python -c pass"  # what it is all measured by
COUNTED = ("codexmem-hook, server up", "codexmem-hook, server down")


def measure(rounds: int, seed: int, home: Path, url: str) -> dict[str, list[float]]:
    """Milliseconds of every contender in every round."""
    chance, progress = random.Random(seed), report.Progress("hook")
    victim = Victim(home, url)
    victim.start()
    try:
        contenders = _contenders(home, victim.port)
        found: dict[str, list[float]] = {name: [] for name in contenders}
        for number in range(-3, rounds):  # the first ones fill caches
            for name in chance.sample(list(contenders), len(contenders)):
                called = contenders[name](max(number, 0))
                if called.code != 0:
                    raise RuntimeError(f"{name} ended with {called.code}")
                if number >= 0:
                    found[name].append(called.ms)
            progress.tell(f"round {number + 1} of {rounds}")
    finally:
        victim.stop()
        progress.close()
    if list((home / "data" / "spool").glob("*.event")):
        raise RuntimeError("the server was up and did not take everything")
    return found


def _contenders(home: Path, port: int) -> dict[str, Callable[[int], Called]]:
    (home / "nowhere").mkdir()
    up = Hooks(home, home / "data", CODEXMEM_PORT=str(port))
    down = Hooks(home, home / "nowhere", CODEXMEM_PORT="9")
    cwd = str(home)

    def tool(hooks: Hooks, program: str) -> Callable[[int], Called]:
        def call(n: int) -> Called:
            said = tool_event("bench", str(n), cwd, call=f"{program} {n}")
            return hooks.call("claude-code", "observation", said, program)

        return call

    def moment(event: str) -> Callable[[int], Called]:
        said = {"session_id": "bench", "cwd": cwd, "prompt": "why does the port 8123 not answer"}
        return lambda n: up.call("claude-code", event, {**said, "turn_id": str(n)})

    nothing = [sys.executable, "-c", "pass"]
    return {
        PASS: lambda _: timed(nothing, up.env, b"", home),
        "codexmem-hook, server up": tool(up, "codexmem-hook"),
        "codexmem-hook, server down": tool(down, "codexmem-hook"),
        "codexmem hook, server up": tool(up, "codexmem hook"),
        "codexmem hook, server down": tool(down, "codexmem hook"),
        "codexmem-hook, a prompt": moment("session-init"),
        "codexmem-hook, context": moment("context"),
    }


def ratio(found: dict[str, list[float]], name: str) -> float:
    """How many times as long as Python itself, in the middle of all rounds."""
    return statistics.median(mine / bare for mine, bare in zip(found[name], found[PASS], strict=True))


def slowest_imports(home: Path) -> str:
    """What is loaded, and for how long: where to look when the goal is missed."""
    hooks = Hooks(home, home / "nowhere", CODEXMEM_PORT="9")
    command = hooks.command("claude-code", "observation")
    said = subprocess.run([command[0], "-X", "importtime", *command[1:]], env=hooks.env, input=b"{}", cwd=home,
                          capture_output=True, check=False).stderr.decode()  # fmt: skip
    rows = [line.removeprefix("import time:").split("|") for line in said.splitlines() if "|" in line][1:]
    return "\n".join(f"  {int(own):>7} µs {name.strip()}" for own, _, name in sorted(
        rows, key=lambda row: -int(row[0]))[:15])  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    with stores("sqlite", durable=True) as made, folder(durable=True) as home:
        found = measure(options.rounds, seed, home, made.fresh())
        rows = [
            [
                name,
                round(statistics.median(times), 1),
                round(report.percentile(times, 0.95), 1),
                round(ratio(found, name), 2),
            ]
            for name, times in found.items()
        ]
        good = all(ratio(found, name) <= GOAL for name in COUNTED)
        text = f"seed {seed}, {options.rounds} rounds\n" + report.table(
            ["", "median ms", "p95 ms", "times python"], rows
        )
        if not good:
            text += "\n" + slowest_imports(home)
    figures = {row[0]: {"median_ms": row[1], "p95_ms": row[2], "ratio": row[3]} for row in rows}
    return report.conclude("hook time", {"seed": seed, "rounds": options.rounds, "contenders": figures}, text,
                           kept=good, as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
