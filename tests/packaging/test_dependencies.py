"""Nobody is surprised by a licence."""

from __future__ import annotations

from importlib.metadata import PathDistribution
from pathlib import Path

from tests.packaging.dependencies import Locked, locked, objections
from tests.packaging.releasing import unpinned


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
