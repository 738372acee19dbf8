"""Folders of documents: what is read, what is left out and why, and what no folder can make us do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.memory import MAX_LABEL
from codexmem.lab.service.documents import Document, Folder, Same, Unread, document, reading
from codexmem.lab.service.documents.document import Met


def read(path: Path, known: dict[str, str] | None = None) -> list[Met]:
    return list(Folder(path).documents(known or {}, lambda: None))


def reasons(met: list[Met]) -> dict[str, str]:
    return {each.name: each.reason for each in met if isinstance(each, Unread)}


def test_markdown_text_and_their_sources(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "b.md").write_text("---\nsource: 10.1000/abc\n---\n# 铜\n\n铜位点。", encoding="utf-8")
    (tmp_path / "deep" / "er" / "a.TXT").write_text("Plain text.\r\n\r\nSecond.\x07", encoding="utf-8")
    (tmp_path / ".hidden.md").write_text("# hidden")
    (tmp_path / "table.csv").write_text("1,2")
    found = read(tmp_path)
    assert reasons(found) == {"table.csv": "it is not Markdown, text or PDF"}
    copper, plain = (each for each in found if isinstance(each, Document))
    assert (copper.name, copper.source, copper.pieces[0].title) == ("b.md", "10.1000/abc", "铜")
    assert (plain.name, plain.source) == ("deep/er/a.TXT", "a.TXT")
    assert plain.pieces[0].content == "Plain text.\n\nSecond."
    again = read(tmp_path, {copper.name: copper.digest, plain.name: "another"})
    assert [type(each) for each in again] == [Unread, Same, Document]


def test_encodings(tmp_path: Path) -> None:
    text = "光催化还原二氧化碳，选择性取决于中间体的吸附。" * 5
    (tmp_path / "bom.md").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "gbk.txt").write_bytes(text.encode("gb18030"))
    (tmp_path / "utf16.txt").write_bytes(text.encode("utf-16"))
    (tmp_path / "torn.md").write_bytes(b"Copper \xff lets CO couple. " * 1 + b"x" * 500)
    (tmp_path / "latin.txt").write_bytes("é à ü ß ".encode("latin-1") * 50)
    (tmp_path / "binary.md").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "nul.txt").write_bytes(b"\0" * 5_000)
    (tmp_path / "empty.md").write_bytes(b" \n")
    found = read(tmp_path)
    good = {each.name: each.pieces[0].content for each in found if isinstance(each, Document)}
    assert good["bom.md"] == good["gbk.txt"] == good["utf16.txt"] == text
    assert good["torn.md"].startswith("Copper \ufffd lets")
    assert reasons(found) == {
        "latin.txt": "it is not text in UTF-8", "binary.md": "it is not text in UTF-8",
        "nul.txt": "it is not text in UTF-8", "empty.md": "it is empty",
    }  # fmt: skip


def test_links_pipes_and_circles_lead_nowhere(tmp_path: Path) -> None:
    inside, outside = tmp_path / "kb", tmp_path / "secret"
    inside.mkdir()
    outside.mkdir()
    (outside / "key.md").write_text("top secret")
    (inside / "out").symlink_to(outside)
    (inside / "file.md").symlink_to(outside / "key.md")
    (inside / "circle").symlink_to(inside)
    (inside / "gone.md").symlink_to("nowhere")
    os.mkfifo(inside / "pipe.md")
    (inside / "good.md").write_text("Good.")
    found = read(inside)
    assert [each.name for each in found if isinstance(each, Document)] == ["good.md"]
    told = reasons(found)
    assert {told[name] for name in ("out", "file.md", "circle", "gone.md")} == {
        "it is a link, and links are not followed"
    }
    assert told["pipe.md"] == "it is not a plain file"
    # The folder itself may be named by a link: its owner did that.
    (tmp_path / "named").symlink_to(inside)
    assert len(read(tmp_path / "named")) == len(found)


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codexmem.lab.service.documents.reading.MAX_TEXT_BYTES", 1 << 20)
    monkeypatch.setattr("codexmem.lab.service.documents.texts.MAX_CHARS", 10_000)
    with (tmp_path / "huge.md").open("wb") as sparse:
        sparse.truncate(1 << 40)
    (tmp_path / "long.md").write_text("x" * 10_001)
    locked = tmp_path / "locked.md"
    locked.write_text("x")
    locked.chmod(0)
    deep = tmp_path
    for _ in range(document.MAX_DEPTH + 2):
        deep = deep / "d"
    deep.mkdir(parents=True)
    told = reasons(read(tmp_path))
    assert told["huge.md"] == "it is larger than 1 MB"
    assert told["long.md"].startswith("it has more than 10,000 characters")
    assert "/".join("d" * document.MAX_DEPTH) in told
    if os.geteuid():
        assert told["locked.md"].startswith("it cannot be read")
    with pytest.raises(NotFound):
        read(tmp_path / "missing")
    with pytest.raises(NotFound):
        read(tmp_path / "long.md")


def test_names_that_no_store_holds(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path)
    for name in (b"broken-\xff.md", b"broken-\xfe.md", b"new\nline.md", "铜".encode() * 60 + b".md"):
        with open(os.path.join(raw, name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(b"Text.")
    long = tmp_path / ("a" * 200) / ("b" * 200)
    long.mkdir(parents=True)
    (long / "c.md").write_text("Text.")
    names = [each.name for each in read(tmp_path) if isinstance(each, Document)]
    assert len(set(names)) == 5
    assert all(len(name) <= MAX_LABEL and name.encode() for name in names)


def test_a_folder_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        (tmp_path / f"{number}.md").write_text(f"Text {number}.")
    monkeypatch.setattr(reading, "MAX_DOCUMENTS", 5)
    folder = Folder(tmp_path)
    assert len(list(folder.documents({}, lambda: None))) == 5
    assert folder.cut == "it holds more than 5 documents; the others were left"
    monkeypatch.setattr(reading, "MAX_DOCUMENTS", 50)
    monkeypatch.setattr(reading, "MAX_ENTRIES", 6)
    folder = Folder(tmp_path)
    assert len(list(folder.documents({}, lambda: None))) == 6
    assert folder.cut.startswith("it holds more than 6 files")


def test_a_file_that_looks_the_same_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("Text.")
    stamps: dict[str, tuple[tuple[int, ...], str, str]] = {}
    (tmp_path / "b.md").write_bytes(b"\0" * 100)
    first, second = Folder(tmp_path, stamps).documents({}, lambda: None)
    assert isinstance(first, Document)
    monkeypatch.setattr("codexmem.lab.service.documents.reading.plain_file", None)  # nothing can be opened
    assert list(Folder(tmp_path, stamps).documents({"a.md": first.digest}, lambda: None)) == [Same("a.md"), second]


def test_reading_stops_when_it_is_told_to(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("Text.")
    met: list[Met] = []

    def check() -> None:
        if len(met) == 2:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        met.extend(each for each in iter_into(met, Folder(tmp_path), check))
    assert len(met) == 2


def iter_into(met: list[Met], folder: Folder, check: object):  # type: ignore[no-untyped-def]
    for each in folder.documents({}, check):  # type: ignore[arg-type]
        met.append(each)
        yield from ()
