"""Random lives of a ReasoningBank: a strict rollback restores exactly the state before that learning.

Hand edits, archives, additions, learnings and rollbacks of any of them in any order, beside plain copies of what every
lesson said. The gate plays the same few sequences each time; here every chunk has a fresh seed, printed when it fails.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from bench import report
from bench.history import run
from tests._support.lab_rollback_machine import machine_for


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--sequences", type=int, default=20_000, help="per engine")
    parser.add_argument("--steps", type=int, default=10, help="at most so many verbs per sequence")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="processes that play at once")
    return run("lab_rollback", parser.parse_args(argv), machine_for)


if __name__ == "__main__":
    sys.exit(main())
