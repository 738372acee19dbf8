"""Who keeps the server running across logins: systemd for a user's services, launchd, or nobody.

Where there is neither, a hook or the bridge starts the server when it is needed. A unit is one file of ours; both
systems append to the same log as a server that a hook started.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from codexmem.client import files

LABEL = "io.codexmem.server"
UNIT = "codexmem.service"
_ANSWERS_WITHIN_S = 60.0
_OWNED = 6  # how a server ends that finds the store owned by another; starting it again would not help


class Supervisor(Protocol):
    """A system that starts and stops our server."""

    name: str

    def works(self) -> bool:
        """Whether it runs here and takes orders from this user."""
        ...

    def unit(self) -> Path:
        """Where it reads what to run."""
        ...

    def text(self, command: Sequence[str], log: Path) -> bytes:
        """What to run, as it wants it written."""
        ...

    def enable(self) -> str:
        """Have the server started now and at every login; a problem in words, or nothing."""
        ...

    def start(self) -> str:
        """Start the server; a problem in words, or nothing."""
        ...

    def stop(self) -> str:
        """Stop the server; a problem in words, or nothing."""
        ...

    def disable(self) -> str:
        """Stop the server and start it no more; a problem in words, or nothing."""
        ...


class Systemd:
    """`systemctl --user`."""

    name = "systemd"

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        self._environ = environ
        self._home = home

    def works(self) -> bool:
        """Whether a user's systemd answers."""
        program = shutil.which("systemctl", path=self._environ.get("PATH", ""))
        return program is not None and not self._ask("show-environment")

    def unit(self) -> Path:
        """A user's units."""
        base = self._environ.get("XDG_CONFIG_HOME", "")
        return (Path(base) if base.startswith("/") else self._home / ".config") / "systemd" / "user" / UNIT

    def text(self, command: Sequence[str], log: Path) -> bytes:
        """A service."""
        words = " ".join(map(_quoted, command))
        lines = (
            "# Written by `codexmem init`, taken away by `codexmem uninstall`.",
            "[Unit]",
            "Description=codexmem, one memory for every coding agent",
            "",
            "[Service]",
            f"ExecStart={words}",
            "Restart=on-failure",
            "RestartSec=5",
            f"RestartPreventExitStatus={_OWNED}",
            f"StandardOutput=append:{_escaped(str(log))}",
            f"StandardError=append:{_escaped(str(log))}",
            "UMask=0077",
            "NoNewPrivileges=yes",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        )
        return "\n".join(lines).encode()

    def enable(self) -> str:
        """Now and at every login."""
        return self._ask("daemon-reload") or self._ask("enable", "--now", UNIT)

    def start(self) -> str:
        """Now."""
        return self._ask("start", UNIT)

    def stop(self) -> str:
        """Until the next login."""
        return self._ask("stop", UNIT)

    def disable(self) -> str:
        """For good."""
        return self._ask("disable", "--now", UNIT)

    def _ask(self, *words: str) -> str:
        return _run(["systemctl", "--user", *words], self._environ)


class Launchd:
    """`launchctl` on macOS."""

    name = "launchd"

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        self._environ = environ
        self._home = home
        self._domain = f"gui/{os.getuid()}"

    def works(self) -> bool:
        """Whether this is a Mac with a session."""
        return sys.platform == "darwin" and not self._ask("print", self._domain)

    def unit(self) -> Path:
        """A user's agents."""
        return self._home / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def text(self, command: Sequence[str], log: Path) -> bytes:
        """An agent."""
        return plistlib.dumps(
            {
                "Label": LABEL,
                "ProgramArguments": list(command),
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": 10,
                "StandardOutPath": str(log),
                "StandardErrorPath": str(log),
                "Umask": 0o077,
            }
        )

    def enable(self) -> str:
        """Now and at every login."""
        self._ask("bootout", f"{self._domain}/{LABEL}")
        return self._ask("bootstrap", self._domain, str(self.unit()))

    def start(self) -> str:
        """Now; one that was stopped has to be told of again."""
        self._ask("bootstrap", self._domain, str(self.unit()))
        return self._ask("kickstart", f"{self._domain}/{LABEL}")

    def stop(self) -> str:
        """Until the next login."""
        return self._ask("bootout", f"{self._domain}/{LABEL}")

    def disable(self) -> str:
        """For good."""
        return self.stop()

    def _ask(self, *words: str) -> str:
        return _run(["launchctl", *words], self._environ)


def known(environ: Mapping[str, str], home: Path) -> tuple[Supervisor, ...]:
    """Those we can write units for."""
    return (Systemd(environ, home), Launchd(environ, home))


def working(environ: Mapping[str, str], home: Path) -> Supervisor | None:
    """The one that works here."""
    return next((each for each in known(environ, home) if each.works()), None)


def in_charge(environ: Mapping[str, str], home: Path) -> Supervisor | None:
    """The one that works here and has our unit."""
    found = working(environ, home)
    return found if found is not None and found.unit().is_file() else None


def write_unit(supervisor: Supervisor, command: Sequence[str], log: Path) -> None:
    """Put our unit where it is read."""
    path = supervisor.unit()
    files.replace(path, files.read(path), supervisor.text(command, log))


def _run(command: Sequence[str], environ: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            command, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=_ANSWERS_WITHIN_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (
        "" if done.returncode == 0 else (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}")
    )


def _quoted(word: str) -> str:
    return '"' + _escaped(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$") + '"'


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
