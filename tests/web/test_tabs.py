"""Tabs share one event stream, and hand it over."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web.visiting import Visitor

TABS = 8


def followers(served: Server) -> int:
    """How many live readers the server itself counts."""
    text = served.request("GET", "/metrics").body.decode()
    (line,) = (line for line in text.splitlines() if line.startswith("codexmem_live_followers "))
    return int(float(line.split()[1]))


def live(page: Page) -> None:
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()


def test_eight_tabs_share_one_stream_and_hand_it_over(visit: Visitor, served: Server) -> None:
    eventually(lambda: followers(served) == 0)
    context = visit.context()
    streams: list[str] = []
    context.on("request", lambda request: streams.append(request.url) if "/api/events" in request.url else None)
    tabs = [visit("/ui/settings", context=context) for _ in range(TABS)]
    for tab in tabs:
        live(tab)
    assert followers(served) == 1
    assert len(streams) == 1
    # Six connections are all that a browser opens: with a stream each, the tabs would starve.
    assert all(tab.evaluate("fetch('/api/stats').then((reply) => reply.status)") == 200 for tab in tabs)

    reading, *others = tabs
    with context.expect_event("request", lambda request: "/api/events" in request.url):
        reading.close()
    eventually(lambda: followers(served) == 1)
    for tab in others:
        live(tab)


def test_a_server_that_does_not_answer_is_told_and_found_again(visit: Visitor) -> None:
    context = visit.context()
    context.route("**/api/events", lambda route: route.abort())
    page = visit("/ui/settings", context=context)
    state = page.get_by_role("banner").get_by_role("status")
    expect(state).to_have_text("Reconnecting")
    expect(state).to_have_text("Offline", timeout=20_000)
    context.unroute_all()
    expect(state).to_have_text("Live", timeout=20_000)
