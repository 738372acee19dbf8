"""`eventually` returns what holds, reads again until it does, and says what it last read."""

from __future__ import annotations

import pytest

from tests._support.waiting import eventually


def test_what_comes_to_hold_is_returned_after_pauses_that_grow() -> None:
    values = iter([0, "", [], "there"])
    pauses: list[float] = []
    assert eventually(lambda: next(values), pause=pauses.append) == "there"
    assert pauses == sorted(pauses)
    assert len(set(pauses)) == 3


def test_what_never_holds_fails_with_the_last_value() -> None:
    with pytest.raises(AssertionError, match=r"still \[\]"):
        eventually(list, within_s=0, pause=lambda _: None)
