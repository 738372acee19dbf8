"""Backup and restore of the whole store.

A backup leaves the store untouched, and on SQLite its maker may not even write the line in the log that tells of it:
the owner of the file does that. So both verbs leave a notice in the data directory, and whoever opens the store next,
or has it open, turns notices into events.
"""

import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store import archive, backup, inspection
from codexmem.kernel.store.backup import Backup, BackupTarget, Progress, Step
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.opening import open_database, schema_of, upgrade_store

log = logging.getLogger(__name__)

BACKUPS = "backups"
_NOTICES = "notices"


@dataclass(frozen=True, slots=True)
class StoreRestored:
    """What a restore did."""

    backup: Backup
    kept: Path | None  # where the former state is
    schema: str  # after the upgrade that may follow


def _nothing(*_: object) -> None:
    """The progress report and the failpoint of those who want none."""


class Transfer:
    """The verbs on the store as a whole."""

    def __init__(self, store: BackupTarget, data_dir: Path, clock: Clock, *, version: str) -> None:
        self._store = store
        self._data_dir = data_dir
        self._clock = clock
        self._version = version

    @property
    def root(self) -> Path:
        """Where backups go unless told otherwise."""
        return self._data_dir / BACKUPS

    def fresh(self) -> Path:
        """A folder in the usual place that a backup made now may have."""
        return self._fresh(self._clock.now_ms())

    def backup(self, to: Path | None = None, *, progress: Progress = _nothing) -> Backup:
        """Copy the store as it is now; works while servers write."""
        now = self._clock.now_ms()
        made = backup.create(
            self._store, to or self._fresh(now), version=self._version, now_ms=now, progress=progress
        )  # fmt: skip
        self._leave(EventType.STORE_BACKED_UP, now, _told(made))
        if self._store.engine == "postgresql":
            # No owner to wait for; if the schema is not current, the next program that opens the store tells of it.
            with suppress(CodexmemError):
                self._tell()
        return made

    def before_upgrade(self) -> Backup | None:
        """Keep a SQLite store that the next opening would upgrade; None if it would not."""
        if self._store.engine != "sqlite":
            return None  # upgraded by its operator, who is told to make a backup
        have = inspection.schema(self._store.url)
        if have is None or have >= inspection.expected_schema():
            return None
        now = self._clock.now_ms()
        made = backup.create(
            self._store, self._fresh(now, f"-schema-{have}"), version=self._version, now_ms=now, progress=_nothing
        )
        self._leave(EventType.STORE_BACKED_UP, now, _told(made))
        log.info("the store was backed up to %s before its schema is upgraded", made.folder)
        return made

    def clear_leftovers(self) -> None:
        """Remove what an interrupted restore left behind; for the owner of the store."""
        backup.clear_leftovers(self._store)

    def verify(self, folder: Path) -> Backup:
        """The backup, if it could be restored here."""
        return backup.verify(self._store, folder)

    def restore(self, folder: Path, *, progress: Progress = _nothing, step: Step = _nothing) -> StoreRestored:
        """Replace the store by a backup, keeping what is there; wholly or not at all."""
        chosen = self.verify(folder)
        now = self._clock.now_ms()
        kept = backup.replace(
            self._store, chosen, kept=self._fresh(now, "-before-restore"), version=self._version, now_ms=now,
            progress=progress, step=step,
        )  # fmt: skip
        self._leave(EventType.STORE_RESTORED, now, _told(chosen) | {"kept": kept.name if kept else None})
        if self._store.engine == "postgresql":
            upgrade_store(self._store.url)
        self._tell()
        return StoreRestored(chosen, kept, schema_of(self._store.url) or "")

    def newest_ms(self) -> int | None:
        """When the newest backup in the usual place was made."""
        made: list[int] = []
        if self.root.is_dir():
            for folder in self.root.iterdir():
                with suppress(OSError, ValueError, KeyError, TypeError):
                    made.append(int(json.loads((folder / archive.MANIFEST).read_bytes())["created_ms"]))
        return max(made, default=None)

    def _fresh(self, now_ms: int, suffix: str = "") -> Path:
        moment = datetime.fromtimestamp(now_ms / 1000, UTC)
        name = f"codexmem-{moment:%Y%m%dT%H%M%S}.{now_ms % 1000:03}Z{suffix}"
        folder = self.root / name
        return folder if not folder.exists() else self.root / f"{name}-{os.getpid()}"

    def _leave(self, type: EventType, at_ms: int, payload: Mapping[str, object]) -> None:
        folder = self._data_dir / _NOTICES
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        notice = {"type": type.value, "at_ms": at_ms, "payload": payload}
        archive.write_private(folder / f"{at_ms}-{ids.prefixed('notice')}.json", json.dumps(notice).encode())

    def _tell(self) -> None:
        db = open_database(self._store.url)
        try:
            tell_notices(db, self._data_dir)
        finally:
            db.close()


def tell_notices(db: Database, data_dir: Path) -> int:
    """Turn the notices in the data directory into events; returns how many there were."""
    told = 0
    folder = data_dir / _NOTICES
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            notice = json.loads(path.read_bytes())
            event = NewEvent(EventType(notice["type"]), subject="store", payload=notice["payload"])
            at_ms = int(notice["at_ms"])
        except (OSError, ValueError, KeyError, TypeError):
            log.warning("a notice cannot be read and is dropped: %s", path.name)
        else:
            # The store as a whole belongs to whoever runs it, also where there are many tenants.
            with acting_as(LOCAL):
                EventTable(db).append(event, id=ids.prefixed("evt"), at_ms=at_ms)
            told += 1
        path.unlink(missing_ok=True)
    return told


def _told(made: Backup) -> dict[str, object]:
    manifest = made.manifest
    return {
        "backup": made.folder.name,
        "created_ms": manifest.created_ms,
        "schema": manifest.schema,
        "size": manifest.size,
        "sha256": manifest.sha256,
        "memories": manifest.counts.get("memories", 0),
    }
