"""`codexmem bench retrieval`: what it refuses, prints and leaves behind, with a store of plain words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from codexmem.operations.cli import bench
from tests.cli.conftest import Call
from tests.measure.plain_store import PlainStore


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Every store that is opened is plain; returns how each was asked for."""
    opened: list[dict[str, Any]] = []

    @contextmanager
    def open_plain(database_url: str | None, embedder: str, kept: Path | None) -> Iterator[PlainStore]:
        opened.append({"database_url": database_url, "embedder": embedder})
        store = PlainStore()
        engine = SimpleNamespace(name="plain", version="0")
        store.core = SimpleNamespace(db=SimpleNamespace(engine=engine))  # type: ignore[attr-defined]
        yield store

    monkeypatch.setattr(bench, "opened", open_plain)
    return opened


def test_the_document(call: Call, folder: Path, plain: list[dict[str, Any]]) -> None:
    said = call("bench", "retrieval", "--suite", "locomo", "--data", str(folder), "--json")
    assert (said.code, said.err) == (0, "")
    assert {name: said.json[name] for name in ("engine", "embedder", "recipe", "split", "limit", "format")} == {
        "engine": "plain", "embedder": "none", "recipe": "default", "split": "all", "limit": None, "format": 1,
    }  # fmt: skip
    suite = said.json["suites"]["locomo"]
    assert (suite["projects"], suite["memories"], len(suite["data"])) == (4, 20, 16)
    assert list(suite["tasks"]) == ["turn", "session"]
    assert suite["tasks"]["turn"]["splits"]["held-out"]["groups"]["categories 1-4"]["n"] == 4


def test_each_suite_has_a_store_of_its_own(call: Call, folder: Path, plain: list[dict[str, Any]]) -> None:
    said = call("bench", "retrieval", "--data", str(folder), "--json")
    assert list(said.json["suites"]) == ["locomo", "beam", "longmemeval", "memdaily", "probe"]
    assert len(plain) == 5


def test_the_table_in_both_languages(call: Call, folder: Path, plain: list[dict[str, Any]]) -> None:
    english = call("bench", "retrieval", "--suite", "locomo", "--data", str(folder))
    lines = english.out.splitlines()
    assert lines[0].startswith("codexmem ")
    assert "embedder none · recipe default" in lines[0]
    assert any(line.startswith("locomo turn, categories 1-4, held-out") for line in lines)
    assert any(line.startswith("    adversarial") for line in lines)
    assert "locomo session: calibration error" in english.out
    assert english.err == ""
    chinese = call("bench", "retrieval", "--suite", "probe", "--data", str(folder), "--lang", "zh")
    assert "问题集" in chinese.out
    assert "校准误差" in chinese.out


def test_answers_without_the_embedder_are_told(call: Call, folder: Path, plain: list[dict[str, Any]]) -> None:
    args = ("bench", "retrieval", "--suite", "probe", "--data", str(folder), "--embedder", "local")
    assert "2 questions were searched by words only" in call(*args).out
    assert call(*args, "--json").json["suites"]["probe"]["tasks"]["note"]["modes"] == {"lexical-only": 2}


def test_out_appends_one_line_for_each_run(
    call: Call, folder: Path, plain: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "history.jsonl"
    for _ in range(2):
        said = call("bench", "retrieval", "--suite", "probe", "--data", str(folder), "--out", str(path))
        assert said.code == 0
        assert f"figures appended to {path}" in said.err
    documents = [json.loads(line) for line in path.read_text().splitlines()]
    assert [list(document["suites"]) for document in documents] == [["probe"], ["probe"]]


def test_limit_and_split(call: Call, folder: Path, plain: list[dict[str, Any]]) -> None:
    args = ("bench", "retrieval", "--suite", "memdaily", "--data", str(folder), "--json")
    held = call(*args, "--split", "held-out").json["suites"]["memdaily"]
    assert (held["projects"], list(held["tasks"]["message"]["splits"])) == (2, ["held-out"])
    few = call(*args, "--limit", "1").json
    assert (few["limit"], few["suites"]["memdaily"]["projects"]) == (1, 1)


def test_what_is_refused(call: Call, folder: Path, tmp_path: Path) -> None:
    args = ("bench", "retrieval", "--suite", "locomo")
    data = ("--data", str(folder))
    assert call(*args).code == 2
    assert call(*args, "--data", str(tmp_path / "nowhere")).code == 3
    assert call("bench", "retrieval", "--data", str(tmp_path / "nowhere")).code == 3
    assert call("bench", "retrieval", "--suite", "trivia", *data).code == 2
    assert call(*args, *data, "--limit", "0").code == 2
    assert call(*args, *data, "--engine", "postgresql").code == 2
    assert call(*args, *data, "--database-url", "postgresql://db/mem").code == 2
    assert call(*args, *data, "--engine", "postgresql", "--database-url", "sqlite:///x.db").code == 2
    assert call(*args, *data, "--out", str(tmp_path / "no" / "such" / "file")).code == 2


def test_a_broken_set_is_told_in_chinese(call: Call, folder: Path, plain: list[dict[str, Any]]) -> None:
    (folder / "locomo/locomo10.json").write_text("[1]")
    said = call("bench", "retrieval", "--suite", "locomo", "--data", str(folder), "--lang", "zh")
    assert said.code == 2
    assert "不符合 locomo 的格式" in said.err


def test_the_users_own_database_is_never_used(
    call: Call, folder: Path, plain: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEXMEM_DATABASE_URL", "postgresql://db/mem")
    assert call("bench", "retrieval", "--suite", "probe", "--data", str(folder)).code == 0
    assert plain == [{"database_url": None, "embedder": "none"}]
