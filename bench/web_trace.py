"""The trace of a long run in a browser: rows in the page, and how long a person waits for each thing.

A run of 100,000 events is written by the lab's own trace, a real server shows it, and Chromium reads it to the end,
jumps about in it, moves with the keyboard, filters and searches. Each time is taken inside the page, from the input to
the frame in which the result stands. Kept if there were never more than 60 rows and 95 of 100 interactions took less
than 100 ms. What is waited for on purpose (reading all events, the pause after typing) is shown beside it.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from bench import report
from bench.lab_agent import CONFIGURED
from bench.stores import folder
from codexmem.app import open_core
from codexmem.app.core import Core
from codexmem.kernel.model.event import EventType
from codexmem.kernel.store.database import acting_as
from codexmem.lab.model import BatchOrder
from codexmem.lab.service.trace import Entry
from codexmem.settings import load
from tests._support.server import Server
from tests.web import building
from tests.web.conftest import FLAGS

LONG = 100_000
MOST_ROWS, LIMIT_MS = 60, 100.0
TOGETHER = 500  # events of one transaction
EVERY_FAILURE = 97  # one event in so many tells of an error
READING_MS = 600_000

# Written before an input, so that the first frame with the result is seen however fast it comes.
_WATCH = """(() => {
    const grid = () => document.querySelector('[role=grid]');
    let pressed = 0;
    for (const name of ['pointerdown', 'keydown']) addEventListener(name, () => (pressed = performance.now()), true);
    const shown = {
        rows: (before) => grid()?.getAttribute('aria-rowcount') !== before,
        chosen: (before) => (document.querySelector('[role=row][aria-selected=true]')?.dataset.index ?? '') !== before,
        detail: () => [...document.querySelectorAll('dt')].some((each) => each.textContent === 'number'),
        index: (wanted) => document.querySelector(`[role=row][data-index="${wanted}"]`) !== null,
    };
    window.expectSoon = (name, argument, since) => {
        const began = since === 'now' ? performance.now() : null;
        window.soon = new Promise((resolve, reject) => {
            setTimeout(() => reject(new Error(`${name} ${argument} did not come`)), 20000);
            const look = () => {
                const since = began ?? pressed;
                if (since > 0 && shown[name](argument)) resolve(performance.now() - since);
                else requestAnimationFrame(look);
            };
            pressed = 0;
            requestAnimationFrame(look);
        });
    };
    window.jumpTo = (index, height) => {
        window.expectSoon('index', index, 'now');
        grid().scrollTop = index * height;
        return window.soon;
    };
    window.rowCount = () => document.querySelectorAll('[role=row]').length;
})()"""


def fill(core: Core, count: int) -> str:
    """A run with so many events, in tasks of tasks; returns its id."""
    batch, (run,) = core.lab.runs.create(BatchOrder("一个很长的运行 a very long run", 1))
    assert core.lab.moves.begin(run.id, "bench") is not None
    # Those that begin and end the run are written by the lab itself.
    for start in range(0, count - 2, TOGETHER):
        with core.db.transaction():
            now_ms = int(time.time() * 1000)
            for number in range(start, min(start + TOGETHER, count - 2)):
                core.lab.trace.write([run.id], [entry(number)], at_ms=now_ms)
    core.lab.runs.cancel_batch(batch.id)
    return run.id


def entry(number: int) -> Entry:
    """One event of the kind that a run has at this place of its cycle."""
    task = f"0.{number // 200 + 1}.1" if number % 200 >= 60 else "0"
    payload: dict[str, Any] = {
        "number": number, "agent": "mof_expert" if task != "0" else "orchestrator", "task_path": task,
        "depth": int(task != "0"), "task_name": f"Teilaufgabe 任务 {number // 200}",
    }  # fmt: skip
    more: dict[str, Any]
    match number % 5:
        case 0:
            kind, more = EventType.RECAP_INFO, {"recap_state": "down", "think": "先查资料 " * 20}
        case 1:
            kind, more = EventType.LLM_REQUEST, {"messages": [{"role": "user", "content": "内容 " * 60}]}
        case 2:
            kind, more = EventType.LLM_RESPONSE, {"content": "Kupfer [C1] 铜 " * 20, "took_ms": 6}
        case 3:
            kind, more = EventType.KB_QUERY, {"query": f"copper site {number}", "results": [], "took_ms": 3}
        case _:
            kind, more = EventType.MEM_SEARCH, {"query": f"循环 {number}", "results": [], "took_ms": 1}
    if number % EVERY_FAILURE == 0:
        more = more | {"error": f"nothing answered at {number}"}
    return kind, payload | more


def seed(home: Path, count: int) -> str:
    """A data directory with such a run; returns the run's id."""
    core = open_core(load({"data_dir": str(home), "embedder": "none", "openai_base_url": CONFIGURED}, {}, home))
    try:
        with acting_as("local"):
            return fill(core, count)
    finally:
        core.close()


