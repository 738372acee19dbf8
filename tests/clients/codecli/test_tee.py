"""The bounded copy: begins and ends as what passed did, and never holds more than it may."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.codecli.observed import GAP, BoundedText, Ring


@pytest.mark.clause(
    "001 §7.2", "what passes on stdout and stderr is kept in a ring of bounded size: its head and its tail"
)
@given(st.lists(st.binary(max_size=50), max_size=60), st.integers(2, 64))
def test_a_ring_keeps_head_and_tail(pieces: list[bytes], most: int) -> None:
    ring = Ring(most)
    for piece in pieces:
        ring.add(piece)
    whole, kept = b"".join(pieces), ring.content()
    assert ring.passed == len(whole)
    if len(whole) <= most:
        assert kept == whole
    else:
        assert kept == whole[: most // 2] + GAP % (len(whole) - most) + whole[len(whole) - (most - most // 2) :]


def test_many_small_pieces_cost_no_more_than_a_few_large_ones() -> None:
    ring = Ring(1 << 16)
    for n in range(300_000):
        ring.add(b"%d" % (n % 10))
    assert len(ring._tail) < 100
    assert ring.text().endswith("6789")


def test_words_are_text_whatever_comes() -> None:
    words = BoundedText(64)
    words.add("中文 ")
    words.add("lone \ud800 surrogate")
    assert words.text() == "中文 lone ? surrogate"
