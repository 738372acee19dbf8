"""What a built page asks for and where it leads, read from its HTML."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, and where its address stands. A link that is followed by hand may lead anywhere.
FETCHED = {"img": "src", "script": "src", "source": "src", "iframe": "src", "video": "src", "audio": "src"}
FETCHED_LINKS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload"}


@dataclass
class Built:
    """One page of the site."""

    path: Path
    language: str = ""
    anchors: set[str] = field(default_factory=set)
    leads: list[str] = field(default_factory=list)
    fetches: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, page: Built) -> None:
        super().__init__()
        self._page = page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self._page.anchors.add(given["id"])
        if tag == "html":
            self._page.language = given.get("lang", "")
        elif tag == "a" and "href" in given:
            self._page.leads.append(given["href"])
        elif tag in FETCHED and FETCHED[tag] in given:
            self._page.fetches.append(given[FETCHED[tag]])
        elif tag == "link" and FETCHED_LINKS & set(given.get("rel", "").split()):
            self._page.fetches.append(given.get("href", ""))


def read(site: Path) -> dict[Path, Built]:
    """Every page of a site."""
    found = {}
    for path in site.rglob("*.html"):
        page = Built(path.resolve())
        _Reader(page).feed(path.read_text())
        found[page.path] = page
    return found


def broken(site: dict[Path, Built], root: Path) -> list[str]:
    """Every address inside the site that is not there, with the page that has it."""
    lost = []
    for page in site.values():
        for address in page.leads + page.fetches:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            if parts.path.startswith("/"):
                # Of the page for what was not found, which is shown at any address; no browser climbs above the root.
                target = root.resolve() / posixpath.normpath(unquote(parts.path)).lstrip("/")
            else:
                target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            if target.is_dir():
                target /= "index.html"
            known = site.get(target)
            if not target.exists() or (parts.fragment and known and unquote(parts.fragment) not in known.anchors):
                lost.append(f"{page.path.name}: {address}")
    return lost


def foreign(site: dict[Path, Built]) -> list[str]:
    """Everything that a browser would fetch from another machine."""
    return [f"{page.path.name}: {each}" for page in site.values() for each in page.fetches if urlsplit(each).netloc]
