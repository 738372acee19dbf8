"""One owner per store file.

The lock is held for the life of the process and vanishes with it, however it dies; the file beside it only says who
held it last. Reading without it (doctor, backup of a running store) is safe, writing is not offered.
"""

import json
import os
from pathlib import Path

from filelock import FileLock, Timeout

from codexmem.kernel.model.errors import Unavailable


class OwnerLock:
    """The right to write one store."""

    def __init__(self, store: Path) -> None:
        self._store = store
        # Not bound to a thread: whoever closes the store may not be who opened it.
        self._lock = FileLock(store.with_suffix(".lock"), mode=0o600, thread_local=False)
        self._owner = store.with_suffix(".owner")

    def acquire(self) -> None:
        """Become the owner, or say who is."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            pid = self._holder()
            who: dict[str, object] = {"reason": "store_owned", "pid": pid} if pid else {"reason": "store_in_use"}
            raise Unavailable(
                f"{self._store} is in use by another codexmem process{f' (pid {pid})' if pid else ''}",
                hint="stop the server with: codexmem stop; then try again",
                details={**who, "path": str(self._store)},
            ) from None
        self._owner.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")

    def release(self) -> None:
        """Let another process become the owner."""
        self._owner.unlink(missing_ok=True)
        self._lock.release()

    def _holder(self) -> int | None:
        try:
            return int(json.loads(self._owner.read_text(encoding="utf-8"))["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
