"""Runs the tests of all contracts on both engines; `--encoder on` or `off` says whether with the shipped encoder.

Without it they run as in the gate: SQLite with the encoder, PostgreSQL without. `--pooler` runs those on PostgreSQL,
through a real PgBouncer in transaction mode. Further arguments go to pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests._support import pgbouncer
from tests._support.encoder import CHOICE


def main(arguments: list[str]) -> int:
    """What pytest says."""
    parser = argparse.ArgumentParser("just contracts")
    parser.add_argument("--encoder", choices=("on", "off"))
    parser.add_argument("--pooler", action="store_true")
    chosen, more = parser.parse_known_args(arguments)
    env = {name: value for name, value in os.environ.items() if name != CHOICE}
    if chosen.encoder:
        env[CHOICE] = chosen.encoder
    if chosen.pooler:
        env[pgbouncer.CHOICE] = "on"
        more = ["-m", "postgresql", *more]
    command = [sys.executable, "-m", "pytest", "tests/contracts", *more]
    return subprocess.run(command, cwd=Path(__file__).parents[2], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
