"""Which checks a change needs: one scope if all of its files agree, everything when in doubt."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests._support import changes


@pytest.mark.parametrize(
    "files, scope",
    [
        (["docs/web.md", "README.zh.md", "docs/images/a.svg"], "documents"),
        (["web/src/main.tsx"], "web"),
        (["bench/large.py", "tests/bench/test_large.py"], "bench"),
        (["docs/web.md", "web/src/main.tsx"], "all"),
        (["src/codexmem/cli/README.md"], "all"),
        (["tests/web/test_qa.py"], "all"),
        (["pyproject.toml"], "all"),
        ([], "all"),
    ],
)
def test_the_scope_is_what_all_files_have_in_common(files: list[str], scope: str) -> None:
    assert changes.scope(files) == scope


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose branch changed one file, deleted another, and has a new one."""

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("kept.py", "changed.py", "deleted.py"):
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "work")
    (tmp_path / "changed.py").write_text("2\n")
    git("commit", "-a", "-m", "second")
    (tmp_path / "deleted.py").unlink()
    (tmp_path / "new.py").touch()
    return tmp_path


def test_changed_files_are_those_since_the_branch_and_in_the_work_tree(project: Path) -> None:
    assert changes.changed(project, "main") == {"changed.py", "deleted.py", "new.py"}


def test_where_the_main_branch_is_unknown_nothing_is_left_out(project: Path) -> None:
    assert changes.changed(project, "origin/main") == set()


def test_tests_near_a_change_import_it_or_else_its_folder(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_a.py").write_text("from codexmem.qa import a\n")
    (tests / "test_b.py").write_text("import codexmem.qa.b\n")
    (tests / "test_c.py").write_text("from codexmem.notes.c import C\n")

    def near(*files: str) -> set[str]:
        return changes.near(files, tmp_path)

    assert near("src/codexmem/qa/a.py") == {"tests/test_a.py"}
    assert near("src/codexmem/qa/unknown.py") == {"tests/test_a.py", "tests/test_b.py"}
    assert near("src/codexmem/notes/c.py", "tests/test_b.py") == {"tests/test_b.py", "tests/test_c.py"}
    assert near("docs/a.md", "tests/gone/test_x.py") == set()
