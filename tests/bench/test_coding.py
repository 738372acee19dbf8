"""Starts and questions of coding sessions are judged by what their texts hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import coding
from bench.coding_log import HELD_OUT, PROJECTS, Needs

QUESTION = {"id": "q", "project": "agentv", "split": "held-out", "lang": "en", "category": "howto", "source": "event",
            "question": "How?", "answers": ["make check"]}  # fmt: skip


def result(text: str, score: float = 0.5) -> dict[str, Any]:
    return {"content": text, "score": score}


def judged(
    *texts: str, tool: str = "", start: str = "", prompt: str = "", stored: bool = True, **more: Any
) -> coding.QuestionRow:
    return coding.judge_question(
        {**QUESTION, **more}, [result(text) for text in texts], tool, start, prompt, stored=stored
    )


def test_a_start_names_what_is_needed() -> None:
    need = Needs(7, "s", ("src/a.py", "src/b.py"), ("make check", "go test ./x"), ("TypeError: 'x' is not a list",))
    row = coding.judge_start(need, "p", "files src/a.py\nMake check\n`TypeError: 'x'  is not a list` was met", set())
    assert (row.files, row.commands, row.errors) == ((1, 2), (1, 2), (1, 1))


def test_an_error_is_told_whatever_its_numbers_are() -> None:
    need = Needs(7, "s", (), (), ("Timeout of 10000ms exceeded", "Timeout of the pool exceeded"))
    assert coding.judge_start(need, "p", "- Timeout of 30000ms exceeded.", set()).errors == (1, 2)


def test_an_answer_among_ten_and_within_the_tokens() -> None:
    row = judged("nothing", "run `make check`")
    assert (row.answer_5, row.answer_10, row.within) == (True, True, True)
    row = judged("x" * 4 * coding.READ, "run make check")
    assert (row.answer_10, row.within) == (True, False)
    assert (judged(tool="#S1:\n> run make check").tool, judged(tool="x" * 4 * coding.READ + "make check").tool) == (
        True,
        False,
    )
    row = judged(*["nothing"] * 5, "run make check")
    assert (row.answer_5, row.answer_10) == (False, True)


@pytest.mark.parametrize(
    "stored,found,handed,in_time,expected",
    [
        (True, True, True, True, "told"),
        (True, True, True, False, "drowned"),
        (True, True, False, False, "not handed over"),
        (True, False, False, False, "not found"),
        (False, False, False, False, "not stored"),
    ],
)
def test_every_answer_is_told_or_lost_somewhere(
    stored: bool, found: bool, handed: bool, in_time: bool, expected: str
) -> None:
    assert coding.outcome(stored=stored, found=found, handed=handed, in_time=in_time) == expected


def test_what_stands_too_far_behind_is_drowned() -> None:
    assert judged(prompt="run make check").outcome == "told"
    assert judged(prompt="x" * 4 * coding.PROMPT + " run make check").outcome == "drowned"
    assert judged(start="x" * 4 * coding.PROMPT + " run make check").outcome == "told"


def test_the_new_answer_before_the_old_one() -> None:
    old: dict[str, Any] = {"superseded_answers": ["make test"]}
    assert judged("make test", "make check", **old).new_first is False
    assert judged("make check", "make test", **old).new_first is True
    assert judged("make check, no longer make test", "make test", **old).new_first is True
    assert judged("nothing", **old).new_first is False
    assert judged("make check").new_first is None


def test_variables_are_looked_for_in_the_memories_of_their_session() -> None:
    items = [{"k": "tool", "kind": "shell", "command": "DB_URL=x REDIS_URL=y pytest"}]
    history = [{"id": "a", "items": items}, {"id": "b", "items": items}]
    assert coding.variables_kept(history, {"a": "ran db_url=x pytest", "c": "REDIS_URL=y"}) == (1, 4)


def test_figures_tell_held_out_projects_apart() -> None:
    need = Needs(7, "s", ("src/a.py",), (), ())
    starts = tuple(
        coding.judge_start(need, name, text, set()) for name, text in (("agentv", "src/a.py"), ("minsky", ""))
    )
    absent = coding.judge_question({**QUESTION, "answers": []}, [result("x", 0.4)], "", "", "", stored=False)
    rows = (judged("make check"), judged("x", split="dev", source="user", category="fact"), absent)
    made = coding.figures([coding.ProjectRows("agentv", 1, starts, rows, (1, 4))])
    assert (made["start_files"], made["start_files_all"]) == (1.0, 0.5)
    assert "start_commands" not in made
    assert (made["answer_10"], made["answer_10_held_out"], made["answer_10_howto"]) == (0.5, 1.0, 1.0)
    assert (made["answer_10_event"], made["answer_10_user"]) == (1.0, 0.0)
    assert (made["absent_strong"], made["variables"], made["stored"]) == (1.0, 0.25, 1.0)


def test_scores_are_compared_with_the_share_of_answers() -> None:
    assert coding.calibration_error([]) is None
    assert coding.calibration_error([(0.5, True), (0.5, False)]) == 0.0
    assert coding.calibration_error([(0.1, False), (0.1, False), (1.0, True), (0.8, False)]) == pytest.approx(0.25)
    rows = (judged("run make check"), judged("x", "y", "z"))
    made = coding.figures([coding.ProjectRows("agentv", 1, (), rows, (1, 4))])
    assert made["calibration_error"] == made["calibration_error_held_out"] == 0.25
    assert "calibration_error_dev" not in made


def test_a_sample_is_of_the_smallest_and_a_whole_run_has_all(tmp_path: Path) -> None:
    folder = tmp_path / "coding-sessions"
    folder.mkdir()
    for size, name in enumerate(PROJECTS):
        (folder / f"{name}.jsonl.gz").write_bytes(b"x" * size)
    assert coding.chosen(tmp_path, "all", None, None) == [*reversed(PROJECTS)]
    assert coding.chosen(tmp_path, "held-out", None, 2) == [HELD_OUT[1], HELD_OUT[0]]
    assert coding.chosen(tmp_path, "dev", ["minsky", "agentv"], None) == ["minsky"]


def test_what_is_shown_has_every_figure_once_and_every_miss() -> None:
    need = Needs(7, "s", ("src/a.py",), (), ())
    rows = (
        judged("make check", tool="make check", prompt="make check"),
        judged("make check", question="How is it checked?"),
    )
    found = [coding.ProjectRows("agentv", 1, (coding.judge_start(need, "agentv", "src/a.py", set()),), rows, (1, 4))]
    text = coding.shown(found, coding.figures(found))
    starts, asked, rest = text.split("\n\n")
    assert starts.splitlines()[1].split() == ["held-out", "1", "100.0", "2"]
    assert asked.splitlines()[1].split() == ["all", "2", "100.0", "100.0", "50.0", "50.0", "0", "0", "1", "0"]
    assert "answer 5" in rest
    assert "answer 10" not in rest
    assert coding.misses(found).splitlines() == [
        "    1 not handed over: ",
        "  not handed over, : q (howto, event) How is it checked?",
    ]


@pytest.mark.parametrize(
    "row, results, further, why",
    [
        (judged(stored=False), 0, False, "not stored"),
        (judged(), 0, False, "no result passes the floor"),
        (judged("x"), 10, False, "not among 30"),
        (judged("x"), 10, True, "behind the tenth"),
        (judged("make check"), 10, False, "nothing passes the floor of prompts"),
        (judged("make check", prompt="make tests"), 10, False, "something else told"),
        (judged("make check", prompt="make check"), 10, False, ""),
    ],
)
def test_every_loss_has_its_cause(row: coding.QuestionRow, results: int, further: bool, why: str) -> None:
    assert coding.cause(row, results=results, further=further) == why
