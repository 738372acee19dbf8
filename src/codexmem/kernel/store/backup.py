"""Backing up and restoring a store by its address, whichever engine it is on.

A backup works while servers write; a restore refuses while anybody owns the store, keeps what is there first and is
wholly done or not at all. Events and file names are the caller's business.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model.errors import CodexmemError, InvalidArgument
from codexmem.kernel.store import archive
from codexmem.kernel.store.archive import Backup, Copied, Damaged, Progress, Step
from codexmem.kernel.store.opening import schema_of, sqlite_path
from codexmem.kernel.store.sqlite import backup as sqlite

__all__ = [
    "Backup",
    "BackupHolding",
    "BackupTarget",
    "Damaged",
    "Progress",
    "Step",
    "clear_leftovers",
    "create",
    "replace",
    "verify",
]


@dataclass(frozen=True, slots=True)
class BackupTarget:
    """The store that is copied or replaced."""

    url: str
    pg_bin_dir: Path | None = None

    @property
    def engine(self) -> str:
        """Which engine it is on."""
        return "sqlite" if sqlite_path(self.url) is not None else "postgresql"


@dataclass(frozen=True, slots=True)
class BackupHolding:
    """A backup that holds memories which are asked about."""

    name: str
    created_ms: int
    memories: int | None  # None where it cannot be looked into, as the dump of a PostgreSQL store


def holding(root: Path, ids: Sequence[str], *, most: int = 200) -> list[BackupHolding]:
    """Which backups below this folder hold memories with these ids, the newest first; costs a lookup by id in each."""
    found: list[BackupHolding] = []
    folders = sorted((each for each in root.iterdir() if each.is_dir()), reverse=True) if root.is_dir() else []
    for folder in folders[:most]:
        try:
            backup = archive.peek(folder)
            held = sqlite.held(backup.copy, ids) if backup.manifest.engine == "sqlite" else None
        except CodexmemError:
            continue
        if held != 0:
            found.append(BackupHolding(folder.name, backup.manifest.created_ms, held))
    return sorted(found, key=lambda each: -each.created_ms)


def create(store: BackupTarget, folder: Path, *, version: str, now_ms: int, progress: Progress) -> Backup:
    """Copy the store into a new folder; works while it is being written."""
    path = sqlite_path(store.url)

    def copy(file: Path) -> Copied:
        if path is not None:
            return sqlite.copy(path, file, progress)
        from codexmem.kernel.store.postgres import backup as postgres

        return postgres.copy(store.url, file, progress, store.pg_bin_dir)

    return archive.write(folder, store.engine, copy, version=version, now_ms=now_ms)


def verify(store: BackupTarget, folder: Path) -> Backup:
    """The backup in the folder, if it is whole, sound and fit for this store."""
    backup = archive.read(folder)
    if backup.manifest.engine != store.engine:
        raise InvalidArgument(
            f"the backup is of a {backup.manifest.engine} store, this one is {store.engine}",
            hint="give --database-url of a store on the same engine",
            details={"reason": "other_engine", "engine": backup.manifest.engine, "ours": store.engine},
        )
    if store.engine == "sqlite":
        found = sqlite.check(backup.copy)
        if found.schema != backup.manifest.schema or found.counts != backup.manifest.counts:
            raise Damaged(f"the backup {folder} does not hold what its manifest says", details={"reason": "integrity"})
    else:
        from codexmem.kernel.store.postgres import backup as postgres

        postgres.check(backup.copy, store.pg_bin_dir)
    return backup


def replace(store: BackupTarget, backup: Backup, *, kept: Path, version: str, now_ms: int, progress: Progress,
            step: Step) -> Path | None:  # fmt: skip
    """Put the backup in the store's place; returns where the former state was kept, None if there was none."""
    path = sqlite_path(store.url)
    where: Path | None = None

    def keep() -> bool:
        nonlocal where
        if path is not None and not path.exists():
            return True
        try:
            where = create(store, kept, version=version, now_ms=now_ms, progress=progress).folder
        except Damaged:
            if path is None:
                raise
            where = kept.with_name(kept.name + "-damaged")
            sqlite.set_aside(path, where)
            return False
        return True

    if path is not None:
        sqlite.replace(path, backup.copy, backup.manifest.sha256, keep=keep, step=step)
    else:
        _restore_postgres(store, backup, keep, step)
    return where


def clear_leftovers(store: BackupTarget) -> None:
    """Remove what an interrupted restore left behind; called by the owner of the store."""
    path = sqlite_path(store.url)
    if path is not None:
        sqlite.clear_leftovers(path)


def _restore_postgres(store: BackupTarget, backup: Backup, keep: Callable[[], bool], step: Step) -> None:
    from codexmem.kernel.store.opening import upgrade_store
    from codexmem.kernel.store.postgres import backup as postgres

    # A fresh database gets its roles and an empty schema first; what is there otherwise is kept as it is.
    if schema_of(store.url) is None:
        upgrade_store(store.url)
    postgres.replace(store.url, backup.copy, bin_dir=store.pg_bin_dir, keep=keep, step=step)
