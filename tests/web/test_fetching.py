"""A tab that is open while its server is stopped or updated: it says so, and goes on when that is over."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests._support.server import Server
from tests.web.visiting import SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "timeline": "Memories", "away": "The server cannot be reached", "updated": "codexmem has been updated",
        "reload": "Reload", "fault": "An error in the page itself",
    },
    "zh": {
        "timeline": "记忆", "away": "无法连接服务器", "updated": "codexmem 已更新", "reload": "重新加载",
        "fault": "页面本身的故障",
    },
}  # fmt: skip


SETTINGS = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_PROVIDER": "rules"}


@pytest.fixture
def data(built_web: Path, tmp_path: Path) -> Path:
    """Where the server keeps its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def updated(built_web: Path, folder: Path) -> Path:
    """The package with another build of the application: its files have other names, and none has a former one."""
    shutil.copytree(built_web.parents[2], folder / "codexmem")
    dist = folder / "codexmem" / "http" / "web" / "dist"
    names = [path.name for path in (dist / "assets").iterdir()]
    for path in [path for path in dist.rglob("*") if path.suffix in {".js", ".css", ".html", ".json"}]:
        text = path.read_text(encoding="utf-8")
        for name in names:
            text = text.replace(name, _renamed(name))
        path.write_text(text, encoding="utf-8")
    for name in names:
        (dist / "assets" / name).rename(dist / "assets" / _renamed(name))
    return folder


def _renamed(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}2{dot}{suffix}"


def leave(page: Page, words: dict[str, str]) -> None:
    """Go to a page whose files have not been fetched yet."""
    page.get_by_role("link", name=words["timeline"], exact=True).click()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_stopped_server_is_told_as_such_and_the_page_opens_when_it_is_back(
    browser: Browser, data: Path, language: Language
) -> None:
    words = WORDS[language]
    with Server(data, settings=SETTINGS) as server:
        port = server.port
        visit = Visitor(browser, f"http://127.0.0.1:{port}")
        page = visit("/ui/settings", language)
        server.stop()
        leave(page, words)
        expect(page.get_by_role("heading", level=1, name=words["away"])).to_be_visible()
        expect(page.get_by_text("codexmem start")).to_be_visible()
        expect(page.get_by_text(words["fault"])).to_have_count(0)
        server.start(port)
        expect(page.get_by_role("heading", level=1, name=words["timeline"])).to_be_visible(timeout=30_000)
        assert page.url.endswith("/ui/memories")
        visit.close()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_an_updated_server_is_told_as_such_and_a_reload_goes_on(
    browser: Browser, built_web: Path, data: Path, tmp_path: Path, language: Language
) -> None:
    words = WORDS[language]
    with Server(data, settings=SETTINGS) as before:
        port = before.port
        visit = Visitor(browser, f"http://127.0.0.1:{port}")
        page = visit("/ui/settings", language)
    newer = Server(data, settings={**SETTINGS, "PYTHONPATH": str(updated(built_web, tmp_path / "lib"))})
    newer.start(port)
    try:
        leave(page, words)
        expect(page.get_by_role("heading", level=1, name=words["updated"])).to_be_visible()
        expect(page.get_by_text(words["fault"])).to_have_count(0)
        page.get_by_role("button", name=words["reload"]).click()
        expect(page.get_by_role("heading", level=1, name=words["timeline"])).to_be_visible()
        assert page.url.endswith("/ui/memories")
    finally:
        newer.stop()
    # The browser complains of files that are not there any more.
    visit.faults[:] = [fault for fault in visit.faults if "/ui/assets/" not in fault]
    visit.close()
