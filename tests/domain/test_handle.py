"""Names of memories: every spelling, labels that are names, and what is none."""

from __future__ import annotations

import pytest

from codexmem.kernel.model import handle
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import ATTRS, Kind, Memory, Origin, State
from codexmem.kernel.model.query import Handle, Id, Seq, Uri


@pytest.mark.parametrize(
    "text,meant",
    [
        ("123", Seq(123)), ("#123", Seq(123)), (" # 123 ".replace(" ", ""), Seq(123)),
        ("S9", Seq(9)), ("#s9", Seq(9)),
        ("P7", Seq(7)), ("#P7", Seq(7)),
        ("kb-001", Id("kb-001")), ("qa-1f", Id("qa-1f")), ("qa qa-1f", Id("qa-1f")),
        ("mem:0a1b", Id("0a1b")), ("0198c2d4-0000-7000-8000-000000000001",
                                        Id("0198c2d4-0000-7000-8000-000000000001")),
        ("Project://a//配置/", Uri("project://a/配置")), ("note project://config", Uri("project://config")),
        ("note #12", Seq(12)), ("9" * 19, Id("9" * 19)),
    ],
)  # fmt: skip
def test_every_spelling(text: str, meant: Handle) -> None:
    assert handle.parsed(text) == meant


@pytest.mark.parametrize("text", ["", "  ", "mem:", "two words", "a\x00b", "x" * 401, "://", "project://", "a://../b"])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        handle.parsed(text)
    assert refused.value.message


@pytest.mark.parametrize(
    "kind,uris,label",
    [
        (Kind.OBSERVATION, (), "#5"), (Kind.SUMMARY, (), "#S5"), (Kind.PROMPT, (), "#P5"),
        (Kind.NOTE, ("project://配置", "a://b"), "note project://配置"), (Kind.NOTE, (), "note #5"),
        (Kind.QA, (), "qa the-id"), (Kind.KNOWLEDGE, (), "the-id"), (Kind.LESSON, (), "mem:the-id"),
        (Kind.CHUNK, (), "the-id"),
    ],
)  # fmt: skip
def test_a_label_names_its_memory(kind: Kind, uris: tuple[str, ...], label: str) -> None:
    memory = Memory(5, "the-id", kind, State("x", ATTRS[kind](), uris=uris), 1, Origin.AGENT, 0, 0)
    assert handle.label(memory) == label
    assert handle.ref(memory) == label.removeprefix("note ").removeprefix("qa ")
    for name in (label, handle.ref(memory)):
        assert handle.parsed(name) in {Seq(5), Id("the-id"), *(Uri(uri) for uri in uris)}
