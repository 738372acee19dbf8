"""Fixtures: the counting doors and the application around them, without and with authentication."""

import pytest
from starlette.types import ASGIApp

from tests.surfaces._kit.doors import Doors, application, keyring


@pytest.fixture
def doors() -> Doors:
    return Doors()


@pytest.fixture
def app(doors: Doors) -> ASGIApp:
    return application(doors)


@pytest.fixture
def keyed(doors: Doors) -> ASGIApp:
    return application(doors, authenticate=keyring)
