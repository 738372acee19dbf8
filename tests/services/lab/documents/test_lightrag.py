"""Working directories of LightRAG: chunks under their own ids, read as a stream, whatever is wrong with the file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from codexmem.lab.service.documents import Document, Folder, Same, Unread, lightrag
from codexmem.lab.service.documents.document import Met, UnreadError
from codexmem.lab.service.documents.lightrag import entries

NAMES = ["chunk-0f0e", "chunk-a1", "chunk-a2", "chunk-b1"]


def chunk(content: str, doc: str, place: int, **more: Any) -> dict[str, Any]:
    return {"tokens": 3, "content": content, "chunk_order_index": place, "full_doc_id": doc, **more}


def store(folder: Path, chunks: dict[str, Any], docs: dict[str, Any] | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / lightrag.CHUNKS).write_text(json.dumps(chunks, ensure_ascii=False, indent=2), encoding="utf-8")
    if docs is not None:
        (folder / lightrag.DOCUMENTS).write_text(json.dumps(docs), encoding="utf-8")
    (folder / "graph_chunk_entity_relation.graphml").write_text("<graphml/>")
    (folder / "readme.md").write_text("not a document")


def read(folder: Path, known: dict[str, str] | None = None) -> list[Met]:
    return list(Folder(folder).documents(known or {}, lambda: None))


CHUNKS = {
    "chunk-a2": chunk("第二段：铜。", "doc-a", 1, file_path="papers/铜.pdf"),
    "chunk-b1": chunk("Titanium.", "doc-b", 0, file_path="unknown_source"),
    "chunk-a1": chunk("First.", "doc-a", 0, file_path="papers/铜.pdf"),
    "chunk-c1": chunk("Zirconium.", "doc-c", 0),
    "no id / here": chunk("Odd.", "doc-c", 1),
    "chunk-empty": chunk(" ", "doc-c", 2),
    "chunk-odd": "not a chunk",
}


def test_chunks_are_taken_as_they_are(tmp_path: Path) -> None:
    store(tmp_path / "rag" / "kb", CHUNKS, {"doc-c": {"content": "…", "file_path": "zr.txt"}})
    found = {each.name: each for each in read(tmp_path) if isinstance(each, Document)}
    assert list(found) == ["rag/kb/doc-b", "rag/kb/doc-a", "rag/kb/doc-c"]
    copper = found["rag/kb/doc-a"]
    assert [(each.chunk_id, each.place, each.content) for each in copper.pieces] == [
        ("chunk-a1", 1, "First."), ("chunk-a2", 2, "第二段：铜。"),
    ]  # fmt: skip
    assert (copper.source, copper.pieces[0].title) == ("papers/铜.pdf", "铜.pdf")
    assert found["rag/kb/doc-b"].source == "doc-b"
    zirconium = found["rag/kb/doc-c"]
    assert (zirconium.source, zirconium.pieces[1].chunk_id[:6]) == ("zr.txt", "chunk-")
    again = read(tmp_path, {name: each.digest for name, each in found.items()})
    assert again == [Same("rag/kb/doc-a"), Same("rag/kb/doc-b"), Same("rag/kb/doc-c")]


def test_order_in_the_file_does_not_matter_and_a_change_does(tmp_path: Path) -> None:
    store(tmp_path, CHUNKS)
    before = {each.name: each.digest for each in read(tmp_path) if isinstance(each, Document)}
    store(tmp_path, dict(reversed(CHUNKS.items())))
    assert all(isinstance(each, Same) for each in read(tmp_path, before))
    store(tmp_path, CHUNKS | {"chunk-a1": chunk("Changed.", "doc-a", 0, file_path="papers/铜.pdf")})
    assert [each.name for each in read(tmp_path, before) if isinstance(each, Document)] == ["doc-a"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"a"', '{"a": {"content": "x"}', '{"a": {"content": "x"},', '{"a" 1}', '{1: 2}', "nonsense",
     '{"a": ' + "[" * 100_000],
)  # fmt: skip
def test_broken_files_are_told(tmp_path: Path, text: str) -> None:
    (tmp_path / lightrag.CHUNKS).write_text(text)
    (met,) = read(tmp_path)
    assert isinstance(met, Unread)
    assert (met.name, "JSON" in met.reason) == (lightrag.CHUNKS, True)


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    (tmp_path / lightrag.CHUNKS).write_bytes(b'{"a": {"content": "\xff\xfe"}}')
    (met,) = read(tmp_path)
    assert met == Unread(lightrag.CHUNKS, "it is not JSON in UTF-8")


@pytest.mark.parametrize("block", [1, 2, 7, 64, 1 << 18])
def test_a_stream_gives_what_the_whole_would(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightrag, "_BLOCK", block)
    value = {"键": {"a": [1, 2.5, -3e4, None, True], "b": '引号"\\\n\u2028'}, "": 12345, "n": {}, "last": "z"}
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=3), "{}", " {\n} "):
        assert dict(entries(io.BytesIO(text.encode()), lambda: None)) == json.loads(text)


def test_an_entry_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightrag, "MAX_ENTRY", 10_000)
    monkeypatch.setattr(lightrag, "_BLOCK", 1_000)
    with pytest.raises(UnreadError, match="more than 10,000 characters"):
        list(entries(io.BytesIO(b'{"a": "' + b"x" * 100_000), lambda: None))


def test_too_many_documents_and_mixed_ones_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = {f"chunk-{place}-{doc}": chunk("y" * 1_000, f"doc-{doc}", place) for place in range(2) for doc in range(30)}
    store(tmp_path, mixed)
    monkeypatch.setattr(lightrag, "_HELD", 10_000)
    told = [each.reason for each in read(tmp_path) if isinstance(each, Unread)]
    assert told == ["chunks of many documents are mixed; export it anew"]
    monkeypatch.setattr(lightrag, "MAX_DOCUMENTS", 5)
    (met,) = read(tmp_path)
    assert isinstance(met, Unread)
    assert "more than 5 documents" in met.reason
