"""What every program here does around its measurement: arguments, a progress line, percentiles and the closing report.

Results go to standard output, as lines for people or as one JSON document; everything else goes to standard error. The
exit code is 0 only if the promise that the program checks was kept.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ENGINES = ("sqlite", "postgresql")


def arguments(description: str | None, *, engine: bool = True) -> argparse.ArgumentParser:
    """A parser with what all programs understand."""
    first = (description or "").strip().partition("\n")[0]
    parser = argparse.ArgumentParser(description=first, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of lines")
    if engine:
        parser.add_argument("--engine", choices=(*ENGINES, "both"), default="both")
    return parser


def chosen_seed(given: int | None) -> int:
    """The seed that was asked for, or a fresh one; whoever calls this prints it."""
    return given if given is not None else random.SystemRandom().randrange(1 << 32)


def chosen_engines(given: str) -> tuple[str, ...]:
    """The engines that `--engine` names."""
    return ENGINES if given == "both" else (given,)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of the values does not exceed; 0 for none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def placed(path: Path, name: str, text: str) -> str:
    """The page with this text between its marks of that name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    above, begun, rest = path.read_text(encoding="utf-8").partition(begin)
    _, ended, below = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"{path.name} has no place for the tables: {begin} … {end}")
    return f"{above}{begin}\n\n{text}\n\n{end}{below}"


class Progress:
    """One line on standard error that is written over; silent where nobody watches."""

    def __init__(self, label: str, *, every_s: float = 0.2, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._every_s = every_s
        self._clock = clock
        self._next = 0.0
        self._shown = sys.stderr.isatty()

    def tell(self, text: str) -> None:
        """Show how far we are; cheap enough for an inner loop."""
        if self._shown and self._clock() >= self._next:
            self._next = self._clock() + self._every_s
            print(f"\r\033[K{self._label}: {text}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave a clean line behind."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def lines(figures: Mapping[str, Any], indent: str = "  ") -> str:
    """Figures one below the other, names aligned."""
    width = max((len(name) for name in figures), default=0)
    return "\n".join(f"{indent}{name.replace('_', ' '):<{width}}  {shown(value)}" for name, value in figures.items())


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], indent: str = "  ") -> str:
    """Rows below their heads; numbers to the right."""
    cells = [list(heads), *([shown(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return "\n".join(
        indent + "  ".join(cell.ljust(width) if not at else cell.rjust(width) for at, (cell, width) in enumerate(
            zip(row, widths, strict=True)))
        for row in cells
    )  # fmt: skip


def shown(value: Any) -> str:
    """A figure as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(each)}" for name, each in value.items())
    return str(value)


def conclude(name: str, document: Mapping[str, Any], text: str, *, kept: bool, as_json: bool) -> int:
    """Print the report and return the exit code."""
    if as_json:
        print(json.dumps({"program": name, **document, "kept": kept}, ensure_ascii=False, indent=2))
    else:
        print(f"{name}\n{text}\n{'kept' if kept else 'NOT KEPT'}")
    return 0 if kept else 1
