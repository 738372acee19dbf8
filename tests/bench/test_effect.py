"""The page of what arrives follows from the history."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench import coding, effect, month, noise
from bench.effect_goals import CHINESE, GOALS

SVG = "{http://www.w3.org/2000/svg}"


def row(date: str, embedder: str = "none", **figures: float) -> dict[str, Any]:
    return {"bench": "coding", "date": date, "version": "0.1.0", "embedder": embedder, "seconds": 60,
            "figures": figures}  # fmt: skip


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in ("effect.md", "effect.zh.md"):
        (tmp_path / name).write_text("above\n<!-- effect: begin -->\nold\n<!-- effect: end -->\nbelow\n")
    return tmp_path


def keep(docs: Path, *rows: dict[str, Any]) -> None:
    (docs / effect.HISTORY).write_text("".join(json.dumps(each) + "\n" for each in rows))


def options(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(
        **{"embedder": "none", "write": False, "json": True, "sample": None, "data": None, "stores": None} | given
    )


def test_the_newest_run_of_each_embedder_stands_beside_the_goal(docs: Path) -> None:
    keep(
        docs, row("2026-02-01", answer_10=0.9), row("2026-01-01", answer_10=0.5), row("2026-01-02", "local", stored=0.5)
    )
    made = effect.documents(docs)
    page = made[docs / "effect.md"]
    assert page.startswith("above\n")
    assert page.endswith("below\n")
    assert "| answer in the first ten results | **90.0 %** | – | ≥ 87 % |" in page
    assert "| answers still in the store after extraction | – | 50.0 % | ≥ 98 % |" in page
    assert "| 2026-01-01 | 0.1.0 | coding | none | 0 / 1 | 60 |" in page
    assert "| 答案在前十条结果中 | **90.0 %** |" in made[docs / "effect.zh.md"]


def test_where_answers_end_stands_below(docs: Path) -> None:
    keep(docs, row("2026-01-01", stored=0.5) | {"detail": {"held-out": {"told": 3, "drowned": 1}, "zh": {"told": 2}}})
    made = effect.documents(docs)
    page = made[docs / "effect.md"]
    assert "Where answers end, `none`:\n\n|  | told | drowned |\n| --- | ---: | ---: |\n| held-out | 3 | 1 |\n" in page
    assert "| 中文 | 2 |  |" in made[docs / "effect.zh.md"]


def test_every_name_of_a_detail_has_a_chinese_one() -> None:
    named = {*effect.DETAILS.values(), *noise.STRANGERS, noise.SAME_TRADE, noise.ANSWERABLE, noise.UNASKED, noise.ASKED,
             "told", *coding.LOST, *month.TOLD, *month.LOST}  # fmt: skip
    assert named <= CHINESE.keys()


def test_the_picture_has_the_runs_and_the_goal(docs: Path) -> None:
    keep(
        docs,
        row("2026-01-01", answer_10=0.5),
        row("2026-02-01", answer_10=0.9),
        row("2026-02-01", "local", answer_10=0.4),
    )
    picture = ElementTree.fromstring(effect.documents(docs)[docs / effect.PICTURE])
    lines = [each.attrib["points"].split() for each in picture.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [2, 1]
    first, second = (float(point.split(",")[1]) for point in lines[0])
    assert second < first  # better is higher
    assert sum("stroke-dasharray" in each.attrib for each in picture.iter(f"{SVG}path")) == 1


def test_a_history_of_nothing(docs: Path) -> None:
    assert effect.NONE_YET["en"] in effect.documents(docs)[docs / "effect.md"]


def test_a_page_without_marks_is_refused(docs: Path) -> None:
    (docs / "effect.md").write_text("nothing here")
    with pytest.raises(SystemExit, match="no place for the tables"):
        effect.documents(docs)


def test_a_run_is_kept_only_if_that_is_asked_for(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {"figures": {"answer_10": 0.5, "unheard_of": 1.0}}
    assert effect.finish("coding", found, "", options(), 12.3, docs) == 1
    assert not (docs / effect.HISTORY).exists()
    assert effect.finish("coding", found, "", options(write=True), 12.3, docs) == 1
    assert [each["figures"]["answer_10"] for each in effect.history(docs)] == [0.5]
    assert '"kept": false' in capsys.readouterr().out


def test_reaching_every_goal_is_success(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert effect.finish("coding", {"figures": {"answer_10": 0.87}}, "x", options(json=False), 1, docs) == 0
    assert effect.finish("coding", {"figures": {"answer_10": 0.86}}, "x", options(json=False), 1, docs) == 1
    assert "goal missed: answer in the first ten results: 86.0 %, wanted ≥ 87 %" in capsys.readouterr().out


def test_the_sets_must_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(effect.DATA, raising=False)
    with pytest.raises(SystemExit, match="give --data DIR"):
        effect.data_of(options())
    monkeypatch.setenv(effect.DATA, str(tmp_path))
    assert effect.data_of(options()) == tmp_path
    with pytest.raises(SystemExit, match="a part is not written"):
        effect.data_of(options(write=True, sample=1))


def test_a_figure_has_one_goal() -> None:
    named = [(goal.bench, goal.figure) for goal in GOALS]
    assert len(set(named)) == len(named)
