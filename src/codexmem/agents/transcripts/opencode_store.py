"""OpenCode's database, read while it may be running: never written, never locked, never made.

With a log of writes beside it the database is opened for reading as SQLite means it. Without one nobody is writing, and
it is read as a file that does not change, so that no side files appear in the folder.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codexmem.agents.transcripts.files import loaded, opened
from codexmem.agents.transcripts.model import TranscriptFlaws

MAX_RECORD = 16 << 20  # characters of a record that are taken in
_BUSY_S = 2.0
_SESSIONS = "SELECT id, directory, time_created, time_updated FROM session WHERE parent_id IS NULL"
_RECORDS = """
    SELECT m.id, CASE WHEN length(m.data) <= :most THEN m.data END, p.id,
           CASE WHEN length(p.data) <= :most THEN p.data END, m.time_created, p.time_updated
    FROM message m LEFT JOIN part p ON p.message_id = m.id
    WHERE m.session_id = :session ORDER BY m.time_created, m.id, p.id
"""


@contextlib.contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """The database; `OSError` if it cannot be opened or is none."""
    opened(path).close()  # a link or a pipe is none
    log = path.with_name(f"{path.name}-wal")
    running = log.exists() and log.stat().st_size > 0
    uri = f"{path.absolute().as_uri()}?{'mode=ro' if running else 'immutable=1'}"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA schema_version").fetchone()  # reads the file, which may be none of SQLite's
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
    with contextlib.closing(connection):
        yield connection


def sessions(connection: sqlite3.Connection) -> Iterator[tuple[str, str, Any, Any]]:
    """Id, folder, beginning and last change of each session that is no sub-agent's."""
    with contextlib.suppress(sqlite3.Error):  # a damaged page, or tables of another version
        for session, folder, began, changed in connection.execute(_SESSIONS):
            if isinstance(session, str) and isinstance(folder, str):
                yield session, folder, began, changed


def messages(
    connection: sqlite3.Connection, session: str, flaws: TranscriptFlaws
) -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """Each part of a session with its message, in order; a message without parts comes with an empty one."""
    about: dict[str, object] = {}
    number = None
    try:
        for message, data, part, text, made, changed in connection.execute(
            _RECORDS, {"session": session, "most": MAX_RECORD}
        ):
            if message != number:
                number = message
                about = {"at": made, **_record(data, flaws)}
            yield about, {"at": changed, **_record(text, flaws)} if part is not None else {}
    except sqlite3.Error:
        flaws.broken += 1  # a damaged page, or tables of another version


def _record(data: Any, flaws: TranscriptFlaws) -> dict[str, object]:
    if data is None:
        flaws.too_long += 1
        return {}
    found = loaded(data) if isinstance(data, str | bytes) else None
    if isinstance(found, dict):
        return found
    flaws.broken += 1
    return {}
