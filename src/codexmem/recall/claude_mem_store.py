"""Reading the SQLite database of claude-mem, also while it is being written.

Its tables grew over the years, so a column that is missing counts as empty, and names that were changed are known under
both. Rows come some hundreds at a time and roughly in the order of time; one that cannot be remembered is told as such.
The file itself is never written; SQLite may leave its two side files, empty, beside it.
"""

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codexmem.kernel.model.clipping import clip
from codexmem.kernel.model.errors import InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.import_row import CLAUDE_MEM, MAX_LIST, MAX_TEXT, Broken, Flaw, ForeignMemory
from codexmem.kernel.model.memory import Kind, is_manual_session
from codexmem.kernel.store.sqlite.library import connect, driver

FILE = "claude-mem.db"
_PAGE = 500
_EARLIEST_MS, _LATEST_MS = 946_684_800_000, 4_102_444_800_000  # the years 2000 to 2100
_SECONDS = 100_000_000_000  # an epoch below this counts seconds

# Ours first, then how it is or was called there.
_HEAD = {
    "number": ("id",), "at": ("created_at_epoch",), "at_iso": ("created_at",), "own_project": ("project",),
    "prompt_number": ("prompt_number",), "tokens": ("discovery_tokens",),
}  # fmt: skip
_OBSERVATION = {
    "merged": ("merged_into_project",), "text": ("narrative",), "old_text": ("text",), "type": ("type",),
    "title": ("title",), "subtitle": ("subtitle",), "facts": ("facts",), "concepts": ("concepts",),
    "files_read": ("files_read",), "files_modified": ("files_modified",),
}  # fmt: skip
_LISTS = ("facts", "concepts", "files_read", "files_modified")
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_MEMORY_SESSION = ("memory_session_id", "sdk_session_id")
_CONTENT_SESSION = ("content_session_id", "claude_session_id")


@dataclass(frozen=True, slots=True)
class _Source:
    """One table: its kind, its columns and the session column by which its rows find their session."""

    kind: Kind
    table: str
    columns: Mapping[str, tuple[str, ...]]
    session: tuple[str, ...]


_SOURCES = (
    _Source(Kind.PROMPT, "user_prompts", {"text": ("prompt_text",)}, _CONTENT_SESSION),
    _Source(Kind.OBSERVATION, "observations", _OBSERVATION, _MEMORY_SESSION),
    _Source(
        Kind.SUMMARY,
        "session_summaries",
        {"merged": ("merged_into_project",), **{part: (part,) for part in _PARTS}},
        _MEMORY_SESSION,
    ),
)


class ClaudeMem:
    """One opened database."""

    program = CLAUDE_MEM

    def __init__(self, path: Path) -> None:
        self.path = path / FILE if path.is_dir() else path
        if not self.path.is_file():
            raise NotFound(
                f"there is no file {self.path}",
                hint="claude-mem keeps its memory in ~/.claude-mem/claude-mem.db",
                details={"reason": "no_claude_mem", "path": str(self.path)},
            )
        try:
            self._connection = _connect(self.path)
            self._columns = {
                table: self._columns_of(table) for table in ("sdk_sessions", *(each.table for each in _SOURCES))
            }
        except driver.Error as error:
            raise self._unfit(str(error)) from error
        if not any(self._columns[each.table] for each in _SOURCES):
            self.close()
            raise self._unfit("none of its tables is there")

    def close(self) -> None:
        """Give back the file."""
        self._connection.close()

    def fingerprint(self) -> str:
        """What tells this database from others, however often it was moved and however much it grew."""
        said: list[Any] = []
        for table, names in (("sdk_sessions", (*_CONTENT_SESSION, "started_at_epoch")),
                             *((each.table, (*each.session, "created_at_epoch")) for each in _SOURCES)):  # fmt: skip
            have = [name for name in names if name in self._columns[table]]
            if have and not said:
                first = self._ask(f"SELECT {', '.join(have)} FROM {table} ORDER BY rowid LIMIT 1")  # noqa: S608
                said = [str(value) for row in first for value in row]
        return blake2b(json.dumps(said).encode(), digest_size=8).hexdigest()

    def total(self) -> int:
        """How many rows there are."""
        return sum(self.counts().values())

    def counts(self) -> dict[Kind, int]:
        """How many rows there are of each kind."""
        return {
            each.kind: self._ask(f"SELECT count(*) FROM {each.table}")[0][0]  # noqa: S608
            for each in _SOURCES
            if self._columns[each.table]
        }

    def rows(self) -> Iterator[ForeignMemory | Broken]:
        """Every row, oldest first as far as its table is in order."""
        present = [each for each in _SOURCES if self._columns[each.table]]
        return heapq.merge(*map(self._rows_of, present), key=_when)

    def _rows_of(self, source: _Source) -> Iterator[ForeignMemory | Broken]:
        statement, names = self._statement(source)
        after = -(2**63)
        while page := self._ask(statement, after):
            for values in page:
                row = dict(zip(names, values, strict=True))
                # A session that is there twice gives its rows twice.
                if row["number"] != after:
                    after = row["number"]
                    yield _read(source.kind, row)

    def _statement(self, source: _Source) -> tuple[str, list[str]]:
        """The page of a table after a row, beside what its session knows."""
        own, sessions = self._columns[source.table], self._columns["sdk_sessions"]
        columns = {**_HEAD, **source.columns, "own_session": source.session}
        chosen = {name: _named(own, spellings, "o") for name, spellings in columns.items()}
        chosen["number"] = "o.rowid"
        mine, theirs = chosen["own_session"], _named(sessions, source.session, "s")
        known = mine != "NULL" and theirs != "NULL"
        chosen["session"] = _named(sessions, _CONTENT_SESSION, "s") if known else "NULL"
        chosen["project"] = _named(sessions, ("project",), "s") if known else "NULL"
        join = f"LEFT JOIN sdk_sessions s ON {theirs} = {mine}" if known else ""
        statement = (
            f"SELECT {', '.join(chosen.values())} FROM {source.table} o {join} "  # noqa: S608  names from above
            f"WHERE o.rowid > ? ORDER BY o.rowid LIMIT {_PAGE}"
        )
        return statement, list(chosen)

    def _columns_of(self, table: str) -> frozenset[str]:
        return frozenset(row[1] for row in self._connection.execute(f"PRAGMA table_info({table})"))

    def _ask(self, statement: str, *values: int) -> list[Sequence[Any]]:
        try:
            found: list[Sequence[Any]] = self._connection.execute(statement, values).fetchall()
            return found
        except driver.OperationalError as error:
            raise Unavailable(
                f"{self.path} cannot be read just now: {error}",
                hint="stop claude-mem and run the command again: what is already here is skipped",
                details={"reason": "claude_mem_busy", "path": str(self.path), "problem": str(error)},
            ) from error
        except driver.Error as error:
            raise self._unfit(str(error)) from error

    def _unfit(self, problem: str) -> InvalidArgument:
        return InvalidArgument(
            f"{self.path} is not an intact claude-mem database: {problem}",
            hint="name its claude-mem.db; sqlite3 claude-mem.db .recover rescues what is readable in a damaged one",
            details={"reason": "not_claude_mem", "path": str(self.path), "problem": problem},
        )


