"""Pictures of every page, in both themes and both languages: `just screenshots`, or some of them by name.

A real server is filled with a demonstration and looked at in Chromium at 1440 × 900. The pictures go to a folder that
is not kept; those that the README shows were chosen from it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests._support.model_server import ModelServer
from tests._support.pages import pausing
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import building
from tests.web.conftest import FLAGS
from tests.web.seeds import demo
from tests.web.visiting import Language, Theme, Visitor

FOLDER = building.ROOT / "web" / "screenshots"
SIZE = {"width": 1440, "height": 900}
ALIKE = 4
LOOKS: tuple[tuple[Language, Theme], ...] = (("en", "light"), ("en", "dark"), ("zh", "light"), ("zh", "dark"))


class Shot(NamedTuple):
    """One picture: where it is taken, and what is done before."""

    name: str
    address: str
    act: Callable[[Page], object] | None = None


def shots(made: demo.Demo) -> list[Shot]:
    """All of them, in the order of the navigation."""
    run, project = f"/ui/runs/{made.run}", quote(demo.SHOP)
    port = "/ui/m/project/deploy/port"
    return [
        Shot("brief", f"/ui/p/{project}"),
        Shot("brief-ask", f"/ui/p/{project}?ask={quote('why does the connection pool run out of connections?')}"),
        Shot("viewer", "/viewer", lambda page: _stirred(page, made)),
        Shot("viewer-trace", f"/viewer?tab=traces&sel={made.trace}"),
        Shot("viewer-timings", "/viewer?tab=timings"),
        Shot("viewer-failures", "/viewer?tab=failures"),
        Shot("memories", f"/ui/memories?anchor=%23{made.observation}"),
        Shot("observation", f"/ui/memories/{made.observation}"),
        Shot("sessions", "/ui/sessions"),
        Shot("session", f"/ui/sessions/{made.session}?events=1", lambda page: _down(page, 7)),
        Shot("notes", "/ui/notes"),
        Shot("memory", port),
        Shot("memory-diff", f"{port}?tab=versions&diff=1..2"),
        Shot("lineage", f"/ui/memories/{made.observation}?tab=lineage"),
        Shot("qa", f"/ui/qa?project={project}&sel={made.qa}"),
        Shot("knowledge", "/ui/kb"),
        Shot("documents", "/ui/kb/documents?library=kb_principles"),
        Shot("workspaces", "/ui/kb/workspaces"),
        Shot("batches", "/ui/batches"),
        Shot("batch", f"/ui/batches/{made.batch}"),
        Shot("batch-new", "/ui/batches/new"),
        Shot("run-trace", f"{run}?tab=trace", lambda page: _down(page, 4)),
        Shot("run-output", f"{run}?tab=output"),
        Shot("run-evidence", f"{run}?tab=evidence&alias=C1"),
        Shot("run-feedback", f"{run}?tab=feedback"),
        Shot("run-learning", f"{run}?tab=learning"),
        Shot("lessons", "/ui/rb"),
        Shot("lesson", f"/ui/rb/{made.lesson}"),
        Shot("learning-jobs", "/ui/rb/jobs"),
        Shot("deltas", "/ui/rb/deltas"),
        Shot("delta", f"/ui/rb/deltas/{made.delta}"),
        Shot("products", "/ui/catalog/products"),
        Shot("presets", f"/ui/catalog/presets?sel={made.preset}"),
        Shot("system", "/ui/system"),
        Shot("audit", f"/ui/audit?sel={made.audit}"),
        Shot("settings", "/ui/settings"),
        Shot("palette", "/viewer", _palette),
        Shot("shortcuts", "/ui/qa", lambda page: page.keyboard.press("?")),
    ]


def _down(page: Page, rows: int) -> None:
    for _ in range(rows):
        page.keyboard.press("j")


def _stirred(page: Page, made: demo.Demo) -> None:
    before = _still(page)
    demo.stirred(made)
    eventually(lambda: _still(page) != before, pause=pausing(page))  # the live stream tells it


def _palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("connection pool")
    page.get_by_role("option").filter(has_text="pool").first.wait_for()


def take(browser: Browser, url: str, wanted: list[Shot], folder: Path) -> None:
    """Each in all looks; a page that fails or asks elsewhere ends it."""
    visit = Visitor(browser, url)
    for language, theme in LOOKS:
        context = visit.context(language, theme, viewport=SIZE)
        page = context.new_page()
        for shot in wanted:
            page.goto(shot.address)
            page.get_by_role("heading", level=1).wait_for()
            settled(page)
            if shot.act is not None:
                shot.act(page)
                settled(page)
            path = folder / f"{shot.name}-{language}-{theme}.png"
            page.screenshot(path=path)
            sys.stdout.write(f"{path.relative_to(building.ROOT)}\n")
    visit.close()


def settled(page: Page) -> None:
    """Nothing is on its way, and several pictures in a row are alike."""
    expect(page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)
    taken: list[bytes] = []

    def alike() -> bool:
        taken.append(_still(page))
        return len(taken) >= ALIKE and len(set(taken[-ALIKE:])) == 1

    eventually(alike, pause=pausing(page))


def _still(page: Page) -> bytes:
    return page.screenshot(animations="disabled", caret="hide")


def main() -> None:
    """All pictures, or those whose names are given."""
    building.install()
    if not building.fresh():
        building.build()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, ModelServer() as model, sync_playwright() as playwright:
        settings = {
            "CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "none", "CODEXMEM_BATCH_WAIT_S": "0",
        }  # fmt: skip
        data = Path(place) / "codexmem"
        data.mkdir()
        with Server(data, settings=settings) as server:
            made = demo.filled(server, model, Path(place))
            wanted = [shot for shot in shots(made) if not sys.argv[1:] or shot.name in sys.argv[1:]]
            browser = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
            take(browser, f"http://127.0.0.1:{server.port}", wanted, FOLDER)
            browser.close()


if __name__ == "__main__":
    main()
