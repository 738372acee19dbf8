"""Which part of the whole each product is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.lab.model import MAX_MEASURED, MAX_VALUE, fractions


@pytest.mark.parametrize(
    "values,parts",
    [([], []), ([0.0], [0.0]), ([0.0, 0.0], [0.0, 0.0]), ([3.0, 1.0], [0.75, 0.25]), ([5e-324], [1.0])],
)
def test_fractions(values: list[float], parts: list[float]) -> None:
    assert fractions(values) == parts


@given(st.lists(st.floats(0, MAX_VALUE), min_size=1, max_size=MAX_MEASURED))
def test_fractions_make_up_the_whole(values: list[float]) -> None:
    parts = fractions(values)
    assert all(0.0 <= part <= 1.0 for part in parts)
    assert math.isclose(math.fsum(parts), 1.0 if any(values) else 0.0, rel_tol=1e-9)
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [parts[n] for n in order] == sorted(parts)
