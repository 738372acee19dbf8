"""Text is text: whatever stands in a field or an address, no page runs it, asks another server or breaks its policy.

Here one round is planted, in which each field gets one of the hundred payloads and long texts hold all of them, and
each page is looked at in one language, the next one in the other; every payload in every field is
`just soak-hostile-pages`.
"""

from __future__ import annotations

from html import escape

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests._support.model_server import ModelServer
from tests._support.pages import pausing
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web.payloads import FOREIGN, PAYLOADS
from tests.web.seeds.hostile import LISTS, Planting, visited
from tests.web.visiting import BOTH, Language, Visitor
from tests.web.watching import Watch

TEETH = 60  # at least so many payloads run by themselves where text is taken for markup
CAPTURED = ("/viewer?tab=traces", "/ui/timeline", "/ui/memories")


def test_the_payloads_have_teeth(browser: Browser) -> None:
    """Where text is taken for markup most of them run at once and are heard: so hearing none elsewhere says a lot."""
    assert len(set(PAYLOADS)) == 100
    context = browser.new_context()
    watch = Watch(context)
    page = context.new_page()
    context.route(f"{FOREIGN}/**", lambda route: route.abort())
    frames = "".join(f'<iframe srcdoc="{escape(payload)}"></iframe>' for payload in PAYLOADS)
    page.set_content(f"<!doctype html>{frames}", wait_until="commit")
    eventually(lambda: len(watch.hits) >= TEETH, pause=pausing(page))
    context.close()


@pytest.fixture(scope="package")
def planted(served: Server, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Planting:
    """As long there as the server."""
    planting = Planting(served, model, tmp_path_factory.mktemp("hostile"), 0, len(PAYLOADS))
    planting.plant()
    return planting


def test_every_payload_is_planted_and_every_field_gets_one(planted: Planting) -> None:
    assert planted.used() == set(PAYLOADS)
    assert len(planted.fields) > 70


def test_lists_of_what_was_captured_and_the_palette_run_nothing(visit: Visitor, planted: Planting) -> None:
    context = visit.context("en")
    watch = Watch(context)
    visited(context, watch, CAPTURED)
    _typed(context, watch, planted.of("typed"))
    assert watch.wrong == []


@pytest.mark.parametrize("language", BOTH)
def test_nothing_runs_and_nothing_is_asked_elsewhere(visit: Visitor, planted: Planting, language: Language) -> None:
    context = visit.context(language)
    watch = Watch(context)
    own = slice(BOTH.index(language), None, len(BOTH))
    visited(context, watch, [each for each in (*LISTS, *planted.pages) if each not in CAPTURED][own])
    assert watch.wrong == []


def _typed(context: BrowserContext, watch: Watch, payload: str) -> None:
    """What somebody types into the palette is shown again."""
    page = context.new_page()
    page.goto("/ui/settings")
    page.get_by_role("heading", level=1).wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search memory, or jump to a page").fill(payload)
    expect(page.get_by_role("dialog")).to_be_visible()
    watch.look(page)
    page.close()
