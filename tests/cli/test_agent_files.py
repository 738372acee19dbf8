"""`codexmem import agent-files`: what it tells, in both languages, and how it is taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

pytestmark = pytest.mark.sqlite


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home, root = tmp_path / "own", tmp_path / "shop"
    (home / ".codex").mkdir(parents=True)
    (home / ".codex/AGENTS.md").write_text("Answer briefly.\n")
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / "AGENTS.md").write_text("# Shop\nSells things.\n## Testing\nRun make check before a push.\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return root


def test_an_import_is_told_repeated_followed_and_taken_back(call: Call, shop: Path) -> None:
    dry = call("import", "agent-files", str(shop), "--dry-run", "--json").json
    assert [(each["file"], each["sections"]) for each in dry["files"]] == [("AGENTS.md", 2), ("~/.codex/AGENTS.md", 1)]
    assert "Codex" in dry["files"][0]["read_by"]

    first = call("import", "agent-files", str(shop))
    assert first.code == 0
    lines = first.err.splitlines()
    assert "project shop: 3 new, 0 changed, 0 gone, 0 as before" in lines
    assert lines[-1] == "to undo the import: codexmem undo import:agent-files:shop"
    found = call("search", "push", "--project", "shop", "--json").json["results"]
    assert [each["title"] for each in found] == ["AGENTS.md > Shop > Testing"]
    why = call("why", str(found[0]["seq"]), "--all-projects")
    assert "AGENTS.md#Shop > Testing" in why.out

    (shop / "AGENTS.md").write_text("# Shop\nSells things.\n")
    (shop.parent / "own/.codex/AGENTS.md").unlink()
    again = call("import", "agent-files", str(shop), "--json").json
    assert {each["file"]: (each["hidden"], each["unchanged"]) for each in again["files"]} == {
        "AGENTS.md": (1, 1),
        "~/.codex/AGENTS.md": (1, 0),
    }
    assert call("undo", again["source"], "--yes").code == 0
    assert call("search", "things", "--project", "shop", "--json").json["results"] == []
    kept = call("import", "agent-files", str(shop), "--lang", "zh")
    assert "保持不变" in kept.err


def test_own_files_are_left_out_on_request(call: Call, shop: Path) -> None:
    told = call("import", "agent-files", str(shop), "--no-personal", "--agent", "codex", "--dry-run", "--json").json
    assert [each["file"] for each in told["files"]] == ["AGENTS.md"]


def test_a_folder_without_such_files_and_one_that_is_not_there(call: Call, shop: Path) -> None:
    empty = shop.parent / "empty"
    empty.mkdir()
    said = call("import", "agent-files", str(empty), "--no-personal")
    assert said.code == 0
    assert f"no files for agents in {empty}" in said.err
    missing = call("import", "agent-files", str(shop / "nowhere"))
    assert missing.code == 2
    assert "name the folder of a checkout" in missing.err
