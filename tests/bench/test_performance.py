"""Waits are told as they were measured, and noise is not taken for a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bench import performance, waits
from bench.performance import Ratio

TIME = next(wait for wait in waits.WAITS if wait.key == "hook_up")
RATE = next(wait for wait in waits.WAITS if wait.key == "capture")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in ("performance.md", "performance.zh.md"):
        (tmp_path / name).write_text("# Page\n<!-- performance: begin -->\n<!-- performance: end -->\nbelow\n")
    return tmp_path


def test_a_ratio_is_the_median_of_its_rounds_and_says_how_far_they_lie_apart() -> None:
    assert Ratio.of([3.0, 1.0, 2.0, 5.0, 4.0]) == Ratio(3.0, 2.0, 4.0, 5)
    assert Ratio.of([1.5]) == Ratio(1.5, 1.5, 1.5, 1)


@pytest.mark.parametrize(
    "wait, now, worse",
    [
        (TIME, Ratio(2.6, 2.51, 2.7, 9), True),
        (TIME, Ratio(2.6, 2.4, 2.7, 9), False),  # a good part of the rounds was no worse
        (TIME, Ratio(1.0, 0.9, 1.1, 9), False),
        (RATE, Ratio(1.5, 1.4, 1.59, 9), True),
        (RATE, Ratio(1.5, 1.4, 1.7, 9), False),
        (RATE, Ratio(4.0, 3.9, 4.1, 9), False),
    ],
)
def test_worse_is_what_noise_can_hardly_explain(wait: waits.Wait, now: Ratio, worse: bool) -> None:
    assert performance.is_worse(wait, now, Ratio(2.0, 1.9, 2.1, 9)) is worse


@pytest.mark.parametrize("bad_runs, worse", [(0, []), (2, []), (3, ["hook_up"])])
def test_only_what_is_worse_every_time_fails_the_check(
    docs: Path, monkeypatch: pytest.MonkeyPatch, bad_runs: int, worse: Sequence[str]
) -> None:
    runs: list[int] = []

    def measure(rounds: int, seed: int) -> Mapping[str, Sequence[float]]:
        runs.append(seed)
        return {"hook_up": [3.0 if len(runs) <= bad_runs else 2.0] * rounds}

    monkeypatch.setattr(performance, "MEASURES", {"hook": measure})
    performance.keep({"hook_up": Ratio(2.0, 1.9, 2.1, 9)}, docs)
    assert performance.compare([], 4, 7, docs) == worse
    assert len(runs) == min(bad_runs + 1, performance.TRIES)


def test_a_run_is_kept_and_what_was_not_measured_stays(docs: Path) -> None:
    performance.keep({"hook_up": Ratio(2.0, 1.9, 2.1, 9), "gone": Ratio(1.0, 1.0, 1.0, 1)}, docs)
    performance.keep({"capture": Ratio(0.4, 0.3, 0.5, 5)}, docs)
    assert performance.kept_run(docs) == {"hook_up": Ratio(2.0, 1.9, 2.1, 9), "capture": Ratio(0.4, 0.3, 0.5, 5)}
    made = performance.documents(docs)
    page = made[docs / "performance.md"]
    assert page.startswith("# Page\n")
    assert page.endswith("below\n")
    assert "| hook, server up | `python -c pass` | 2.00 | 1.90-2.10 | ≤ 1.5 | not reached |" in page
    assert "| ≥ 0.6 | 未达到 |" in made[docs / "performance.zh.md"]
    performance.keep({"hook_up": Ratio(1.0, 1.0, 1.0, 9)}, docs)
    assert {path.name for path, text in performance.documents(docs).items() if made[path] != text} == {
        "performance.md", "performance.zh.md", "performance.svg",
    }  # fmt: skip


def test_every_wait_has_a_measure_and_every_measure_a_wait() -> None:
    assert {wait.group for wait in waits.WAITS} == set(waits.MEASURES)
    assert len({wait.key for wait in waits.WAITS}) == len(waits.WAITS)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("group", ["commands", "bridge", "import"])
def test_a_measure_yields_its_waits(group: str) -> None:
    found = waits.MEASURES[group](1, 7)
    assert {wait.key for wait in waits.WAITS if wait.group == group} == set(found)
    assert all(len(values) == 1 and values[0] > 0 for values in found.values())
