"""The pages of the documentation: which there are, in which language, and what a link in one of them means.

A page is a Markdown file in `docs/`. `tutorial.md` is English, `tutorial.zh.md` is the same page in Chinese. Decisions
and contract tables are the project's own records: they are in English, and the Chinese site shows them as they are.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CHINESE = ".zh.md"
RECORDS = ("decisions", "contracts")
# Beside the pages, not among them.
NO_PAGES = ("site",)
# Files of the repository that are pages of the site as well, and the page's name there.
ALSO = {"SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

_FENCE = re.compile(r"^(?P<mark>```+|~~~+).*?^(?P=mark)\s*?$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"(?P<before>\]\()(?P<target>[^()\s]+(?:\([^()\s]*\))?)(?P<after>\))")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:")


@dataclass(frozen=True)
class Page:
    """One page in one language; `name` is the path that both languages share."""

    name: str
    language: Language
    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text()

    @property
    def is_record(self) -> bool:
        return self.name.split("/")[0] in RECORDS


def pages(docs: Path = DOCS) -> list[Page]:
    """Every page, by name and language."""
    found = []
    for path in docs.rglob("*.md"):
        name = path.relative_to(docs).as_posix()
        if name.split("/")[0] in NO_PAGES:
            continue
        if name.endswith(CHINESE):
            found.append(Page(name.removesuffix(CHINESE) + ".md", "zh", path))
        else:
            found.append(Page(name, "en", path))
    return sorted(found, key=lambda page: (page.name, page.language))


def lacking(found: list[Page]) -> list[str]:
    """The pages that one language has and the other lacks; records need no Chinese."""
    names = {language: {page.name for page in found if page.language == language} for language in LANGUAGES}
    records = {page.name for page in found if page.is_record}
    return sorted(
        [f"docs/{name} is not there in Chinese" for name in names["en"] - names["zh"] - records]
        + [f"docs/{name.removesuffix('.md')}{CHINESE} is not there in English" for name in names["zh"] - names["en"]]
    )


def relinked(text: str, *, name: str, language: Language) -> str:
    """The text of the page `name` with its links as the site has them; code is left alone.

    On its own site `x.zh.md` is `x.md`; a link to the other language leads to the other site; files above `docs/` that
    are pages have names of their own.
    """
    folder = posixpath.dirname(name)

    def moved(found: re.Match[str]) -> str:
        target = found["target"]
        if _SCHEME.match(target) or target.startswith("#"):
            return found.group()
        place, mark, anchor = target.partition("#")
        meant = posixpath.normpath(posixpath.join(folder, place))
        if meant.startswith("../") and meant[3:] in ALSO:
            place = posixpath.relpath(ALSO[meant[3:]], folder or ".")
        elif place.endswith(".md"):
            place = _elsewhere(meant, folder, language) or place.replace(CHINESE, ".md")
        return found["before"] + place + mark + anchor + found["after"]

    return "".join(part if code else _LINK.sub(moved, part) for part, code in _parts(text))


def _elsewhere(meant: str, folder: str, language: Language) -> str | None:
    """Where a page of the other language is; nothing if it is of this one."""
    chinese = meant.endswith(CHINESE)
    everywhere = meant.partition("/")[0] in RECORDS or meant in ALSO.values()
    if chinese == (language == "zh") or everywhere:
        return None
    if chinese:
        return posixpath.relpath(f"zh/{meant.removesuffix(CHINESE)}.html", folder or ".")
    return posixpath.relpath(f"../{meant.removesuffix('.md')}.html", folder or ".")


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is code."""
    at = 0
    for found in _FENCE.finditer(text):
        yield from _inline(text[at : found.start()])
        yield found.group(), True
        at = found.end()
    yield from _inline(text[at:])


def _inline(text: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for found in _CODE.finditer(text):
        yield text[at : found.start()], False
        yield found.group(), True
        at = found.end()
    yield text[at:], False
