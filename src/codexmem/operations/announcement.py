"""Where the running server listens, written for clients in `server.json`; only the owner of the store writes it."""

import json
import logging
import os
from pathlib import Path

from codexmem.kernel.store import archive

log = logging.getLogger(__name__)


class Announcement:
    """The file that clients read to find us; whole or absent, and private."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "server.json"

    def tell(self, *, url: str, host: str, port: int, version: str) -> None:
        """We listen here."""
        facts = {"url": url, "host": host, "port": port, "pid": os.getpid(), "version": version}
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        archive.write_private(self._path, json.dumps(facts).encode())

    def withdraw(self) -> None:
        """We are going; what another server has written since stays."""
        try:
            if json.loads(self._path.read_bytes())["pid"] == os.getpid():
                self._path.unlink()
        except (OSError, ValueError, KeyError, TypeError):
            log.debug("%s is gone or not ours", self._path)
