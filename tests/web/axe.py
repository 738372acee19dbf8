"""axe-core on a page as it stands: every rule of WCAG 2.2 AA that a program can judge, in both themes."""

from __future__ import annotations

from functools import cache
from typing import Any

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as TooLate

from tests.web.building import WEB
from tests.web.visiting import WHOLE, Theme

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_EVERY = {"type": "tag", "values": _TAGS}
_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
# A theme that has just come may still be fading in, and what inherits a fading colour fades after it.
_RUN = """async (rules) => {
    const passing = ({ effect }) => effect.getComputedTiming().endTime !== Infinity;
    const drawn = () => new Promise((then) => requestAnimationFrame(() => setTimeout(then)));
    do await drawn(); while (document.getAnimations().some(passing));
    const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ['violations'], preload: false });
    const why = ({ any, all, none }) => (any[0] ?? all[0] ?? none[0])?.message ?? '';
    return violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}: ${why(node)}`));
}"""


@cache
def _source() -> str:
    return (WEB / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What breaks a rule, and where, in either theme; empty on a sound page.

    A theme changes colours and nothing else, and colours are the same in every language: unless everything is wanted,
    only colours are judged in the other theme, and in one language.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    asked: dict[Theme, dict[str, Any]] = {"light": _EVERY}
    if WHOLE or page.evaluate("document.documentElement.lang") == "en":
        asked["dark"] = _EVERY if WHOLE else _COLOURS
    found = []
    for theme, rules in asked.items():
        _dress(page, theme)
        found += [f"{theme}: {each}" for each in page.evaluate(_RUN, rules)]
    return found


def _dress(page: Page, theme: Theme) -> None:
    """Let the system's theme change; a page that begins to listen at that very moment misses it, so say it again."""
    for _ in range(5):
        page.emulate_media(color_scheme=theme)
        try:
            page.locator(f":root[data-mantine-color-scheme={theme}]").wait_for(state="attached", timeout=3_000)
        except TooLate:
            page.emulate_media(color_scheme="light" if theme == "dark" else "dark")
        else:
            return
    raise AssertionError(f"the page does not become {theme}")
