"""Which text of a memory is searched: nothing a person wrote is left out, for any kind."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from codexmem.kernel.model.attrs import NoteAttrs, QaAttrs, SummaryAttrs
from codexmem.kernel.model.memory import ATTRS, Kind, Memory, Origin, State
from codexmem.kernel.search import text_of, tokens
from codexmem.kernel.store.index import IndexedTokens


def memory(kind: Kind, attrs: Any, **state: Any) -> Memory:
    return Memory(1, "id", kind, State(attrs=attrs, **{"content": "", **state}), 1, Origin.AGENT, 1, 1)


@pytest.mark.parametrize("kind", Kind)
def test_every_field_with_text_is_searched(kind: Kind) -> None:
    listed = text_of.FIELDS[kind]
    named = {*listed.name, *listed.labels, *listed.body}
    # Where it was imported from is a handle, blobs are ids of files, mentions are taken from the content, metadata is a
    # program's own, and what a summary says in its fields is its title and its content; what a turn did stands in its
    # notes. What the evidence does not bear must not be found, nor which model wrote it.
    told = {
        Kind.SUMMARY: {f.name for f in fields(SummaryAttrs)} - {"files_modified"},
        Kind.OBSERVATION: {"unproven", "author"},
        Kind.LESSON: {"runs", "extra"},  # handles, and what clients keep for themselves
        Kind.CHUNK: {"namespace", "chunk_id", "folder", "digest"},  # handles, not text
    }.get(kind, set())
    unsearched = {"imported", "mentions", "metadata", "blobs", *told}
    written = {f.name for f in fields(ATTRS[kind]) if "str" in str(f.type)} - unsearched
    assert named == written
    values = {name: (f"word{name}",) if "tuple" in str(field.type) else f"word{name}"
              for name in written for field in fields(ATTRS[kind]) if field.name == name}  # fmt: skip
    made = memory(kind, ATTRS[kind](**values), content="wordcontent", title="wordtitle")
    found = {*text_of.names(made), *text_of.labels(made), *text_of.body(made)}
    assert found == {f"word{name}" for name in (*written, "content", "title")}


def test_the_content_of_a_summary_says_what_its_fields_say() -> None:
    said: dict[str, Any] = {
        f.name: f"word{f.name}"
        for f in fields(SummaryAttrs)
        if "str" in str(f.type) and "tuple" not in str(f.type) and f.name != "imported"
    }
    assert set(SummaryAttrs(**said).text().split()) == {text for name, text in said.items() if name != "request"}


def test_head_and_body() -> None:
    made = memory(
        Kind.QA, QaAttrs(question="Which port?", phrasings=("What port",), tags=("net",), author="ada"),
        content="37877", title="Port", type="howto", uris=("project://port",),
    )  # fmt: skip
    words = text_of.words_of(made, tokens.words)
    assert set(tokens.words("Port Which port? What port net ada howto project://port")) == set(words.head)
    assert words.body == tuple(tokens.words("37877"))
    assert text_of.passages_of(made) == ["Port Which port? What port\n37877"]


def test_a_memory_that_says_nothing_has_no_words_and_no_passages() -> None:
    empty = memory(Kind.NOTE, NoteAttrs(), content=" ")
    assert text_of.words_of(empty, tokens.words) == IndexedTokens((), ())
    assert text_of.passages_of(empty) == []


def test_a_long_memory_has_several_passages_each_under_its_title() -> None:
    long = memory(Kind.NOTE, NoteAttrs(), content="Something is said here. " * 200, title="Title")
    cut = text_of.passages_of(long, size=500, limit=4)
    assert len(cut) == 4
    assert all(part.startswith("Title\n") for part in cut)
