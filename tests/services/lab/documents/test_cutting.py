"""Pieces of documents: about 1,200 characters, at the ends of sentences, nothing lost, the same every time."""

from __future__ import annotations

import itertools
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from codexmem.lab.library_model import chunk_id
from codexmem.lab.service.documents.texts import OVERLAP, SIZE, Section, _sentences, front_matter, markdown, pieces_of

LETTERS = st.text(st.sampled_from("ab 1.!?\n。；！铜钛\u3000#-"), max_size=4_000)


def letters(text: str) -> str:
    return re.sub(r"\s+", "", text)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.lists(LETTERS, max_size=4))
def test_nothing_is_lost_and_no_piece_is_too_long(texts: list[str]) -> None:
    sections = [Section((f"h{number}",), text) for number, text in enumerate(texts)]
    pieces = pieces_of("a.md", "A", sections)
    assert pieces == pieces_of("a.md", "A", sections)
    assert [piece.place for piece in pieces] == list(range(1, len(pieces) + 1))
    assert len({piece.chunk_id for piece in pieces}) == len(pieces)
    assert all(0 < len(piece.content) <= SIZE and piece.content == piece.content.strip() for piece in pieces)
    said = [letters(piece.content) for piece in pieces]
    for sentence in {letters(each) for text in texts for each in _sentences(text.strip())}:
        assert any(sentence in each for each in said)
    assert sum(len(letters(piece.content)) for piece in pieces) <= 2 * sum(len(letters(text)) for text in texts)


def test_sentences_stay_whole_and_the_end_of_one_piece_begins_the_next() -> None:
    sentences = [f"Sentence {number} speaks of 1.5 eV and of copper sites." for number in range(80)]
    pieces = pieces_of("a.txt", "A", [Section((), " ".join(sentences))])
    assert len(pieces) > 3
    for piece in pieces:
        assert piece.content.startswith("Sentence ")
        assert piece.content.endswith("sites.")
        assert SIZE - 200 < len(piece.content) <= SIZE or piece is pieces[-1]
    for one, two in itertools.pairwise(pieces):
        repeated = two.content.split(". ")[0]
        assert repeated in one.content[-OVERLAP - 60 :]
    assert all(any(sentence in piece.content for piece in pieces) for sentence in sentences)


def test_chinese_sentences_are_cut_at_their_ends() -> None:
    text = "".join(f"第{number}句：铜位点有利于碳碳偶联；吸附太强则毒化表面。" for number in range(120))
    pieces = pieces_of("中文.md", "铜", [Section(("一",), text)])
    assert len(pieces) > 2
    assert all(piece.content[-1] in "。；" for piece in pieces)
    assert all(piece.content.startswith(("第", "吸附")) for piece in pieces)


def test_a_text_without_any_end_is_cut_between_words_or_anywhere() -> None:
    endless = "".join(f"{number:04d}" for number in range(750))
    assert [len(piece.content) for piece in pieces_of("a", "", [Section((), endless)])] == [1200, 1200, 600]
    words = pieces_of("a", "", [Section((), "word " * 600)])
    assert all(piece.content.startswith("word") and piece.content.endswith("word") for piece in words)


def test_headings_are_kept_as_a_path_and_small_sections_share_a_piece() -> None:
    text = "# Copper\n\nIntro.\n\n## Sites\n\nOne.\n\n```\n# no heading\n```\n\n## Ligands\n\n" + "Long text. " * 120
    text += "\n\nUnderlined\n==========\n\n" + "More text. " * 100
    pieces = pieces_of("cu.md", "Copper", list(markdown(text)))
    assert pieces[0].title == "Copper › Ligands"
    assert "# no heading" in pieces[0].content
    assert pieces[-1].title == "Copper › Underlined"
    assert [piece for piece in pieces if "Ligands" in piece.title]
    assert not [piece for piece in pieces if "no heading" in piece.title]


def test_the_name_of_a_piece_says_document_and_text() -> None:
    (one,) = pieces_of("a.md", "A", [Section((), "Copper.")])
    (moved,) = pieces_of("b.md", "A", [Section((), "Copper.")])
    assert one.chunk_id == chunk_id("a.md", "Copper.") != moved.chunk_id
    assert re.fullmatch(r"chunk-[0-9a-f]{32}", one.chunk_id)
    twice = pieces_of("a.md", "A", [Section(("x",), "y" * 700), Section(("z",), "y" * 700)])
    assert len(twice) == 1


def test_front_matter() -> None:
    fields, rest = front_matter('---\ntitle: "Copper: a note"\nSource: 10.1000/xyz\n- list\n---\n# Text\n')
    assert (fields, rest) == ({"title": "Copper: a note", "source": "10.1000/xyz"}, "# Text\n")
    for text in ("---\nnever: ended\n", "# no\n---\n", ""):
        assert front_matter(text) == ({}, text)
