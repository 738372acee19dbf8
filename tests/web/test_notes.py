"""Memories by address: the tree, the list, a note's page, and where any memory comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.model_server import ModelServer
from tests._support.rpc_calls import Rpc
from tests._support.server import Server
from tests.web import axe
from tests.web.seeds import notes, qa, timeline
from tests.web.seeds.life import new_project
from tests.web.seeds.notes import Notebook
from tests.web.visiting import BOTH, MAIN_JOB, SIDE_JOB, WHOLE, Language, Visitor

WORDS = {
    "en": {
        "title": "Notes", "new": "New note", "address": "Address", "content": "Content",
        "text": "Text", "create": "Create note",
        "one_new": "1 new", "edit": "Edit…", "save": "Save", "saved": "Saved:", "versions": "Versions",
        "to": "To", "unified": "Unified",
        "back": "Roll back to v{}…", "confirm": "Roll back to v{}", "rolled": "Version {} was restored as version {}.",
        "dialog": "Roll back to version {}", "keeps": "makes v{}, keeps history", "undo": "Undo", "undone": "Undone",
        "conflict": "Somebody else changed this in the meantime", "mine": "Save mine as v{}",
        "theirs": "Take theirs, drop mine", "aliases": "Aliases", "another": "Another address", "add": "Add alias",
        "added": "{} was added.", "remove": "Remove {}", "removed": "{} was removed.", "more": "More actions",
        "hide": "Hide", "restore": "Bring back", "forget": "Forget…", "forget_confirm": "Forget",
        "drawer": "Where this comes from", "lineage": "Lineage", "memories": "Memories", "told": "Told and used",
        "not told": "Not told yet", "told in": "Told in 1 session",
        "tree": "Addresses of all notes", "search": "Search", "list": "Notes",
        "empty": "No matching notes: domain {}://, P9–P10", "clear": "Clear filters", "source": "Source",
        "nothing": "There is no note at this address", "write": "does not exist yet: write it",
        "take_back": "Undo the change of version 1…", "take": "Undo", "cancel": "Cancel",
        "leaving": "Leave without saving?", "read": "You are reading version {}.", "whole": "What agents see",
        "status": "Status", "deleted": "deleted", "deprecate": "No longer true", "deprecated": "This no longer holds",
    },
    "zh": {
        "title": "笔记", "new": "新建笔记", "address": "地址", "content": "内容", "text": "文本", "create": "创建笔记",
        "one_new": "1 条新内容", "edit": "编辑…", "save": "保存", "saved": "已保存：", "versions": "版本",
        "to": "到", "unified": "合并",
        "back": "回滚到 v{}…", "confirm": "回滚到 v{}", "rolled": "版本 {} 重新生效，成为版本 {}。",
        "dialog": "回滚到版本 {}", "keeps": "生成 v{}，保留历史", "undo": "撤销", "undone": "已撤销",
        "conflict": "在此期间有人修改了这条记忆", "mine": "将我的保存为 v{}",
        "theirs": "采用对方的，放弃我的", "aliases": "别名", "another": "另一个地址", "add": "添加别名",
        "added": "已添加 {}。", "remove": "移除 {}", "removed": "已移除 {}。", "more": "更多操作",
        "hide": "隐藏", "restore": "恢复", "forget": "遗忘…", "forget_confirm": "遗忘", "drawer": "来源",
        "lineage": "来龙去脉", "memories": "记忆", "told": "告知与使用", "not told": "尚未告知",
        "told in": "已在 1 个会话中告知", "tree": "全部笔记的地址", "search": "搜索", "list": "笔记",
        "empty": "没有符合条件的笔记：域 {}://、P9–P10", "clear": "清除筛选", "nothing": "此地址没有内容",
        "write": "尚不存在：去写", "source": "源文本",
        "take_back": "撤销版本 1 的更改…", "take": "撤销", "cancel": "取消",
        "leaving": "不保存就离开吗？", "read": "您正在阅读版本 {}。", "whole": "智能体得知的内容",
        "status": "状态", "deleted": "已删除", "deprecate": "不再成立", "deprecated": "此内容不再成立",
    },
}  # fmt: skip


@pytest.fixture(scope="package")
def books(served: Server) -> dict[str, Notebook]:
    """A small memory for each language, written by an agent; as long there as the server."""
    return {language: notes.kept(served, f"notes-{language}") for language in BOTH}


def button(scope: Page | Locator, name: str) -> Locator:
    return scope.get_by_role("button", name=name, exact=True)


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("tab", name=re.compile(f"^{name}"))


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1, name=text, exact=True)).to_be_visible()


@pytest.mark.parametrize("language", MAIN_JOB)
def test_what_an_agent_writes_appears_and_what_is_edited_here_the_agent_reads(
    visit: Visitor, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    page = visit(f"/ui/notes?domain={log.domain}", language)
    rows = page.get_by_role("grid", name=words["list"])
    expect(rows.get_by_role("row").filter(has_text=log.uri("配置/语言"))).to_be_visible()
    # An agent writes while the page is open: it is told, and the list does not jump.
    log.create("故事", "第一行\nThe port is 8080.\n", priority=3)
    button(page, words["one_new"]).click()
    row = rows.get_by_role("row").filter(has_text=log.uri("故事"))
    expect(row).to_contain_text("第一行")
    row.click()
    heading(page, log.uri("故事"))

    button(page, words["edit"]).click()
    page.get_by_role("textbox", name=words["text"]).fill("第一行\nThe port is 37877.\n")
    button(page, words["save"]).click()
    expect(page.get_by_text(words["saved"])).to_be_visible()
    expect(page.get_by_role("tabpanel")).to_contain_text("37877")
    assert log.says("故事") == "第一行\nThe port is 37877.\n"


@pytest.mark.parametrize("language", MAIN_JOB)
def test_any_two_versions_are_compared_and_an_earlier_one_is_rolled_back_to(
    visit: Visitor, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    log.create("版本", "第一行\nThe port is 8080.\n")
    log.writes("版本", "第一行\nThe port is 37877.\n")
    log.writes("版本", "第一行\nThe port is 37877.\nThird.")
    page = visit(f"/ui/m/{log.domain}/版本", language)
    tab(page, words["versions"]).click()
    versions = page.get_by_role("grid", name=words["versions"])
    expect(versions.get_by_role("row")).to_have_count(3)
    versions.get_by_role("row").nth(1).click()
    expect(page).to_have_url(re.compile(r"diff=1\.\.2"))
    shown = page.locator(".cm-diff")
    expect(shown).to_contain_text("8080")
    expect(shown).not_to_contain_text("Third.")
    page.get_by_text(words["unified"], exact=True).click()
    expect(page).to_have_url(re.compile("mode=unified"))
    # Any pair: from the first to what stands now; a reload shows the same.
    page.get_by_role("combobox", name=words["to"], exact=True).click()
    page.get_by_role("option", name="v3", exact=True).click()
    expect(page).to_have_url(re.compile(r"diff=1\.\.3"))
    page.reload()
    expect(shown).to_contain_text("Third.")
    expect(page.get_by_text(words["keeps"].format(4))).to_be_visible()

    button(page, words["back"].format(1)).last.click()
    dialog = page.get_by_role("dialog", name=words["dialog"].format(1))
    expect(dialog.locator(".cm-diff")).to_contain_text("Third.")
    assert log.stands("版本").endswith("Third.")
    button(dialog, words["confirm"].format(1)).click()
    expect(page.get_by_text(words["rolled"].format(1, 4))).to_be_visible()
    assert log.says("版本") == "第一行\nThe port is 8080.\n"
    told = log.command("memory", "versions", log.uri("版本"))
    assert [each["version"] for each in told["versions"]] == [4, 3, 2, 1]


@pytest.mark.parametrize("language", SIDE_JOB)
def test_two_who_write_at_once_see_both_texts_and_choose(
    visit: Visitor, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    log.adds("冲突", "base\n")
    page = visit(f"/ui/m/{log.domain}/冲突?edit=1", language)
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_role("textbox", name=words["text"])
    field.fill("mine\n")
    log.writes("冲突", "theirs\n")
    button(dialog, words["save"]).click()
    expect(dialog.get_by_text(words["conflict"])).to_be_visible()
    both = dialog.locator(".cm-diff")
    expect(both).to_contain_text("theirs")
    expect(both).to_contain_text("mine")
    assert log.stands("冲突") == "theirs\n"
    button(dialog, words["mine"].format(3)).click()
    expect(page.get_by_text(words["saved"])).to_be_visible()
    assert log.stands("冲突") == "mine\n"

    button(page, words["edit"]).click()
    field.fill("mine again\n")
    log.writes("冲突", "theirs again\n")
    button(dialog, words["save"]).click()
    button(dialog, words["theirs"]).click()
    expect(page.get_by_role("tabpanel")).to_contain_text("theirs again")
    assert log.stands("冲突") == "theirs again\n"


@pytest.mark.parametrize("language", SIDE_JOB)
def test_an_alias_is_added_taken_back_and_removed(
    visit: Visitor, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    page = visit(f"/ui/m/{log.domain}/配置/语言?tab=aliases", language)
    alias = log.uri("界面")
    for act in ("undo", "remove"):
        page.get_by_role("textbox", name=words["another"]).fill(alias)
        button(page, words["add"]).click()
        expect(page.get_by_text(words["added"].format(alias))).to_be_visible()
        assert log.stands("界面").startswith("界面语言")
        if act == "undo":
            button(page, words["undo"]).click()
            expect(page.get_by_text(words["undone"])).to_be_visible()
        else:
            button(page, words["remove"].format(alias)).click()
            expect(page.get_by_text(words["removed"].format(alias))).to_be_visible()
        expect(button(page, words["remove"].format(alias))).to_have_count(0)
    # What stands elsewhere cannot be taken.
    page.get_by_role("textbox", name=words["another"]).fill(log.uri("config"))
    button(page, words["add"]).click()
    expect(page.get_by_role("tabpanel").get_by_role("alert")).to_contain_text(log.uri("config"))
    # An alias leads to the note, and says whose it is.
    page.goto(f"/ui/m/{log.domain}/port")
    expect(page.get_by_role("tabpanel")).to_contain_text("37877")
    expect(page.get_by_role("link", name=log.uri("config")).first).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_relations_lead_both_ways_and_to_what_is_not_written_yet(
    visit: Visitor, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    page = visit(f"/ui/m/{log.domain}/deploy/steps?tab=relations", language)
    panel = page.get_by_role("tabpanel")
    panel.get_by_role("link", name=words["write"]).click()
    dialog = page.get_by_role("dialog", name=words["new"])
    expect(dialog.get_by_role("textbox", name=words["address"])).to_have_value(log.uri("deploy/rollback"))
    page.go_back()
    panel.get_by_role("link", name=log.uri("config")).first.click()
    heading(page, log.uri("config"))
    tab(page, words["lineage"]).click()
    panel.get_by_role("link", name=log.uri("配置/数据库/连接")).click()
    heading(page, log.uri("配置/数据库/连接"))
    expect(panel).to_contain_text("连接池大小为 20")
    # An address at which nothing stands says so, and offers to write it.
    page.goto(f"/ui/m/{log.domain}/没有?tab=content")
    expect(page.get_by_text(words["nothing"])).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_note_is_hidden_deprecated_brought_back_and_forgotten(
    visit: Visitor, served: Server, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    path = f"临时/{uuid4().hex[:8]}"  # a second try finds the first one's note
    made = log.adds(path, "gone soon")
    page = visit(f"/ui/m/{log.domain}/{path}", language)

    def choose(what: str) -> None:
        button(page, words["more"]).click()
        page.get_by_role("menuitem", name=words[what]).click()

    def listed(status: str) -> list[str]:
        found = served.request("GET", f"/api/notes?domain={log.domain}&status={status}").json["items"]
        return [row["uri"] for row in found if row["uri"] == log.uri(path)]

    for what, status in (("hide", "deleted"), ("deprecate", "deprecated")):
        choose(what)
        button(page, words["restore"]).wait_for()
        assert listed(status) == [log.uri(path)]
        if what == "deprecate":
            expect(page.get_by_text(words["deprecated"])).to_be_visible()
        button(page, words["restore"]).click()
        expect(button(page, words["restore"])).to_have_count(0)
        assert log.stands(path) == "gone soon"
    page.reload()  # away with the notices of the changes
    choose("hide")
    button(page, words["undo"]).click()
    expect(page.get_by_text(words["undone"])).to_be_visible()
    assert log.stands(path) == "gone soon"

    choose("forget")
    dialog = page.get_by_role("dialog").filter(has_text=log.uri(path))
    expect(button(dialog, words["forget_confirm"])).to_be_disabled()
    dialog.get_by_role("textbox").fill(log.uri(path))
    button(dialog, words["forget_confirm"]).click()
    heading(page, words["memories"])
    assert served.request("GET", f"/api/provenance/%23{made['seq']}").status == 404


@pytest.fixture(scope="module")
def traced(served: Server, model: ModelServer, books: dict[str, Notebook]) -> Iterator[dict[str, str]]:
    """A name of one memory of each kind, and the session that two of them come from."""
    former, model.script = model.script, lambda _: '{"reason": "", "memories": []}'
    project = new_project("notes-trace")
    agent = timeline.Agent(served, project, project)
    agent.asks("登录为什么超时？")
    agent.uses("Edit", timeline.LARGER_POOL, "ok")
    (observation,) = timeline.until_there(served, project, 1, "observation")
    agent.ends_turn("Done.")
    (summary,) = timeline.until_there(served, project, 1, "summary")
    (prompt,) = timeline.rows_of(served, project, "prompt")
    entry = Rpc(served).result("memory_add", {"content": "The pool holds 20 connections 连接池", "summary": "连接池"})
    lesson = served.post("/api/v1/memories", {"role": "global", "content": "Prefer the larger pool 较大的池"})
    yield {
        "session": str(agent.number), "observation": observation["ref"], "summary": summary["ref"],
        "prompt": prompt["ref"], "qa": qa.hand_in(served, project, qa.TESTS["en"]), "knowledge": entry["id"],
        "lesson": f"mem:{lesson.json['memory']['mem_id']}", "note": books["en"].uri("config"),
        "project": project,
    }  # fmt: skip
    model.script = former


KINDS = {
    "en": {"observation": "Observation", "summary": "Summary", "prompt": "Prompt", "note": "Note",
           "qa": "Question and answer", "knowledge": "Knowledge", "lesson": "Lesson"},
    "zh": {"observation": "观察", "summary": "摘要", "prompt": "提示词", "note": "笔记", "qa": "问答",
           "knowledge": "知识", "lesson": "经验"},
}  # fmt: skip


@pytest.mark.parametrize("language", SIDE_JOB)
def test_every_kind_of_memory_has_the_same_page(
    visit: Visitor, served: Server, traced: dict[str, str], language: Language
) -> None:
    words = WORDS[language]
    page = visit("/ui/memories", language)
    for kind, word in KINDS[language].items():
        name = traced[kind]
        page.goto(f"/ui/memories?why={quote(name, safe='')}")  # as the page of notes once told it
        tabs = page.get_by_role("tab")
        expect(tabs).to_have_count(4)
        expect(tab(page, words["lineage"])).to_have_attribute("aria-selected", "true")
        strip = page.get_by_role("list").filter(has_text=words["not told"])
        expect(strip.locator("li[aria-current]")).to_have_text(word)
        expect(button(page, words["edit"])).to_be_visible()
        if WHOLE or kind in ("observation", "qa"):  # it is the same page
            assert axe.violations(page) == [], kind
    number = traced["observation"].removeprefix("#")
    page.goto(f"/ui/observations/{number}")  # its former address
    page.wait_for_url(f"**/ui/memories/{number}")
    # The strip leads to what was asked, to the events and to who was told it; what shares its events is no step of it.
    strip = page.get_by_role("list").filter(has_text=words["not told"])
    expect(strip.get_by_role("link", name="登录为什么超时？").first).to_be_visible()
    expect(strip.get_by_role("link")).to_have_count(3)
    told = {"contentSessionId": f"{traced['project']}-told", "project": traced["project"]}
    served.post("/api/sessions/init", {**told, "prompt": "again"})
    served.request("GET", f"/api/context?project={traced['project']}&session={told['contentSessionId']}")
    page.reload()
    page.get_by_role("link", name=words["told in"]).click()
    expect(tab(page, words["told"])).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel").get_by_role("link", name=re.compile(r"\d+"))).to_have_count(1)
    assert axe.violations(page) == []
    # A relative is explained in its place; its own relatives lead on, and back.
    page.goto(f"/ui/memories/{number}?tab=lineage")
    page.get_by_role("tabpanel").get_by_role("button", name=traced["prompt"]).click()
    drawer = page.get_by_role("dialog", name=words["drawer"])
    expect(drawer.locator("code").first).to_contain_text(traced["prompt"])
    expect(drawer.get_by_role("link", name=traced["summary"], exact=True)).to_be_visible()
    drawer.get_by_role("button", name=traced["observation"]).first.click()
    expect(drawer).to_contain_text("Edit")
    drawer.get_by_role("link", name=traced["project"]).click()
    page.wait_for_url(f"**/ui/sessions/{traced['session']}")
    expect(drawer).to_have_count(0)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_what_was_written_together_is_taken_back_together(
    visit: Visitor, served: Server, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    entries = [{"uri": log.uri(f"导入/{name}"), "content": f"imported {name}"} for name in ("甲", "乙")]
    log.call("import_memories", data={"memories": entries})
    page = visit(f"/ui/m/{log.domain}/导入/甲", language)
    tab(page, words["versions"]).click()
    button(page, words["take_back"]).click()
    dialog = page.get_by_role("dialog").filter(has_text="imported 乙")
    expect(dialog).to_contain_text("imported 甲")
    assert log.stands("导入/乙") == "imported 乙"
    button(dialog, words["take"]).click()
    expect(dialog).to_have_count(0)

    def standing() -> int:
        found = served.request("GET", f"/api/notes?domain={log.domain}&limit=200").json["items"]
        return sum("/导入/" in row["uri"].replace("://", "/") for row in found)

    assert standing() == 0
    button(page, words["undo"]).click()
    expect(page.get_by_role("alert").filter(has_text=words["undone"])).to_be_visible()
    assert standing() == 2


@pytest.mark.parametrize("language", SIDE_JOB)
def test_the_keyboard_alone_writes_finds_and_changes_a_note(
    visit: Visitor, books: dict[str, Notebook], language: Language
) -> None:
    words, log = WORDS[language], books[language]
    page = visit(f"/ui/notes?domain={log.domain}", language)
    keys = page.keyboard
    tree = page.get_by_role("tree", name=words["tree"])
    expect(tree.get_by_role("treeitem", name="配置").first).to_be_visible()
    keys.press("n")
    expect(page.get_by_role("textbox", name=words["address"])).to_be_focused()
    keys.press("Control+a")
    keys.insert_text(log.uri("键盘/笔记"))
    keys.press("Tab")
    keys.insert_text("by keys")
    for _ in range(4):
        keys.press("Tab")
    expect(button(page, words["create"])).to_be_focused()
    keys.press("Enter")
    heading(page, log.uri("键盘/笔记"))
    keys.press("e")
    field = page.get_by_role("textbox", name=words["text"])
    expect(field).to_be_focused()
    keys.press("Control+End")
    keys.insert_text(" alone")
    # Unsaved words are lost neither to a key nor to a way back.
    keys.press("Escape")
    page.go_back()
    leaving = page.get_by_role("dialog", name=words["leaving"])
    expect(button(leaving, words["cancel"])).to_be_focused()
    keys.press("Enter")
    expect(leaving).to_have_count(0)
    expect(field).to_have_value("by keys alone")
    field.press("Control+Enter")
    expect(page.get_by_text(words["saved"])).to_be_visible()
    assert log.stands("键盘/笔记") == "by keys alone"

    # The tree, as any tree is walked: letters seek, arrows open, close and move.
    page.goto(f"/ui/notes?domain={log.domain}")
    tree.locator("[aria-selected='true']").focus()
    focused = page.locator("[role=treeitem]:focus")
    keys.press("End")
    expect(focused).to_contain_text("system://")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(focused).to_contain_text("boot")
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    expect(tree.get_by_role("treeitem", name="boot")).to_have_count(0)
    tree.locator("[aria-selected='true']").focus()
    expect(focused).to_contain_text(f"{log.domain}://")
    for letter in "config":
        keys.press(letter)
    expect(focused).to_contain_text("config")
    keys.press("ArrowDown")
    expect(focused).to_contain_text("deploy")
    keys.press("ArrowRight")
    expect(focused).to_have_attribute("aria-expanded", "true")
    keys.press("ArrowDown")
    expect(focused).to_contain_text("steps")
    keys.press("Enter")
    heading(page, log.uri("deploy/steps"))


def test_the_list_is_narrowed_by_words_and_filters_that_stand_in_the_address(
    visit: Visitor, books: dict[str, Notebook]
) -> None:
    words, log = WORDS["en"], books["en"]
    page = visit(f"/ui/notes?domain={log.domain}&prio=3-5")
    rows = page.get_by_role("grid", name=words["list"]).get_by_role("row")
    expect(rows.filter(has_text="连接")).to_have_count(1)
    expect(rows.filter(has_text="语言")).to_have_count(0)
    page.get_by_role("searchbox", name=words["search"]).fill("连接池")
    expect(page).to_have_url(re.compile("q=%E8%BF%9E"))
    expect(rows.first).to_contain_text(log.uri("配置/数据库/连接"))
    expect(rows.filter(has_text="语言")).to_have_count(0)
    page.get_by_role("combobox", name=words["status"], exact=True).click()
    page.get_by_role("option", name=words["deleted"], exact=True).click()
    expect(page).to_have_url(re.compile("status=deleted"))
    page.go_back()
    expect(rows.first).to_contain_text(log.uri("配置/数据库/连接"))
    page.get_by_role("searchbox", name=words["search"]).fill("")
    page.goto(f"/ui/notes?domain={log.domain}&prio=9-10")
    expect(page.get_by_text(words["empty"].format(log.domain))).to_be_visible()
    button(page, words["clear"]).click()
    expect(rows.first).to_be_visible()
    assert page.url.endswith("/ui/notes")
    # A view is shown as agents are told it: with what a person wrote into the core.
    note = {"uri": log.uri("start"), "content": "The port is 37877.", "priority": 1}
    assert log.server.post("/api/notes", note, {"Sec-Fetch-Site": "same-origin"}).status == 200
    page.goto("/ui/m/system/boot")
    panel = page.get_by_role("region", name=words["whole"])
    expect(panel).to_contain_text("The port is 37877.")
    expect(panel.get_by_role("link", name=log.uri("start"))).to_be_visible()


def test_an_earlier_version_is_read_in_place_and_odd_addresses_work(visit: Visitor, books: dict[str, Notebook]) -> None:
    words, log = WORDS["en"], books["en"]
    page = visit(f"/ui/m/{log.domain}/config?v=1")
    expect(page.get_by_text(words["read"].format(1))).to_be_visible()
    expect(page.get_by_role("tabpanel")).to_contain_text("8080")
    page.get_by_text(words["source"], exact=True).click()
    expect(page.get_by_role("tabpanel")).to_contain_text("**8080**")
    # Going back is itself undone.
    button(page, words["back"].format(1)).click()
    button(page.get_by_role("dialog"), words["confirm"].format(1)).click()
    button(page, words["undo"]).click()
    expect(page.get_by_text(words["undone"])).to_be_visible()
    assert "37877" in log.stands("config")
    odd = "100% <b>&?#+ 空 格"
    log.adds(odd, "odd but fine")
    page.goto(f"/ui/notes?domain={log.domain}")
    page.get_by_role("grid", name=words["list"]).get_by_role("row").filter(has_text="100%").click()
    heading(page, log.uri(odd))
    expect(page.get_by_role("tabpanel")).to_contain_text("odd but fine")
    page.reload()
    heading(page, log.uri(odd))
    expect(page.get_by_role("tabpanel")).to_contain_text("odd but fine")


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(visit: Visitor, books: dict[str, Notebook], language: Language) -> None:
    words, log = WORDS[language], books[language]
    page = visit(f"/ui/notes?domain={log.domain}", language)
    expect(page.get_by_role("grid", name=words["list"]).get_by_role("row").first).to_be_visible()
    expect(page.get_by_role("treeitem", name="配置").first).to_be_visible()
    assert axe.violations(page) == []
    page.goto(f"/ui/m/{log.domain}/config")
    expect(page.get_by_role("tabpanel")).to_contain_text("37877")
    assert axe.violations(page) == []
    button(page, words["edit"]).click()
    expect(page.get_by_role("textbox", name=words["text"])).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("Escape")
    for name in ("lineage", "versions"):
        tab(page, words[name]).click()
        if name == "versions":
            page.get_by_role("grid", name=words["versions"]).get_by_role("row", name="v2").click()
            expect(page.locator(".cm-diff")).to_be_visible()
        assert axe.violations(page) == []
    button(page, words["back"].format(1)).last.click()
    expect(page.get_by_role("dialog").locator(".cm-diff")).to_be_visible()
    assert axe.violations(page) == []


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_narrow_screen_shows_everything(visit: Visitor, books: dict[str, Notebook], language: Language) -> None:
    log = books[language]
    page = visit(f"/ui/notes?domain={log.domain}", language, viewport={"width": 360, "height": 740})
    expect(page.get_by_role("row").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for state in ("", "?tab=versions&diff=1..3", "?edit=1"):
        page.goto(f"/ui/m/{log.domain}/config{state}")
        expect(page.get_by_role("tabpanel")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == 360, state
