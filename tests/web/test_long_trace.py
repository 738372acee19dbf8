"""The short form of `just bench-web-trace`: a long trace keeps few rows in the page, and can be worked with."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from bench import web_trace
from tests._support.server import Server

EVENTS = 2_400


def test_a_long_trace_has_few_rows_in_the_page(browser: Browser, built_web: Path, tmp_path: Path) -> None:
    run_id = web_trace.seed(tmp_path, EVENTS)
    with Server(tmp_path) as server:
        url = f"http://127.0.0.1:{server.port}"
        found = web_trace.measure(browser, url, run_id, EVENTS, looks=2, seed=1)
    assert found["most_rows_in_the_page"] <= web_trace.MOST_ROWS
    assert found["all_p95_ms"] < 2_000  # a tenth of a second is promised of a machine that is not shared
    assert set(found["interactions"]) >= {"scroll anywhere", "j", "open a row", "type of events", "failed only"}
