"""The short form of `just bench-hook`: every contender runs and is measured beside Python itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import hook_time
from bench.stores import stores


@pytest.mark.timeout(120)
def test_every_contender_is_measured(tmp_path: Path) -> None:
    with stores("sqlite", durable=False) as made:
        found = hook_time.measure(2, 3, tmp_path, made.fresh())
    assert {len(times) for times in found.values()} == {2}
    assert set(hook_time.COUNTED) < found.keys()
    assert hook_time.ratio(found, hook_time.PASS) == 1
    assert "codexmem.hook" in hook_time.slowest_imports(tmp_path)


def test_the_ratio_is_that_of_the_rounds() -> None:
    found = {hook_time.PASS: [10.0, 20.0, 10.0], "x": [15.0, 30.0, 40.0]}
    assert hook_time.ratio(found, "x") == 1.5
