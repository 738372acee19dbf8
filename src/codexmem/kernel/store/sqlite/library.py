"""The module that SQLite is spoken to by: `pysqlite3`, whose wheels bring a library with the WAL-reset fix.

It has no wheel for Linux on ARM and is not asked for there. Then Python's own module takes its place, with whatever
library that Python was given; too old a one is refused when a store is opened, never used quietly.
"""

import logging
from typing import Any

from codexmem.installation import install_command
from codexmem.kernel.model.errors import Unavailable

_log = logging.getLogger(__name__)

FIXED_VERSION = (3, 51, 3)

driver: Any
try:
    import pysqlite3.dbapi2 as _driver

    driver, SOURCE = _driver, "pysqlite3"
except ImportError:
    import sqlite3.dbapi2 as _own

    driver, SOURCE = _own, "Python"
    _log.info("pysqlite3 is not installed; SQLite %s of Python is used", _own.sqlite_version)


_CORRUPT = 11  # SQLite's number of the error


def connect(target: str, **options: Any) -> Any:
    """A connection whose schema has been read.

    SQLite quotes a damaged schema in its message. Where the bytes it quotes are no text, the module fails to make an
    error of it, and what comes is none of its own.
    """
    connection = driver.connect(target, **options)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").close()
    except UnicodeDecodeError as error:
        connection.close()
        damaged = driver.DatabaseError("malformed database schema")
        damaged.sqlite_errorcode = _CORRUPT
        raise damaged from error
    except driver.Error:
        connection.close()
        raise
    return connection


def has_fix() -> bool:
    """Whether two connections may write one file without the risk of corrupting it."""
    return bool(driver.sqlite_version_info >= FIXED_VERSION)


def require_fixed_library() -> None:
    """Refuse to write with a SQLite that can corrupt a WAL file."""
    if not has_fix():
        raise Unavailable(
            f"SQLite {driver.sqlite_version} can corrupt its file when two connections write (fixed in 3.51.3)",
            hint=f"install a newer pysqlite3: {install_command(anew=True)}"
            if SOURCE == "pysqlite3"
            else "pysqlite3 is not installed; if it has no wheel (Linux on ARM), use a Python built with SQLite "
            "3.51.3 or newer, or PostgreSQL",
        )
