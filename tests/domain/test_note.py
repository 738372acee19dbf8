"""What a fit note is, how it is changed, and what a reader is told about a difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codexmem.kernel.model import approval, note
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Kind, Mark, State, Status
from codexmem.kernel.model.note import NoteEdit

BEFORE = note.fit(State("one\ntwo", NoteAttrs(), uris=("a://x",)), "when deploying")


@pytest.mark.parametrize("wrong", [
    {}, {"old_string": "a"}, {"new_string": "a"}, {"append": True},
    {"old_string": "a", "new_string": "b", "content": "c"}, {"old_string": "a", "new_string": "b", "append": True},
])  # fmt: skip
def test_an_edit_is_one_way_and_whole(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        NoteEdit(**wrong)  # type: ignore[arg-type]


def test_every_way_of_changing() -> None:
    assert NoteEdit(old_string="two", new_string="二").apply(BEFORE).content == "one\n二"
    assert NoteEdit(content="three", append=True).apply(BEFORE).content == "one\ntwo\nthree"
    assert NoteEdit(content="见 b://y").apply(BEFORE).attrs == NoteAttrs("when deploying", ("b://y",))
    changed = NoteEdit(priority=0, disclosure=" 总是\n ").apply(BEFORE)
    assert (changed.content, changed.priority, note.disclosure_of(changed)) == ("one\ntwo", 0, "总是")


def test_a_change_is_told_without_its_secrets() -> None:
    token = "ghp_" + "a1B2" * 9
    told = NoteEdit(old_string="two", new_string=f"token {token}", priority=1).told()
    assert told.startswith('patched "two" to "')
    assert "set priority 1" in told
    assert token not in told


def test_nothing_left_is_no_note() -> None:
    with pytest.raises(InvalidArgument, match="non-empty"):
        note.fit(replace(BEFORE, content="<private>all of it</private>"), "")
    with pytest.raises(InvalidArgument, match="disclosure has 2,001 characters"):
        note.fit(BEFORE, "x" * 2_001)


def test_differences_as_a_reader_sees_them() -> None:
    after = replace(BEFORE, content="one\n二\n三", status=Status.DELETED, uris=("a://x", "b://y"))
    assert note.differences(BEFORE, after) == [
        "content: +2 -1 lines", "status: active → deleted", "adds the address b://y",
    ]  # fmt: skip
    assert note.differences(BEFORE, BEFORE) == []
    assert note.differences(BEFORE, replace(BEFORE, content="one\ntwo\n")) != []


def test_who_and_what_the_agent_works_for_belongs_to_no_project_once_it_is_agreed_to() -> None:
    def projects(*marks: Mark) -> list[str]:
        uris = ("core://me", "user://name", "project://config")
        states = (State("x", NoteAttrs(), "shop", uris=(uri,), marks=frozenset(marks)) for uri in uris)
        return [approval.in_its_project(Kind.NOTE, state).project for state in states]

    assert projects() == ["", "", "shop"]
    assert projects(Mark.PROPOSED) == ["shop"] * 3
