"""Pages look as they did: twelve of them, each in one language and theme; and a page that does not is told."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.web import pictures
from tests.web.seeds import demo

# What somebody might break by a rule of a style sheet, and what must not count: other letters of the same size.
BROKEN = ("main { visibility: hidden }", "main { transform: translateX(60px) }")
HARMLESS = "* { font-family: serif !important }"
# A style element would break the page's policy.
STYLED = "(rule) => { const s = new CSSStyleSheet(); s.replaceSync(rule); document.adoptedStyleSheets = [s]; }"


def test_pages_look_as_they_did_and_a_broken_one_is_seen(browser: Browser, made: demo.Demo) -> None:
    url = f"http://127.0.0.1:{made.server.port}"
    shares = {}
    for look, now, page in pictures.taken(browser, url, pictures.looks(made, whole=False)):
        shares[look.path.name] = pictures.compared(look, now)
        if look.shot.name == "qa":
            for rule in (*BROKEN, HARMLESS):
                page.evaluate(STYLED, rule)
                share = pictures.difference(now, pictures.picture(page))
                assert (share > pictures.MOST) is (rule != HARMLESS), (rule, share)
    different = {name: share for name, share in shares.items() if share > pictures.MOST}
    assert different == {}, f"old and new beside each other in {pictures.DIFFERENT}; `just pictures` says more"
