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
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # else the build hook is compiled in the tree
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


@pytest.mark.parametrize("asked", ["", "0"])
def test_without_node_or_on_request_everything_but_the_pages_is_installed(tree: Path, npm: Path, asked: str) -> None:
    done = build(tree, "wheel", path=str(npm) if asked else "", CODEXMEM_WEB=asked)
    assert done.returncode == 0, done.stderr
    assert "codexmem is installed without its web pages" in done.stdout + done.stderr
    names = wheel_names(tree)
    assert "codexmem/http/web/plain.html" in names
    assert not any(name.startswith(DIST) for name in names)


def test_who_wants_the_pages_is_told_that_node_is_missing(tree: Path) -> None:
    done = build(tree, "wheel", CODEXMEM_WEB="1")
    assert done.returncode != 0
    assert "install Node 22.12 or newer" in done.stdout + done.stderr


@pytest.fixture
def npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an npm whose `ci` installs, and whose `run build` leaves what a build would."""
    tools = tmp_path_factory.mktemp("tools")
    (tools / "npm").write_text(
        f'#!{sys.executable}\nimport pathlib, sys\n'
        f'with open({str(tools / "asked.txt")!r}, "a") as log: log.write(" ".join(sys.argv[1:]) + "\\n")\n'
        'pathlib.Path("node_modules").mkdir(exist_ok=True)\n'
        'if sys.argv[1] == "run":\n'
        f'    place = pathlib.Path("../src/{DIST}"); place.mkdir(parents=True)\n'
        '    (place / "index.html").write_text("built")\n'
    )  # fmt: skip
    (tools / "npm").chmod(0o755)
    return tools


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_with_node_the_application_is_built_and_the_tree_stays_as_it_was(tree: Path, npm: Path, kind: str) -> None:
    before = sorted(path for path in tree.rglob("*"))
    done = build(tree, kind, path=str(npm), TMPDIR=str(npm))
    assert done.returncode == 0, done.stderr
    assert "building codexmem's web pages with npm" in done.stdout + done.stderr
    first, second = (npm / "asked.txt").read_text().splitlines()
    assert first.startswith("ci --ignore-scripts")
    assert second == "run build"
    (packed,) = (tree / "dist").iterdir()
    if kind == "wheel":
        assert f"{DIST}/index.html" in wheel_names(tree)
    else:
        with tarfile.open(packed) as archive:
            assert f"{packed.name.removesuffix('.tar.gz')}/src/{DIST}/index.html" in archive.getnames()
    assert sorted(path for path in tree.rglob("*") if path not in {tree / "dist", packed}) == before
    assert [path.name for path in npm.iterdir() if path.name.startswith("codexmem-web-")] == []


def test_an_editable_install_builds_nothing(tree: Path) -> None:
    script = "from hatchling.build import build_editable; build_editable('dist')"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tree, env={**os.environ, "PATH": ""}, capture_output=True, text=True,
        check=False, timeout=50,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not (tree / "src" / DIST).exists()
