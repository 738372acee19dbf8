"""An audit log is harmed in every way, again and again: each time it must be found, and the first bad row named.

Every trial changes, removes, moves, repeats or cuts off rows of a log that was written as a wrapper writes it, lets the
whole of it be verified, and puts it right again.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import report
from codexmem.audit import chain as audit_row
from codexmem.codecli.audit_log import AuditLog
from codexmem.kernel.model.tool_access import Risk, ToolDecision, ToolRequest, Verdict

Lines = list[bytes]
Harm = Callable[[Lines, random.Random], tuple[Lines, int]]  # the harmed lines, and the place of the first bad one


def mutated(lines: Lines, dice: random.Random) -> tuple[Lines, int]:
    """One byte of one line is another."""
    at = dice.randrange(len(lines))
    place = dice.randrange(len(lines[at]))
    byte = dice.choice([each for each in range(256) if each not in {lines[at][place], 10}])
    return [*lines[:at], lines[at][:place] + bytes([byte]) + lines[at][place + 1 :], *lines[at + 1 :]], at


def deleted(lines: Lines, dice: random.Random) -> tuple[Lines, int]:
    """Some lines are gone."""
    at = dice.randrange(len(lines))
    return lines[:at] + lines[at + dice.choice((1, 1, 2, 7)) :], at


def reordered(lines: Lines, dice: random.Random) -> tuple[Lines, int]:
    """Two lines stand in each other's place."""
    one, two = sorted(dice.sample(range(len(lines)), 2))
    swapped = list(lines)
    swapped[one], swapped[two] = lines[two], lines[one]
    return swapped, one


def truncated(lines: Lines, dice: random.Random) -> tuple[Lines, int]:
    """The end is gone."""
    at = dice.randrange(len(lines))
    return lines[:at], at


def repeated(lines: Lines, dice: random.Random) -> tuple[Lines, int]:
    """A line stands there twice."""
    at = dice.randrange(len(lines))
    return [*lines[: at + 1], lines[dice.randrange(at + 1)], *lines[at + 1 :]], at + 1


HARMS: tuple[Harm, ...] = (mutated, deleted, reordered, truncated, repeated)


def filled(folder: Path, rows: int) -> AuditLog:
    """A log of so many rows, written one by one as a wrapper does, except that the disk is not waited for."""
    log = AuditLog(folder, sync=lambda _: None)
    key = log.key()
    for number in range(rows):
        request = ToolRequest(
            "Bash", command=f"echo {number} 测试", call_id=f"call-{number}", agent="codex", cwd="/shop"
        )
        decision = ToolDecision(Verdict.ALLOW, "Allowed by allow[0] Bash.", "allow[0]", argument_hash=f"{number:064x}")
        fields = audit_row.request_fields(request, decision, Risk.EXECUTE, key)
        log.append(audit_row.stamped(fields, 1_767_225_600_000 + number, f"run-{number % 50}", "bench"))
    return log


def trial(log: AuditLog, harm: Harm, dice: random.Random) -> tuple[bool, bool, float]:
    """Whether it was found, whether the first bad row was named, and how long verifying took."""
    files = log.files()
    # What is cut off elsewhere than at the end of the last file is a gap.
    chosen = files[-1] if harm is truncated else dice.choice(files)
    text = chosen.read_bytes()
    lines = text.splitlines()
    first = int(lines[0].partition(b":")[2].partition(b",")[0])
    harmed, at = harm(lines, dice)
    try:
        chosen.write_bytes(b"".join(line + b"\n" for line in harmed))
        began = time.perf_counter()
        found = log.verify()
        took = time.perf_counter() - began
    finally:
        chosen.write_bytes(text)
    return not found.ok, found.bad is not None and found.bad.seq == first + at, took


def soak(*, rows: int, trials: int, seed: int) -> dict[str, Any]:
    """Harm a log of so many rows so often."""
    dice = random.Random(seed)
    found: Counter[str] = Counter()
    named: Counter[str] = Counter()
    times = []
    progress = report.Progress("audit")
    with tempfile.TemporaryDirectory() as folder:
        log = filled(Path(folder) / "audit", rows)
        files, size = len(log.files()), sum(path.stat().st_size for path in log.files())
        for number in range(trials):
            harm = HARMS[number % len(HARMS)]
            was_found, was_named, took = trial(log, harm, dice)
            found[harm.__name__] += was_found
            named[harm.__name__] += was_named
            times.append(took)
            progress.tell(f"{number + 1} of {trials}")
        sound = log.verify().ok
    return {
        "rows": rows, "files": files, "bytes": size, "trials": trials, "found": found.total(),
        "first_row_named": named.total(), "by_kind": dict(found), "sound_afterwards": sound,
        "verify_s_median": round(report.percentile(times, 0.5), 3), "verify_s_most": round(max(times), 3),
    }  # fmt: skip


def kept(figures: dict[str, Any]) -> bool:
    """Whether every harm was found and its first row named."""
    return bool(figures["found"] == figures["first_row_named"] == figures["trials"] and figures["sound_afterwards"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trials", type=int, default=1_000)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    figures = soak(rows=options.rows, trials=options.trials, seed=seed)
    text = f"seed {seed}\n{report.lines(figures)}"
    return report.conclude(
        "audit log", {"seed": seed, **figures}, text, kept=kept(figures), as_json=options.json
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
