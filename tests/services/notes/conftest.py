"""The verbs on notes of an empty store, on each engine."""

from __future__ import annotations

import pytest

from codexmem.kernel.store.database import Database
from codexmem.notes.service import NoteService
from tests._support import services
from tests._support.noting import notes_on
from tests._support.services import Services


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


@pytest.fixture
def notes(database: Database, real: Services) -> NoteService:
    return notes_on(database, real)
