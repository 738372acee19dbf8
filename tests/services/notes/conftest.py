"""The verbs on notes of an empty store, on each engine."""

from __future__ import annotations

import pytest

from codexmem.app.noting import notes_of
from codexmem.services.notes import Notes
from codexmem.store.database import Database
from tests._support import services
from tests._support.services import Services


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


@pytest.fixture
def notes(database: Database, real: Services) -> Notes:
    return notes_of(database, real.memories, real.history, real.clock, real.recall.search)
