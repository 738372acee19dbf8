"""Random lives of notes through the sixteen tools against the plain model, for as long as one likes.

The gate plays the same few sequences each time; here every chunk has a fresh seed, printed when it fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench.history import run
from tests._support.notes_machine import machine_for


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    return run("notes", __doc__, argv, machine_for, sequences=2_000, steps=25)


if __name__ == "__main__":
    sys.exit(main())
