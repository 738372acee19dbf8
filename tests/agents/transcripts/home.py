"""A home with the recorded transcripts of every program."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded"
FOLDERS = ("codex", "claude", "qwen", "gemini")
_TABLES = {
    "session": ("id", "parent_id", "directory", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
}


def furnish(home: Path) -> Path:
    """Put everything where the programs would."""
    for name in FOLDERS:
        shutil.copytree(RECORDED / name, home / f".{name}")
    database(home / ".local" / "share" / "opencode" / "opencode.db")
    return home


def database(path: Path) -> Path:
    """OpenCode's database, as far as it is read."""
    rows = json.loads((RECORDED / "opencode.json").read_text())
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        for table, columns in _TABLES.items():
            db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            marks = ", ".join(f":{column}" for column in columns)
            db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[table])
    db.close()
    return path
