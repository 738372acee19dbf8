"""What tests of pages share."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page


def pausing(page: Page) -> Callable[[float], None]:
    """Pauses of `eventually` in which the page and what it tells the test go on."""
    return lambda seconds: page.wait_for_timeout(1000 * seconds)


def drawn(page: Page) -> None:
    """Wait until what the page holds now is on the screen."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")
