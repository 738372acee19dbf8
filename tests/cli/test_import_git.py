"""`codexmem import git`: what is told, again and again, taken back, and refused in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.git import Repository
from tests.cli.conftest import Call

pytestmark = [pytest.mark.sqlite, pytest.mark.process]

WHY = "\n\nThe upstream resets its window after 13 seconds, so an eighth attempt always fails."


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "shop")
    made.commit("initial commit", "a.py")
    made.commit(f"fix: cap attempts at seven{WHY}", "src/retry.py")
    made.commit("限制重试次数\n\n上游限流窗口为十三秒，第八次重试必定失败，因此固定为七次。", "src/重试.py")
    return made


def test_an_import_tells_what_it_did_is_repeated_and_taken_back(call: Call, made: Repository) -> None:
    said = call("import", "git", str(made.path))
    assert said.code == 0, said.err
    assert said.out.split() == ["commits", "2"]
    lines = said.err.splitlines()
    assert "1 row was skipped: routine (merges, versions, typos, no explanation)" in lines
    assert "2 memories imported" in lines
    found = call("search", "限流窗口", "--project", "shop", "--json").json["results"]
    assert [(each["title"], each["origin"]) for each in found] == [("限制重试次数", "git")]
    newer = made.commit(f"feat: retry only what is safe to repeat{WHY}", "src/retry.py")
    again = call("import", "git", str(made.path), "--json").json
    assert (again["program"], again["imported"], again["known"], again["rows"]) == ("git", {"observation": 1}, 2, 4)
    assert newer.startswith(newer[:12])
    undone = call(*again["undo"].split()[1:], "--yes")
    assert (undone.code, "3 memories undone" in undone.err) == (0, True)
    third = call("import", "git", str(made.path), "--json").json
    assert (third["imported"], third["hidden"]) == ({"observation": 0}, 3)


def test_a_dry_run_counts_and_changes_nothing(call: Call, made: Repository, data_dir: Path) -> None:
    said = call("import", "git", str(made.path), "--dry-run", "--project", "acme", "--since", "2023-11-14", "--json")
    assert (said.json["imported"], said.json["projects"]) == ({"observation": 2}, {"acme": 2})
    assert said.json["skipped"] == {"routine": 1}
    assert call("import", "git", str(made.path), "--dry-run", "--since", "2023-11-15", "--json").json["rows"] == 0
    assert not data_dir.exists()


def test_what_is_no_repository_is_refused_in_both_languages(call: Call, tmp_path: Path) -> None:
    missing = call("import", "git", str(tmp_path))
    assert (missing.code, "hint: " in missing.err) == (3, True)
    assert "没有 git 仓库" in call("import", "git", str(tmp_path), "--lang", "zh").err
