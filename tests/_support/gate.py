"""Read `tests/gate.toml`: the tests that `.ci/run` leaves to `just full`."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

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
