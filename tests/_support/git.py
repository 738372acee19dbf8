"""Small repositories for tests, made by the real git, which is told nothing of the person's configuration."""

from __future__ import annotations

import subprocess
from pathlib import Path

_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_COMMITTER_NAME": "Mia", "GIT_COMMITTER_EMAIL": "mia@example.org",
}  # fmt: skip


class Repository:
    """One repository with a working tree."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        self._at_s = 1_700_000_000
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options)

    def git(self, *words: str, **environment: str) -> str:
        """Run git there; what it says."""
        when = f"{self._at_s} +0000"
        whole = {**_ENVIRONMENT, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_NAME": "Ada",
                 "GIT_AUTHOR_EMAIL": "ada@example.org", **environment}  # fmt: skip
        done = subprocess.run(["git", *words], cwd=self.path, env=whole, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, message: str, *files: str, **environment: str) -> str:
        """Change these files and commit; the hash."""
        self._at_s += 60
        for name in files:
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{self._at_s}\n")
            self.git("add", "--", name)
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message, **environment)
        return self.git("rev-parse", "HEAD")
