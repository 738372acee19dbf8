"""What is shipped: packages with the application in them, and clear words where it is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.surfaces.web.made import make

ROOT = Path(__file__).parents[3]
DIST = "codexmem/http/web/dist"
# A tree that is as ours where it matters, without a thousand files to pack.
NEEDED = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "justfile", "CHANGELOG.md", ".gitignore")
PACKAGE = ("__init__.py", "py.typed", "http/__init__.py", "http/web/__init__.py", "http/web/plain.html")
WEB = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", ".npmrc", "src/main.tsx")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (*NEEDED, *(f"src/codexmem/{each}" for each in PACKAGE), *(f"web/{each}" for each in WEB)):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    (tmp_path / ".git").mkdir()
    return tmp_path


def build(tree: Path, target: str, *, path: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Build in place with the hatchling that is here."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("CODEXMEM_")}
    command = [sys.executable, "-m", "hatchling", "build", "-t", target]
    return subprocess.run(
        command,
        cwd=tree,
        env={**env, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def wheel_names(tree: Path) -> set[str]:
    (wheel,) = (tree / "dist").glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_a_wheel_brings_the_application_and_needs_no_node(tree: Path) -> None:
    make(tree / "src" / DIST)
    done = build(tree, "wheel")
    assert done.returncode == 0, done.stderr
    assert {f"{DIST}/index.html", f"{DIST}/assets/main-1.js", "codexmem/http/web/plain.html"} <= wheel_names(tree)


def test_a_source_distribution_brings_the_application_and_its_sources(tree: Path) -> None:
    make(tree / "src" / DIST)
    done = build(tree, "sdist")
    assert done.returncode == 0, done.stderr
    (archive,) = (tree / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {f"src/{DIST}/index.html", "hatch_build.py", *(f"web/{each}" for each in WEB)} <= names
    assert not any("node_modules" in name for name in names)


def test_without_application_and_node_the_build_says_what_to_do(tree: Path) -> None:
    done = build(tree, "wheel")
    assert done.returncode != 0
    assert "install Node 22.12 or newer" in done.stdout + done.stderr


def test_one_may_go_without(tree: Path) -> None:
    done = build(tree, "wheel", CODEXMEM_SKIP_WEB="1")
    assert done.returncode == 0, done.stderr
    names = wheel_names(tree)
    assert "codexmem/http/web/plain.html" in names
    assert not any(name.startswith(DIST) for name in names)


def test_with_node_the_application_is_built(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    tools = tmp_path_factory.mktemp("tools")
    # What npm is asked for is written down, and `run build` leaves what a build would.
    (tools / "npm").write_text(
        f'#!{sys.executable}\nimport pathlib, sys\n'
        'with open("asked.txt", "a") as log: log.write(" ".join(sys.argv[1:]) + "\\n")\n'
        'if sys.argv[1] == "run":\n'
        f'    place = pathlib.Path("../src/{DIST}"); place.mkdir(parents=True)\n'
        '    (place / "index.html").write_text("built")\n'
    )  # fmt: skip
    (tools / "npm").chmod(0o755)
    done = build(tree, "wheel", path=str(tools))
    assert done.returncode == 0, done.stderr
    first, second = (tree / "web" / "asked.txt").read_text().splitlines()
    assert first.startswith("ci --ignore-scripts")
    assert second == "run build"
    assert f"{DIST}/index.html" in wheel_names(tree)


def test_an_editable_install_builds_nothing(tree: Path) -> None:
    script = "from hatchling.build import build_editable; build_editable('dist')"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tree, env={**os.environ, "PATH": ""}, capture_output=True, text=True,
        check=False, timeout=50,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not (tree / "src" / DIST).exists()
