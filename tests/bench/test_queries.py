"""The short form of `just soak-queries`: some hundred queries of every sort on each engine."""

from __future__ import annotations

import pytest

from bench import queries


@pytest.mark.timeout(180)
def test_no_query_raises(engine_name: str) -> None:
    figures = queries.soak(engine_name, number=400, texts=60, seed=4)
    assert figures["failures"] == []
    assert figures["found_something"] > 100
