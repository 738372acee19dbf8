"""Random lives of memories of every kind against the plain model, for as long as one likes.

Every act by people and agents, by selection, with undo, redo and rollback between them. The gate plays the same few
sequences each time; here every chunk has a fresh seed, printed when it fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench.history import run
from tests._support.life_machine import machine_for


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    return run("lives", __doc__, argv, machine_for)


if __name__ == "__main__":
    sys.exit(main())
