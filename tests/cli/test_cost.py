"""A command beside a running server asks that server: it costs little more than showing help, and loads none of what
only a server needs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support import warm
from tests._support.server import Server, environment

ASKING = (
    ("search", "release", "port"),
    ("why", "#1"),
    ("show", "#1"),
    ("recent",),
    ("context",),
)
HEAVY = ("fastapi", "starlette", "sqlalchemy", "alembic", "pydantic", "openai", "onnxruntime", "numpy", "asyncio",
         "httpx", "httpx2", "pysqlite3")  # fmt: skip
ROUNDS = 5
TIMES = 3.0

pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """A project's folder, and the environment of a person whose server runs, with its encoder on."""
    root = tmp_path_factory.mktemp("cost")
    data_dir, folder = root / "data", root / "shop"
    data_dir.mkdir()
    folder.mkdir()
    with Server(data_dir) as server:
        saved = {"text": "The release listens on port 4711", "title": "Port of the release", "project": "shop"}
        assert server.post("/api/memory/save", saved).status == 200
        env = environment(data_dir)
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: compiled once
        yield folder, env


def spent(args: tuple[str, ...], folder: Path, env: dict[str, str]) -> float:
    """Seconds of CPU, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "codexmem.cli", *args], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


@pytest.fixture(scope="module")
def help_s(served: tuple[Path, dict[str, str]]) -> float:
    """The least that showing help costs."""
    return min(spent(("--help",), *served) for _ in range(ROUNDS))


@pytest.mark.parametrize("args", ASKING, ids=" ".join)
def test_beside_a_server_a_command_costs_little_more_than_help(
    args: tuple[str, ...], served: tuple[Path, dict[str, str]], help_s: float
) -> None:
    spent(args, *served)  # compiles what it imports
    # The least of all rounds is within the bar as soon as one of them is.
    assert any(spent(args, *served) <= TIMES * help_s for _ in range(ROUNDS))


@pytest.mark.parametrize("args", ASKING, ids=" ".join)
def test_beside_a_server_a_command_loads_nothing_of_a_server(
    args: tuple[str, ...], served: tuple[Path, dict[str, str]]
) -> None:
    folder, env = served
    program = (
        "import sys; from codexmem.console.command import run; from codexmem.cli.root import cli;"
        f"code = run(cli, {list(args)!r}); print([each for each in {HEAVY!r} if each in sys.modules]); sys.exit(code)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_server_that_went_without_a_word_is_not_asked(tmp_path: Path) -> None:
    """A file that it left behind names a port where nobody, or somebody else, answers by now."""
    with Server(tmp_path) as mine:
        saved = {"text": "The release listens on port 4711", "project": "shop"}
        assert mine.post("/api/memory/save", saved).status == 200
        left = (tmp_path / "server.json").read_text()
    other = tmp_path / "other"
    other.mkdir()
    with Server(other) as stranger:
        (tmp_path / "server.json").write_text(left.replace(f":{mine.port}", f":{stranger.port}"))
        found = subprocess.run(
            [warm.program("codexmem"), "search", "release", "--project", "shop"], cwd=tmp_path,
            env={**environment(tmp_path, CODEXMEM_EMBEDDER="none"), "COLUMNS": os.environ.get("COLUMNS", "80")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "4711" in found.stdout
