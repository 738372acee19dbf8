"""Fixtures: the counting endpoints and the application around them, without and with authentication."""

import pytest
from starlette.types import ASGIApp

from tests.surfaces._kit.endpoints import Endpoints, application, keyring


@pytest.fixture
def endpoints() -> Endpoints:
    return Endpoints()


@pytest.fixture
def app(endpoints: Endpoints) -> ASGIApp:
    return application(endpoints)


@pytest.fixture
def keyed(endpoints: Endpoints) -> ASGIApp:
    return application(endpoints, authenticate=keyring)
