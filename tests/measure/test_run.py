"""Passages are written and questions asked as every endpoint does, and the outcome is judged by split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.model.memory import Kind, Origin
from codexmem.kernel.model.search import Unit
from codexmem.measure import report, run
from codexmem.measure.corpus import Split, keep
from codexmem.measure.metrics import QuestionResult
from codexmem.measure.suites.table import BY_NAME
from tests.measure import sets
from tests.measure.plain_store import PlainStore


def measured(
    name: str, folder: Path, split: Split = Split.ALL
) -> tuple[PlainStore, dict[str, list[QuestionResult]], dict[str, dict[str, Any]]]:
    sets.everything(folder)
    suite, store = BY_NAME[name], PlainStore()
    corpora = keep(suite.read(folder), split, None)
    written = run.write(store, name, corpora, lambda *_: None)
    outcomes = {
        task.name: run.ask(store, name, corpora, task, written, recipe="default", progress=lambda *_: None)
        for task in suite.tasks
    }
    return store, outcomes, {task.name: report.judged(task, outcomes[task.name]) for task in suite.tasks}


def test_every_passage_becomes_a_prompt_of_its_project_and_session(tmp_path: Path) -> None:
    store, _, _ = measured("locomo", tmp_path)
    assert len(store.memories) == 20
    assert store.caught_up_at == 20
    assert store.transactions == 1
    second = store.memories[1]
    assert (second.kind, second.origin, second.state.project) == (Kind.PROMPT, Origin.HUMAN, "locomo/talk-0")
    assert second.session == "locomo/talk-0/1"
    assert second.state.attrs.to_json() == {"prompt_number": 2, "speaker": "Otto"}
    assert store.by == {run.BY}


def test_questions_are_asked_in_their_project_at_their_time(tmp_path: Path) -> None:
    store, outcomes, _ = measured("longmemeval", tmp_path)
    assert {search.filter.project for search in store.searches} == {"longmemeval/pool"}
    assert {(search.unit, search.limit) for search in store.searches} == {(Unit.SESSION, 20)}
    assert all(search.asked_ms for search in store.searches)
    assert [each.question.absent for each in outcomes["session"]] == [False, True, False, False, False]


def test_questions_without_evidence_are_not_asked(tmp_path: Path) -> None:
    _, outcomes, _ = measured("beam", tmp_path)
    assert {each.question.category for each in outcomes["message"]} == {
        "abstention", "knowledge_update", "event_ordering",
    }  # fmt: skip


def test_results_are_judged_by_turn_and_by_session(tmp_path: Path) -> None:
    _, outcomes, judged = measured("locomo", tmp_path)
    roof = next(each for each in outcomes["turn"] if each.question.text.startswith("When did Otto"))
    assert (roof.ranked[0], roof.gold) == ("D1:2", frozenset({"D1:2"}))
    roof = next(each for each in outcomes["session"] if each.question.text.startswith("When did Otto"))
    assert (roof.ranked[0], roof.gold) == ("1", frozenset({"1"}))
    assert roof.tokens > 0
    assert judged["turn"]["headline"] == {"split": "held-out", "group": "categories 1-4", "figure": "mean@10"}
    splits = judged["turn"]["splits"]
    assert {name: inside["groups"]["categories 1-4"]["n"] for name, inside in splits.items()} == {
        "held-out": 4, "tuning": 12, "all": 16,
    }  # fmt: skip
    assert splits["held-out"]["categories"]["adversarial"]["n"] == 1
    # Published session figures are about everything.
    assert report.headline(judged["session"])[:2] == ("all", "categories 1-5")
    assert report.headline(judged["session"])[2]["n"] == 20


def test_scores_are_judged_on_answerable_held_out_questions(tmp_path: Path) -> None:
    _, _, judged = measured("locomo", tmp_path)
    for task in judged.values():
        assert (task["calibration"]["split"], task["calibration"]["questions"]) == ("held-out", 4)
        assert (task["abstention"]["answerable"], task["abstention"]["absent"]) == (4, 1)


@pytest.mark.parametrize("split", [Split.TUNING, Split.HELD_OUT])
def test_one_split_alone_is_reported_as_such(split: Split, tmp_path: Path) -> None:
    _, _, judged = measured("locomo", tmp_path, split)
    for task in judged.values():
        assert list(task["splits"]) == [split.value]
        assert report.headline(task)[0] == split.value
        assert task["calibration"]["split"] == split.value


def test_a_suite_of_which_nothing_is_asked_is_reported_empty(tmp_path: Path) -> None:
    _, _, judged = measured("probe", tmp_path, Split.TUNING)
    assert judged["note"]["splits"] == {}
    assert report.headline(judged["note"])[2] == {"n": 0}


def test_history_grows_by_one_line(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for number in range(2):
        report.append(path, {"number": number, "text": "测量"})
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()] == [0, 1]


def test_conditions_name_all_that_figures_depend_on() -> None:
    conditions = report.Conditions("1.0", "3.11", "sqlite", "3.51", "none", "default", Split.ALL, None)
    assert conditions.to_json(1_780_000_000_000) == {
        "format": 1, "date": "2026-05-28T20:26:40+00:00", "version": "1.0", "python": "3.11", "engine": "sqlite",
        "engine_version": "3.51", "embedder": "none", "recipe": "default", "split": "all", "limit": None,
    }  # fmt: skip
