"""A real PgBouncer in transaction mode in front of a test's PostgreSQL. Debian's package has it; so does the gate."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from tests._support.postgres import SUPERUSER, Account, PostgresServer, free_port

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


CHOICE = "CODEXMEM_TESTS_POOLER"  # set: shared stores are reached through one; `just contracts --pooler` does it


class PgBouncer:
    """One pooler; few server connections, so that transactions of one client land on several of them."""

    def __init__(self, server: PostgresServer, *, pool_size: int = 4) -> None:
        self._server = server
        self._pool_size = pool_size
        self._account = Account.for_server()  # it refuses to run as root, as PostgreSQL does
        self.port = 0

    def __enter__(self) -> Self:
        if PROGRAM is None:
            raise RuntimeError("pgbouncer is not installed; run: apt-get install pgbouncer")
        self._folder = tempfile.TemporaryDirectory(prefix="codexmem-pgbouncer-")
        home, self.port = Path(self._folder.name), free_port()
        if self._account.uid is not None and self._account.gid is not None:
            os.chown(home, self._account.uid, self._account.gid)
        (home / "users.txt").write_text(f'"{SUPERUSER}" ""\n')
        (home / "pgbouncer.ini").write_text(
            f"""[databases]
* = host=127.0.0.1 port={self._server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = trust
auth_file = {home}/users.txt
pool_mode = transaction
default_pool_size = {self._pool_size}
max_client_conn = 500
"""
        )
        for name in ("users.txt", "pgbouncer.ini"):
            (home / name).chmod(0o644)
        self._log = (home / "log").open("wb")
        self._process = subprocess.Popen(
            [PROGRAM, str(home / "pgbouncer.ini")], stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            cwd=home, user=self._account.uid, group=self._account.gid, extra_groups=self._account.groups,
        )  # fmt: skip
        deadline = time.monotonic() + 20.0
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        said = (home / "log").read_text(errors="replace")
        self.__exit__()
        raise RuntimeError(f"pgbouncer did not start: {said}")

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._folder.cleanup()

    def url(self, database: str) -> str:
        """Address of a database, through the pooler."""
        return f"postgresql://{SUPERUSER}@127.0.0.1:{self.port}/{database}"
