"""Text is text: whatever stands in a field or an address, no page runs it, asks another server or breaks its policy.

Here two rounds are planted, in which each field gets some of the hundred payloads and every payload has a field;
every payload in every field is `just soak-hostile-pages`.
"""

from __future__ import annotations

from html import escape

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests.web.payloads import FOREIGN, PAYLOADS
from tests.web.seeds.hostile import LISTS, Planting, visited
from tests.web.visiting import Language, Visitor
from tests.web.watching import Watch

ROUNDS: dict[Language, tuple[int, ...]] = {"en": (0,), "zh": (1,)}
SPREAD = 50  # two rounds, evenly through the list
TEETH = 60  # at least so many payloads run by themselves where text is taken for markup
SEARCH = {"en": "Search memory, or jump to a page", "zh": "搜索记忆，或跳转到页面"}


def test_the_payloads_have_teeth(browser: Browser) -> None:
    """Where text is taken for markup most of them run at once and are heard: so hearing none elsewhere says a lot."""
    assert len(set(PAYLOADS)) == 100
    context = browser.new_context()
    watch = Watch(context)
    page = context.new_page()
    context.route(f"{FOREIGN}/**", lambda route: route.abort())
    frames = "".join(f'<iframe srcdoc="{escape(payload)}"></iframe>' for payload in PAYLOADS)
    page.set_content(f"<!doctype html>{frames}", wait_until="commit")
    assert watch.until(page, TEETH) >= TEETH
    context.close()


@pytest.fixture(scope="module")
def planted(served: Server, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> list[Planting]:
    rounds = [number for numbers in ROUNDS.values() for number in numbers]
    folder = tmp_path_factory.mktemp("hostile")
    plantings = [Planting(served, model, folder, number, SPREAD) for number in rounds]
    for planting in plantings:
        planting.plant()
    return plantings


def test_every_payload_is_planted_and_every_field_gets_some(planted: list[Planting]) -> None:
    assert set().union(*(planting.used() for planting in planted)) == set(PAYLOADS)
    fields = planted[0].fields
    assert len(fields) > 70
    assert all(len({planting.of(name) for planting in planted}) == len(planted) for name in fields)


@pytest.mark.parametrize("language", ROUNDS)
def test_nothing_runs_and_nothing_is_asked_elsewhere(
    visit: Visitor, planted: list[Planting], language: Language
) -> None:
    context = visit.context(language)
    watch = Watch(context)
    own = [planting for planting in planted if planting.round in ROUNDS[language]]
    addresses = [*LISTS, *(address for planting in own for address in planting.pages)]
    visited(context, watch, addresses)
    _typed(context, watch, own[0].of("typed"), SEARCH[language])
    assert watch.wrong == []


def _typed(context: BrowserContext, watch: Watch, payload: str, field: str) -> None:
    """What somebody types into the palette is shown again."""
    page = context.new_page()
    page.goto("/ui/settings")
    page.get_by_role("heading", level=1).wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name=field).fill(payload)
    expect(page.get_by_role("dialog")).to_be_visible()
    watch.look(page)
    page.close()
