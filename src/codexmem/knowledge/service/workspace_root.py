"""Where workspaces lie, whose turn it is to change them, and how a whole tree of them is exchanged for another.

A restore changes knowledge in the store and workspaces on the disk, and must do both or neither. It builds the new tree
beside the old one, notes its token in a journal, and then commits the knowledge in one transaction that carries the
same token. That commit decides: whoever comes next and finds the journal asks the store for the token, and finishes the
exchange if it is there or drops the new tree if it is not. One holder at a time changes the grounds of a tenant, in
this process and in others, and settles first what an interrupted one left.

    <data dir>/workspaces/…                 the tasks; on a team's server one folder per tenant
    <data dir>/.workspaces/<tenant>/        lock, journal, trees that come and go
"""

import fcntl
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, Unavailable
from codexmem.kernel.model.tenant import tenant_name
from codexmem.knowledge.service import folders

log = logging.getLogger(__name__)

WORKSPACES = "workspaces"
BACKUPS = ("backups", "memory")
_STAGING = ".workspaces"
_JOURNAL, _LOCK = "journal", "lock"
_INCOMING, _OUTGOING = "incoming", "outgoing"
_DRAFT = "draft"
_LEFTOVERS = tuple(f"{what}_" for what in (_INCOMING, _OUTGOING, _DRAFT, folders.TRASH))
_TRIES = 100
_WAIT_S, _PAUSE_S = 30.0, 0.003
_STRIPES = 64
_TENANTS = 100_000


class WorkspaceRoot:
    """The folders of one data directory; every verb is about the acting tenant's."""

    def __init__(self, data_dir: Path, acting: Callable[[], str], committed: Callable[[str], bool], *,
                 shared: bool) -> None:  # fmt: skip
        self._data_dir = data_dir
        self._acting = acting
        self._committed = committed  # whether the store holds what the restore of this token wrote
        self.shared = shared  # several tenants, whose callers are not told where our folders lie
        self._stripes = tuple(threading.Lock() for _ in range(_STRIPES))

    @property
    def tenant(self) -> str:
        """Whose turn it would be."""
        return tenant_name(self._acting())

    @property
    def parts(self) -> tuple[str, ...]:
        """The folder of the tasks, below the data directory."""
        return (WORKSPACES, self.tenant) if self.shared else (WORKSPACES,)

    @property
    def backup_parts(self) -> tuple[str, ...]:
        """The folder of the backups, below the data directory."""
        return (*BACKUPS, self.tenant) if self.shared else BACKUPS

    @property
    def data_dir(self) -> Path:
        """Where everything lies."""
        return self._data_dir

    def told_task(self, name: str) -> str:
        """Where a task's folder is, as a caller is told: others than the machine's owner do not learn our paths."""
        return f"{WORKSPACES}/{name}" if self.shared else str(self._data_dir.joinpath(*self.parts, name))

    def told_backup(self, name: str) -> str:
        """Where a backup is, as a caller is told; a restore takes it in the same spelling."""
        return "/".join((*BACKUPS, name)) if self.shared else str(self._data_dir.joinpath(*self.backup_parts, name))

    @contextmanager
    def tasks(self, *, make: bool = False) -> Iterator[int | None]:
        """The folder of the tasks, opened; None if there is none yet."""
        try:
            opened = folders.folder(self._data_dir, *self.parts, make=make)
            handle = opened.__enter__()
        except FileNotFoundError:
            yield None
            return
        try:
            yield handle
        finally:
            opened.__exit__(None, None, None)

    def settle(self) -> None:
        """Finish what a restore left undone; cheap where there is nothing."""
        if (self._data_dir / _STAGING / self.tenant / _JOURNAL).exists():
            with self.turn():
                pass

    def pending(self) -> list[str]:
        """The tenants whose restore was interrupted."""
        try:
            with folders.folder(self._data_dir, _STAGING) as staging:
                return [name for name in folders.names(staging, _TENANTS) if _has_journal(staging, name)]
        except OSError:
            return []

    @contextmanager
    def turn(self) -> Iterator["ExclusiveAccess"]:
        """The right to change the tenant's folders, until the block ends; what was interrupted is settled first."""
        tenant, until = self.tenant, time.monotonic() + _WAIT_S
        stripe = self._stripes[crc32(tenant.encode()) % _STRIPES]
        if not stripe.acquire(timeout=_WAIT_S):
            raise _busy()
        try:
            with folders.explained("the workspaces cannot be reached"):
                self._data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
                with folders.folder(self._data_dir, _STAGING, tenant, make=True) as staging:
                    lock = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=staging)
                    try:
                        _hold(lock, until)
                        turn = ExclusiveAccess(self, staging, self._committed)
                        turn.recover()
                        yield turn
                    finally:
                        os.close(lock)
        finally:
            stripe.release()


