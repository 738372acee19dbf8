"""One built application, one server and one browser for all of these tests; a clean browser context for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests.web import building
from tests.web.seeds import demo
from tests.web.visiting import Contexts, Visitor

# Background services of the browser would ask other servers; a container's root may not use the sandbox, and its shared
# memory may be too small.
FLAGS = (
    "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-quic", "--disable-dev-shm-usage",
)  # fmt: skip


# Two slow cores that do other things as well must not look like a broken page.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="package")
def built_web() -> Path:
    """The application as its sources are now."""
    if not building.fresh():
        pytest.fail("the web application is not built from its sources as they are; run: just web")
    return building.DIST


@pytest.fixture(scope="package")
def model() -> Iterator[ModelServer]:
    """What stands in for the paid model; a test may script it."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="package")
def served(built_web: Path, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real server with a store of its own."""
    settings = {
        "CODEXMEM_OPENAI_BASE_URL": model.url,
        "CODEXMEM_OPENAI_API_KEY": "test-key",
        "CODEXMEM_BATCH_WAIT_S": "0",
    }
    with Server(tmp_path_factory.mktemp("web"), settings=settings) as server:
        yield server


@pytest.fixture(scope="package")
def made(built_web: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[demo.Demo]:
    """A server with something on every page, for whoever looks and changes nothing of it."""
    with ModelServer() as model:
        settings = {
            "CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "none", "CODEXMEM_BATCH_WAIT_S": "0",
        }  # fmt: skip
        with Server(tmp_path_factory.mktemp("demo"), settings=settings) as server:
            yield demo.filled(server, model, tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium; closed with the last of these tests, because its loop would get in the way of others'."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def contexts(browser: Browser, served: Server) -> Contexts:
    """Contexts for whoever looks at the shared server; the browser closes them."""
    return {}


@pytest.fixture(scope="package")
def made_contexts(browser: Browser, made: demo.Demo) -> Contexts:
    """The same for the filled server."""
    return {}


@pytest.fixture
def look(browser: Browser, made: demo.Demo, made_contexts: Contexts) -> Iterator[Visitor]:
    """Who looks at the filled server."""
    visitor = Visitor(browser, f"http://127.0.0.1:{made.server.port}", made_contexts)
    yield visitor
    visitor.close()


@pytest.fixture
def visit(browser: Browser, served: Server, contexts: Contexts) -> Iterator[Visitor]:
    """Who looks at the shared server; at the end nothing may have gone wrong in any page."""
    visitor = Visitor(browser, f"http://127.0.0.1:{served.port}", contexts)
    yield visitor
    visitor.close()
