"""Pages say of the program what its code says, and a page that lost a sentence is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.agents import NAMES
from tests.docs import facts
from tests.docs.pages import ROOT


def test_a_page_that_says_otherwise_is_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.facts.NAMES", (*NAMES, "another-agent"))
    changed = facts.documents()
    assert "hooks for ten agents" in changed[ROOT / "README.md"]
    assert "十种智能体的钩子" in changed[ROOT / "README.zh.md"]


def test_a_page_without_the_sentence_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("Nothing is said here.", encoding="utf-8")
    monkeypatch.setattr(facts, "facts", lambda: [facts.Fact(page, r"hooks for (\w+) agents", "nine")])
    with pytest.raises(SystemExit, match="hooks for"):
        facts.documents()
