"""Random lives of a ReasoningBank: a strict rollback restores exactly the state before that learning.

Hand edits, archives, additions, learnings and rollbacks of any of them in any order, beside plain copies of what every
lesson said. The gate plays the same few sequences each time; here every chunk has a fresh seed, printed when it fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench.history import run
from tests._support.lab_rollback_machine import machine_for


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    return run("lab_rollback", __doc__, argv, machine_for, steps=10)


if __name__ == "__main__":
    sys.exit(main())
