"""The recall door on each engine, with a store of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codexmem.embed.model import Embedder
from codexmem.store.database import Database
from tests._support.recall_door import Door, recall_door


@pytest.fixture
def door(database: Database, tenant: str, encoder: Embedder | None) -> Iterator[Door]:
    """Called without a server."""
    with recall_door(database, tenant, embedder=encoder) as made:
        yield made


@pytest.fixture
def door_without_encoder(database: Database, tenant: str) -> Iterator[Door]:
    """The same where no embedder is configured, for what is told then."""
    with recall_door(database, tenant) as made:
        yield made
