"""Random lives of a knowledge base and its workspaces against the plain model, for as long as one likes.

The ten methods of contract 003, played on each engine with a fresh seed per chunk, as `bench.history` plays memories.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from bench import history, report
from tests._support.knowledge_machine import machine_for


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--sequences", type=int, default=2_000, help="per engine")
    parser.add_argument("--steps", type=int, default=30, help="at most so many methods per sequence")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="processes that play at once")
    return history.run("knowledge", parser.parse_args(argv), machine_for)


if __name__ == "__main__":
    sys.exit(main())
