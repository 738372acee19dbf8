"""The hook as agents call it, in a home of its own, and a server for it to speak to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests._support.hook_endpoint import HookEndpoint

SOURCES = Path(__file__).parents[3] / "src"


@dataclass(frozen=True)
class Said:
    """What came of one call."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Said]


@pytest.fixture
def endpoint() -> Iterator[HookEndpoint]:
    with HookEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data directory, not yet made."""
    return tmp_path / "data"


@pytest.fixture
def hook(data: Path, tmp_path: Path) -> Call:
    """Call the hook; a server's address in `url` is announced as a server announces itself."""

    def called(*arguments: str, payload: Any = None, url: str = "", stdin: Any = None, **environ: str) -> Said:
        if url:
            data.mkdir(mode=0o700, exist_ok=True)
            (data / "server.json").write_text(json.dumps({"url": url, "pid": 1}))
        env = {
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(SOURCES), "CODEXMEM_AUTOSTART": "0",
            "CODEXMEM_DATA_DIR": str(data), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path / "tmp"),
        }  # fmt: skip
        if not (data / "server.json").exists():
            env["CODEXMEM_PORT"] = "9"  # nobody listens there; a port in the environment wins over an announcement
        env |= environ
        given = payload if isinstance(payload, bytes) else json.dumps(payload, ensure_ascii=False).encode()
        done = subprocess.run(
            [sys.executable, "-m", "codexmem.hook", *arguments], env=env, cwd=tmp_path, check=False,
            capture_output=True, timeout=30, **({"stdin": stdin} if stdin is not None else {"input": given}),
        )  # fmt: skip
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    return called
