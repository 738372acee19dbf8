"""Copying and replacing a SQLite store.

A copy is made page by page from one read snapshot, so that it is consistent while a server writes, and it never takes
the writer's lock. Replacing is one rename, done by the owner of the store after the old write-ahead log has been
absorbed: whoever opens the file at any moment finds all of the old store or all of the new one, never the log of one
beside the pages of the other.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codexmem.kernel.model.errors import NotFound, Unavailable
from codexmem.kernel.store import archive
from codexmem.kernel.store.archive import Copied, Damaged, Progress, Step
from codexmem.kernel.store.schema import metadata
from codexmem.kernel.store.sqlite.engine import plain_engine
from codexmem.kernel.store.sqlite.library import connect, driver
from codexmem.kernel.store.sqlite.lock import OwnerLock

_IDS = 500  # asked for in one statement
_PAGES = 1024  # copied between two progress reports, 4 MiB
_COUNTED = tuple(sorted(metadata.tables))


def held(file: Path, ids: Sequence[str]) -> int | None:
    """How many memories with these ids a copy holds; None if it cannot be read."""
    if not file.is_file():
        return None
    try:
        with closing(connect(f"file:{quote(str(file))}?mode=ro&immutable=1", uri=True)) as reader:
            total = 0
            for start in range(0, len(ids), _IDS):
                some = list(ids[start : start + _IDS])
                marks = ",".join("?" * len(some))
                total += reader.execute(f"SELECT count(*) FROM memories WHERE id IN ({marks})", some).fetchone()[0]  # noqa: S608
            return total
    except driver.DatabaseError:
        return None


def copy(store: Path, target: Path, progress: Progress) -> Copied:
    """Copy one snapshot of the store into a single file and check it."""
    if not store.is_file():
        raise NotFound(
            f"there is no store at {store}",
            hint="codexmem config get data_dir shows where it is expected",
            details={"reason": "no_store", "path": str(store)},
        )
    archive.require_space(target.parent, store.stat().st_size + (16 << 20))
    source = plain_engine(store, read_only=True)
    try:
        with source.connect() as connection, closing(driver.connect(str(target), isolation_level=None)) as copied:
            # One read transaction for the whole copy: without it every commit of the writer starts the copy over.
            connection.exec_driver_sql("BEGIN")
            connection.exec_driver_sql("SELECT count(*) FROM sqlite_schema").scalar()
            copied.execute("PRAGMA synchronous=OFF")  # fsynced once, when it is whole
            reader: Any = connection.connection.driver_connection
            reader.backup(copied, pages=_PAGES, progress=lambda _, left, total: progress(total - left, total))
            connection.exec_driver_sql("COMMIT")
            # The copy says "WAL" like its source; as a plain file it needs no companions.
            copied.execute("PRAGMA locking_mode=EXCLUSIVE")
            copied.execute("PRAGMA journal_mode=DELETE")
    except driver.DatabaseError as error:
        raise _unreadable(store, error) from error
    except Exception as error:
        cause = getattr(error, "orig", None)
        if isinstance(cause, driver.DatabaseError):
            raise _unreadable(store, cause) from error
        raise
    finally:
        source.dispose()
    return check(target)


def check(file: Path) -> Copied:
    """What a copy holds; it is read in place and left as it is."""
    try:
        with closing(connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise Damaged(f"{file.name} fails its integrity check: {found}", details={"reason": "integrity"})
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            schema = None
            if "alembic_version" in tables:
                row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
                schema = row[0] if row else None
            counts = {
                name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608  (our own names)
                for name in _COUNTED
                if name in tables
            }
    except driver.DatabaseError as error:
        raise _unreadable(file, error) from error
    return Copied(driver.sqlite_version, schema, counts)


def _unreadable(file: Path, error: Exception) -> Exception:
    if "locked" in str(error) or "unable to open" in str(error):
        return Unavailable(f"{file} cannot be read just now: {error}", hint="try again")
    return Damaged(f"{file} cannot be read: {error}", details={"reason": "integrity"})


def replace(store: Path, source: Path, sha256: str, *, keep: Callable[[], bool], step: Step) -> None:
    """Put a verified copy in the store's place.

    Refuses while anybody owns the store. `keep` preserves what is there now and says whether it was sound. Interrupted
    anywhere, the store is wholly the old one until the rename and wholly the new one after it.
    """
    store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = OwnerLock(store)
    lock.acquire()
    fresh = store.with_suffix(".restoring")
    try:
        step("locked")
        sound = keep()
        step("kept")
        _prepare(source, fresh, sha256)
        step("prepared")
        if sound:
            _absorb_log(store)
        else:
            _drop_log(store)
        # The old log's disappearance must reach the disk before the new file's name does.
        archive.fsync(store.parent)
        step("settled")
        fresh.replace(store)
        step("switched")
        archive.fsync(store.parent)
    finally:
        fresh.unlink(missing_ok=True)
        lock.release()
    step("released")


def clear_leftovers(store: Path) -> None:
    """Remove what a restore left that was killed; only the store's owner may, for then no restore is under way."""
    store.with_suffix(".restoring").unlink(missing_ok=True)


def set_aside(store: Path, folder: Path) -> None:
    """Keep the raw files of a store that cannot be copied in order, for whoever wants to rescue something from them."""
    with archive.unfinished(folder) as draft:
        for file in (store, *_log_files(store)):
            if file.exists():
                _prepare(file, draft / file.name, None)


def _prepare(source: Path, target: Path, sha256: str | None) -> None:
    archive.require_space(target.parent, source.stat().st_size + (16 << 20))
    digest = hashlib.sha256()
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with source.open("rb") as reading, os.fdopen(handle, "wb") as writing:
        while chunk := reading.read(1 << 20):
            digest.update(chunk)
            writing.write(chunk)
        writing.flush()
        os.fsync(handle)
    # What was verified and what was copied must be the same bytes.
    if sha256 is not None and digest.hexdigest() != sha256:
        raise Damaged(
            f"{source} changed while it was being copied", hint="nothing was changed", details={"reason": "integrity"}
        )


def _absorb_log(store: Path) -> None:
    """Move everything in the write-ahead log into the file; afterwards the file stands alone."""
    if not store.exists():
        return
    try:
        with closing(connect(str(store), isolation_level=None, timeout=5.0)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except driver.OperationalError as error:
        raise _being_read(store) from error
    if mode != "delete" or any(file.exists() for file in _log_files(store)):
        raise _being_read(store)


def _drop_log(store: Path) -> None:
    # Only for a store that is already beyond reading, and whose raw files have been set aside.
    for file in _log_files(store):
        with suppress(FileNotFoundError):
            file.unlink()


def _log_files(store: Path) -> tuple[Path, Path]:
    return store.with_name(store.name + "-wal"), store.with_name(store.name + "-shm")


def _being_read(store: Path) -> Unavailable:
    return Unavailable(
        f"another program is reading {store}",
        hint="end it and try again; nothing was changed",
        details={"reason": "store_in_use", "path": str(store)},
    )
