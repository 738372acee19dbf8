"""axe-core on a page as it stands: every rule of WCAG 2.2 AA that a program can judge."""

from __future__ import annotations

from functools import cache

from playwright.sync_api import Page

from tests.web.building import WEB

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@cache
def _source() -> str:
    return (WEB / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What breaks a rule, and where; empty on a sound page."""
    page.evaluate(_source())
    found: list[str] = page.evaluate(
        """async (tags) => {
            const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ['violations'] });
            const why = ({ any, all, none }) => (any[0] ?? all[0] ?? none[0])?.message ?? '';
            return violations.flatMap((rule) =>
                rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}: ${why(node)}`));
        }""",
        _TAGS,
    )
    return found
