"""PDF: pages and titles of good files, and bad files that cost their own process only."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from codexmem.lab.service.documents import Document, Folder, Unread, pdf
from tests._support.pdfs import built, encrypted
from tests._support.pdfs import pdf as made

pytestmark = pytest.mark.process  # a PDF is read by a program of its own


def only(folder: Path) -> Document | str:
    (met,) = Folder(folder).documents({}, lambda: None)
    if isinstance(met, Unread):
        return met.reason
    assert isinstance(met, Document)
    return met


def test_pages_become_sections(tmp_path: Path) -> None:
    long = "\n".join(f"Line {number} on copper and TiO2." for number in range(40))
    (tmp_path / "paper.pdf").write_bytes(made([long, "Second page on MOFs."], title="On copper"))
    found = only(tmp_path)
    assert isinstance(found, Document)
    assert (found.source, found.pieces[0].title) == ("paper.pdf", "On copper › p. 1")
    assert any("Second page on MOFs." in piece.content for piece in found.pieces)


def test_files_that_give_nothing_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(made(["", ""]))
    assert only(tmp_path) == pdf.PICTURES
    file.write_bytes(encrypted(made(["secret"]), "password"))
    assert only(tmp_path) == "it is encrypted; save it without a password"
    file.write_bytes(encrypted(made(["open to all"]), ""))
    assert isinstance(only(tmp_path), Document)
    for broken in (b"%PDF-1.4 nonsense", os.urandom(2_000), made(["x"])[:200]):
        file.write_bytes(broken)
        assert only(tmp_path) == "it is no PDF that can be read"
    monkeypatch.setattr(pdf, "MAX_PAGES", 3)
    file.write_bytes(made(["page"] * 4))
    assert "pages; split it" in str(only(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert only(tmp_path) == pdf.no_library()


def test_bombs_are_defused(tmp_path: Path) -> None:
    file = tmp_path / "bomb.pdf"
    file.write_bytes(built([b"BT /F1 11 Tf " + b"(boom) Tj " * 8_000_000]))
    assert file.stat().st_size < 2_000_000
    assert only(tmp_path) == "reading it takes more memory or time than we give it"
    file.write_bytes(built([b"BT (x) Tj ET"], kids="2 0 R"))  # pages that hold themselves
    assert isinstance(only(tmp_path), str)


def test_time_is_bounded_and_a_cancel_is_heard(tmp_path: Path) -> None:
    raw = made(["Line on copper."] * 1_500)
    with pytest.raises(Exception, match="takes longer than"):
        pdf.read(raw, lambda: None, seconds=0.05)
    asked = []

    def stop() -> None:
        asked.append(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pdf.read(raw, stop)
    assert asked == [1]