class ExclusiveAccess:
    """What only the holder may do."""

    def __init__(self, workspace_root: WorkspaceRoot, staging: int, committed: Callable[[str], bool]) -> None:
        self._grounds = workspace_root
        self._committed = committed
        self.staging = staging

    def recover(self) -> None:
        """Finish or drop what was interrupted, and remove what it left behind."""
        token = self._journal()
        if token is not None:
            if self._committed(token):
                log.info("an interrupted restore is finished")
                self.switch(token)
            else:
                log.info("an interrupted restore is dropped; nothing of it took effect")
                self.drop(token)
        self._sweep()

    @contextmanager
    def incoming(self, token: str) -> Iterator[int]:
        """The new tree, empty, to be filled."""
        self._require_same_disk()
        name = _named(_INCOMING, token)
        os.mkdir(name, 0o700, dir_fd=self.staging)
        with folders.folder(self.staging, name) as handle:
            yield handle
            os.fsync(handle)
        os.fsync(self.staging)

    def plan(self, token: str) -> None:
        """Note the exchange that the next commit decides."""
        draft = ids.prefixed(_DRAFT)
        handle = folders.new_file(self.staging, draft)
        with os.fdopen(handle, "wb") as stream:
            stream.write(json.dumps({"token": token}).encode())
            stream.flush()
            os.fsync(handle)
        os.rename(draft, _JOURNAL, src_dir_fd=self.staging, dst_dir_fd=self.staging)
        os.fsync(self.staging)

    def switch(self, token: str) -> None:
        """Put the new tree in the old one's place; may be repeated from wherever it stopped."""
        incoming = _named(_INCOMING, token)
        *above, name = self._grounds.parts
        with folders.folder(self._grounds.data_dir, *above, make=True) as parent:
            for _ in range(_TRIES):
                if not folders.exists(self.staging, incoming):
                    break
                with suppress(FileNotFoundError):
                    os.rename(name, ids.prefixed(_OUTGOING), src_dir_fd=parent, dst_dir_fd=self.staging)
                # Somebody who knows the path may have put something there in between: then once more.
                with suppress(FileExistsError, OSError):
                    os.rename(incoming, name, src_dir_fd=self.staging, dst_dir_fd=parent)
            else:
                raise Unavailable("the restored workspaces cannot be put in their place", hint="it is tried again")
            os.fsync(parent)
            os.fsync(self.staging)
        self._forget()
        self._sweep()

    def drop(self, token: str) -> None:
        """Forget the new tree."""
        folders.remove_tree(self.staging, _named(_INCOMING, token))
        self._forget()

    def _sweep(self) -> None:
        with os.scandir(self.staging) as entries:
            left = [entry.name for entry in entries if entry.name.startswith(_LEFTOVERS)]
        for name in left:
            folders.remove_tree(self.staging, name)

    def _forget(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(_JOURNAL, dir_fd=self.staging)
        os.fsync(self.staging)

    def _journal(self) -> str | None:
        if not folders.exists(self.staging, _JOURNAL):
            return None
        with os.fdopen(folders.opened_file(self.staging, _JOURNAL), "rb") as stream:
            try:
                return str(json.loads(stream.read(4096))["token"])
            except (ValueError, KeyError, TypeError):
                # It is written whole or not at all, so somebody else has written it; to guess could lose a tree.
                raise Unavailable(
                    "the journal of an interrupted restore cannot be read",
                    hint=f"look at {_STAGING} in the data directory, then remove the file {_JOURNAL} there",
                ) from None

    def _require_same_disk(self) -> None:
        with self._grounds.tasks(make=True) as tasks:
            assert tasks is not None
            *above, _ = self._grounds.parts
            with folders.folder(self._grounds.data_dir, *above) as parent:
                disks = {os.fstat(handle).st_dev for handle in (tasks, parent, self.staging)}
        if len(disks) > 1:
            raise Conflict(
                "the folder of the workspaces is on another disk than the data directory, so it cannot be exchanged",
                hint="move the whole data directory there instead",
            )


def _named(what: str, token: str) -> str:
    return f"{what}_{token}"


def _has_journal(staging: int, name: str) -> bool:
    with suppress(OSError), folders.folder(staging, name) as handle:
        return folders.exists(handle, _JOURNAL)
    return False


def _hold(lock: int, until: float) -> None:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise _busy() from None
            time.sleep(_PAUSE_S)


def _busy() -> Unavailable:
    return Unavailable("the workspaces are being backed up or restored", hint="try again in a moment")
