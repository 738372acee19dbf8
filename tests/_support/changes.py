"""Decide from the files that differ from the main branch what a change needs.

`python -m tests._support.changes scope` prints what the gate checks: `all`, `documents`, `web` or `bench`; when in
doubt, `all`. `… python` lists the changed Python files, and `… tests` the tests that import what has changed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAIN = "origin/main"
FOLDERS = {"docs/": "documents", "web/": "web", "bench/": "bench", "tests/bench/": "bench"}
IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import ([^#\n]+)|import ([\w.]+))", re.MULTILINE)


def scope(changed: Collection[str]) -> str:
    """Return the one scope that all files have in common."""
    scopes = {_scope(path) for path in changed}
    return scopes.pop() if len(scopes) == 1 else "all"


def _scope(path: str) -> str:
    if path.endswith(".md") and "/" not in path:
        return "documents"
    return next((scope for folder, scope in FOLDERS.items() if path.startswith(folder)), "all")


def changed(root: Path = ROOT, main: str = MAIN) -> set[str]:
    """List the files that differ from where this branch left the main one, new ones included; none if nobody knows."""
    base = _git(root, "merge-base", "HEAD", main).strip()
    if not base:
        return set()
    differing = _git(root, "diff", "--name-only", "--no-renames", base)
    return {*differing.splitlines(), *_git(root, "ls-files", "--others", "--exclude-standard").splitlines()}


def near(changed: Collection[str], root: Path = ROOT) -> set[str]:
    """List the test files that have changed, or that import a changed module; of its folder where none does."""
    found = {path for path in changed if re.search(r"^tests/.*/?test_\w+\.py$", path) and (root / path).exists()}
    imports = {
        path.relative_to(root).as_posix(): set(_imports(path.read_text(encoding="utf-8")))
        for path in (root / "tests").rglob("test_*.py")
    }
    for path in changed:
        if not (path.startswith("src/") and path.endswith(".py")):
            continue
        module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        direct = {test for test, names in imports.items() if module in names}
        folder = module.rpartition(".")[0] + "."
        found |= direct or {test for test, names in imports.items() if any(name.startswith(folder) for name in names)}
    return found


def _imports(source: str) -> Iterator[str]:
    for package, names, module in IMPORT.findall(source):
        yield package or module
        yield from (f"{package}.{name.strip(' ()')}" for name in names.split(",") if package)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def main() -> None:
    """Print what was asked for, a line each."""
    files = changed()
    match sys.argv[1:]:
        case ["scope"]:
            lines = [scope(files)]
        case ["python"]:
            lines = sorted(path for path in files if path.endswith(".py") and (ROOT / path).exists())
        case ["tests"]:
            lines = sorted(near(files))
        case _:
            raise SystemExit("usage: python -m tests._support.changes scope|python|tests")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
