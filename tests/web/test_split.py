"""Lists beside what is chosen in them, in the built application on a wide screen: two panes, and no way back."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests._support.server import Server
from tests.web import building
from tests.web.seeds import demo, life, viewer
from tests.web.seeds.demo_texts import WORKSPACE
from tests.web.visiting import Visitor

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
BACK = "Back to the list"
# Every page that is divided; `test_every_divided_page_is_looked_at` compares with the sources.
PAGES: dict[str, Callable[[demo.Demo], str]] = {
    "review/ReviewPage": lambda made: f"/ui/review?sel={pair(made.server)}",
    "viewer/Traces": lambda made: f"/viewer?tab=traces&sel={made.trace}",
    "viewer/Failures": lambda made: f"/viewer?tab=failures&sel={failure(made.server)}",
    "timeline/SessionTurns": lambda made: f"/ui/sessions/{made.session}",
    "qa/QaPage": lambda made: f"/ui/qa?sel={made.qa}",
    "lab/TraceTab": lambda made: f"/ui/runs/{made.run}?tab=trace",
    "lab/EvidenceTab": lambda made: f"/ui/runs/{made.run}?tab=evidence&alias=C1",
    "catalog/PresetsPage": lambda made: f"/ui/catalog/presets?sel={made.preset}",
    "knowledge/EntriesPage": lambda made: f"/ui/kb?sel={entry(made)}",
    "knowledge/DocumentsPage": lambda made: f"/ui/kb/documents?piece={quote(passage(made))}",
    "knowledge/WorkspacesPage": lambda made: f"/ui/kb/workspaces?file={quote('fix-login/' + next(iter(WORKSPACE)))}",
    "audit/AuditPage": lambda made: f"/ui/audit?sel={made.audit}",
}


def failure(server: Server) -> int:
    """A job that failed, by its number in the list of failures."""
    viewer.failed_learning(server)
    number: int = server.request("GET", "/api/ops/failure-summary").json["failures"][0]["id"]
    return number


def entry(made: demo.Demo) -> str:
    """An entry of the knowledge base, by its id."""
    return str(made.get("/api/memories?kind=knowledge&limit=1")["items"][0]["ref"])


def passage(made: demo.Demo) -> str:
    """A piece of a document, by its name in a search."""
    library = made.get("/api/v1/kb")["items"][0]["kb_namespace"]
    return str(made.get(f"/api/v1/kb/search?namespace={library}&query=copper")["items"][0]["ref"])


def pair(server: Server) -> str:
    """Two memories that wait for a decision, by their name in the list."""
    project = life.new_project("split")
    life.saved(server, project, *life.PORTS)
    number: str = life.waiting(server, project)[0]["id"]
    return number


# Of the panes beside each other: how the way back is displayed, and where what is seen of each begins.
LOOK = """
(back) => {
  const tops = [...back.parentElement.parentElement.children].map((pane) =>
    [...pane.children].filter((each) => getComputedStyle(each).display !== 'none')[0].getBoundingClientRect().top);
  return { display: getComputedStyle(back).display, tops };
}
"""


def opened(look: Visitor, address: str, viewport: ViewportSize) -> Page:
    page = look(address, viewport=viewport)
    expect(page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)
    return page


def test_every_divided_page_is_looked_at() -> None:
    pages = building.WEB / "src" / "pages"
    divided = [path for path in pages.rglob("*.tsx") if "<SplitView" in path.read_text(encoding="utf-8")]
    assert sorted(str(path.relative_to(pages).with_suffix("")) for path in divided) == sorted(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_wide_screen_has_no_way_back_and_aligned_panes(look: Visitor, made: demo.Demo, name: str) -> None:
    page = opened(look, PAGES[name](made), WIDE)
    seen = page.get_by_text(BACK).first.locator("xpath=ancestor::button").evaluate(LOOK)
    assert seen["display"] == "none"
    assert len(seen["tops"]) == 2
    assert abs(seen["tops"][0] - seen["tops"][1]) < 1, seen


def test_a_narrow_screen_has_a_way_back(look: Visitor, made: demo.Demo) -> None:
    page = opened(look, f"/ui/audit?sel={made.audit}", NARROW)
    page.get_by_role("button", name=BACK).click()
    expect(page.get_by_role("button", name=BACK)).not_to_be_visible()
    expect(page.get_by_role("grid")).to_be_visible()
