"""The coding agents that tests drive, pinned by `package-lock.json` and installed inside the environment.

`python -m tests.agents.installation` installs what is missing; the gate runs it. npm compares each package with the
lock's hash and runs no install script of theirs; the lock names no host, so any registry that serves the same files
will do. `python -m tests.agents.installation lock` writes the lock anew.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests._support import npm_packages

HERE = Path(__file__).parent
HOME = Path(sys.prefix) / "agents"


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
        if not npm_packages.installed(HERE, home):
            raise FileNotFoundError(f"the agents are not installed in {home}; run: .ci/run --setup-only")
        modules = home / "node_modules"
        # The package is a launcher; the program comes in the one optional package that fits this machine.
        (codex,) = modules.glob("@openai/codex-*/vendor/*/bin/codex")
        return cls(
            node=npm_packages.node(),
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
    npm_packages.install(HERE, home)


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


if __name__ == "__main__":
    if sys.argv[1:] == ["lock"]:
        raise SystemExit(npm_packages.write_lock(HERE))
    install()
    print(Installation.find().describe())  # noqa: T201 - this is what the module is run for
