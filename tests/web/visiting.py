"""A person at a browser. Whatever a test does, the page must not fail, break its own policy or ask another server."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, ViewportSize, WebError

Language = Literal["en", "zh"]
Theme = Literal["light", "dark"]

BOTH: tuple[Language, ...] = ("en", "zh")
WHOLE = "CODEXMEM_WEB_TESTS_WHOLE" in os.environ  # as `just soak-web` sets it
# A page's main job is done in the language it was written in, what else can be done there in the one that is a
# translation: so each page is used in both. What a language itself is about has BOTH.
MAIN_JOB: tuple[Language, ...] = BOTH if WHOLE else ("en",)
SIDE_JOB: tuple[Language, ...] = BOTH if WHOLE else ("zh",)
LOCALES = {"en": "en-US", "zh": "zh-CN"}
_OWN_FAULTS = ("Content Security Policy", "TrustedHTML", "Trusted Type", "Refused to")


Contexts = dict[tuple[Language, Theme], BrowserContext]


@dataclass
class Visitor:
    """Opens pages and remembers what went wrong in any of them.

    `kept` are contexts that earlier visitors left clean: what they downloaded need not be fetched and compiled again.
    The first page in a language and theme is opened there, every other one in a fresh context.
    """

    browser: Browser
    url: str
    kept: Contexts | None = None
    faults: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)
    borrowed: list[BrowserContext] = field(default_factory=list)

    def context(self, language: Language = "en", theme: Theme = "light", **options: Any) -> BrowserContext:
        """A browser that nobody has used yet, with this language and theme."""
        context = self._fresh(language, theme, **options)
        self.contexts.append(self._watched(context))
        return context

    def __call__(
        self, path: str, language: Language = "en", theme: Theme = "light", *, context: BrowserContext | None = None,
        viewport: ViewportSize | None = None, **options: Any,
    ) -> Page:  # fmt: skip
        """The page at this address, once its heading stands."""
        context = context or self._kept(language, theme, options) or self.context(language, theme, **options)
        page = context.new_page()
        if viewport is not None:
            page.set_viewport_size(viewport)
        page.goto(path)
        page.get_by_role("heading", level=1).wait_for()
        return page

    def close(self) -> None:
        """Close every page, then tell what went wrong."""
        for context in self.contexts:
            context.close()
        for context in self.borrowed:
            for page in context.pages:
                page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
                page.close()
            for event, heard in self._ears().items():
                context.remove_listener(event, heard)
        assert self.faults == []

    def _fresh(self, language: Language, theme: Theme, **options: Any) -> BrowserContext:
        settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **options}
        context = self.browser.new_context(
            base_url=self.url, locale=LOCALES[language], color_scheme=theme, timezone_id="UTC", **settings
        )
        context.set_default_timeout(30_000)
        return context

    def _kept(self, language: Language, theme: Theme, options: dict[str, Any]) -> BrowserContext | None:
        if self.kept is None or options:
            return None
        if (language, theme) not in self.kept:
            self.kept[language, theme] = self._fresh(language, theme)
        context = self.kept[language, theme]
        if context in self.borrowed:
            return None
        self.borrowed.append(self._watched(context))
        return context

    def _watched(self, context: BrowserContext) -> BrowserContext:
        for event, heard in self._ears().items():
            context.on(event, heard)  # type: ignore[call-overload]
        return context

    def _ears(self) -> dict[str, Callable[[Any], None]]:
        return {"console": self._heard, "weberror": self._failed, "request": self._asked}

    def _failed(self, error: WebError) -> None:
        self.faults.append(f"page error: {error.error}")

    def _heard(self, message: ConsoleMessage) -> None:
        if any(word in message.text for word in _OWN_FAULTS):
            self.faults.append(f"console: {message.text[:400]}")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and f"{parts.scheme}://{parts.netloc}" != self.url:
            self.faults.append(f"foreign request: {request.url[:200]}")
