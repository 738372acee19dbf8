"""The system page as somebody uses it who answers for the memory: who writes, what it costs, and that it is safe."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests._support import warm
from tests._support.server import Server, environment
from tests.web import axe
from tests.web.seeds import system as seeds
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "agents": "Connected agents", "active": "active", "model": "Model", "good": "valid", "reset": "Reset counters",
        "asks": "Reset the model counters?", "cancel": "Cancel", "zero": "The counters were reset.",
        "budget": "Model usage today",
        "spent": re.compile(r"[\d,]+ of 2,000,000 tokens.*left on \d{4}-", re.DOTALL), "backups": "Backups",
        "make": "Back up now", "made": re.compile("was created"), "verify": re.compile("^Verify codexmem-"),
        "whole": "intact", "unchecked": "not checked", "damaged": "damaged",
        "restore": re.compile("^Restore codexmem-"), "dialog": "Restore this backup",
        "no agents": "No agent has written yet",
        "no backups": "There is no backup yet", "backfill": "Backfill Chroma", "server": "Server",
        "directory": "Data directory", "live": "1 connection",
        "work": "Worker and queue", "idle": "idle", "index": "Search index", "close": "Close",
        "is damaged": re.compile("is damaged"), "now": re.compile("now|sec"), "session": re.compile(r"^Session \d+$"),
        "queued": "Queued",
    },
    "zh": {
        "agents": "已连接的智能体", "active": "进行中", "model": "模型", "good": "有效", "reset": "重置计数",
        "asks": "要重置模型的计数吗？", "cancel": "取消", "zero": "计数已重置。", "budget": "今日模型花费",
        "spent": re.compile(r"2,000,000 个 token 中的 [\d,]+ 个.*\d{4}-", re.DOTALL), "backups": "备份",
        "make": "立即备份",
        "made": re.compile("已完成"), "verify": re.compile("^校验 codexmem-"), "whole": "完整", "unchecked": "未校验",
        "damaged": "已损坏", "restore": re.compile("^恢复 codexmem-"), "dialog": "恢复此备份",
        "no agents": "还没有智能体写入", "no backups": "还没有备份", "backfill": "回填 Chroma", "server": "服务器",
        "directory": "数据目录", "live": "1 个连接", "work": "工作进程与队列", "idle": "空闲", "index": "搜索索引",
        "close": "关闭", "is damaged": re.compile("已损坏："), "now": re.compile("现在|秒"),
        "session": re.compile(r"^会话 \d+$"), "queued": "排队",
    },
}  # fmt: skip


def panel(page: Page, name: str) -> Locator:
    """The panel with this title; what scrolls inside it has the same name."""
    return page.locator("section").filter(has=page.get_by_role("heading", level=2, name=name, exact=True))


def rows(page: Page, name: str) -> Locator:
    return panel(page, name).locator("tbody tr")


@pytest.fixture(scope="module")
def quiet(built_web: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server to which nobody has written yet."""
    with Server(tmp_path_factory.mktemp("quiet"), settings={"CODEXMEM_EMBEDDER": "none"}) as server:
        yield server


@pytest.mark.parametrize("language", SIDE_JOB)
def test_an_agent_is_listed_once_it_wrote(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], f"system-{language}"
    seeds.wrote(served, "claude-code", project)
    page = visit("/ui/system", language)
    row = rows(page, words["agents"]).filter(has_text="claude-code")
    expect(row.get_by_role("link", name=project)).to_be_visible()
    expect(row).to_contain_text(words["active"])
    expect(row.locator("time")).to_have_text(words["now"])
    # Another one appears by itself.
    seeds.wrote(served, "gemini-cli", project)
    expect(rows(page, words["agents"]).first).to_contain_text("gemini-cli")
    # A session is called by a word: #S names a summary.
    expect(row).not_to_contain_text("#S")
    row.get_by_role("link", name=words["session"]).click()
    page.wait_for_url("**/ui/sessions/*")