class Look:
    """One browser at one trace; every time it takes, it also counts the rows."""

    def __init__(self, page: Page, url: str, run_id: str, count: int) -> None:
        self.page = page
        self.count = count
        self.rows = 0
        page.add_init_script(_WATCH)
        began = time.monotonic()
        page.goto(f"{url}/ui/runs/{run_id}?level=all")
        page.get_by_role("row").first.wait_for()
        self.first_rows_ms = (time.monotonic() - began) * 1000
        self.height = page.get_by_role("row").first.bounding_box()["height"]  # type: ignore[index]

    def read(self) -> float:
        """Read everything there is; seconds."""
        began = time.monotonic()
        button = self.page.get_by_role("button", name="To the end")
        if button.count():
            button.click()
        self.page.get_by_role("status").filter(has_text=f"{self.count:,} events").wait_for(timeout=READING_MS)
        self.page.get_by_role("row").filter(has_text="Run canceled").wait_for()
        self._count_rows()
        return time.monotonic() - began

    def taken(self, expected: str, argument: object, act: Callable[[], object]) -> float:
        """How long after the input the expected thing stood there; milliseconds."""
        self.page.evaluate("([name, argument]) => expectSoon(name, argument)", [expected, argument])
        act()
        took: float = self.page.evaluate("soon")
        self._count_rows()
        return took

    def jump(self, index: int) -> float:
        """Scroll to a row anywhere."""
        took: float = self.page.evaluate("([index, height]) => jumpTo(index, height)", [index, self.height])
        self._count_rows()
        return took

    def press(self, key: str) -> float:
        """Move with the keyboard."""
        before = self.page.evaluate("document.querySelector('[role=row][aria-selected=true]')?.dataset.index ?? ''")
        return self.taken("chosen", before, lambda: self.page.keyboard.press(key))

    def open(self) -> float:
        """Choose a row in the middle of what is shown, until its payload is there."""
        self.page.keyboard.press("Escape")
        self.page.get_by_role("term").first.wait_for(state="detached")
        rows = self.page.get_by_role("row").filter(has_not_text="Run canceled")
        box = rows.nth(rows.count() // 2).bounding_box()
        assert box is not None
        return self.taken("detail", None, lambda: self.page.mouse.click(box["x"] + 300, box["y"] + 10))

    def filter(self, act: Callable[[], object]) -> float:
        """Show other rows."""
        before = self.page.get_by_role("grid").get_attribute("aria-rowcount")
        return self.taken("rows", before, act)

    def _count_rows(self) -> None:
        self.rows = max(self.rows, self.page.evaluate("rowCount()"))


def measure(browser: Browser, url: str, run_id: str, count: int, *, looks: int, seed: int) -> dict[str, Any]:
    """Every interaction, several times."""
    chance = random.Random(seed)
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US", reduced_motion="reduce")
    context.set_default_timeout(30_000)
    page = context.new_page()
    try:
        look = Look(page, url, run_id, count)
        read_s = look.read()
        times: dict[str, list[float]] = {
            "scroll anywhere": [look.jump(chance.randrange(count)) for _ in range(looks)],
            "open a row": [look.open() for _ in range(max(2, looks // 4))],
            "j": [look.press("j") for _ in range(looks)],
            "k": [look.press("k") for _ in range(looks)],
        }
        page.keyboard.press("Escape")
        chips = page.get_by_role("group", name="Event types").get_by_role("button")
        chosen = [chips.nth(place) for place in range(2) for _ in range(max(2, looks // 6))]
        times["type of events"] = [look.filter(chip.click) for chip in chosen for _ in range(2)]
        failed = page.get_by_role("switch", name="Failed only")
        times["failed only"] = [look.filter(failed.click) for _ in range(max(2, looks // 4) * 2)]
        levels = [page.get_by_text(word, exact=True) for word in ("Steps", "Milestones", "Everything")]
        times["importance"] = [look.filter(level.click) for _ in range(max(1, looks // 6)) for level in levels]
        field = page.get_by_role("searchbox", name="Search the trace")
        field.focus()
        searched = [look.filter(partial(page.keyboard.press, letter)) for letter in "173"]
        heap = page.evaluate("performance.memory?.usedJSHeapSize ?? 0")
        return {
            "events": count,
            "first_rows_ms": look.first_rows_ms,
            "read_to_the_end_s": read_s,
            "most_rows_in_the_page": look.rows,
            "heap_mb": round(heap / 1e6),
            "search_with_its_pause_ms": max(searched),
            "interactions": {name: figures(taken) for name, taken in times.items()},
            "all_p95_ms": report.percentile([each for taken in times.values() for each in taken], 0.95),
        }
    finally:
        context.close()


def figures(taken: Sequence[float]) -> dict[str, float]:
    """What is told of many times."""
    half, most = (round(report.percentile(taken, share), 1) for share in (0.5, 0.95))
    return {"n": len(taken), "p50": half, "p95": most, "max": round(max(taken), 1)}


def kept(found: dict[str, Any]) -> bool:
    """Whether both promises were."""
    return bool(found["most_rows_in_the_page"] <= MOST_ROWS and found["all_p95_ms"] < LIMIT_MS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--events", type=int, default=LONG, help="of the trace")
    parser.add_argument("--looks", type=int, default=40, help="how often each thing is done")
    options = parser.parse_args(argv)
    seed_used = report.chosen_seed(options.seed)
    if not building.fresh():
        building.install()
        building.build()
    with folder(durable=False) as home, sync_playwright() as playwright:
        began = time.monotonic()
        run_id = seed(home, options.events)
        written_s = time.monotonic() - began
        browser = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
        with Server(home) as server:
            url = f"http://127.0.0.1:{server.port}"
            found = measure(browser, url, run_id, options.events, looks=options.looks, seed=seed_used)
        browser.close()
    plain = {"written_in_s": written_s} | {name: each for name, each in found.items() if name != "interactions"}
    rows = [[name, *each.values()] for name, each in found["interactions"].items()]
    text = f" seed {seed_used}\n{report.lines(plain)}\n{report.table(['ms', 'n', 'p50', 'p95', 'max'], rows)}"
    return report.conclude("web trace", {"seed": seed_used, **found}, text, kept=kept(found), as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
