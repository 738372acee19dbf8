"""What a trace keeps of a ranking: places worked out, few bytes, and read back as it was."""

from __future__ import annotations

import json

import pytest

from codexmem.kernel.model import ranking
from codexmem.kernel.model.ranking import EXPLAINED, MAX_CHARS, Placed, Ranking


def test_places_and_shares_come_back_as_they_were() -> None:
    made = Ranking(
        names=("words", "meaning", "silent", "rerank"),
        placed=(Placed(12, 1, (0.61234, 0.2, 0.0, 3.5)), Placed(7, 0, (0.1, -0.25, 0.0, 1.0))),
        order=[0, 1, 2], lexical=[0.0, 4.5, 9.0], dense=[0.8, 0.3, 0.9],
    )  # fmt: skip
    kept = ranking.told(made)
    assert kept["names"] == ["words", "meaning", "rerank"]
    first, second = ranking.read(json.loads(json.dumps(kept)))
    assert (first.seq, first.by_sum, first.words, first.meaning) == (12, 2, (2, 4.5), (3, 0.3))
    assert (first.shares, first.sum, first.rerank) == ({"words": 0.612, "meaning": 0.2}, 0.812, 3.5)
    assert (second.by_sum, second.words, second.meaning) == (1, (None, 0.0), (2, 0.8))
    assert second.sum == -0.15


def test_without_vectors_there_is_no_place_among_them() -> None:
    (only,) = ranking.read(ranking.told(Ranking(("words",), (Placed(1, 0, (1.0,)),), [0], [2.0], None)))
    assert (only.meaning, only.words) == (None, (1, 2.0))


def test_what_is_kept_is_bounded() -> None:
    names = tuple(f"signal_{number}" for number in range(26))
    many = tuple(Placed(10**12 + at, at, tuple(0.123456 + at for _ in names)) for at in range(200))
    scores = [float(at) + 0.5 for at in range(200)]
    kept = ranking.told(Ranking(names, many, list(range(200)), scores, scores))
    assert isinstance(kept["rows"], list)
    assert 5 < len(kept["rows"]) <= EXPLAINED
    assert len(json.dumps(kept)) <= MAX_CHARS + 100


@pytest.mark.parametrize("told", [None, [], {"names": []}, {"names": "x", "rows": [[1]]}, {"rows": []}])
def test_what_is_none_is_read_as_nothing(told: object) -> None:
    assert ranking.read(told) == []


def test_rows_of_another_make_are_passed_over() -> None:
    good = [1, 1, 1, 2.0, 0, None, [0.5]]
    found = ranking.read({"names": ["words"], "rows": [[1, 2], good, [*good[:6], [1, 2]], "x"]})
    assert [each.seq for each in found] == [1]
