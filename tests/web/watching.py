"""Watches a browser for what no page may do: run what stands in a text, break its own policy, make markup of a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Dialog, Page

# In every frame before anything else: payloads call __hit, and what they usually call instead is heard as well.
_HEARD = """
window.__hit = (number) => { window.__heard('ran', String(number)); };
for (const name of ['alert', 'confirm', 'prompt', 'print']) {
    window[name] = (said) => { window.__heard('dialog', String(said)); };
}
addEventListener('securitypolicyviolation', (event) => {
    window.__heard('policy', `${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`);
}, true);
"""
# Nothing in a page of ours has any of these, so whatever has one was made of a text.
_MADE = """() => {
    const wrong = [];
    const own = (address) => !address || /^(?:https?:|mailto:|#|\\/|\\?|blob:|data:image\\/)/i.test(address.trim());
    for (const element of document.querySelectorAll('*')) {
        const name = element.localName;
        const foreign = ['iframe', 'object', 'embed', 'base', 'marquee', 'video', 'audio', 'math'].includes(name)
            || (name === 'script' && !element.src.startsWith(location.origin + '/ui/assets/'))
            || (name === 'img' && !own(element.getAttribute('src')));
        const handlers = element.getAttributeNames().filter((attribute) => attribute.startsWith('on'));
        const address = ['href', 'xlink:href', 'action', 'formaction', 'src'].find(
            (attribute) => element.hasAttribute(attribute) && !own(element.getAttribute(attribute)));
        if (foreign || handlers.length || address) wrong.push(element.outerHTML.slice(0, 200));
    }
    return wrong;
}"""


@dataclass
class Watch:
    """What was heard in all pages of a context."""

    context: BrowserContext
    hits: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.expose_binding("__heard", self._heard)
        self.context.add_init_script(_HEARD)
        self.context.on("dialog", self._asked)

    def look(self, page: Page) -> None:
        """Whether the page as it stands holds an element that only a text can have made."""
        self.wrong += [f"{page.url[:200]} made {each}" for each in page.evaluate(_MADE)]

    def _asked(self, dialog: Dialog) -> None:
        self.wrong.append(f"dialog: {dialog.message[:300]}")
        dialog.dismiss()

    def _heard(self, source: dict[str, Any], what: str, said: str) -> None:
        if what == "ran" and said.isdigit():
            self.hits.add(int(said))
        self.wrong.append(f"{source['page'].url[:200]} {what}: {said[:300]}")
