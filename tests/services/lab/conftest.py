"""A lab on an empty store of each engine; its queue is its own, because workers take everybody's jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from codexmem.lab.service.execution import RunAgent
from tests._support.lab import LabBench, bench
from tests.jobs.stores import Parts, empty_store

Build = Callable[..., LabBench]


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    """The store."""
    with empty_store(engine_name, tmp_path, request) as made:
        if engine_name == "postgresql":
            with psycopg.connect(made.url, autocommit=True) as connection:
                connection.execute("TRUNCATE batches, products, presets, memories, deltas CASCADE")
        yield made


@pytest.fixture
def build(parts: Parts, tmp_path: Path) -> Iterator[Build]:
    """Makes a lab with this agent on the store; there may be several, as several processes would have."""
    made: list[LabBench] = []

    def make(agent: RunAgent, **options: Any) -> LabBench:
        made.append(bench(parts.db, agent, tmp_path=tmp_path, **options))
        return made[-1]

    yield make
    for each in made:
        each.notifier.close()
