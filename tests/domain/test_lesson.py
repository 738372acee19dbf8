"""When two lessons say the same, and when one says the opposite."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.attrs import LessonAttrs, NoteAttrs
from codexmem.kernel.model.memory import Kind, Memory, Origin, State
from codexmem.lab.lesson_model import LessonType, Proposal, attrs_of, is_a_persons, likeness, nearest, opposed, same


def lesson(content: str, title: str = "", **attrs: object) -> Memory:
    state = State(content, LessonAttrs(**attrs), title=title, type=LessonType.LEARNED.value)  # type: ignore[arg-type]
    return Memory(1, "m", Kind.LESSON, state, 1, Origin.MODEL, 1, 1)


@pytest.mark.parametrize("one, other", [
    ("Benzoic acid raises selectivity", "benzoic acid raises selectivity."),
    ("苯甲酸修饰提高选择性", "苯甲酸修饰提高了选择性"),
    ("Cu–Mo at 1:1 is best", "Cu-Mo at 1:1 is best!"),
])  # fmt: skip
def test_the_same_in_other_words(one: str, other: str) -> None:
    assert same(Proposal(one, one), lesson(other))
    assert not opposed(Proposal(one, one), lesson(other))


@pytest.mark.parametrize("one, other", [
    ("heat the MOF above 300 °C", "avoid: heat the MOF above 300 °C"),
    ("用水清洗催化剂表面", "不要用水清洗催化剂表面"),
])  # fmt: skip
def test_the_opposite(one: str, other: str) -> None:
    for new, known in ((one, other), (other, one)):
        assert opposed(Proposal(new, new), lesson(known))
        assert not same(Proposal(new, new), lesson(known))


@pytest.mark.parametrize("one, other", [
    ("Benzoic acid raises selectivity", "Stir for two hours"), ("苯甲酸修饰", "煅烧温度"), ("", "x"), ("", ""),
])  # fmt: skip
def test_something_else(one: str, other: str) -> None:
    assert not same(Proposal(one, one), lesson(other))
    assert not opposed(Proposal(one, one), lesson(other))


def test_likeness_is_symmetric_and_bounded() -> None:
    for one, other in (("abc", "abd"), ("光催化", "光催化剂"), ("x" * 9_000, "x")):
        assert 0.0 <= likeness(one, other) == likeness(other, one) <= 1.0
    assert likeness("Same", "same") == 1.0


def test_the_nearest_come_first() -> None:
    far, near = lesson("stir for two hours"), lesson("benzoic acid helps")
    assert nearest(Proposal("benzoic acid helps a lot", ""), [far, near]) == [near, far]


def test_whose_a_lesson_is() -> None:
    assert not is_a_persons(lesson("x"))
    assert is_a_persons(lesson("x", by_hand=True))
    with pytest.raises(TypeError):
        attrs_of(State("x", NoteAttrs()))
