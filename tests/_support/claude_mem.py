"""Databases of claude-mem, made from its documented tables: as v10, v13 and its first releases have them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BEGAN_MS = 1_767_225_600_000  # 2026-01-01

V10 = """
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL);
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL, memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL,
  completed_at TEXT, completed_at_epoch INTEGER,
  status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active',
  worker_port INTEGER, prompt_counter INTEGER DEFAULT 0);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
  type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
  files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT,
  created_at_epoch INTEGER);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT,
  investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
  prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
  prompt_text TEXT NOT NULL, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE pending_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER NOT NULL, content_session_id TEXT NOT NULL,
  message_type TEXT NOT NULL, tool_name TEXT, tool_input TEXT, tool_response TEXT, cwd TEXT,
  last_assistant_message TEXT, prompt_number INTEGER, status TEXT NOT NULL DEFAULT 'pending',
  retry_count INTEGER NOT NULL DEFAULT 0, created_at_epoch INTEGER NOT NULL);
"""
V13_ADDS = """
ALTER TABLE sdk_sessions ADD COLUMN platform_source TEXT NOT NULL DEFAULT 'claude';
ALTER TABLE sdk_sessions ADD COLUMN custom_title TEXT;
ALTER TABLE observations ADD COLUMN content_hash TEXT;
ALTER TABLE observations ADD COLUMN generated_by_model TEXT;
ALTER TABLE observations ADD COLUMN relevance_count INTEGER DEFAULT 0;
ALTER TABLE observations ADD COLUMN merged_into_project TEXT;
ALTER TABLE observations ADD COLUMN agent_type TEXT;
ALTER TABLE observations ADD COLUMN agent_id TEXT;
ALTER TABLE observations ADD COLUMN metadata TEXT;
ALTER TABLE session_summaries ADD COLUMN merged_into_project TEXT;
"""
# The first releases: text only, other names for sessions, no prompts, no numbers of turns.
V4 = """
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, claude_session_id TEXT UNIQUE NOT NULL, sdk_session_id TEXT UNIQUE,
  project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'active');
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT NOT NULL,
  type TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
"""


class ClaudeMemFile:
    """One database being written as claude-mem writes it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def add(self, table: str, **values: Any) -> int:
        """Insert a row; lists become JSON text, as claude-mem stores them. Returns its number."""
        kept = {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()}
        marks = ", ".join("?" * len(kept))
        statement = f"INSERT INTO {table} ({', '.join(kept)}) VALUES ({marks})"
        return self.connection.execute(statement, list(kept.values())).lastrowid or 0

    def session(self, name: str, project: str, **more: Any) -> None:
        """A session: `name` is the agent's, and the memory's own is another."""
        self.add(
            "sdk_sessions", content_session_id=name, memory_session_id=f"mem-{name}", project=project,
            started_at="2026-01-01T00:00:00.000Z", started_at_epoch=BEGAN_MS, **more,
        )  # fmt: skip

    def observation(self, session: str, project: str, title: object, at_ms: int | None = BEGAN_MS,
                    **more: Any) -> int:  # fmt: skip
        """An observation of a session."""
        told = {"type": "discovery", "narrative": "", "facts": [], "concepts": [], "files_read": [],
                "files_modified": [], "prompt_number": 1, **more}  # fmt: skip
        return self.add(
            "observations", memory_session_id=f"mem-{session}", project=project, title=title, created_at_epoch=at_ms,
            **told,
        )  # fmt: skip

    def summary(self, session: str, project: str, at_ms: int = BEGAN_MS, **parts: Any) -> int:
        """A summary of a session."""
        return self.add(
            "session_summaries", memory_session_id=f"mem-{session}", project=project, created_at_epoch=at_ms, **parts
        )

    def prompt(self, session: str, number: int, text: str, at_ms: int = BEGAN_MS) -> int:
        """A prompt of a session."""
        return self.add(
            "user_prompts", content_session_id=session, prompt_number=number, prompt_text=text, created_at_epoch=at_ms
        )


@contextmanager
def claude_mem(path: Path, version: int = 13) -> Iterator[ClaudeMemFile]:
    """A database at this path, made if it is new; committed and closed when the block ends."""
    new = not path.exists()
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        if new:
            connection.executescript(V4 if version == 4 else V10)
            if version >= 13:
                connection.executescript(V13_ADDS)
        yield ClaudeMemFile(connection)
        connection.commit()
    finally:
        connection.close()


def small(path: Path, version: int = 13) -> Path:
    """Two projects, English and Chinese: 2 prompts, 3 observations, 1 summary, and two rows that are broken."""
    with claude_mem(path, version) as made:
        made.session("s-en", "shop")
        made.session("s-zh", "商店", **({"platform_source": "codex"} if version >= 13 else {}))
        made.prompt("s-en", 1, "Why does the login test fail?", BEGAN_MS + 1_000)
        made.observation(
            "s-en", "shop", "Login test waits for the wrong port", BEGAN_MS + 2_000, type="bugfix",
            narrative="The fixture used port 8080.", subtitle="fixture", facts=["port is 8081", "CI was green"],
            concepts=["gotcha"], files_read=["tests/conftest.py"], files_modified=["src/login.py"], prompt_number=1,
            discovery_tokens=321,
        )  # fmt: skip
        made.prompt("s-zh", 1, "登录为什么失败？", BEGAN_MS + 3_000)
        made.observation(
            "s-zh",
            "商店",
            "登录超时的原因",
            BEGAN_MS + 4_000,
            narrative="令牌只有五分钟有效。",
            concepts=["how-it-works"],
        )
        made.observation("s-zh", "商店", None, BEGAN_MS + 5_000, narrative=None, text="旧版本只有正文")
        made.observation("s-zh", "商店", "", BEGAN_MS + 6_000, narrative="")
        made.observation("s-zh", "商店", "没有时间", None)
        made.summary(
            "s-en", "shop", BEGAN_MS + 7_000, request="Fix login", investigated="fixtures", learned="port 8081",
            completed="test passes", next_steps="", notes=None, prompt_number=1, discovery_tokens=77,
            files_edited=["src/login.py"],
        )  # fmt: skip
    return path


def large(path: Path, rows: int) -> Path:
    """Mostly observations, some prompts and summaries, as a year of work leaves them."""
    with claude_mem(path) as made:
        for session in range(max(1, rows // 50)):
            made.session(f"s{session}", f"project-{session % 5}")
        for number in range(rows):
            name, at = f"s{number // 50 % max(1, rows // 50)}", BEGAN_MS + number * 1_000
            if number % 5 == 0:
                made.prompt(name, number // 5 + 1, f"why does step {number} fail, and what of 步骤 {number}?", at)
            elif number % 25 == 1:
                made.summary(name, f"project-{number % 5}", at, request=f"step {number}", learned="a lesson " * 20)
            else:
                made.observation(
                    name, f"project-{number % 5}", f"step {number} 步骤", at, narrative=f"it was {number} " * 60,
                    facts=[f"fact {number}", "事实"], concepts=["gotcha", "pattern"],
                    files_modified=[f"src/part{number % 97}/file{number % 31}.py"],
                )  # fmt: skip
    return path
