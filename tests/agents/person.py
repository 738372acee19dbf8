"""A person with a home directory and a repository of their own, who installed codexmem and runs an agent.

Everything is found where it is by default, from HOME alone: agents hand few variables on to the servers they start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENDS_WITHIN_S = 300
PROGRAMS = Path(sys.executable).parent

# The person's server: rules and words instead of models, whatever the developer's machine has, and events of one turn
# wait for its end, so that what is learned does not depend on how fast the agent was.
SERVER = {
    "OPENAI_API_KEY": "",
    "CODEXMEM_EMBEDDER": "none",
    "CODEXMEM_BATCH_WAIT_S": "60",
    "CODEXMEM_BATCH_EVENTS": "50",
}


@dataclass(frozen=True)
class Run:
    """What an agent printed: JSON lines, and words for people."""

    code: int
    events: list[dict[str, Any]]
    words: str


class Person:
    """Keeps what they do in one folder."""

    def __init__(self, folder: Path, project: str) -> None:
        self.home = folder / "home"
        self.repository = folder / project
        self.data_dir = self.home / ".local" / "share" / "codexmem"
        self.data_dir.mkdir(parents=True)
        start_repository(self.repository)
        # A login shell, which agents run hooks in, sets its own PATH; a person's profile adds to it.
        (self.home / ".profile").write_text(f'export PATH="{PROGRAMS}:$PATH"\n')

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the developer's own, no server that starts by itself, and hooks that outwait a busy machine."""
        return {
            "HOME": str(self.home),
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "CODEXMEM_AUTOSTART": "0",
            "CODEXMEM_HOOK_BUDGET_MS": "8000",
            **more,
        }

    def write(self, name: str, text: str) -> Path:
        """A file of the repository."""
        path = self.repository / name
        path.write_text(text)
        return path

    def run(self, command: list[str], **environment: str) -> Run:
        """Run an agent to its end."""
        done = subprocess.run(
            command, cwd=self.repository, env=self.environment(**environment), stdin=subprocess.DEVNULL, check=False,
            capture_output=True, text=True, timeout=ENDS_WITHIN_S,
        )  # fmt: skip
        return Run(done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr)


def start_repository(folder: Path) -> None:
    """What `git init` leaves behind, as far as anybody here reads it; a bare machine has no git."""
    for name in ("objects", "refs/heads"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
