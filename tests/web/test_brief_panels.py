"""What a project learned, what needs care, and what it cost: the numbers are the server's, and each leads on."""

from __future__ import annotations

import re
from datetime import date
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.server import Server
from tests.web import axe
from tests.web.seeds import brief as seed
from tests.web.seeds.life import new_project
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "learned": "What it learned", "calendar": "Memories by day, last 26 weeks", "file": "File",
        "clear": "Clear filters", "health": "Health", "elsewhere": "more await",
        "contradiction": "Contradictions", "never": "Not told yet",
        "queue": "Open findings", "cost": "Cost and usage", "unknown": "not known",
        "opened": "Opened by an agent", "total": "{tokens} tokens in {calls} call",
        "untold": "Memories no agent has been told",
    },
    "zh": {
        "learned": "学到了什么", "calendar": "最近 26 周每天的记忆", "file": "文件",
        "clear": "清除筛选", "health": "健康状况", "elsewhere": "项待处理",
        "contradiction": "矛盾", "never": "尚未告知",
        "queue": "未处理的发现", "cost": "花费与使用", "unknown": "未知", "opened": "被智能体打开",
        "total": "{tokens} token，{calls} 次调用", "untold": "尚未告诉任何智能体的记忆",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def project(served: Server) -> str:
    """A project with everything that the panels tell."""
    name = new_project("brief-panels")
    seed.learned(served, name)
    seed.undecided(served, name)
    seed.worked(served, name)
    return name


def panel(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def rows(page: Page, words: dict[str, str]) -> Locator:
    return panel(page, words["learned"]).get_by_role("listitem")


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_day_and_a_label_choose_what_is_listed_and_stand_in_the_address(
    visit: Visitor, served: Server, project: str, language: Language
) -> None:
    words = WORDS[language]
    days: list[dict[str, Any]] = seed.told(served, "days", project)["days"]
    page = visit(f"/ui/p/{project}", language)
    calendar = page.get_by_role("table", name=words["calendar"])
    expect(calendar.get_by_role("button")).to_have_count(len(days))
    expect(rows(page, words)).to_have_count(days[-1]["memories"])  # the newest day
    busy = max(days[:-1], key=lambda each: each["memories"])
    chosen = calendar.locator(f"[data-day='{_number(busy['day'])}']")
    chosen.focus()
    chosen.press("Enter")
    expect(page).to_have_url(re.compile(rf"[?&]day={busy['day']}"))
    expect(rows(page, words)).to_have_count(busy["memories"])
    assert axe.violations(page) == []
    page.reload()
    expect(rows(page, words)).to_have_count(busy["memories"])
    chosen.click()  # once more: no day
    expect(page).not_to_have_url(re.compile("day="))

    labels = seed.told(served, "facets", project)["file"]
    label = next(each for each in labels if 0 < each["count"] < 50 and each["value"] != "src/db.py")
    chip = page.get_by_role("group", name=words["file"], exact=True).get_by_role(
        "button", name=f"{label['value'].split('/')[-1]} {label['count']}"
    )
    chip.click()
    expect(page).to_have_url(re.compile(rf"[?&]file={re.escape(quote(label['value'], safe=''))}"))
    expect(rows(page, words)).to_have_count(label["count"])
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.goto(f"/ui/p/{project}?type=nothing-of-this-type")
    panel(page, words["learned"]).get_by_role("button", name=words["clear"]).click()
    expect(rows(page, words)).to_have_count(days[-1]["memories"])
    page.go_back()
    expect(rows(page, words)).to_have_count(0)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_each_number_of_health_leads_to_where_it_is_worked_on(
    visit: Visitor, served: Server, project: str, language: Language
) -> None:
    words, health = WORDS[language], seed.told(served, "health", project)
    assert (health["contradiction"]["count"], health["duplicate"]["count"], health["files"]) == (1, 1, None)
    # What an agent writes for every project belongs to none, and awaits a person all the same.
    assert served.post("/api/notes", {"uri": f"core://{language}", "content": "x", "priority": 1}).status == 200
    page = visit(f"/ui/p/{project}", language)
    care = panel(page, words["health"])
    expect(care.get_by_role("link", name=words["elsewhere"])).to_have_attribute("href", "/ui/review")
    expect(care.get_by_role("link", name=f"{health['never_told']['count']} {words['never']}")).to_be_visible()
    expect(care.get_by_text("codexmem stale")).to_be_visible()  # whether files have changed is not known
    care.get_by_role("link", name=f"1 {words['contradiction']}").click()
    expect(page).to_have_url(re.compile(r"/ui/review\?reason=contradiction&project="))
    expect(page.get_by_role("grid", name=words["queue"]).get_by_role("row")).to_have_count(1)
    page.go_back()
    care.get_by_role("link", name=words["never"]).click()
    expect(page).to_have_url(re.compile(r"/ui/memories\?health=never_told&project="))
    grid = page.get_by_role("grid", name=words["untold"])
    expect(grid).to_have_attribute("aria-rowcount", str(health["never_told"]["count"]))
    assert axe.violations(page) == []


@pytest.mark.parametrize("language", SIDE_JOB)
def test_cost_is_told_in_tokens_and_what_is_not_known_in_words(
    visit: Visitor, served: Server, project: str, language: Language
) -> None:
    words, cost = WORDS[language], seed.told(served, "cost", project)
    total, given = cost["total"], cost["given"]
    assert (total["calls"] > 0, total["unmeasured"], given["starts"] > 0) == (True, 0, True)
    page = visit(f"/ui/p/{project}", language)
    told = panel(page, words["cost"])
    expect(told).to_contain_text(words["total"].format(tokens=total["tokens"], calls=total["calls"]))
    expect(told.get_by_role("listitem")).to_have_count(30)
    expect(told.get_by_role("row").filter(has_text=cost["models"][0]["model"])).to_contain_text(str(total["tokens"]))
    expect(told).to_contain_text(f"{words['opened']}{given['used']}")

    def forgotten(route: Any) -> None:
        reply = route.fetch()
        body = reply.json()
        body["given"] |= {"memories": None, "used": None, "corrected": None}
        body["models"][0]["tokens"] = None
        route.fulfill(response=reply, json=body)

    page.route("**/api/brief/cost?*", forgotten)
    page.reload()
    expect(told).to_contain_text(f"{words['opened']}{words['unknown']}")
    expect(told.get_by_role("row").filter(has_text=cost["models"][0]["model"])).to_contain_text(words["unknown"])


def _number(day: str) -> int:
    return (date.fromisoformat(day) - date(1970, 1, 1)).days
