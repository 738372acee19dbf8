"""What we depend on is what the page says, and nobody is surprised by a licence."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from tests.packaging.building import ROOT
from tests.packaging.dependencies import Locked, locked, objections, page
from tests.packaging.releasing import unpinned


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_what_the_lock_and_the_packages_say(language: str) -> None:
    written = (ROOT / "docs" / f"dependencies{'' if language == 'en' else '.zh'}.md").read_text(encoding="utf-8")
    made = page(language, locked())
    if f"(CPython {sys.version_info.major}.{sys.version_info.minor}, {sys.platform})" in written:
        assert made == written, "just dependencies"
    versions = re.compile(r"^\| ([\w.-]+) \| ([\w.+!-]+) \| (base|extra|dev) \|", re.MULTILINE)
    assert versions.findall(made) == versions.findall(written), "just dependencies"


def test_no_licence_is_new_and_none_unread(tmp_path: Path) -> None:
    packages = locked()
    assert objections(packages) == []
    for licence, said in (("AGPL-3.0-only", "AGPL-3.0-only"), ("MIT AND GPL-2.0", "MIT AND GPL-2.0"), ("MIT", None)):
        folder = tmp_path / f"x-{len(licence)}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: x\nVersion: 1\nLicense-Expression: {licence}\n")
        assert objections([*packages, Locked("x", "1", "base", PathDistribution(folder))]) == (
            [f"x: {said}"] if said else []
        )


def test_every_action_is_named_by_its_commit() -> None:
    assert unpinned() == set()
