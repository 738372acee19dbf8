"""Which reference pages there are, and what each must say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.docs.pages import DOCS, LANGUAGES, Language
from tests.docs.reference import commands, events, http, settings, tools

FOLDER = DOCS / "reference"
PAGES: Mapping[str, Callable[[Language], str]] = {
    "settings": settings.render,
    "commands": commands.render,
    "http": http.render,
    "mcp": tools.render_mcp,
    "rpc": tools.render_rpc,
    "events": events.render,
    "exit-codes": events.render_exits,
}


def documents() -> dict[Path, str]:
    """Every page of the reference by its place."""
    suffixes: Mapping[Language, str] = {"en": ".md", "zh": ".zh.md"}
    return {
        FOLDER / f"{name}{suffixes[language]}": render(language)
        for name, render in PAGES.items()
        for language in LANGUAGES
    }
