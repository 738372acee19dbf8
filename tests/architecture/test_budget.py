"""Nothing weighs more than its budget, and the measure is shown to notice what does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import budget

PACKED = '''"""Boxes."""

PAIRS = [
    (1, 2), (3, 4),
]  # fmt: skip


class Box:
    size: int

    def full(self) -> bool: ...
'''


def plant(root: Path) -> budget.Weights:
    path = root / "codexmem" / "room" / "boxes.py"
    path.parent.mkdir(parents=True)
    path.write_text(PACKED, encoding="utf-8")
    return budget.rooms(root)


@pytest.mark.slow
@pytest.mark.process
def test_nothing_weighs_more_than_its_budget() -> None:
    heavy = budget.over(budget.measure(), budget.read()["budget"])
    assert not heavy, "\n" + "\n".join([*heavy, "take as much away in the same part; `just house` shows them all"])


@pytest.mark.process
def test_lines_are_those_that_the_formatter_writes(tmp_path: Path) -> None:
    weights = plant(tmp_path)
    assert weights["room"] == {"lines": 12, "files": 1, "classes": 1, "fields": 1, "functions": 1}
    assert weights["all"] == weights["room"]


def test_what_is_over_its_budget_or_has_none_is_named() -> None:
    weights = {"room": {"lines": 1_001, "files": 3}, "around": {"tests": 5}}
    assert budget.over(weights, {"room": {"lines": 1_000, "files": 3}}) == [
        "room: 1,001 lines, the budget is 1,000",
        "around: 5 tests, the budget is 0",
    ]


def test_a_budget_is_lowered_and_never_raised() -> None:
    known = {"budget": {"room": {"lines": 10, "files": 3}}, "goal": {"room": {"lines": 5}}}
    text = budget.lowered({"room": {"lines": 8, "files": 4}}, known)
    assert text.endswith("[budget.room]\nlines = 8\nfiles = 3\n\n[goal.room]\nlines = 5\n")
