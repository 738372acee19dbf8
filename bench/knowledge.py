"""Random lives of a knowledge base and its workspaces against the plain model, for as long as one likes.

The ten methods of contract 003, played on each engine with a fresh seed per chunk, as `bench.history` plays memories.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench.history import run
from tests._support.knowledge_machine import machine_for


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    return run("knowledge", __doc__, argv, machine_for, sequences=2_000)


if __name__ == "__main__":
    sys.exit(main())
