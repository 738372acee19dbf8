"""A timeline of 100,000 memories in Chromium: how many rows the page holds, and how long keys and clicks take to show.

The memories are imported into a real server. Every press, click and turn of the wheel is timed in the page, from the
event to the end of the next frame; rows are counted with every frame. Kept is the promise if there were never more than
60 rows and 95 of 100 interactions of every sort took less than 100 ms. What was waited for in between, such as the next
page, is not part of an interaction, and told apart. Exit status 1 if the promise is broken.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from bench import report
from tests._support.server import Server
from tests.web import building
from tests.web.conftest import FLAGS
from tests.web.seeds.timeline import import_rows, rows_of

PROJECT = "many"
MOST_ROWS, LIMIT_MS, SHARE = 60, 100.0, 0.95
PATIENCE_S = 1_800.0
WATCH = """() => {
    window.most = 0; window.took = [];
    const count = () => {
        window.most = Math.max(window.most, document.querySelectorAll('[role=row]').length);
        requestAnimationFrame(count);
    };
    count();
    const painted = new MessageChannel();
    let began = null;
    painted.port1.onmessage = () => { window.took.push(performance.now() - began); began = null; };
    for (const name of ['keydown', 'pointerdown', 'wheel']) {
        addEventListener(name, (event) => {
            if (began !== null) return;
            began = event.timeStamp;
            requestAnimationFrame(() => painted.port2.postMessage(0));
        }, { capture: true, passive: true });
    }
}"""


def looked_at(page: Page, count: int) -> dict[str, Any]:
    """Everything a person does with a long list, each some times."""
    list_ = page.get_by_role("grid")
    figures: dict[str, Any] = {}

    def phase(name: str, act: Callable[[], object], times: int, *, pause_ms: int = 15) -> None:
        page.evaluate("window.took = []")
        for _ in range(times):
            act()
            page.wait_for_timeout(pause_ms)
        took: list[float] = page.evaluate("window.took")
        shown = {"p50": report.percentile(took, 0.5), "p95": report.percentile(took, SHARE), "most": max(took)}
        figures[name] = {"times": len(took), **{each: round(value, 1) for each, value in shown.items()}}

    press = page.keyboard.press
    phase("down_at_the_head_ms", lambda: press("j"), 100)
    phase("page_down_at_the_head_ms", lambda: press("PageDown"), 40)
    figures["all_loaded_s"] = round(_to_the_end(page, count), 1)
    phase("up_at_the_end_ms", lambda: press("k"), 100)
    phase("page_up_at_the_end_ms", lambda: press("PageUp"), 40)
    list_.hover()
    phase("wheel_at_the_end_ms", lambda: page.mouse.wheel(0, -600), 60)
    phase("click_at_the_end_ms", lambda: page.mouse.click(*_row(page)), 20, pause_ms=60)
    phase("to_the_head_and_the_end_ms", _turns(press), 20)
    figures["loaded_rows"] = page.evaluate("Number(document.querySelector('[role=grid]').ariaRowCount)")
    figures["heap_mb"] = round(page.evaluate("performance.memory.usedJSHeapSize") / 1e6)
    figures["most_rows"] = page.evaluate("window.most")
    return figures


def _turns(press: Callable[[str], None]) -> Callable[[], None]:
    keys = ["Home", "End"]

    def turn() -> None:
        press(keys[0])
        keys.reverse()

    return turn


def _row(page: Page) -> tuple[float, float]:
    box = page.get_by_role("grid").bounding_box()
    assert box is not None
    page.mouse.wheel(0, 104)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _to_the_end(page: Page, count: int) -> float:
    """Press End until the oldest memory is there."""
    began = time.monotonic()
    oldest = page.get_by_role("row").filter(has_text="number 0?")
    while not oldest.count():
        if time.monotonic() > began + PATIENCE_S:
            raise TimeoutError(f"the oldest of {count:,} memories did not come")
        page.keyboard.press("End")
        page.wait_for_timeout(30)
    expect(oldest).to_be_visible()
    return time.monotonic() - began


def opened(page: Page, server: Server, count: int) -> dict[str, float]:
    """How long it takes until a row is there, at the head and in the middle."""
    middle = rows_of(server, PROJECT)[0]["seq"] - count // 2
    figures = {}
    for name, path in {
        "first_row_s": f"/ui/timeline?project={PROJECT}",
        "middle_row_s": f"/ui/timeline?project={PROJECT}&anchor={middle}",
    }.items():
        began = time.monotonic()
        page.goto(path)
        expect(page.get_by_role("row").nth(1)).to_be_visible(timeout=30_000)
        figures[name] = round(time.monotonic() - began, 2)
    return figures


def measured(count: int) -> dict[str, Any]:
    """Fill a server and look at it."""
    settings = {"CODEXMEM_EMBEDDER": "none"}  # vectors would take most of the filling, and a list does not look at them
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(Path(folder), settings=settings) as server,
        sync_playwright() as playwright,
    ):
        began = time.monotonic()
        import_rows(server, PROJECT, count, newest_ms=int(time.time() * 1000))
        filled = round(time.monotonic() - began, 1)
        browser = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
        page = browser.new_page(base_url=f"http://127.0.0.1:{server.port}", viewport={"width": 1280, "height": 800})
        figures = {"memories": count, "filled_in_s": filled, **opened(page, server, count)}
        page.goto(f"/ui/timeline?project={PROJECT}")
        expect(page.get_by_role("row").nth(1)).to_be_visible()
        page.evaluate(WATCH)
        figures |= looked_at(page, count)
        browser.close()
    return figures


def kept(figures: dict[str, Any]) -> bool:
    """Whether there were few rows, and every sort of interaction was quick."""
    sorts = [each for each in figures.values() if isinstance(each, dict)]
    return figures["most_rows"] <= MOST_ROWS and all(each["p95"] < LIMIT_MS for each in sorts)


def main(argv: list[str] | None = None) -> int:
    """Measure and report."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--memories", type=int, default=100_000)
    options = parser.parse_args(argv)
    building.install()
    if not building.fresh():
        building.build()
    figures = measured(options.memories)
    return report.conclude("web scroll", figures, report.lines(figures), kept=kept(figures), as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
