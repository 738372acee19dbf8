"""Lessons by hand, and as a run reads them."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.query import Id
from codexmem.lab.lesson_model import LessonEdit, LessonType, NewLesson, attrs_of, extra_of
from codexmem.lab.model import Lesson
from codexmem.lab.service.bank import Bank, LessonFilter, LessonReader
from tests._support.lab import SECRET, LabBench, StepAgent
from tests._support.lab_bank import ended_runs
from tests.services.lab.conftest import Build

BY = WriteContext("lab")


@pytest.fixture
def lab(build: Build) -> LabBench:
    return build(StepAgent(steps=1))


@pytest.fixture
def bank(lab: LabBench) -> Bank:
    return lab.lab.banking.bank


@pytest.fixture
def reader(lab: LabBench) -> LessonReader:
    return lab.lab.banking.reader


def test_a_note_keeps_what_it_was_given_without_secrets(bank: Bank) -> None:
    note = NewLesson(
        f"苯甲酸修饰提高 C2H4 选择性，key {SECRET} <private>张三说的</private>", "mof_expert",
        extra={"来源": "笔记本 3", "nested": {"api_key": "hunter2hunter2"}},
    )  # fmt: skip
    made = bank.get(bank.add(note, BY).id)
    assert made.state.content.startswith("苯甲酸修饰提高 C2H4 选择性，key [REDACTED")
    assert "张三" not in made.state.content
    assert (made.state.type, attrs_of(made.state).role) == ("manual_note", "mof_expert")
    assert extra_of(made.state)["来源"] == "笔记本 3"
    assert "hunter2" not in attrs_of(made.state).extra


@pytest.mark.parametrize(
    "note",
    [
        NewLesson("  "),
        NewLesson("<private>all of it</private>"),
        NewLesson("x" * 20_001),
        NewLesson("x", "nobody"),
        NewLesson("x", "a role"),
        NewLesson("x", extra={"deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {}}}}}}}}}}),
    ],
)
def test_what_is_no_note(bank: Bank, note: NewLesson) -> None:
    with pytest.raises(InvalidArgument):
        bank.add(note, BY)
    assert bank.page(LessonFilter(), limit=5).items == ()


def test_a_note_names_a_run_that_is_there(lab: LabBench, bank: Bank) -> None:
    with pytest.raises(NotFound):
        bank.add(NewLesson("x", source_run_id="run_nowhere"), BY)
    run = ended_runs(lab)[0]
    assert attrs_of(bank.add(NewLesson("x", source_run_id=run.id), BY).state).runs == (run.id,)


def test_editing(bank: Bank) -> None:
    made = bank.add(NewLesson("Cu:Mo 1:1"), BY)
    edited = bank.edit(made.id, LessonEdit(content="Cu:Mo 2:1", extra={"a": 1}), BY, seen=1)
    assert (edited.state.content, extra_of(edited.state), edited.version) == ("Cu:Mo 2:1", {"a": 1}, 2)
    assert bank.edit(made.id, LessonEdit(content="Cu:Mo 2:1"), BY).version == 2, "nothing changed"
    with pytest.raises(Conflict):
        bank.edit(made.id, LessonEdit(content="x"), BY, seen=1)
    with pytest.raises(InvalidArgument):
        bank.edit(made.id, LessonEdit(status=Status.DELETED), BY)
    with pytest.raises(NotFound):
        bank.edit("00000000-0000-0000-0000-000000000000", LessonEdit(content="x"), BY)


def test_archiving_and_back(bank: Bank, reader: LessonReader) -> None:
    made = bank.add(NewLesson("光照不要超过 6 小时"), BY)
    assert [each.id for each in reader.search("光照 小时", 5)] == [made.id]
    assert bank.archive(made.id, BY).state.status is Status.ARCHIVED
    assert bank.archive(made.id, BY).version == 2, "it was archived already"
    assert reader.search("光照 小时", 5) == []
    assert [each.id for each in reader.search("光照 小时", 5, status="archived")] == [made.id]
    assert bank.edit(made.id, LessonEdit(status=Status.ACTIVE), BY).state.status is Status.ACTIVE


def test_what_was_taken_back_can_be_read_and_not_written(lab: LabBench, bank: Bank, reader: LessonReader) -> None:
    made = bank.add(NewLesson("gone"), BY)
    lab.memories.delete(Id(made.id), frozenset({made.kind}), BY)
    found = reader.get(made.id)
    assert isinstance(found, Lesson)
    assert found.status == "deleted"
    assert bank.page(LessonFilter(), limit=5).items == ()
    with pytest.raises(Conflict):
        bank.archive(made.id, BY)
    assert reader.get("nothing") is None


def test_a_run_is_told_what_is_for_its_role_and_for_everyone(bank: Bank, reader: LessonReader) -> None:
    names = {
        role: bank.add(NewLesson(f"TiO2 煅烧 450 °C ({role})", role), BY).id
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
    one, other = bank.add(NewLesson("a", "mof_expert"), BY), bank.add(NewLesson("b"), BY)
    bank.archive(other.id, BY)
    assert [each.id for each in bank.page(LessonFilter(), limit=5).items] == [other.id, one.id]
    assert [each.id for each in bank.page(LessonFilter(frozenset({"mof_expert"})), limit=5).items] == [one.id]
    assert [each.id for each in bank.page(LessonFilter(statuses=frozenset({Status.ARCHIVED})), limit=5).items] == [
        other.id
    ]
    assert bank.page(LessonFilter(type=LessonType.LEARNED), limit=5).items == ()
    first = bank.page(LessonFilter(), limit=1)
    assert [each.id for each in bank.page(LessonFilter(), limit=1, after=first.after).items] == [one.id]
