"""The audit of tool requests: what wrappers sent is found, explained, and its chain judged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.server import Server
from tests.web import axe
from tests.web.seeds.audit import Wrapper
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "allowed": "allowed", "denied": "denied", "tool": "Tool", "decision": "Decision", "project": "Project",
        "nothing": "No row matches these filters", "clear": "Clear filters", "from": "Arrived from",
        "rule": "Policy rule", "outcome": "Outcome", "done": "done", "row": "Row {}",
        "broken": "The chain is broken:", "new": "1 new",
        "show": "Show broken rows", "why": "This row does not follow the row before it", "save": "Download 7 rows",
        "took": "120 ms", "failed": "failed after 40 ms", "reason": "Reason",
    },
    "zh": {
        "allowed": "已允许", "denied": "已拒绝", "tool": "工具", "decision": "决定", "project": "项目",
        "nothing": "没有符合筛选条件的记录", "clear": "清除筛选", "from": "到达时间从", "rule": "策略规则",
        "outcome": "结果", "done": "完成", "row": "第 {} 条记录", "broken": "链已损坏：", "new": "1 条新内容",
        "show": "显示断裂的记录", "why": "此记录与前一条记录不相接", "save": "下载 7 条记录",
        "took": "120 毫秒", "failed": "40 毫秒后失败", "reason": "原因",
    },
}  # fmt: skip


def used(folder: Path, project: str) -> Wrapper:
    """A wrapper whose agent ran two commands and asked for what it did not get: seven acts in nine rows."""
    wrapper = Wrapper(folder, project, f"run-{project}")
    wrapper.run("echo 你好 && just test", "c1", ok=True, took_ms=120)
    wrapper.run("just deploy", "c2", ok=False, took_ms=40)
    for path in ("/etc/passwd", "/etc/shadow"):
        wrapper.write(path)
    for page in ("a", "b", "c"):
        wrapper.fetch(f"https://example.org/{page}")
    return wrapper


def rows(page: Page) -> Locator:
    return page.get_by_role("grid").get_by_role("row")


def fact(page: Page, name: str) -> Locator:
    return page.locator("dl > div").filter(has=page.get_by_text(name, exact=True)).get_by_role("definition")


@pytest.mark.parametrize("language", MAIN_JOB)
def test_rows_that_were_sent_are_found_and_explained(
    visit: Visitor, served: Server, tmp_path: Path, language: Language
) -> None:
    words, project = WORDS[language], f"audit-{language}"
    assert used(tmp_path, project).send(served)["accepted"] == 9
    page = visit(f"/ui/audit?project={project}", language)
    expect(rows(page)).to_have_count(7)
    with page.expect_download() as saved:
        page.get_by_role("button", name=words["save"]).click()
    assert len(saved.value.path().read_text(encoding="utf-8").splitlines()) == 7

    # What was decided and what came of it are one row.
    failed = rows(page).filter(has_text="just deploy")
    expect(failed).to_contain_text(words["allowed"])
    expect(failed).to_contain_text(words["failed"])

    page.get_by_role("combobox", name=words["decision"]).click()
    page.get_by_role("option", name=words["denied"]).click()
    expect(rows(page)).to_have_count(5)
    page.get_by_role("combobox", name=words["tool"]).fill("write")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(2)
    assert "decision=deny" in page.url
    assert "tool=write" in page.url
    page.reload()
    expect(rows(page)).to_have_count(2)
    page.go_back()
    expect(rows(page)).to_have_count(5)
    page.go_back()
    expect(rows(page)).to_have_count(7)

    # The keyboard alone: move to a row, and it is explained.
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("j")
    expect(rows(page).first).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("heading", level=2, name=words["row"].format(1))).to_be_visible()
    expect(page.get_by_text("Allowed by allow[0] Bash.").last).to_be_visible()
    expect(fact(page, words["rule"])).to_have_text("allow[0]")
    expect(fact(page, words["outcome"])).to_contain_text(words["done"])
    expect(fact(page, words["outcome"])).to_contain_text(words["took"])
    expect(page.get_by_text('"echo 你好 && just test"')).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", level=2, name=words["row"].format(1))).to_be_visible()


def test_days_are_of_arrival(visit: Visitor, served: Server, tmp_path: Path) -> None:
    words, project = WORDS["zh"], "audit-days"
    used(tmp_path, project).send(served)
    now = datetime.now(UTC)
    today, tomorrow = (f"{now + timedelta(days=days):%Y-%m-%d}" for days in (-1, 1))
    page = visit(f"/ui/audit?project={project}&from={today}&to={tomorrow}", "zh")
    expect(rows(page)).to_have_count(7)
    page.get_by_label(words["from"]).fill(tomorrow)
    expect(page.get_by_text(words["nothing"])).to_be_visible()
    page.get_by_role("button", name=words["clear"]).click()
    expect(rows(page).first).to_be_visible()
    assert "from=" not in page.url


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_log_that_was_tampered_with_says_so(
    visit: Visitor, served: Server, tmp_path: Path, language: Language
) -> None:
    words, project = WORDS[language], f"audit-broken-{language}"
    wrapper = used(tmp_path, project)
    sent = list(wrapper.log.rows())
    sent[4] = {**sent[4], "prev": "f" * 64}
    assert wrapper.send(served, sent)["broken"] == [5]
    page = visit(f"/ui/audit?project={project}", language)
    expect(page.get_by_role("alert").filter(has_text=words["broken"])).to_contain_text(wrapper.id[:8])
    page.get_by_role("button", name=words["show"]).click()
    page.wait_for_url("**chain=broken**")
    rows(page).first.click()
    expect(page.get_by_text(words["why"])).to_be_visible()


def test_rows_that_arrive_meanwhile_wait_to_be_shown(visit: Visitor, served: Server, tmp_path: Path) -> None:
    wrapper = Wrapper(tmp_path, "audit-live", "run-live")
    wrapper.write("/etc/passwd")
    wrapper.send(served)
    page = visit("/ui/audit?project=audit-live")
    expect(rows(page)).to_have_count(1)
    wrapper.write("/etc/shadow")
    wrapper.send(served)
    page.get_by_role("button", name=WORDS["en"]["new"]).click()
    expect(rows(page)).to_have_count(2)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(visit: Visitor, logged: str, language: Language) -> None:
    page = visit(f"/ui/audit?project={logged}", language)
    expect(rows(page)).to_have_count(7)
    page.keyboard.press("j")
    expect(fact(page, WORDS[language]["rule"])).to_be_visible()
    assert axe.violations(page) == []


@pytest.fixture(scope="package")
def logged(served: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project whose log tests look at; as long there as the server."""
    used(tmp_path_factory.mktemp("logged"), "audit-logged").send(served)
    return "audit-logged"


def test_a_narrow_screen_shows_everything(visit: Visitor, logged: str) -> None:
    page = visit(f"/ui/audit?project={logged}", viewport={"width": 360, "height": 740})
    expect(rows(page)).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    rows(page).first.click()
    expect(page.get_by_text(WORDS["en"]["reason"], exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
