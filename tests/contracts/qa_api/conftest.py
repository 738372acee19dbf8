"""The QA door on each engine, with a store of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codexmem.embed.model import Embedder
from codexmem.store.database import Database
from tests._support.asking import Door, qa_door


@pytest.fixture
def door(database: Database, tenant: str, encoder: Embedder | None) -> Iterator[Door]:
    """Called without a server."""
    with qa_door(database, tenant, embedder=encoder) as made:
        yield made
