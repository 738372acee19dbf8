"""Nothing moves under the reader while a page loads, and lists begin in the upper third of a telephone's screen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests._support.pages import drawn
from tests.web import axe
from tests.web.seeds import demo
from tests.web.shots import shots
from tests.web.visiting import MAIN_JOB, WHOLE, Language, Visitor

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
THIRD = 281
MOST_SHIFT = 0.1
# Long enough that each part of a page comes by itself.
SLOW = {"offline": False, "latency": 50, "downloadThroughput": 400_000, "uploadThroughput": 100_000}
_WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(entry.value);
}).observe({ type: 'layout-shift', buffered: true });
"""
_FIRST_ROW = """() => {
    const rows = [...document.querySelectorAll('main [role=grid] [role=row]')];
    return Math.round(rows.find((row) => row.offsetHeight > 0).getBoundingClientRect().top);
}"""


def _opened(context: BrowserContext) -> Page:
    context.add_init_script(_WATCH)
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.emulateNetworkConditions", SLOW)
    return page


def _settled(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("heading", level=1).wait_for()
    expect(page.locator("main").locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)
    drawn(page)


# The first is what a telephone shows; a wide screen moves less.
@pytest.mark.parametrize("size", (NARROW, WIDE) if WHOLE else (NARROW,), ids=lambda size: str(size["width"]))
def test_no_page_moves_while_it_loads(look: Visitor, made: demo.Demo, size: ViewportSize) -> None:
    page = _opened(look.context(viewport=size))
    moved: dict[str, float] = {}
    for shot in shots(made):
        if shot.act is None:
            _settled(page, shot.address)
            shift = round(page.evaluate("window.shifts.reduce((sum, each) => sum + each, 0)"), 3)
            moved |= {shot.name: shift} if shift > MOST_SHIFT else {}
    assert moved == {}


@pytest.mark.parametrize("language", MAIN_JOB)
def test_lists_begin_in_the_upper_third_of_a_narrow_screen(look: Visitor, made: demo.Demo, language: Language) -> None:
    page = look("/ui/timeline", language, viewport=NARROW)
    addresses = (
        "/ui/timeline", "/viewer?tab=traces", "/ui/audit", "/ui/memories", f"/ui/runs/{made.run}?tab=trace",
        "/ui/sessions", "/ui/kb",
    )  # fmt: skip
    begins: dict[str, Any] = {}
    for address in addresses:
        _settled(page, address)
        begins[address] = page.evaluate(_FIRST_ROW)
        # Tabs keep to one line.
        tops = page.locator("[role=tab]").evaluate_all("all => all.map(each => each.offsetTop)")
        assert len(set(tops)) <= 1, address
    assert {address: top for address, top in begins.items() if top > THIRD} == {}
    # What is folded is one press away, and what is set is counted.
    page.goto("/ui/audit?decision=deny")
    fold = page.get_by_role("search").get_by_role("button")
    expect(fold).to_contain_text("1")
    expect(page.get_by_role("combobox")).to_have_count(0)
    fold.click()
    expect(page.get_by_role("search").get_by_role("combobox").first).to_be_visible()
    assert axe.violations(page) == []


def test_the_runs_of_a_batch_stand_side_by_side(look: Visitor, made: demo.Demo) -> None:
    page = look(f"/ui/batches/{made.batch}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("CO2")
    table = page.get_by_role("region", name="Runs side by side").get_by_role("table")
    score = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Score (differs)"))
    expect(score.get_by_role("cell")).to_have_text(["7.5", "–"])
    expect(table.get_by_role("rowheader", name="Recipes · 1 · M1", exact=True)).to_be_visible()
    expect(table.get_by_role("row").filter(has_text="Tokens").get_by_role("cell").first).not_to_have_text("–")
    page.get_by_role("switch", name="Differences only").click()
    page.wait_for_url("**differing=1**")
    expect(table.get_by_role("rowheader", name="Recipes · 1 · M1", exact=True)).to_have_count(0)
    assert axe.violations(page) == []


def test_knowledge_is_listed_searched_and_read(look: Visitor, made: demo.Demo) -> None:
    page = look("/ui/kb")
    rows = page.get_by_role("grid").get_by_role("row")
    expect(rows).to_have_count(2)
    page.get_by_role("searchbox").fill("gateway")
    page.wait_for_url("**q=gateway**")
    rows.filter(has_text="Limit of the gateway").click()
    page.wait_for_url("**sel=kb-**")
    expect(page.get_by_role("region", name="Limit of the gateway")).to_contain_text("payments")
    assert axe.violations(page) == []
    page.goto("/ui/kb/documents?library=kb_principles&q=copper")
    rows.first.click()
    expect(page.get_by_role("region").last).to_contain_text("kb_principles")
    page.goto("/ui/kb/workspaces")
    rows.filter(has_text="plan.md").click()
    expect(page.get_by_text("Reproduce the login failure")).to_be_visible()
    page.get_by_role("searchbox").fill("SameSite")
    expect(rows).to_have_count(1)
    assert axe.violations(page) == []
