"""Somebody's codexmem, installed into their agents, that takes down what of it an agent's run sets in motion.

Its hook and its MCP server are the real ones behind small scripts that note each start; the server is an endpoint that
notes each request. So it can be told apart whether a program was never started, or was and kept silent.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Self

from codexmem.agents import installable
from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.installing import Installer
from codexmem.agents.install.targets import UserHome
from tests._support.hook_endpoint import HookEndpoint
from tests.agents.person import PROGRAMS, Person

_SCRIPT = '#!/bin/sh\necho "{name} $*" >> "{log}"\nexec "{program}" "$@"\n'


class Witness:
    """While the block lasts, the person's server is an endpoint that counts."""

    def __init__(self, person: Person, folder: Path) -> None:
        self._person = person
        self._folder = folder
        self._log = folder / "started.log"
        self._endpoint = HookEndpoint()
        folder.mkdir()
        self._programs = {name: self._script(name) for name in ("codexmem-hook", "codexmem")}

    def __enter__(self) -> Self:
        self._endpoint.start()
        said = {"url": self._endpoint.url, "pid": os.getpid()}
        (self._person.data_dir / "server.json").write_text(json.dumps(said))
        return self

    def __exit__(self, *_: object) -> None:
        self._endpoint.stop()

    def install(self, agent: str, programs: Path) -> None:
        """As `codexmem install` does; `programs` is the folder with the agent's own."""
        path = f"{programs}:{os.environ['PATH']}"
        owner = UserHome(self._person.home, self._person.environment(PATH=path))
        commands = ProgramCommands((str(self._programs["codexmem-hook"]),), (str(self._programs["codexmem"]),))
        Installer(owner, commands, self._person.data_dir).install(installable()[agent])

    @property
    def started(self) -> list[str]:
        """Each start of the hook or of the MCP server, with its arguments."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    @property
    def reached(self) -> list[str]:
        """Method and path of each request that came to the server."""
        return [f"{asked.method} {asked.path}" for asked in self._endpoint.asked]

    def forget(self) -> None:
        """Begin to count anew."""
        self._log.unlink(missing_ok=True)
        self._endpoint.asked.clear()

    def _script(self, name: str) -> Path:
        path = self._folder / name
        path.write_text(_SCRIPT.format(name=name, log=self._log, program=PROGRAMS / name))
        path.chmod(0o755)
        return path
