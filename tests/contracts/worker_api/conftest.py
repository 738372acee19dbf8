"""The recall endpoint on each engine, with a store of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.store.database import Database
from tests._support.recall_endpoint import Endpoint, recall_endpoint


@pytest.fixture
def endpoint(database: Database, tenant: str, encoder: Embedder | None) -> Iterator[Endpoint]:
    """Called without a server."""
    with recall_endpoint(database, tenant, embedder=encoder) as made:
        yield made


@pytest.fixture
def endpoint_without_encoder(database: Database, tenant: str) -> Iterator[Endpoint]:
    """The same where no embedder is configured, for what is told then."""
    with recall_endpoint(database, tenant) as made:
        yield made