def test_the_viewer_and_this_page_agree_on_what_is_queued(browser: Browser, quiet: Server) -> None:
    """Chores that wait for their time are there on every server, and are no queued work."""
    words = WORDS["en"]
    visit = Visitor(browser, f"http://127.0.0.1:{quiet.port}")
    page = visit("/ui/system")
    tile = panel(page, words["work"]).locator("dl > div").filter(has=page.get_by_text(words["queued"], exact=True))
    expect(tile.locator("dd")).to_have_text("0")
    page.goto("/viewer")
    expect(page.get_by_role("group", name=words["queued"], exact=True)).to_contain_text(re.compile(r"Queued\s*0"))
    visit.close()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_counters_are_reset_after_asking(visit: Visitor, served: Server, language: Language) -> None:
    words = WORDS[language]
    seeds.wrote(served, "codex", f"system-count-{language}", ended=True)
    seeds.until_counted(served)
    page = visit("/ui/system", language)
    model = panel(page, words["model"])
    good = model.get_by_role("row").filter(has_text=words["good"]).get_by_role("cell").first
    expect(good).not_to_have_text("0")
    expect(model.get_by_role("group", name=words["budget"])).to_contain_text(words["spent"])
    model.get_by_role("button", name=words["reset"]).click()
    dialog = page.get_by_role("dialog", name=words["asks"])
    dialog.get_by_role("button", name=words["cancel"]).click()
    expect(good).not_to_have_text("0")
    model.get_by_role("button", name=words["reset"]).click()
    dialog.get_by_role("button", name=words["reset"]).click()
    expect(page.get_by_text(words["zero"])).to_be_visible()
    expect(good).to_have_text("0")
    assert seeds.counted(served) == 0


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_backup_is_made_verified_and_can_be_restored(visit: Visitor, served: Server, language: Language) -> None:
    words = WORDS[language]
    before = len(seeds.backups(served))
    page = visit("/ui/system", language)
    page.get_by_role("button", name=words["make"]).click()
    expect(page.get_by_role("alert").or_(page.get_by_text(words["made"])).first).to_contain_text(words["made"])
    expect(rows(page, words["backups"])).to_have_count(before + 1)
    newest = rows(page, words["backups"]).first
    expect(newest).to_contain_text(words["unchecked"])
    newest.get_by_role("button", name=words["verify"]).click()
    expect(newest).to_contain_text(words["whole"])
    assert seeds.backups(served)[0]["verified"]["ok"] is True

    newest.get_by_role("button", name=words["restore"]).click()
    dialog = page.get_by_role("dialog", name=words["dialog"])
    commands = dialog.locator("code").all_inner_texts()
    assert [command.split()[:2] for command in commands] == [
        ["codexmem", "restore"], ["codexmem", "restore"], ["codexmem", "serve"],
    ]  # fmt: skip
    # The first of them may be typed as it stands while the server runs.
    line = [warm.program("codexmem"), *shlex.split(commands[0])[1:]]
    done = subprocess.run(line, env=environment(served.data_dir), capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_damage_is_told(visit: Visitor, served: Server) -> None:
    words = WORDS["en"]
    assert served.post("/api/ops/backups", {}).status == 201
    seeds.harm(served, seeds.backups(served)[0]["name"])
    page = visit("/ui/system")
    newest = rows(page, words["backups"]).first
    newest.get_by_role("button", name=words["verify"]).click()
    expect(newest).to_contain_text(words["damaged"])
    expect(page.get_by_role("alert").filter(has_text=words["is damaged"])).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_quiet_server_says_how_to_begin(browser: Browser, quiet: Server, language: Language) -> None:
    words = WORDS[language]
    visit = Visitor(browser, f"http://127.0.0.1:{quiet.port}")
    page = visit("/ui/system", language)
    expect(panel(page, words["agents"])).to_contain_text(words["no agents"])
    expect(panel(page, words["agents"])).to_contain_text("codexmem install --detect")
    expect(panel(page, words["backups"])).to_contain_text(words["no backups"])
    expect(panel(page, words["backups"])).to_contain_text("codexmem backup")
    expect(panel(page, words["work"])).to_contain_text(words["idle"])
    expect(panel(page, words["index"])).to_contain_text("codexmem doctor")
    expect(page.get_by_role("button", name=words["backfill"])).to_have_count(0)
    expect(panel(page, words["server"])).to_contain_text(str(quiet.data_dir))
    expect(panel(page, words["server"])).to_contain_text(words["live"])
    assert axe.violations(page) == []
    visit.close()


def test_the_keyboard_alone_makes_and_verifies_a_backup(visit: Visitor, served: Server) -> None:
    words = WORDS["en"]
    before = len(seeds.backups(served))
    page = visit("/viewer")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", level=1, name="System")).to_be_focused()
    tab_to(page, page.get_by_role("button", name=words["make"]))
    page.keyboard.press("Enter")
    expect(rows(page, words["backups"])).to_have_count(before + 1)
    newest = rows(page, words["backups"]).first
    tab_to(page, newest.get_by_role("button", name=words["verify"]))
    page.keyboard.press("Enter")
    expect(newest).to_contain_text(words["whole"])
    tab_to(page, newest.get_by_role("button", name=words["restore"]))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=words["dialog"])).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(newest.get_by_role("button", name=words["restore"])).to_be_focused()


def tab_to(page: Page, wanted: Locator, most: int = 60) -> None:
    """Press Tab until this has the focus."""
    for _ in range(most):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("it cannot be reached with Tab")


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(visit: Visitor, served: Server, language: Language) -> None:
    words = WORDS[language]
    if not seeds.backups(served):
        served.post("/api/ops/backups", {})
    seeds.wrote(served, "claude-code", "system-axe")
    page = visit("/ui/system", language)
    expect(rows(page, words["agents"]).first).to_be_visible()
    expect(rows(page, words["backups"]).first).to_be_visible()
    assert axe.violations(page) == []
    rows(page, words["backups"]).first.get_by_role("button", name=words["restore"]).click()
    page.get_by_role("dialog", name=words["dialog"]).wait_for()
    assert axe.violations(page) == []


def test_a_narrow_screen_shows_everything(visit: Visitor) -> None:
    page = visit("/ui/system", viewport={"width": 360, "height": 740})
    expect(panel(page, "Server")).to_contain_text("SQLite")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
