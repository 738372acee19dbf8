"""Questions with answers on each engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codexmem.kernel.store.database import Database
from tests._support.asking import Asked, asked
from tests._support.toy_embedder import ToyEmbedder


@pytest.fixture
def here(database: Database) -> Iterator[Asked]:
    """By words alone."""
    with asked(database) as made:
        yield made


@pytest.fixture
def hybrid(database: Database) -> Iterator[Asked]:
    """By words and by the toy's idea of meaning."""
    with asked(database, embedder=ToyEmbedder()) as made:
        yield made
