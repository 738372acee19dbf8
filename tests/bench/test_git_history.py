"""A commit is reached if what only it says stands in the request; the generated history holds what was planted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench import git_history
from bench.git_history import HistoryTask

TASK = HistoryTask(
    "boltons-budget-history-001", "The upstream limits us.", "exactly 7 attempts", "fix: cap attempts",
    "MAX_ATTEMPTS is 7, measured and not round: an eighth attempt trips the limiter.", "retryx/retry.py",
    "perf: simplify retry",
)  # fmt: skip
MODULE = '''"""Strings."""


def slugify(text):
    """Make a slug of a text, which may hold spaces. It keeps letters and digits, and nothing else of it."""
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree" / "boltons").mkdir(parents=True)
    (tmp_path / "tree" / "boltons" / "strutils.py").write_text(MODULE)
    (tmp_path / "tree" / "CHANGELOG.md").write_text("- Fixed [`slugify`][strutils.slugify] losing the last dash\n")
    return tmp_path / "tree"


def test_what_was_planted_is_in_the_history_and_its_cause_comes_later(tree: Path, tmp_path: Path) -> None:
    other = {"module": "a/b.py", "function": "advance", "policy": "never advance twice"}
    past = git_history.history_of(tree, [TASK], [other], 60, seed=1)
    messages = [each.message for each in past]
    assert len(past) == 60
    decided = messages.index(f"{TASK.subject}\n\n{TASK.body}")
    broken = next(at for at, each in enumerate(messages) if each.startswith(TASK.cause))
    assert decided < broken
    assert any("never advance twice" in each for each in messages)
    assert past == git_history.history_of(tree, [TASK], [other], 60, seed=1)
    git_history.build(tmp_path / "made", tree, past)
    log = subprocess.run(["git", "-C", str(tmp_path / "made"), "log", "--format=%s"], capture_output=True, check=True)
    assert log.stdout.decode().splitlines()[::-1][1:] == [each.partition("\n")[0] for each in messages]


def test_a_title_alone_does_not_reach() -> None:
    own = git_history.own_wordings([TASK], [git_history.Planted(f"{TASK.subject}\n\n{TASK.body}", (), "Ada")])[TASK.key]
    assert not git_history.judge(TASK, f"- {TASK.subject}", own, 1).reached
    assert git_history.judge(TASK, f"- {TASK.subject}: {TASK.body}", own, 1).told
    part = git_history.judge(TASK, "an eighth attempt trips the limiter", own, None)
    assert (part.reached, part.told) == (True, False)


def test_figures() -> None:
    seen = [git_history.Reached("a", True, True, 1.0, 100, 1), git_history.Reached("b", False, False, 0.0, 50, None)]
    foreign = [("other projects' prompts", "x", True), ("other trades", "y", False), ("nonsense", "z", True)]
    made = git_history.figures(seen, foreign, 5, 10)
    assert (made["reached"], made["foreign_given"], made["strangers_given"]) == (1, 0.5, 0.6667)
