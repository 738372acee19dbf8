"""How quick the pages are in Chromium, as ratios to a page without an application on the same server and machine.

A real server holds 2,000 memories and 60 questions. Each page is opened several times by a browser that has never seen
it (largest contentful paint, the median), then used: typing into its search, opening rows, changing a filter, j and k.
An interaction is timed in the page, from the event to the end of the next frame; the 95th percentile counts. The same
is done with the bare text that the server answers as its readiness: what browser, server and machine take anyway.
Kept is the promise if 95 of 100 interactions of every sort take less than 100 ms, or less than three times as long as
on the bare page where the machine itself is slower than that.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench import report
from bench.web_scroll import WATCH
from tests._support.server import Server
from tests.web import building
from tests.web.conftest import FLAGS
from tests.web.seeds import qa
from tests.web.seeds.timeline import import_rows, rows_of

PROJECT = "many"
BARE = "/api/readiness"
QUESTIONS = 60
LIMIT_MS, TIMES_BARE, SHARE = 100.0, 3.0, 0.95
LIST = "[role=grid] [role=row][data-key]"
_LCP = """() => new Promise((done) => {
    new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
        .observe({ type: 'largest-contentful-paint', buffered: true });
    setTimeout(() => done(null), 2000);
})"""

Act = Callable[[Page], object]


def _typing(name: str) -> Act:
    letters = cycle("pool size ")
    return lambda page: (page.get_by_role("textbox", name=name).or_(page.get_by_role("searchbox", name=name)).first
                         .press_sequentially(next(letters)))  # fmt: skip


def _keys() -> Act:
    keys = cycle(["j", "j", "k"])
    return lambda page: page.keyboard.press(next(keys))


def _rows() -> Act:
    at = cycle(range(1, 6))
    return lambda page: page.locator(LIST).nth(next(at)).click(position={"x": 120, "y": 10})


def _pressing(*names: str) -> Act:
    """Tabs or buttons, in turn."""
    turn = cycle(names)

    def press(page: Page) -> None:
        name = next(turn)
        page.get_by_role("tab", name=name).or_(page.get_by_role("button", name=name)).first.click()

    return press


def _kinds(page: Page) -> None:
    """The kind of memories: opened, and another one chosen."""
    page.get_by_role("combobox", name="Kind").click()
    page.get_by_role("option", selected=False).first.click()


def pages(number: int) -> dict[str, tuple[str, dict[str, Act]]]:
    """Each page with its address and what is done there."""
    return {
        "bare page": (BARE, {"type": lambda page: page.keyboard.press("p"), "j/k": _keys(),
                             "row": lambda page: page.mouse.click(300, 300),
                             "filter": lambda page: page.mouse.click(300, 300)}),
        "Brief": (f"/ui/p/{PROJECT}", {"type": _typing("If I ask…")}),
        "memories": (f"/ui/memories?project={PROJECT}",
                     {"j/k": _keys(), "row": _rows(), "filter": _kinds, "type": _typing("Search memories")}),
        "QA review": (f"/ui/qa?project={PROJECT}", {"j/k": _keys(), "row": _rows(),
                      "filter": _pressing("Validated", "Candidates"), "type": _typing("Search")}),
        "one memory": (f"/ui/memories/{number}", {"filter": _pressing("Versions", "Lineage", "Text")}),
    }  # fmt: skip


def first_paint(browser: Browser, url: str, path: str, times: int) -> float:
    """The median of the largest contentful paint, each in a browser that was never there, in milliseconds."""
    took: list[float] = []
    for _ in range(times):
        context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 800}, locale="en-US")
        page = context.new_page()
        page.goto(path)
        if path != BARE:
            _settled(page)
        painted = page.evaluate(_LCP)
        if painted is not None:
            took.append(painted)
        context.close()
    return statistics.median(took) if took else 0.0


def _settled(page: Page) -> None:
    page.get_by_role("heading", level=1).wait_for(timeout=30_000)
    expect(page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0, timeout=30_000)


def used(page: Page, path: str, acts: Mapping[str, Act], times: int) -> dict[str, float]:
    """The 95th percentile of each sort of interaction, in milliseconds."""
    figures = {}
    for name, act in acts.items():
        page.goto(path)
        if path != BARE:
            _settled(page)
        page.evaluate(WATCH)
        page.evaluate("window.took = []")
        for _ in range(times):
            act(page)
            page.wait_for_timeout(60)
        figures[name] = report.percentile(page.evaluate("window.took"), SHARE)
    return figures


@contextmanager
def filled(count: int) -> Iterator[Server]:
    """A server with that many memories, and questions that wait."""
    settings = {"CODEXMEM_EMBEDDER": "none"}
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder), settings=settings) as server:
        import_rows(server, PROJECT, count, newest_ms=int(time.time() * 1000))
        for at in range(QUESTIONS):
            qa.hand_in(server, PROJECT, qa.Asked(f"What is part {at} of the pool about?", f"About connection {at}."))
        yield server


def measured(count: int, times: int) -> dict[str, dict[str, float]]:
    """Every page's figures in milliseconds, those of the bare page first."""
    figures: dict[str, dict[str, float]] = {}
    with filled(count) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
        url = f"http://127.0.0.1:{server.port}"
        for name, (path, acts) in pages(rows_of(server, PROJECT)[0]["seq"]).items():
            lcp = first_paint(browser, url, path, max(3, times // 6))
            page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 800}, locale="en-US")
            figures[name] = {"LCP": lcp, **used(page, path, acts, times)}
            page.close()
        browser.close()
    return figures


def kept(figures: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether every sort of interaction is quick, as far as the machine is."""
    bare = figures["bare page"]
    return all(
        value < max(LIMIT_MS, TIMES_BARE * bare[name])
        for page in figures.values()
        for name, value in page.items()
        if name != "LCP"
    )


def table(figures: Mapping[str, Mapping[str, float]]) -> str:
    """Milliseconds and, in brackets, how many times as long as on the bare page."""
    bare = figures["bare page"]
    sorts = ("LCP", "type", "row", "filter", "j/k")

    def cell(page: Mapping[str, float], name: str) -> str:
        if name not in page:
            return "-"
        ratio = f" (x{page[name] / bare[name]:.1f})" if page is not bare and bare[name] else ""
        return f"{page[name]:.0f}{ratio}"

    return report.table(("", *sorts), [(name, *(cell(page, each) for each in sorts)) for name, page in figures.items()])


def main(argv: list[str] | None = None) -> int:
    """Measure and report."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--times", type=int, default=30, help="interactions of each sort")
    options = parser.parse_args(argv)
    building.install()
    if not building.fresh():
        building.build()
    figures: dict[str, Any] = measured(options.memories, options.times)
    return report.conclude("web, ms", figures, table(figures), kept=kept(figures), as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
