"""Names the engines a run is about to use, with the versions of the libraries that are really loaded.

`python -m tests._support.engines` prints the line; the gate and pytest's header show it.
"""

from __future__ import annotations

import platform
from importlib import metadata

from pysqlite3 import dbapi2 as sqlite

from tests._support import postgres


def describe() -> str:
    """One line: Python, SQLite and PostgreSQL with pgvector."""
    installation = postgres.Installation.find()
    return (
        f"engines: SQLite {sqlite.sqlite_version} (pysqlite3 {metadata.version('pysqlite3')}), "
        f"PostgreSQL {installation.version} (pgvector {installation.pgvector_version}); "
        f"Python {platform.python_version()}"
    )


if __name__ == "__main__":
    print(describe())  # noqa: T201 - this is what the module is run for
