"""Read `tests/gate.toml`: the tests that `.ci/run` leaves to `just full`.

`python -m tests._support.gate FOLDER` reads what failed in each of the runs that have their caches in a folder. If that
is little enough to be tried once more, it lists it, and keeps it as what failed in a run named `again`.
"""

from __future__ import annotations

import functools
import json
import sys
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

LAST_FAILED = "v/cache/lastfailed"
MOST_AGAIN = 10
TABLE = Path(__file__).parents[1] / "gate.toml"


@dataclass(frozen=True)
class Left:
    """Tests that are left to `just full`, the reason, and the tests that prove the same in the gate."""

    tests: tuple[str, ...]
    because: str
    proved_by: tuple[str, ...]
    on: str = ""  # only the cases that carry this mark
    but: tuple[str, ...] = ()

    def holds(self, test: str, marks: Collection[str]) -> bool:
        return (not self.on or self.on in marks) and matches(test, self.tests) and not matches(test, self.but)

    def whole(self, path: str) -> bool:
        """Whether no test of a file stays, so that it need not even be read."""
        return not self.on and not self.but and matches(path, self.tests)


def matches(test: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern is a folder, file or function that the id lies in, or fits the id where it has a star."""
    return any(
        fnmatchcase(test, each)
        if "*" in each
        else test.startswith(each) and (each.endswith("/") or test[len(each) :][:1] in ("", ":", "["))
        for each in patterns
    )


@functools.cache
def table(path: Path = TABLE) -> tuple[Left, ...]:
    """Return the entries in their order."""
    return tuple(
        Left(
            tuple(entry["tests"]),
            entry["because"],
            tuple(entry["proved_by"]),
            on=entry.get("on", ""),
            but=tuple(entry.get("but", ())),
        )
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["left"]
    )


def is_left(test: str, marks: Collection[str]) -> bool:
    """Whether the gate leaves a test out."""
    return "timing" in marks or any(each.holds(test, marks) for each in table())


def again(folder: Path) -> list[str]:
    """List what failed and keep it for another run; nothing if it is too much for chance."""
    failed = sorted(test for kept in folder.glob(f"*/{LAST_FAILED}") for test in json.loads(kept.read_text()))
    if len(failed) > MOST_AGAIN:
        return []
    kept = folder / "again" / LAST_FAILED
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(dict.fromkeys(failed, True)))
    return failed


if __name__ == "__main__":
    sys.stdout.write("".join(f"{test}\n" for test in again(Path(sys.argv[1]))))
