"""What differs from how it is made, is missing or is left over is named by `--check`, and put right without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import generated
from tests.contracts import clauses
from tests.contracts.clause import Clause

Run = Callable[..., tuple[int, str]]
POEM = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The program on a table of two entries, whose files are those of an empty tree."""
    monkeypatch.setattr(generated, "ROOT", tmp_path)
    monkeypatch.setattr(generated, "FOLDERS", (tmp_path / "pages",))
    monkeypatch.setattr(generated, "TABLE", {
        "pages": lambda: {tmp_path / "pages" / "a.md": POEM, tmp_path / "pages" / "deep" / "b.md": "b\n"},
        "figures": lambda: {tmp_path / "figures.svg": "<svg/>\n"},
    })  # fmt: skip

    def call(*arguments: str) -> tuple[int, str]:
        code = generated.main(arguments)
        return code, capsys.readouterr().out

    return call


def test_what_was_written_is_as_it_is_made(run: Run, tmp_path: Path) -> None:
    code, told = run()
    assert code == 0
    assert "pages/a.md: written" in told
    assert (tmp_path / "pages" / "deep" / "b.md").read_text() == "b\n"
    code, told = run("--check")
    assert code == 0
    assert [line.partition(",")[0] for line in told.splitlines()] == ["pages: 2 files", "figures: 1 files"]


def test_a_changed_character_is_shown_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    run()
    path = tmp_path / "pages" / "a.md"
    path.write_text(POEM.replace("line 20\n", "line 2O\n"))
    code, told = run("--check")
    assert code == 1
    assert "  pages/a.md differs\n    @@ -21 +21 @@\n    -line 2O\n    +line 20\n" in told
    assert "b.md" not in told
    assert told.endswith("\nrun: just generated\n")
    assert path.read_text() != POEM
    code, told = run()
    assert (code, told.count("written")) == (0, 1)
    assert path.read_text() == POEM


def test_a_long_difference_is_cut(run: Run, tmp_path: Path) -> None:
    run()
    (tmp_path / "pages" / "a.md").write_text("x" * 5_000)
    _, told = run("--check")
    assert "    …\n" in told
    assert len(told) < 1_000


def test_a_missing_file_and_one_that_is_not_made_are_named(run: Run, tmp_path: Path) -> None:
    run()
    (tmp_path / "figures.svg").unlink()
    (tmp_path / "pages" / "old.md").write_text("old\n")
    (tmp_path / "elsewhere.md").write_text("written by people\n")
    code, told = run("--check")
    assert code == 1
    assert "  figures.svg is missing\n" in told
    assert "  pages/old.md is not made any more\n" in told
    run()
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["a.md", "b.md", "elsewhere.md", "figures.svg"]


def test_an_empty_file_is_made_too(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "TABLE", {"empty": lambda: {tmp_path / "empty": ""}})
    assert run("--check")[0] == 1
    run()
    assert run("--check")[0] == 0


def test_an_entry_that_cannot_be_made_fails_and_the_others_are_made(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> generated.Files:
        raise SystemExit("000 §1 has no test")

    run()
    monkeypatch.setattr(generated, "TABLE", {"contracts": refuse, **generated.TABLE})
    (tmp_path / "figures.svg").unlink()
    code, told = run()
    assert code == 1
    assert "contracts: cannot be made:\n000 §1 has no test\n" in told
    assert (tmp_path / "figures.svg").exists()


def test_a_clause_without_a_test_or_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, "CONTRACTS", {
        "900": {"900 §1": Clause("search finds", "search limit", ("no such",)), "900 §2": Clause("forget forgets")},
    })  # fmt: skip
    whole = clauses.Shown("900 §1", "tests/test_x.py::test_x", "it finds", "search(limit=1) == 'no such'")
    other = clauses.Shown("900 §2", "tests/test_x.py::test_y", "it forgets", "forget()")
    assert clauses.objections([whole, other]) == []
    part = clauses.Shown("900 §1", "tests/test_x.py::test_x", "it finds", "search()")
    stray = clauses.Shown("900 §3", "tests/test_x.py::test_z", "it flies", "")
    assert clauses.objections([part, stray]) == [
        "tests/test_x.py::test_z shows 900 §3, which no contract has",
        "the tests of 900 §1 never mention limit, no such",
        "900 §2 has no test: forget forgets",
    ]
