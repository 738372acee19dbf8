"""A tab that is open while its server is stopped or updated: it says so, and goes on when that is over."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests._support.server import Server
from tests.web.visiting import SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "timeline": "Timeline", "away": "The server cannot be reached", "updated": "codexmem has been updated",
        "reload": "Reload", "fault": "An error in the page itself",
    },
    "zh": {
        "timeline": "时间线", "away": "无法连接服务器", "updated": "codexmem 已更新", "reload": "重新加载",
        "fault": "页面本身的故障",
    },
}  # fmt: skip


@pytest.fixture
def package(built_web: Path, tmp_path: Path) -> Path:
    """The package in a place of its own, where its files can be replaced."""
    shutil.copytree(built_web.parents[2], tmp_path / "lib" / "codexmem")
    return tmp_path / "lib"


@pytest.fixture
def server(package: Path, tmp_path: Path) -> Iterator[Server]:
    data = tmp_path / "data"
    data.mkdir()
    settings = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_PROVIDER": "rules", "PYTHONPATH": str(package)}
    with Server(data, settings=settings) as running:
        yield running


def updated(package: Path) -> None:
    """Another build of the application: files have other names, and those of the build before are gone."""
    dist = package / "codexmem" / "http" / "web" / "dist"
    names = [path.name for path in (dist / "assets").iterdir()]
    for path in [path for path in dist.rglob("*") if path.suffix in {".js", ".css", ".html", ".json"}]:
        text = path.read_text(encoding="utf-8")
        for name in names:
            text = text.replace(name, _renamed(name))
        path.write_text(text, encoding="utf-8")
    for name in names:
        (dist / "assets" / name).rename(dist / "assets" / _renamed(name))


def _renamed(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}2{dot}{suffix}"


def leave(page: Page, words: dict[str, str]) -> None:
    """Go to a page whose files have not been fetched yet."""
    page.get_by_role("link", name=words["timeline"], exact=True).click()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_stopped_server_is_told_as_such_and_the_page_opens_when_it_is_back(
    browser: Browser, server: Server, language: Language
) -> None:
    words, port = WORDS[language], server.port
    visit = Visitor(browser, f"http://127.0.0.1:{port}")
    page = visit("/ui/settings", language)
    server.stop()
    leave(page, words)
    expect(page.get_by_role("heading", level=1, name=words["away"])).to_be_visible()
    expect(page.get_by_text("codexmem start")).to_be_visible()
    expect(page.get_by_text(words["fault"])).to_have_count(0)
    server.start(port)
    expect(page.get_by_role("heading", level=1, name=words["timeline"])).to_be_visible(timeout=30_000)
    assert page.url.endswith("/ui/timeline")
    visit.close()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_an_updated_server_is_told_as_such_and_a_reload_goes_on(
    browser: Browser, server: Server, package: Path, language: Language
) -> None:
    words, port = WORDS[language], server.port
    visit = Visitor(browser, f"http://127.0.0.1:{port}")
    page = visit("/ui/settings", language)
    server.stop()
    updated(package)
    server.start(port)
    leave(page, words)
    expect(page.get_by_role("heading", level=1, name=words["updated"])).to_be_visible()
    expect(page.get_by_text(words["fault"])).to_have_count(0)
    page.get_by_role("button", name=words["reload"]).click()
    expect(page.get_by_role("heading", level=1, name=words["timeline"])).to_be_visible()
    assert page.url.endswith("/ui/timeline")
    # The browser complains of files that are not there any more.
    visit.faults[:] = [fault for fault in visit.faults if "/ui/assets/" not in fault]
    visit.close()
