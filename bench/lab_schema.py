"""Requests made from the lab's interface description, right and wrong ones: no server error, every answer as described.

The gate sends a few of each kind, the same every time; here every round has a fresh seed, printed when it fails.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import report
from bench.stores import stores
from tests._support.lab_fuzz import fuzzed_lab


def rounds(url: str, seconds: float, examples: int, seed: int) -> dict[str, Any]:
    """Round after round on one store, until the time is over."""
    statuses: Counter[int] = Counter()
    reached: set[str] = set()
    operations = played = 0
    began, progress = time.monotonic(), report.Progress("lab schema")
    with tempfile.TemporaryDirectory() as folder, fuzzed_lab(Path(folder), database_url=url) as lab:
        while not played or time.monotonic() - began < seconds:
            sent = lab.send(examples=examples, number=seed + played)
            statuses += sent.statuses
            reached |= {label for label, count in sent.reached.items() if count}
            operations, played = sent.operations, played + 1
            progress.tell(f"{sum(statuses.values()):,} requests")
    return {
        "operations": operations, "answered with 200": len(reached), "requests": sum(statuses.values()),
        "server errors": sum(count for status, count in statuses.items() if status >= 500),
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="per engine")
    parser.add_argument("--examples", type=int, default=25, help="requests of each kind to each operation, per round")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {}
    for engine in report.chosen_engines(options.engine):
        with stores(engine, durable=False) as made:
            results[engine] = rounds(made.fresh(), options.seconds, options.examples, seed)
    text = "\n".join(f" {name}\n{report.lines(figures)}" for name, figures in results.items())
    kept = all(figures["server errors"] == 0 for figures in results.values())
    return report.conclude("lab schema", {"seed": seed, **results}, f" seed {seed}\n{text}", kept=kept,
                           as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
