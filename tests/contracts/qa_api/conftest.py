"""The QA endpoint on each engine, with a store of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.store.database import Database
from tests._support.asking import Endpoint, qa_endpoint


@pytest.fixture
def endpoint(database: Database, tenant: str, encoder: Embedder | None) -> Iterator[Endpoint]:
    """Called without a server."""
    with qa_endpoint(database, tenant, embedder=encoder) as made:
        yield made
