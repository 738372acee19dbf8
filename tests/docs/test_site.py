"""The site is built without a warning, leads nowhere that is not there, and asks no other machine for anything."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.docs.building import build_site
from tests.docs.html import Built, broken, foreign, read
from tests.docs.pages import ALSO, DOCS, LANGUAGES, ROOT, Page, lacking, pages, relinked

FETCHING = re.compile(r"url\(['\"]?(?:https?:)?//|@import")


def test_both_languages_have_every_page() -> None:
    assert lacking(pages()) == []


def test_a_page_in_one_language_alone_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "decisions").mkdir()
    for name in ("a.md", "a.zh.md", "b.md", "c.zh.md", "decisions/0001-x.md"):
        (tmp_path / name).write_text("# x\n")
    assert lacking(pages(tmp_path)) == ["docs/b.md is not there in Chinese", "docs/c.zh.md is not there in English"]


def test_the_navigation_names_the_same_pages_in_both_languages() -> None:
    english, chinese = (_named(_config(language)["nav"]) for language in LANGUAGES)
    assert english == chinese
    assert len(set(english)) == len(english)
    records = {page.name for page in pages() if page.is_record}
    assert {page.name for page in pages()} - records - set(english) == set()
    assert set(english) <= {page.name for page in pages()} | set(ALSO.values())


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a><a href="c.html">x</a><h1 id="top"></h1>')
    (tmp_path / "b.html").write_text('<a href="a.html#top">x</a><img src="https://elsewhere.example/x.png">')
    site = read(tmp_path)
    assert broken(site, tmp_path) == ["a.html: b.html#here", "a.html: c.html"]
    assert foreign(site) == ["b.html: https://elsewhere.example/x.png"]


def test_the_site_is_whole_and_asks_nobody(tmp_path: Path) -> None:
    """One test, because it needs the whole site: built strictly, where a warning ends the build."""
    site = build_site(tmp_path / "docs")
    built = read(site)
    assert len(built) > 2 * len({page.name for page in pages()})
    assert broken(built, site) == []
    assert foreign(built) == []
    assert [sheet.name for sheet in site.rglob("*.css") if FETCHING.search(sheet.read_text())] == []
    _leads_to_the_other_language(site, built)
    _searches_chinese(site)


def _leads_to_the_other_language(site: Path, built: dict[Path, Built]) -> None:
    english, chinese = built[(site / "tutorial.html").resolve()], built[(site / "zh" / "tutorial.html").resolve()]
    assert (english.language, chinese.language) == ("en", "zh")
    assert [each for each in english.leads if each.endswith("zh/tutorial.html")]
    assert [each for each in chinese.leads if each.endswith("../tutorial.html")]


def _searches_chinese(site: Path) -> None:
    """The theme cuts Chinese into words where the language of the index is Chinese."""
    index = json.loads((site / "zh" / "search.json").read_text())
    assert index["config"]["lang"] == ["zh"]
    assert any("增量" in json.dumps(item, ensure_ascii=False) for item in index["items"])


@pytest.mark.parametrize(
    "name, language, link, wanted",
    [
        ("a.md", "en", "b.md#x", "b.md#x"),
        ("a.md", "zh", "b.zh.md#x", "b.md#x"),
        ("a.md", "zh", "b.md", "../b.html"),
        ("c/a.md", "zh", "../b.md", "../../b.html"),
        ("c/a.md", "en", "a.zh.md", "../zh/c/a.html"),
        ("c/a.md", "zh", "../decisions/0001-x.md", "../decisions/0001-x.md"),
        ("c/a.md", "en", "../../SECURITY.md", "../security.md"),
        ("a.md", "en", "https://example.org/b.zh.md", "https://example.org/b.zh.md"),
    ],
)
def test_a_link_means_the_same_on_the_site(name: str, language: Any, link: str, wanted: str) -> None:
    assert relinked(f"[x]({link}) `[x](y.zh.md)`", name=name, language=language) == f"[x]({wanted}) `[x](y.zh.md)`"


def test_every_page_of_the_documentation_is_a_page_once() -> None:
    found = pages()
    assert len({(page.name, page.language) for page in found}) == len(found)
    assert Page("tutorial.md", "zh", DOCS / "tutorial.zh.md") in found


@pytest.mark.parametrize("name", ["README.md", "README.zh.md", "SECURITY.md"])
def test_links_of_the_files_at_the_root_lead_to_files(name: str) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text())
    assert targets, f"{name} has no links"
    assert [target for target in targets if not (ROOT / target).exists()] == []


def _config(language: str) -> dict[str, Any]:
    config: dict[str, Any] = tomllib.loads((DOCS / "site" / f"{language}.toml").read_text())["project"]
    return config


def _named(nav: list[Any]) -> list[str]:
    names = []
    for each in nav:
        if isinstance(each, str):
            names.append(each)
        else:
            names += [name for inside in each.values() for name in _named(inside)]
    return names
