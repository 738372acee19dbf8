"""Lists beside what is chosen in them, in the built application on a wide screen: two panes, and no way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests.web import building
from tests.web.seeds import demo, viewer
from tests.web.visiting import Visitor

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
BACK = "Back to the list"
# Every page that is divided; `test_every_divided_page_is_looked_at` compares with the sources.
PAGES: dict[str, Callable[[demo.Demo], str]] = {
    "viewer/Traces": lambda made: f"/viewer?tab=traces&sel={made.trace}",
    "viewer/Failures": lambda made: f"/viewer?tab=failures&sel={failure(made.server)}",
    "timeline/SessionTurns": lambda made: f"/ui/sessions/{made.session}",
    "qa/QaPage": lambda made: f"/ui/qa?sel={made.qa}",
    "lab/TraceTab": lambda made: f"/ui/runs/{made.run}?tab=trace",
    "lab/EvidenceTab": lambda made: f"/ui/runs/{made.run}?tab=evidence&alias=C1",
    "bank/LessonVersions": lambda made: f"/ui/rb/{made.lesson}?tab=versions",
    "catalog/PresetsPage": lambda made: f"/ui/catalog/presets?sel={made.preset}",
    "audit/AuditPage": lambda made: f"/ui/audit?sel={made.audit}",
}


def failure(server: Server) -> int:
    """A job that failed, by its number in the list of failures."""
    viewer.failed_learning(server)
    number: int = server.request("GET", "/api/ops/failure-summary").json["failures"][0]["id"]
    return number


# Of the panes beside each other: how the way back is displayed, and where what is seen of each begins.
LOOK = """
(back) => {
  const tops = [...back.parentElement.parentElement.children].map((pane) =>
    [...pane.children].filter((each) => getComputedStyle(each).display !== 'none')[0].getBoundingClientRect().top);
  return { display: getComputedStyle(back).display, tops };
}
"""


@pytest.fixture(scope="module")
def filled(built_web: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[demo.Demo]:
    """A server with something on every page."""
    place = tmp_path_factory.mktemp("split")
    data = place / "codexmem"
    data.mkdir()
    with ModelServer() as model:
        settings = {
            "CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "none", "CODEXMEM_BATCH_WAIT_S": "0",
        }  # fmt: skip
        with Server(data, settings=settings) as server:
            yield demo.filled(server, model, place)


@pytest.fixture
def look(browser: Browser, filled: demo.Demo) -> Iterator[Visitor]:
    visitor = Visitor(browser, f"http://127.0.0.1:{filled.server.port}")
    yield visitor
    visitor.close()


def opened(look: Visitor, address: str, viewport: dict[str, int]) -> Page:
    page = look(address, viewport=viewport)
    expect(page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)
    return page


def test_every_divided_page_is_looked_at() -> None:
    pages = building.WEB / "src" / "pages"
    divided = [path for path in pages.rglob("*.tsx") if "<SplitView" in path.read_text(encoding="utf-8")]
    assert sorted(str(path.relative_to(pages).with_suffix("")) for path in divided) == sorted(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_wide_screen_has_no_way_back_and_aligned_panes(look: Visitor, filled: demo.Demo, name: str) -> None:
    page = opened(look, PAGES[name](filled), WIDE)
    seen = page.get_by_text(BACK).first.locator("xpath=ancestor::button").evaluate(LOOK)
    assert seen["display"] == "none"
    assert len(seen["tops"]) == 2
    assert abs(seen["tops"][0] - seen["tops"][1]) < 1, seen


def test_a_narrow_screen_has_a_way_back(look: Visitor, filled: demo.Demo) -> None:
    page = opened(look, f"/ui/audit?sel={filled.audit}", NARROW)
    page.get_by_role("button", name=BACK).click()
    expect(page.get_by_role("button", name=BACK)).not_to_be_visible()
    expect(page.get_by_role("grid")).to_be_visible()
