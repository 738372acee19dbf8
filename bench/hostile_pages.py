"""Every one of a hundred script-injection texts in every field that a page shows, looked at in Chromium.

Each round puts one text into each field through public endpoints and visits every page that shows it; after a hundred
rounds each field has had each text. Whatever runs, breaks the pages' own policy, asks another server or becomes an
element of a page is printed, and the exit status is 1.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from bench import report
from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests.web import building
from tests.web.conftest import FLAGS
from tests.web.payloads import PAYLOADS
from tests.web.seeds.hostile import LISTS, Planting, visited
from tests.web.visiting import Language, Visitor
from tests.web.watching import Watch

LANGUAGES: tuple[Language, Language] = ("en", "zh")


def looked_at(rounds: int) -> dict[str, Any]:
    """So many rounds on a server of their own; what was wrong, and how much was looked at."""
    wrong: list[str] = []
    fields: set[str] = set()
    pages = 0
    with tempfile.TemporaryDirectory() as place, ModelServer() as model, sync_playwright() as playwright:
        settings = {
            "CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "none", "CODEXMEM_BATCH_WAIT_S": "0",
        }  # fmt: skip
        data = Path(place) / "data"
        data.mkdir()
        browser = playwright.chromium.launch(executable_path=building.chromium(), args=list(FLAGS))
        with Server(data, settings=settings) as server:
            for number in range(rounds):
                planting = Planting(server, model, Path(place), number)
                planting.plant()
                visitor = Visitor(browser, f"http://127.0.0.1:{server.port}")
                context = visitor.context(LANGUAGES[number % 2])
                watch = Watch(context)
                visited(context, watch, [*LISTS, *planting.pages])
                context.close()
                wrong += [*watch.wrong, *visitor.faults]
                pages += len(LISTS) + len(planting.pages)
                fields |= planting.fields
                sys.stderr.write(f"round {number + 1} of {rounds}: {len(wrong)} wrong\n")
        browser.close()
    return {"texts": rounds, "fields": len(fields), "pages looked at": pages, "wrong": len(wrong), "first": wrong[:20]}


def main(argv: list[str] | None = None) -> int:
    """Look and report."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--rounds", type=int, default=len(PAYLOADS), help="each puts one text into each field")
    options = parser.parse_args(argv)
    building.install()
    if not building.fresh():
        building.build()
    figures = looked_at(options.rounds)
    return report.conclude(
        "hostile pages", figures, report.lines(figures), kept=not figures["wrong"], as_json=options.json
    )


if __name__ == "__main__":
    sys.exit(main())
