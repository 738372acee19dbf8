"""A person at a browser. Whatever a test does, the page must not fail, break its own policy or ask another server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

Language = Literal["en", "zh"]
Theme = Literal["light", "dark"]

LOCALES = {"en": "en-US", "zh": "zh-CN"}
_OWN_FAULTS = ("Content Security Policy", "TrustedHTML", "Trusted Type", "Refused to")


@dataclass
class Visitor:
    """Opens pages, each context fresh, and remembers what went wrong in any of them."""

    browser: Browser
    url: str
    faults: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def context(self, language: Language = "en", theme: Theme = "light", **options: Any) -> BrowserContext:
        """A browser that nobody has used yet, with this language and theme."""
        settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **options}
        context = self.browser.new_context(
            base_url=self.url, locale=LOCALES[language], color_scheme=theme, timezone_id="UTC", **settings
        )
        context.set_default_timeout(15_000)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.faults.append(f"page error: {error.error}"))
        context.on("request", self._asked)
        self.contexts.append(context)
        return context

    def __call__(
        self, path: str, language: Language = "en", theme: Theme = "light", *, context: BrowserContext | None = None,
        **options: Any,
    ) -> Page:  # fmt: skip
        """The page at this address, once its heading stands; in a fresh context unless one is given."""
        page = (context or self.context(language, theme, **options)).new_page()
        page.goto(path)
        page.get_by_role("heading", level=1).wait_for()
        return page

    def close(self) -> None:
        """Close every page, then tell what went wrong."""
        for context in self.contexts:
            context.close()
        assert self.faults == []

    def _heard(self, message: ConsoleMessage) -> None:
        if any(word in message.text for word in _OWN_FAULTS):
            self.faults.append(f"console: {message.text[:400]}")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and f"{parts.scheme}://{parts.netloc}" != self.url:
            self.faults.append(f"foreign request: {request.url[:200]}")
