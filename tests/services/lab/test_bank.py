"""Lessons by hand, and as a run reads them."""

from __future__ import annotations

import pytest

from codexmem.domain.errors import Conflict, InvalidArgument, NotFound
from codexmem.domain.history import By
from codexmem.domain.lab import Lesson
from codexmem.domain.lesson import LessonType, attrs_of
from codexmem.domain.memory import Status
from codexmem.domain.query import Id
from codexmem.services.lab.bank import Bank, Edit, NewNote, Reader, Wish, extra_of
from tests._support.lab import SECRET, LabBench, StepAgent
from tests._support.lab_bank import ended_runs
from tests.services.lab.conftest import Build

BY = By("lab")


@pytest.fixture
def lab(build: Build) -> LabBench:
    return build(StepAgent(steps=1))


@pytest.fixture
def bank(lab: LabBench) -> Bank:
    return lab.lab.banking.bank


@pytest.fixture
def reader(lab: LabBench) -> Reader:
    return lab.lab.banking.reader


def test_a_note_keeps_what_it_was_given_without_secrets(bank: Bank) -> None:
    note = NewNote(
        f"苯甲酸修饰提高 C2H4 选择性，key {SECRET} <private>张三说的</private>", "mof_expert",
        extra={"来源": "笔记本 3", "nested": {"api_key": "hunter2hunter2"}},
    )  # fmt: skip
    made = bank.get(bank.add(note, BY).id)
    assert made.state.content.startswith("苯甲酸修饰提高 C2H4 选择性，key [REDACTED")
    assert "张三" not in made.state.content
    assert (made.state.type, attrs_of(made.state).role) == ("manual_note", "mof_expert")
    assert extra_of(made.state)["来源"] == "笔记本 3"
    assert "hunter2" not in attrs_of(made.state).extra


@pytest.mark.parametrize("note", [
    NewNote("  "), NewNote("<private>all of it</private>"), NewNote("x" * 20_001), NewNote("x", "nobody"),
    NewNote("x", "a role"), NewNote("x", extra={"deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {}}}}}}}}}}),
])  # fmt: skip
def test_what_is_no_note(bank: Bank, note: NewNote) -> None:
    with pytest.raises(InvalidArgument):
        bank.add(note, BY)
    assert bank.page(Wish(), limit=5).items == ()


def test_a_note_names_a_run_that_is_there(lab: LabBench, bank: Bank) -> None:
    with pytest.raises(NotFound):
        bank.add(NewNote("x", source_run_id="run_nowhere"), BY)
    run = ended_runs(lab)[0]
    assert attrs_of(bank.add(NewNote("x", source_run_id=run.id), BY).state).runs == (run.id,)


def test_editing(bank: Bank) -> None:
    made = bank.add(NewNote("Cu:Mo 1:1"), BY)
    edited = bank.edit(made.id, Edit(content="Cu:Mo 2:1", extra={"a": 1}), BY, seen=1)
    assert (edited.state.content, extra_of(edited.state), edited.version) == ("Cu:Mo 2:1", {"a": 1}, 2)
    assert bank.edit(made.id, Edit(content="Cu:Mo 2:1"), BY).version == 2, "nothing changed"
    with pytest.raises(Conflict):
        bank.edit(made.id, Edit(content="x"), BY, seen=1)
    with pytest.raises(InvalidArgument):
        bank.edit(made.id, Edit(status=Status.DELETED), BY)
    with pytest.raises(NotFound):
        bank.edit("00000000-0000-0000-0000-000000000000", Edit(content="x"), BY)


def test_archiving_and_back(bank: Bank, reader: Reader) -> None:
    made = bank.add(NewNote("光照不要超过 6 小时"), BY)
    assert [each.id for each in reader.search("光照 小时", 5)] == [made.id]
    assert bank.archive(made.id, BY).state.status is Status.ARCHIVED
    assert bank.archive(made.id, BY).version == 2, "it was archived already"
    assert reader.search("光照 小时", 5) == []
    assert [each.id for each in reader.search("光照 小时", 5, status="archived")] == [made.id]
    assert bank.edit(made.id, Edit(status=Status.ACTIVE), BY).state.status is Status.ACTIVE


def test_what_was_taken_back_can_be_read_and_not_written(lab: LabBench, bank: Bank, reader: Reader) -> None:
    made = bank.add(NewNote("gone"), BY)
    lab.memories.delete(Id(made.id), frozenset({made.kind}), BY)
    found = reader.get(made.id)
    assert isinstance(found, Lesson)
    assert found.status == "deleted"
    assert bank.page(Wish(), limit=5).items == ()
    with pytest.raises(Conflict):
        bank.archive(made.id, BY)
    assert reader.get("nothing") is None


def test_a_run_is_told_what_is_for_its_role_and_for_everyone(bank: Bank, reader: Reader) -> None:
    names = {
        role: bank.add(NewNote(f"TiO2 煅烧 450 °C ({role})", role), BY).id
        for role in ("global", "mof_expert", "tio2_expert")
    }
    found = {each.id for each in reader.search("TiO2 煅烧", 10, role="tio2_expert")}
    assert found == {names["global"], names["tio2_expert"]}
    assert len(reader.search("TiO2 煅烧", 10)) == 3
    assert len(reader.search("TiO2 煅烧", 1)) == 1
    assert reader.search("TiO2", 10, type="reasoningbank_item") == []
    assert reader.search("TiO2", 10, status="nonsense") == reader.search("TiO2", 10, type="nonsense") == []
    total, newest = reader.list(2)
    assert (total, [each.id for each in newest]) == (3, [names["tio2_expert"], names["mof_expert"]])
    total, newest = reader.list(10, role="mof_expert")
    assert (total, {each.id for each in newest}) == (2, {names["global"], names["mof_expert"]})


def test_lists_by_role_type_and_status(bank: Bank) -> None:
    one, other = bank.add(NewNote("a", "mof_expert"), BY), bank.add(NewNote("b"), BY)
    bank.archive(other.id, BY)
    assert [each.id for each in bank.page(Wish(), limit=5).items] == [other.id, one.id]
    assert [each.id for each in bank.page(Wish(frozenset({"mof_expert"})), limit=5).items] == [one.id]
    assert [each.id for each in bank.page(Wish(statuses=frozenset({Status.ARCHIVED})), limit=5).items] == [other.id]
    assert bank.page(Wish(type=LessonType.LEARNED), limit=5).items == ()
    first = bank.page(Wish(), limit=1)
    assert [each.id for each in bank.page(Wish(), limit=1, after=first.after).items] == [one.id]
