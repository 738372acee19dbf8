"""A project's home page: it shows to the letter what an agent will be told next, and what is done there changes it."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.server import Server
from tests.web import axe
from tests.web.seeds import life as seed
from tests.web.visiting import MAIN_JOB, Language, Visitor

OLD = "The night job rotates the keys of the vault in the cellar."
PROMPT = "when does the night job rotate the keys of the vault?"
WORDS = {
    "en": {
        "ask": "If I ask…", "pin": "Pin", "unpin": "Unpin", "never": "Never tell agents",
        "release": "Tell agents again", "below": "Nearly included", "why": "never told to agents",
        "copy": "Copy exact text", "brief": "Brief", "edit": "Edit…", "text": "Text", "save": "Save",
        "nothing": "No memories come with this prompt",
        "origin": "Where does this come from?", "tokens": r"^\d+ of 2,000 tokens$", "limit": r"\d+ of 969 tokens",
        "unknown": "No such project",
    },
    "zh": {
        "ask": "如果我问……", "pin": "置顶", "unpin": "取消置顶", "never": "不再告诉智能体",
        "release": "重新告诉智能体", "below": "差一点就会告知", "why": "不告诉智能体",
        "copy": "复制原文", "brief": "简报", "edit": "编辑…", "text": "文本", "save": "保存",
        "nothing": "这条提示词不会附带任何记忆",
        "origin": "它从何而来？", "tokens": r"^已用 \d+ / 2,000 token$", "limit": r"已用 \d+ / 969 token",
        "unknown": "没有此项目",
    },
}  # fmt: skip


def given(server: Server, project: str) -> str:
    """What an agent gets at its start."""
    return server.request("GET", f"/api/context?{urlencode({'project': project})}").body.decode()


def shown(page: Page) -> str:
    lines: list[str] = page.locator("[data-line]").evaluate_all("lines => lines.map(line => line.textContent)")
    return "\n".join(lines)


def line(page: Page | Locator, text: str) -> Locator:
    return page.get_by_role("listitem").filter(has_text=text)


def section(page: Page, name: str) -> Locator:
    return page.locator(f"section[data-section={name}]")


def button(where: Page | Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


@pytest.mark.parametrize("language", MAIN_JOB)
def test_what_an_agent_is_told_next_is_shown_to_the_letter_and_changed_in_place(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], seed.new_project("brief")
    seed.saved(served, project, "The staging database is called orchid.", "不要手动重启消息代理。", "API 端口是 8123。")
    context = visit.context(language)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit(f"/ui/p/{project}", language, context=context)
    expect(line(section(page, "saved_by_agent"), "orchid")).to_be_visible()
    expect(page.get_by_text(re.compile(words["tokens"]))).to_be_visible()
    expect(section(page, "saved_by_agent")).to_contain_text(re.compile(words["limit"]))
    assert shown(page) == given(served, project)
    button(page, words["copy"]).click()
    page.wait_for_function("text => navigator.clipboard.readText().then(copied => copied === text)", arg=shown(page))
    assert axe.violations(page) == []

    button(line(page, "orchid"), words["pin"]).focus()
    page.keyboard.press("Enter")
    expect(line(section(page, "pinned"), "orchid")).to_be_visible()
    assert shown(page) == given(served, project)
    button(line(page, "8123"), words["never"]).click()
    expect(page.locator("[data-line]").filter(has_text="8123")).to_have_count(0)
    assert "8123" not in given(served, project)
    assert shown(page) == given(served, project)
    page.locator("summary").filter(has_text=words["below"]).click()
    expect(line(page.locator("details"), "8123")).to_contain_text(words["why"])
    assert axe.violations(page) == []
    button(line(page.locator("details"), "8123"), words["release"]).click()
    expect(page.locator("[data-line]").filter(has_text="8123")).to_have_count(1)

    button(line(page, "消息代理"), words["edit"]).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(words["text"], exact=True).fill("消息代理由夜间任务重启。")
    button(dialog, words["save"]).click()
    expect(page.locator("[data-line]").filter(has_text="夜间任务")).to_have_count(1)
    assert shown(page) == given(served, project)
    button(line(page, "orchid"), words["origin"]).click()
    expect(page.get_by_role("dialog")).to_contain_text("orchid")
    assert "why=" in page.url
    page.goto(f"/ui/p/{seed.new_project('brief-none')}")
    expect(page.get_by_role("heading", level=1)).to_have_text(words["unknown"])
    assert axe.violations(page) == []


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_prompt_shows_what_it_would_bring_and_stands_in_the_address(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], seed.new_project("brief-ask")
    seed.saved(served, project, OLD, *(f"Number {n} is about something else: colour {n}." for n in range(12)))
    page = visit(f"/ui/p/{project}", language)
    expect(section(page, "saved_by_agent")).to_be_visible()
    page.get_by_label(words["ask"]).fill(PROMPT)
    expect(line(section(page, "relevant"), OLD)).to_be_visible()
    assert f"ask={quote(PROMPT).replace('%20', '+')}" in page.url
    expect(section(page, "saved_by_agent")).to_have_count(0)
    query = urlencode({"project": project, "prompt": PROMPT})
    assert shown(page) == served.request("GET", f"/api/context/preview?{query}").json["text"]
    page.reload()
    expect(page.get_by_label(words["ask"])).to_have_value(PROMPT)
    expect(line(section(page, "relevant"), OLD)).to_be_visible()
    page.get_by_label(words["ask"]).fill("xylophone quartet rehearsal schedule")
    expect(page.get_by_text(words["nothing"])).to_be_visible()
    page.get_by_label(words["ask"]).fill("")
    expect(section(page, "saved_by_agent")).to_be_visible()


def test_the_application_opens_on_the_project_that_was_looked_at_last(visit: Visitor, served: Server) -> None:
    project = seed.new_project("brief-last")
    seed.saved(served, project, "Port 8123 is the API.")
    context = visit.context()
    page = visit(f"/ui/p/{project}", context=context)
    expect(line(page, "8123").first).to_be_visible()
    page.goto("/")
    page.wait_for_url(f"**/ui/p/{project}")
    links = page.get_by_role("navigation").get_by_role("link")
    expect(links.first).to_have_text(WORDS["en"]["brief"])
    expect(links.first).to_have_attribute("aria-current", "page")
    # A project that nobody knows is not where the application opens.
    page.goto(f"/ui/p/{seed.new_project('brief-none')}")
    expect(page.get_by_role("heading", level=1)).to_have_text(WORDS["en"]["unknown"])
    page.goto("/")
    page.wait_for_url(f"**/ui/p/{project}")
    assert axe.violations(page) == []
