"""Twelve pages as pictures, compared with those taken before: `just pictures`, in all looks `just pictures --all`.

What is compared is the layout: a picture is blurred and made small until letters are shades, so that other fonts, times
and numbers do not count, but a column that is gone, moved or of another colour does. Pictures that differ are put
beside each other in a folder that is not kept. `--write` takes the present ones as those to compare with.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter
from playwright.sync_api import Browser, Page, sync_playwright

from tests._support.model_server import ModelServer
from tests._support.pages import pausing
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import building
from tests.web.conftest import FLAGS
from tests.web.seeds import demo
from tests.web.shots import LOOKS, Shot, settled, shots
from tests.web.visiting import Language, Theme, Visitor

KEPT = Path(__file__).parent / "kept_pictures"
DIFFERENT = building.ROOT / "web" / "screenshots" / "different"
SIZE = (1280, 800)
SMALL = (320, 200)  # of what is kept
CELLS = (40, 25)  # of what is compared: 32 x 32 pixels each
SHADES = 64  # colours of a kept picture
BLUR = 2.5  # pixels of the small picture
STEP = 6  # of 255, by which a cell is another one
PATIENCE_S = 8  # for a page to look as it did
MOST = 0.05  # share of cells that may be another
PAGES = (
    "brief", "memories", "observation", "sessions", "notes", "memory-diff", "qa", "documents", "batch-new",
    "run-output", "lessons", "settings",
)  # fmt: skip


class Look(NamedTuple):
    """One page in one language and theme."""

    shot: Shot
    language: Language
    theme: Theme

    @property
    def path(self) -> Path:
        """Where its picture is kept."""
        return KEPT / f"{self.shot.name}-{self.language}-{self.theme}.png"


def looks(made: demo.Demo, *, whole: bool) -> list[Look]:
    """Every page in every look; or every page in one of the four, in turn."""
    named = {shot.name: shot for shot in shots(made)}
    wanted = [named[name] for name in PAGES]
    if whole:
        return [Look(shot, *look) for look in LOOKS for shot in wanted]
    turns = [Look(shot, *LOOKS[at % len(LOOKS)]) for at, shot in enumerate(wanted)]
    return sorted(turns, key=lambda each: LOOKS.index((each.language, each.theme)))


def taken(browser: Browser, url: str, wanted: list[Look]) -> Iterator[tuple[Look, Image.Image, Page]]:
    """Each look with its picture, small and without what moves; the page is there until the next one is asked for."""
    visit = Visitor(browser, url)
    size = {"width": SIZE[0], "height": SIZE[1]}
    pages: dict[tuple[Language, Theme], Page] = {}
    for look in wanted:
        key = (look.language, look.theme)
        if key not in pages:
            pages[key] = visit.context(*key, viewport=size).new_page()
        page = pages[key]
        page.goto(look.shot.address)
        page.get_by_role("heading", level=1).wait_for()
        settled(page)
        yield look, _rested(page, look), page
    visit.close()


def _rested(page: Page, look: Look) -> Image.Image:
    """Its picture as soon as it looks as it did; a loaded machine comes to rest later, and some pages have changed."""
    pictures: list[Image.Image] = []

    def alike() -> bool:
        pictures.append(picture(page))
        return not look.path.exists() or compared(look, pictures[-1], keeping=False) <= MOST

    with suppress(AssertionError):
        eventually(alike, within_s=PATIENCE_S, pause=pausing(page))
    return pictures[-1]


def picture(page: Page) -> Image.Image:
    """What is on the screen, as small as it is kept."""
    shown = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    return shown.resize(SMALL, Image.Resampling.BOX)


def difference(one: Image.Image, other: Image.Image) -> float:
    """The share of cells in which two small pictures are not alike."""
    apart = ImageChops.difference(_cells(one), _cells(other)).tobytes()
    steps = [max(apart[at : at + 3]) for at in range(0, len(apart), 3)]
    return sum(step > STEP for step in steps) / len(steps)


def _cells(image: Image.Image) -> Image.Image:
    blurred = image.convert("RGB").filter(ImageFilter.GaussianBlur(BLUR))
    return blurred.resize(CELLS, Image.Resampling.BOX)


def compared(look: Look, now: Image.Image, *, keeping: bool = True) -> float:
    """How much a page differs from its kept picture; both are kept beside each other if that is too much."""
    if not look.path.exists():
        return 1.0
    with Image.open(look.path) as kept:
        share = difference(kept, now)
        if share > MOST and keeping:
            DIFFERENT.mkdir(parents=True, exist_ok=True)
            both = Image.new("RGB", (2 * SMALL[0] + 8, SMALL[1]), "red")
            both.paste(kept.convert("RGB"), (0, 0))
            both.paste(now, (SMALL[0] + 8, 0))
            both.save(DIFFERENT / look.path.name)
    return share


def keep(look: Look, now: Image.Image) -> None:
    """The picture to compare with from now on."""
    KEPT.mkdir(exist_ok=True)
    now.quantize(SHADES, dither=Image.Dither.NONE).save(look.path, optimize=True)


def main() -> int:
    """Take and compare, or take and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="all pages in both themes and languages")
    parser.add_argument("--write", action="store_true", help="keep what is taken as what to compare with")
    options = parser.parse_args()
    building.install()
    if not building.fresh():
        building.build()
    apart = 0
    with tempfile.TemporaryDirectory() as place, ModelServer() as model, sync_playwright() as playwright:
        settings = {
            "CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "none", "CODEXMEM_BATCH_WAIT_S": "0",
        }  # fmt: skip
        data = Path(place) / "codexmem"
        data.mkdir()
        with Server(data, settings=settings) as server:
            made = demo.filled(server, model, Path(place))
            browser = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
            url = f"http://127.0.0.1:{server.port}"
            for look, now, _ in taken(browser, url, looks(made, whole=options.all or options.write)):
                if options.write:
                    keep(look, now)
                share = compared(look, now)
                apart += share > MOST
                sys.stdout.write(f"{'DIFFERS' if share > MOST else 'same':8} {share:6.1%}  {look.path.name}\n")
            browser.close()
    if apart:
        sys.stdout.write(f"{apart} differ: see {DIFFERENT.relative_to(building.ROOT)}, old left, new right\n")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
