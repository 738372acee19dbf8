"""The hook as an installed program: our script and the one that installers write, called as agents call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import codexmem

_SOURCES = Path(codexmem.__file__).parent.parent
_SCRIPT = """\
import sys
from codexmem.cli import main
if __name__ == "__main__":
    sys.exit(main())
"""
# The shortest that any of them writes for an entry point.
PROGRAMS = {
    "codexmem-hook": Path(__file__).parents[1].joinpath("share/bin/codexmem-hook").read_text(encoding="utf-8"),
    "codexmem hook": _SCRIPT,
}


@dataclass(frozen=True)
class Called:
    """What came of one call."""

    code: int
    output: str
    ms: float


class Hooks:
    """Calls the hook with a data directory of its own and compiled once, as an installed program is."""

    def __init__(self, home: Path, data_dir: Path, **environ: str) -> None:
        self._home = home
        self.env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(_SOURCES),
            "CODEXMEM_DATA_DIR": str(data_dir),
            "CODEXMEM_AUTOSTART": "0",
            **environ,
        }
        for name, script in PROGRAMS.items():
            self._script(name).write_text(script, encoding="utf-8")

    def command(self, platform: str, event: str, program: str = "codexmem-hook") -> list[str]:
        """How an agent calls it."""
        words = [*program.split()[1:], platform, event]
        return [sys.executable, str(self._script(program)), *words]

    def call(self, platform: str, event: str, payload: Mapping[str, Any], program: str = "codexmem-hook") -> Called:
        """Call and wait."""
        return timed(self.command(platform, event, program), self.env, json.dumps(payload).encode(), self._home)

    def _script(self, program: str) -> Path:
        return self._home / program.replace(" ", "-via-")


def timed(command: Sequence[str], env: Mapping[str, str], given: bytes, cwd: Path) -> Called:
    """One process from start to end."""
    began = time.perf_counter()
    done = subprocess.run(command, env=env, cwd=cwd, input=given, stdout=subprocess.PIPE, check=False)
    return Called(done.returncode, done.stdout.decode(), (time.perf_counter() - began) * 1000)


def tool_event(session: str, marker: str, cwd: str, *, call: str | None = None) -> dict[str, Any]:
    """What an agent says after a tool of middling output: about 2 kB."""
    said: dict[str, Any] = {
        "session_id": session, "cwd": cwd, "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": f"make test {marker}"},
        "tool_response": f"{marker}\n" + "src/server.py:12: listening on port 8123 日志\n" * 40,
    }  # fmt: skip
    return said | ({"tool_use_id": call} if call else {})
