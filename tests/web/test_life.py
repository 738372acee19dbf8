"""What a person does with memories: changes, hides and pins them, one by one or many, and decides what waits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests._support.pages import drawn, pausing
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import axe
from tests.web.seeds import life as seed
from tests.web.visiting import SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "edit": "Edit…", "text": "Text", "save": "Save", "saved": "Saved:", "undo": "Undo", "undone": "Undone",
        "more": "More actions", "hide": "Hide", "hidden": "hidden", "back": "Bring back", "pin": "Pin",
        "unpin": "Unpin", "never": "Never tell agents", "never told": "never told", "pinned": "pinned",
        "replace": "Replace with…", "which": "Replacement", "do replace": "Replace",
        "list": "Memories, newest first", "hidden list": "Hidden memories", "select": "Select #{}",
        "bar": "Selected memories", "3": "3 selected", "were hidden": "3 memories were hidden", "show": "Show",
        "Hidden": "Hidden", "by": "Superseded by", "of": "{} of {}", "kept": "Both kept:", "replaced": "Replaced:",
        "gone": "Hidden:", "merged": "Merged:", "nothing": "Nothing to review", "findings": "Open findings",
        "look": "Check now", "newer": "Newer", "writer": "by this machine",
        "kind": "These two memories cannot both be right.",
    },
    "zh": {
        "edit": "编辑…", "text": "文本", "save": "保存", "saved": "已保存：", "undo": "撤销", "undone": "已撤销",
        "more": "更多操作", "hide": "隐藏", "hidden": "已隐藏", "back": "恢复", "pin": "置顶", "unpin": "取消置顶",
        "never": "不再告诉智能体", "never told": "不告诉智能体", "pinned": "已置顶",
        "replace": "由另一条取代…", "which": "由哪条记忆取代", "do replace": "取代",
        "list": "记忆，最新在前", "hidden list": "已隐藏的记忆", "select": "选择 #{}", "bar": "所选记忆",
        "3": "已选 3 条", "were hidden": "已隐藏 3 条", "show": "显示", "Hidden": "已隐藏",
        "by": "已被取代，见", "of": "第 {} 条，共 {} 条", "kept": "两条都已保留：", "replaced": "已取代：",
        "gone": "已隐藏：", "merged": "已合并：", "nothing": "没有需要审核的内容", "findings": "未处理的发现",
        "look": "立即检查", "newer": "较新", "writer": "由本机写入", "kind": "这两条记忆不可能同时正确。",
    },
}  # fmt: skip


def notice(page: Page, text: str) -> Locator:
    return page.get_by_role("alert").filter(has_text=text)


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def choose(page: Page, words: dict[str, str], act: str) -> None:
    """An act of the menu."""
    button(page, words["more"]).click()
    page.get_by_role("menuitem", name=words[act], exact=True).click()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_corrected_memory_is_told_in_its_new_words_and_one_undo_restores_the_old(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], seed.new_project("life-edit")
    (number,) = seed.saved(served, project, "The staging database is called orchid.")
    page = visit(f"/ui/observations/{number}", language)
    button(page, words["edit"]).click()
    dialog = page.get_by_role("dialog")
    expect(button(dialog, words["save"])).to_be_disabled()
    dialog.get_by_label(words["text"], exact=True).fill("The staging database is called jasmine.")
    dialog.get_by_label(words["text"], exact=True).press("Control+Enter")
    expect(notice(page, words["saved"])).to_be_visible()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("called jasmine").first).to_be_visible()
    assert "jasmine" in seed.told(served, project)
    assert "orchid" not in seed.told(served, project)
    button(notice(page, words["saved"]), words["undo"]).click()
    expect(notice(page, words["undone"])).to_be_visible()
    expect(page.get_by_text("called orchid").first).to_be_visible()
    assert "orchid" in seed.told(served, project)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_memory_is_pinned_kept_from_agents_hidden_and_brought_back(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], seed.new_project("life-marks")
    pinned, *others = seed.saved(served, project, "Never restart the broker by hand.", *(f"fact {n}" for n in range(3)))
    page = visit(f"/ui/observations/{pinned}", language)
    head = page.get_by_role("main")
    expect(head.get_by_text(words["writer"], exact=True)).to_be_visible()  # not by "local"
    button(page, words["pin"]).click()
    expect(head.get_by_text(words["pinned"], exact=True).first).to_be_visible()
    expect(button(page, words["unpin"])).to_be_visible()
    start = seed.told(served, project)
    assert start.index("Never restart the broker") < min(start.index(f"fact {n}") for n in range(3))

    choose(page, words, "never")
    expect(head.get_by_text(words["never told"], exact=True).first).to_be_visible()
    assert "Never restart the broker" not in seed.told(served, project)
    choose(page, words, "hide")
    expect(head.get_by_text(words["hidden"], exact=True).first).to_be_visible()
    expect(page.get_by_text("Never restart the broker by hand.").last).to_be_visible()  # people still read it
    assert axe.violations(page) == []
    assert seed.lives(served, pinned, *others) == ["hidden", "active", "active", "active"]
    button(page, words["back"]).click()
    expect(button(page, words["edit"])).to_be_visible()
    assert seed.lives(served, pinned) == ["active"]


@pytest.mark.parametrize("language", SIDE_JOB)
def test_another_memory_takes_the_place_of_one_and_each_says_so(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], seed.new_project("life-replace")
    old, new = seed.saved(served, project, "Backups run at midnight.", "Since March, backups run at noon.")
    page = visit(f"/ui/observations/{old}", language)
    choose(page, words, "replace")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(words["which"]).fill(f"#{new}")
    page.get_by_role("option", name="backups run at noon").click()
    button(dialog, words["do replace"]).click()
    expect(notice(page, words["replaced"].rstrip("：:"))).to_be_visible()
    expect(page.get_by_role("status").filter(has_text=words["by"])).to_contain_text("backups run at noon")
    assert seed.lives(served, old, new) == ["superseded", "active"]
    page.get_by_role("status").filter(has_text=words["by"]).get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("backups run at noon")


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_selection_is_hidden_and_one_undo_restores_it(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], seed.new_project("life-many")
    numbers = seed.saved(served, project, *(f"Number {n} of the selection" for n in range(5)))
    page = visit(f"/ui/timeline?project={project}", language)
    grid = page.get_by_role("grid", name=words["list"])
    grid.get_by_label(words["select"].format(numbers[4])).click()
    grid.get_by_label(words["select"].format(numbers[2])).click(modifiers=["Shift"])
    bar = page.get_by_role("toolbar", name=words["bar"])
    expect(bar).to_contain_text(words["3"])
    assert axe.violations(page) == []
    page.keyboard.press("Escape")
    expect(bar).to_have_count(0)
    page.reload()
    expect(grid.get_by_role("row").filter(has_text="of the selection")).to_have_count(5)
    for key in ("x", "j", "x", "j", "x"):  # the same by keys, from the first row on
        page.keyboard.press(key)
    expect(bar).to_contain_text(words["3"])
    button(bar, words["hide"]).click()
    expect(notice(page, words["were hidden"])).to_be_visible()
    expect(grid.get_by_role("row").filter(has_text="of the selection")).to_have_count(2)
    assert seed.lives(served, *numbers) == ["active", "active", "hidden", "hidden", "hidden"]

    # What is hidden can be listed, and its address shared.
    page.get_by_role("combobox", name=words["show"], exact=True).click()
    page.get_by_role("option", name=words["Hidden"], exact=True).click()
    hidden = page.get_by_role("grid", name=words["hidden list"])
    expect(hidden.get_by_role("row")).to_have_count(3)
    assert "life=hidden" in page.url
    button(notice(page, words["were hidden"]), words["undo"]).click()
    expect(notice(page, words["undone"])).to_be_visible()
    expect(hidden).to_have_count(0)
    assert seed.lives(served, *numbers) == ["active"] * 5


@pytest.mark.parametrize("language", SIDE_JOB)
def test_what_waits_is_decided_by_keys_and_taken_back(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], seed.new_project("life-review")
    texts = (*seed.PORTS, *seed.DEPLOYMENTS, *seed.TESTS)
    seed.saved(served, project, *texts)
    pairs = {each["newer"]["content"]: each for each in seed.waiting(served, project)}
    assert set(pairs) == {seed.PORTS[1], seed.DEPLOYMENTS[1], seed.TESTS[1]}
    order = [each["newer"]["content"] for each in seed.waiting(served, project)]
    page = visit(f"/ui/review?project={project}", language)
    expect(page.get_by_text(words["of"].format(1, 3))).to_be_visible()
    expect(page.get_by_role("region", name=words["newer"])).to_contain_text(order[0])
    assert axe.violations(page) == []
    # Several keys at once: each decides about another pair.
    for key in ("s", "a", "r"):
        page.keyboard.press(key)
    for said in ("replaced", "kept", "gone"):
        expect(notice(page, words[said])).to_be_visible()
    expect(page.get_by_text(words["nothing"]).or_(page.get_by_role("grid", name=words["findings"]))).to_be_visible()
    assert seed.waiting(served, project) == []
    first, second, third = (pairs[content] for content in order)
    both = [(each["newer"]["seq"], each["older"]["seq"]) for each in (first, second, third)]
    assert seed.lives(served, *both[0]) == ["active", "superseded"]
    assert seed.lives(served, *both[1]) == ["active", "active"]
    assert seed.lives(served, *both[2]) == ["hidden", "active"]
    for left in (1, 2, 3):
        page.keyboard.press("u")
        expect(page.get_by_role("grid", name=words["findings"]).get_by_role("row")).to_have_count(left)
    assert len(seed.waiting(served, project)) == 3
    assert seed.lives(served, *both[0], *both[1], *both[2]) == ["active"] * 6
    page.keyboard.press("m")
    expect(notice(page, words["merged"])).to_be_visible()
    expect(page.get_by_text(words["of"].format(2, 3))).to_be_visible()
    assert len(seed.waiting(served, project)) == 2


def test_keys_pressed_before_the_list_is_there_are_not_lost(visit: Visitor, served: Server) -> None:
    project = seed.new_project("life-early")
    seed.saved(served, project, *seed.PORTS, *seed.DEPLOYMENTS)
    assert len(seed.waiting(served, project)) == 2
    held: list[Route] = []
    context = visit.context()
    context.route("**/api/review?*limit=30*", lambda route: held.append(route))  # noqa: PLW0108  not a method of a list
    page = visit(f"/ui/review?project={project}", context=context)
    eventually(lambda: held, pause=pausing(page))
    drawn(page)
    page.keyboard.press("a")
    page.keyboard.press("a")
    for route in held:
        route.continue_()
    context.unroute("**/api/review?*limit=30*")
    expect(notice(page, WORDS["en"]["kept"])).to_have_count(2)
    assert seed.waiting(served, project) == []


def test_an_empty_queue_says_why_and_looks_when_asked(built_web: object, browser: Browser, tmp_path: Path) -> None:
    words = WORDS["en"]
    with Server(tmp_path, settings={"CODEXMEM_EMBEDDER": "none"}) as server:
        visit = Visitor(browser, f"http://127.0.0.1:{server.port}")
        page = visit("/ui/review")
        expect(page.get_by_text(words["nothing"])).to_be_visible()
        assert axe.violations(page) == []
        seed.saved(server, "shop", *seed.PORTS)
        button(page, words["look"]).click()
        expect(page.get_by_text(words["kind"])).to_be_visible()
        expect(page.get_by_role("navigation").get_by_role("link", name=re.compile("^Review"))).to_contain_text("1")
        visit.close()
