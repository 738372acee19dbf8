"""`codexmem lab kb`: with a running server and without one, in both languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests._support.documents import written
from tests._support.postgres import PostgresServer
from tests.cli.conftest import Call
from tests.cli.test_memory import way

__all__ = ["way"]


def told(call: Call, *args: str) -> Any:
    said = call("lab", "kb", *args, "--json")
    assert (said.code, said.err) == (0, ""), said
    return said.json


@pytest.mark.sqlite
def test_the_sample_is_added_found_and_removed(call: Call, way: str) -> None:
    made = call("lab", "kb", "add", "--sample")
    assert made.code == 0, made
    assert made.out.splitlines() == [
        "kb_principles: 6 added, 0 changed, 0 removed, 0 unchanged; 11 pieces written",
        "kb_modulation: 6 added, 0 changed, 0 removed, 0 unchanged; 11 pieces written",
    ]
    undo = made.err.splitlines()[-1]
    assert undo.startswith("to undo: codexmem undo delta_")
    again = told(call, "add", "--sample")["folders"]
    assert [(each["unchanged"], each["delta"]) for each in again] == [(6, None), (6, None)]
    listed = call("lab", "kb", "ls").out.split()
    assert listed == ["NAMESPACE", "DOCUMENTS", "PIECES", "kb_modulation", "6", "11", "kb_principles", "6", "11"]
    documents = told(call, "ls", "kb_principles")["documents"]
    assert {each["folder"] for each in documents} == {"sample:principles"}
    assert call("lab", "kb", "ls", "kb_principles", "--limit", "2").err.startswith("there are more")
    (best,) = told(call, "search", "kb_modulation", "苯甲酸", "二氧化钛", "--top", "1")["results"]
    assert best["document"] == "zh-fen-zi-tiao-kong.md"
    shown = call("lab", "kb", "search", "kb_principles", "anatase", "rutile", "--mode", "words", "--top", "1").out
    assert shown.startswith(f"kb:kb_principles__{'chunk-'}")
    assert "TiO2 as a photocatalyst" in shown
    assert call("lab", "kb", "search", "kb_principles", "zebra").err == "nothing found\n"
    # The modulation documents go by an undo, the principles by name and by folder.
    taken = call("undo", undo.split()[-1], "--yes")
    assert taken.code == 0, taken
    assert call("lab", "kb", "rm", "kb_principles", "heterojunctions.md").code == 2  # nobody can be asked
    assert told(call, "rm", "kb_principles", "heterojunctions.md", "--yes")["removed"] == 1
    gone = call("lab", "kb", "delete", "kb_principles", "--folder", "sample:principles", "--yes")
    assert (gone.code, gone.err.splitlines()[0]) == (0, "5 documents removed")
    assert call("lab", "kb", "ls").err.startswith("no documents yet")
    assert call("lab", "kb", "rm", "kb_principles", "--yes").err == "no such document\n"


@pytest.mark.sqlite
@pytest.mark.slow
def test_folders_and_what_is_left_out(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "文献", 铜="# 铜\n\n铜位点。")
    (folder / "data.csv").write_text("1")
    made = call("lab", "kb", "add", "kb_own", str(folder))
    assert (made.code, made.out) == (0, "kb_own: 1 added, 0 changed, 0 removed, 0 unchanged; 1 piece written\n")
    assert made.err.splitlines()[0] == "skipped: data.csv: it is not Markdown, text or PDF"
    (report,) = told(call, "add", "kb_own", str(folder))["folders"]
    assert (report["unchanged"], report["left_documents"][0]["document"]) == (1, "data.csv")
    monkeypatch.setenv("CODEXMEM_KB_MODULATION_DIR", str(folder))
    (report,) = told(call, "add")["folders"]
    assert (report["namespace"], report["added"], report["folder"]) == ("kb_modulation", 1, str(folder))
    found = told(call, "search", "kb_own", "铜")["results"]
    assert [each["source"] for each in found] == ["铜.md"]
    (folder / "empty").mkdir()
    assert call("lab", "kb", "add", "kb_empty", str(folder / "empty")).err.startswith("no readable documents in ")
    chinese = call("lab", "kb", "add", "kb_own", str(folder), "--lang", "zh")
    assert chinese.out == "kb_own：新增 0，更改 0，移除 0，未变 1；写入 0 个片段\n"


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "args,code,problem",
    [
        (["add"], 2, "no folder given, and none is configured"),
        (["add", "kb_x"], 2, "FOLDER is missing"),
        (["add", "kb_x", "--sample"], 2, "the sample has documents for kb_principles"),
        (["add", "bad name", "/tmp"], 2, "names no namespace"),
        (["add", "kb_x", "/proc/none"], 3, "cannot be read"),
        (["search", "kb_x"], 2, "missing"),
        (["search", "kb_x", "copper", "--mode", "naive"], 2, "--mode"),
    ],
)
def test_what_is_wrong_is_said(call: Call, args: list[str], code: int, problem: str) -> None:
    said = call("lab", "kb", *args)
    assert (said.code, problem in said.err) == (code, True), said
    assert call("lab", "kb", *args, "--json").json["error"]["message"]


@pytest.mark.sqlite
def test_without_a_store_nothing_is_made(call: Call, data_dir: Path) -> None:
    assert call("lab", "kb", "ls").code == 3
    assert not (data_dir / "codexmem.db").exists()


@pytest.mark.postgresql
def test_on_postgresql_a_tenant_is_named(call: Call, postgres_server: PostgresServer) -> None:

    url = postgres_server.create_store("codexmem_lab_kb")
    where = ("--database-url", url)
    assert call("lab", "kb", "add", "--sample", *where).code == 2
    assert call("lab", "kb", "add", "--sample", "--tenant", "one", *where).code == 0
    assert told(call, "ls", "--tenant", "one", *where)["namespaces"]
    assert told(call, "ls", "--tenant", "two", *where)["namespaces"] == []
