"""What hooks kept while the server was away comes in when it is back, without waiting for the next hook.

The server sends the files of its own data directory, and those that found no room there, to itself, through the same
interface and by the same rules as a hook does: one deliverer at a time, oldest first, each event once.
"""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem.hook.spool import Spool, drain, outcome_of, outside
from codexmem.hook.surroundings import environment, stored_token
from codexmem.hook.transport import Away, Server
from codexmem.kernel.model import ids
from codexmem.kernel.model.spooled import SUFFIX

if TYPE_CHECKING:
    from codexmem.hook.spool import Outcome

_LOOK_S = 5.0
_ANSWER_S = 30.0

_log = logging.getLogger(__name__)


class Spooled:
    """Looks into the spool now and then, on a thread of its own."""

    def __init__(self, data_dir: Path, url: str) -> None:
        self._spools = [Spool(str(data_dir)), *outside(str(data_dir), environment())]
        self._data_dir = data_dir
        self._url = url
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="codexmem-spool", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; what is on its way is delivered, the rest waits for the next start."""
        self._stopping.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        while True:
            try:
                if not all(spool.is_empty() for spool in self._spools):
                    self._deliver()
            except Exception:
                _log.warning("the spool could not be delivered; trying again", exc_info=True)
            if self._stopping.wait(_LOOK_S):
                return

    def _deliver(self) -> None:
        server = Server(self._url, stored_token(self._data_dir), ids.monotonic() + _ANSWER_S)

        def send(path: str, body: bytes) -> "Outcome":
            server.until = ids.monotonic() + _ANSWER_S
            try:
                status, _ = server.request("POST", path, body)
            except Away:
                return "away"
            return outcome_of(status)

        try:
            for spool in self._spools:
                drain(spool, send, lambda: not self._stopping.is_set())
        finally:
            server.close()


def spooled_files(data_dir: Path) -> Iterator[Path]:
    """The files of events that wait or were put aside, here and where they found room outside."""
    for spool in (Spool(str(data_dir)), *outside(str(data_dir), environment())):
        for folder in (Path(spool.root), Path(spool.root) / "rejected"):
            if folder.is_dir():
                yield from (path for path in sorted(folder.iterdir()) if path.is_file() and SUFFIX in path.name)