def _connect(path: Path) -> Any:
    connection = connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, timeout=10.0)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    for pragma in ("trusted_schema=OFF", "query_only=ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _named(have: frozenset[str], spellings: Sequence[str], table: str) -> str:
    return next((f"{table}.{name}" for name in spellings if name in have), "NULL")


def _when(row: ForeignMemory | Broken) -> int:
    # A row without a time may not hold up the others.
    return row.at_ms if isinstance(row, ForeignMemory) else 0


def _read(kind: Kind, row: Mapping[str, Any]) -> ForeignMemory | Broken:
    number = row["number"]
    at_ms = _moment(row["at"], row["at_iso"])
    if at_ms is None:
        return Broken(kind, number, Flaw.NO_TIME)
    texts: dict[str, Any] = {name: _text(row[name]) for name in ("title", "subtitle", "type", *_PARTS) if name in row}
    lists: dict[str, Any] = {name: _list(row[name]) for name in _LISTS if name in row}
    texts["text"] = _text(row.get("text")) or _text(row.get("old_text"))
    told = [value for name, value in texts.items() if name not in {"type", "notes"}]
    if not any(value.strip() for value in (*told, *lists.get("facts", ()))):
        return Broken(kind, number, Flaw.NO_TEXT)
    session = _text(row["own_session"])
    if not is_manual_session(session):
        session = _text(row["session"]) or session
    return ForeignMemory(
        kind, number, at_ms, session=session, prompt_number=_number(row["prompt_number"]),
        project=_text(row.get("merged")) or _text(row["own_project"]) or _text(row["project"]),
        tokens=_number(row["tokens"]) or 0, **texts, **lists,
    )  # fmt: skip


def _moment(epoch: Any, iso: Any) -> int | None:
    found = _number(epoch)
    if found is not None and 0 < found < _SECONDS:
        found *= 1000
    if found is None or not _EARLIEST_MS <= found < _LATEST_MS:
        try:
            told = datetime.fromisoformat(_text(iso).strip())
            found = int((told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp() * 1000)
        except (ValueError, OverflowError):
            return None
    return found if _EARLIEST_MS <= found < _LATEST_MS else None


def _number(value: Any) -> int | None:
    try:
        found = int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return found if 0 <= found < 2**53 else None


def _text(value: Any) -> str:
    return clip(_plain(value), MAX_TEXT)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _list(value: Any) -> tuple[str, ...]:
    """The entries of a list that was stored as JSON; a text that is none is its own entry."""
    text = _plain(value)
    try:
        found = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError):
        found = text
    if not isinstance(found, list):
        found = [found if isinstance(found, str) else text]
    entries: list[str] = []
    room = MAX_TEXT
    for each in found[:MAX_LIST]:
        entry = each if isinstance(each, str) else "" if each is None else json.dumps(each, ensure_ascii=False)
        entry = _text(entry)
        room -= len(entry)
        if room < 0:
            break
        if entry.strip():
            entries.append(entry)
    return tuple(entries)
