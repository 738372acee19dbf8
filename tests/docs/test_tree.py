"""The pages that describe the source tree name its folders, all of them, and files that exist."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from tests.architecture import rules

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "codexmem"
FOLDERS = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
PAGES = ("docs/architecture.md", "docs/architecture.zh.md")
_TREE = re.compile(r"^src/codexmem/\n((?: .*\n)+)", re.MULTILINE)
_FILE = re.compile(r"`((?:[a-z_]+|\{[a-z_,]+\})(?:/(?:[a-z_]+|\{[a-z_,]+\}))*\.py)`")
_CHOICE = re.compile(r"\{([a-z_,]+)\}")


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "CONTRIBUTING.md"])
def test_a_tree_shows_every_folder(page: str) -> None:
    found = _TREE.search((ROOT / page).read_text(encoding="utf-8"))
    assert found is not None
    # A folder stands at the beginning of a column; those inside the kernel stand in its description.
    columns = [column for line in found[1].splitlines() for column in re.split(r" {2,}", line)]
    shown = {name for column in columns for name in re.findall(r"^([a-z]+)/", column)}
    assert shown >= FOLDERS
    assert shown <= FOLDERS | {path.name for path in (PACKAGE / "kernel").iterdir()}


@pytest.mark.parametrize("page", PAGES)
def test_the_page_says_what_each_folder_owns(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    owning = re.findall(r"^\| `([a-z]+)` \| ", text, re.MULTILINE)
    assert sorted(owning) == sorted(FOLDERS)


@pytest.mark.parametrize("page", PAGES)
def test_the_page_tells_the_ranks_that_are_enforced(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    told = {
        name: int(rank) for rank, names in re.findall(r"^\| (\d+) \| (.*`.*) \|$", text, re.MULTILINE)
        if "|" not in names for name in re.findall(r"`([a-z/]+)`", names)
    }  # fmt: skip
    enforced = {name: rank for name, rank in rules.RANKS.items() if name not in {*rules.ROOMS, "__main__"}}
    assert {name: rank for name, rank in told.items() if name in enforced} == enforced
    assert told["codecli/cli"] == rules.rank_of(["codecli", "cli"])
    assert told["agents/install"] == rules.rank_of(["agents", "install"])
    assert re.findall(r"^\| (\d+) \| `<.*>/cli` \|$", text, re.MULTILINE) == [str(rules.COMMANDS)]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_the_page_names_exists(page: str) -> None:
    named = _FILE.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(named) > 10
    spelled = [path for each in named for path in _spelled(each)]
    assert [path for path in spelled if not (PACKAGE / path).is_file() and not (ROOT / path).is_file()] == []


def _spelled(path: str) -> list[str]:
    """Each file of `store/{sqlite,postgres}/text.py`."""
    parts = _CHOICE.split(path)
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    return ["".join(each) for each in product(*choices)]
