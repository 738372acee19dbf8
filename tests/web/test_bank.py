"""Feedback, learning and the ReasoningBank as a researcher works with them, and the way back from a learning."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import axe
from tests.web.seeds import bank as seeds
from tests.web.seeds.bank import Bank
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "worked": "Selective at a low loading",
        "score": "Score", "preset": "Fill from preset", "value": "Value of {}", "pros": "Pros", "save": "Save",
        "zero": "The sum is 0", "preview": "The fractions are a preview.", "kept": "the fractions stored on the server",
        "learning": "Newest learning job", "updated": "Updated", "added": "Added", "edit": "Edit…", "content": "Text",
        "saved as": "Saved:", "edited": "Edited by hand since", "roll back": "Roll back…",
        "confirm": "Roll back", "overwrites": "1 lesson was changed since",
        "stays": "they stay readable in the versions", "hand edit": "hand edit, version 3", "hide": "will be hidden",
        "undone": "undone", "versions": "Versions", "more": "More actions",
        "gone": "this memory is hidden", "number": "Enter a number, such as 12.3.",
        "missing": "Enter a value, or remove the product.", "nothing": "Enter something first",
        "negative": "Must not be below 0.",
        "add product": "Add product", "learn after": "Learn after save", "learn": "Learn from this run",
        "completed": "completed",
        "new note": "New note for runs", "note": "Note", "add note": "Add note", "put away": "Hide",
        "archived": "archived",
        "active": "active", "search": "Search lessons", "no lesson": "No lesson matches", "clear": "Clear filters",
        "lineage": "Lineage", "jobs": "Jobs", "deltas": "Deltas",
        "unsaved": "Not saved yet", "status": "Status", "theirs": "Somebody else changed this",
        "mine": "Save mine as v3", "bring back": "Bring back", "again": "Learn again",
        "dry": "A dry run teaches nothing",
    },
    "zh": {
        "worked": "水中骨架保持稳定",
        "score": "评分", "preset": "用预设填充", "value": "{} 的值", "pros": "优点", "save": "保存",
        "zero": "合计为 0", "preview": "占比为预览", "kept": "服务器保存的值",
        "learning": "最近一次学习", "updated": "更新", "added": "新增", "edit": "编辑…", "content": "文本",
        "saved as": "已保存：", "edited": "之后被手工编辑过", "roll back": "回滚…",
        "confirm": "回滚", "overwrites": "1 条经验之后又被写过",
        "stays": "它们仍可在各经验的版本中读到", "hand edit": "手工编辑，版本 3", "hide": "将被隐藏",
        "undone": "已撤销", "versions": "版本", "more": "更多操作",
        "gone": "此记忆处于隐藏状态", "number": "请写一个数，例如 12.3。",
        "missing": "请填写值，或移除此产物。", "nothing": "请先填写内容", "negative": "不能小于 0。",
        "add product": "添加产物", "learn after": "保存后学习", "learn": "从中学习", "completed": "已完成",
        "new note": "新建运行笔记", "note": "笔记", "add note": "添加笔记", "put away": "隐藏", "archived": "已归档",
        "active": "有效", "search": "搜索经验", "no lesson": "没有经验符合", "clear": "清除筛选",
        "lineage": "来龙去脉", "jobs": "任务", "deltas": "变更",
        "unsaved": "尚未保存", "status": "状态", "theirs": "在此期间有人修改了这条记忆", "mine": "将我的保存为 v3",
        "again": "再次学习", "bring back": "恢复", "dry": "试运行不产生经验",
    },
}  # fmt: skip
WORK_MS = 20_000  # until a worker has done something


@pytest.fixture(scope="module")
def bank(served: Server, model: ModelServer) -> Iterator[Bank]:
    with seeds.bank(served, model) as made:
        yield made


@pytest.fixture(scope="module")
def learned(bank: Bank) -> tuple[str, str]:
    """A run that was judged and learned from, and its delta."""
    run_id = bank.run()
    bank.judge(run_id, f"Washing with ethanol keeps the pores open: {seeds.subject('en', 'axe')}")
    return run_id, bank.delta(run_id)


def choose(page: Page, field: str, option: str) -> None:
    page.get_by_role("combobox", name=field).click()
    page.get_by_role("option", name=option, exact=True).click()


def rows(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def shares(page: Page) -> list[str]:
    return [text for text in page.locator("tbody td:nth-child(3)").all_inner_texts() if text]


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_dry_run_is_judged_and_teaches_nothing(visit: Visitor, bank: Bank, language: Language) -> None:
    words, about = WORDS[language], seeds.new_subject(language, "dry")
    run_id = bank.dry_run()
    page = visit(f"/ui/runs/{run_id}?tab=feedback", language)
    box = page.get_by_label(words["learn after"])
    expect(box).to_be_disabled()
    expect(box).not_to_be_checked()
    expect(page.get_by_text(words["dry"])).to_be_visible()
    page.get_by_label(words["pros"]).fill(f"{seeds.SECOND}: {about}")
    page.get_by_role("button", name=words["save"], exact=True).click()
    eventually(lambda: bank.lab.get(f"/runs/{run_id}")["run"]["feedback"] is not None)
    assert (bank.jobs(run_id), bank.lessons(about)) == ([], {})
    page = visit(f"/ui/runs/{run_id}?tab=learning", language)
    expect(page.get_by_text(words["dry"])).to_be_visible()
    expect(page.get_by_role("button", name=words["learn"])).to_have_count(0)


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_run_is_judged_learned_from_corrected_and_taken_back(visit: Visitor, bank: Bank, language: Language) -> None:
    words, about = WORDS[language], seeds.new_subject(language, "story")
    bank.judge(bank.run(), f"{words['worked']}: {about}")
    before = bank.lessons(about)
    ((mem_id, said),) = before.items()
    ethylene, carbon = f"C2H4 {about}", f"CO {about}"
    bank.preset(f"gas {about}", [bank.product(ethylene), bank.product(carbon)])
    run_id = bank.run()

    # A preset fills the table in its order; fractions follow while the values are typed.
    page = visit(f"/ui/runs/{run_id}?tab=feedback", language)
    page.get_by_label(words["score"]).fill("7.5")
    choose(page, words["preset"], f"gas {about}")
    page.get_by_label(words["value"].format(ethylene)).fill("0")
    page.get_by_label(words["value"].format(carbon)).fill("0")
    expect(page.get_by_text(words["zero"])).to_be_visible()
    page.get_by_label(words["value"].format(ethylene)).fill("12.3")
    page.get_by_label(words["value"].format(carbon)).fill("4.5")
    expect(page.get_by_text(words["zero"])).to_have_count(0)
    expect(page.get_by_text(words["preview"])).to_be_visible()
    assert (previewed := shares(page)) == ["73.2%", "26.8%"]
    page.get_by_label(words["pros"]).fill(f"{seeds.SECOND}: {about}")
    page.get_by_role("button", name=words["save"], exact=True).click()
    expect(page.get_by_text(words["kept"])).to_be_visible()
    saved = bank.lab.get(f"/runs/{run_id}/feedback")["feedback"]
    assert saved["score"] == 7.5
    assert [each["product_name"] for each in saved["products"]] == [ethylene, carbon]
    assert shares(page) == previewed == [f"{each['fraction']:.1%}" for each in saved["products"]]

    # The learning is followed to what it wrote.
    learning = page.get_by_role("region", name=words["learning"])
    link = learning.get_by_role("link", name=re.compile("^rbd_"))
    link.click(timeout=WORK_MS)
    page.wait_for_url("**/ui/rb/deltas/rbd_*")
    delta_id = page.url.rsplit("/", 1)[1]
    update = page.get_by_role("listitem").filter(has=page.get_by_role("heading", level=3, name=words["updated"]))
    expect(update).to_contain_text("keep it between 0.5 and 2 %")
    expect(page.get_by_role("heading", level=3, name=words["added"])).to_be_visible()
    expect(page.get_by_text(words["edited"])).to_have_count(0)
    (added,) = set(bank.lessons(about)) - {mem_id}

    # A person corrects what was learned.
    update.get_by_role("link", name=re.compile("^mem:")).click()
    page.get_by_role("button", name=words["edit"], exact=True).click()
    corrected = f"Loading of {about}: 0.8 % is best, 亲手改过。"
    page.get_by_role("textbox", name=words["content"]).fill(corrected)
    page.get_by_role("button", name=words["save"], exact=True).click()
    expect(page.get_by_text(words["saved as"])).to_be_visible()
    assert bank.lessons(about)[mem_id] == corrected

    # The delta warns, the preview shows what is overwritten; it can be undone, so nothing has to be typed.
    page.goto(f"/ui/rb/deltas/{delta_id}")
    expect(page.get_by_role("note")).to_contain_text(words["edited"])
    page.get_by_role("button", name=words["roll back"]).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text(words["overwrites"])
    expect(dialog.get_by_role("alert")).to_contain_text(words["hand edit"])
    expect(dialog).to_contain_text(words["stays"])
    expect(dialog).to_contain_text(words["hide"])
    expect(dialog.get_by_text("亲手改过").first).to_be_visible()
    confirm = dialog.get_by_role("button", name=words["confirm"], exact=True)
    expect(dialog.get_by_role("textbox")).to_have_count(0)
    confirm.click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text(words["undone"], exact=True).first).to_be_visible()
    assert bank.lessons(about) == before

    # The hand edit stays readable.
    page.goto(f"/ui/rb/{mem_id}")
    expect(page.get_by_text(said.splitlines()[0]).first).to_be_visible()
    page.get_by_role("tab", name=re.compile(f"^{words['versions']}")).click()
    page.get_by_role("row").filter(has_text="v3").first.click()
    expect(page.locator(".cm-diff")).to_contain_text("亲手改过")
    page.goto(f"/ui/rb/{added}")
    expect(page.get_by_text(words["gone"])).to_be_visible()
    expect(page.get_by_role("button", name=words["edit"], exact=True)).to_have_count(0)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_feedback_says_what_is_wrong_and_can_be_saved_without_learning(
    visit: Visitor, bank: Bank, language: Language
) -> None:
    words, about = WORDS[language], seeds.new_subject(language, "wrong")
    name, run_id = f"CH4 {about}", bank.run()
    bank.product(name)
    page = visit(f"/ui/runs/{run_id}?tab=feedback", language)
    save = page.get_by_role("button", name=words["save"], exact=True)
    page.get_by_label(words["score"]).fill(" ")
    save.click()
    expect(page.get_by_text(words["nothing"])).to_be_visible()
    page.get_by_label(words["score"]).fill("good")
    page.get_by_role("combobox", name=words["add product"]).fill(name)
    page.get_by_role("option", name=name).click()
    expect(page.get_by_label(words["value"].format(name))).to_be_focused()
    save.click()
    expect(page.get_by_text(words["number"])).to_be_visible()
    expect(page.get_by_text(words["missing"])).to_be_visible()
    page.get_by_label(words["value"].format(name)).fill("-1")
    expect(page.get_by_text(words["negative"])).to_be_visible()
    page.get_by_label(words["value"].format(name)).fill("１．５")
    page.get_by_label(words["score"]).fill("-2.5")

    # What was begun is still there after a look at another part.
    page.get_by_role("tab", name=re.compile("^(Output|输出)")).click()
    page.get_by_role("tab", name=re.compile("^(Feedback|反馈)")).click()
    expect(page.get_by_text(words["unsaved"])).to_be_visible()
    page.get_by_role("checkbox", name=words["learn after"]).uncheck()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(words["kept"])).to_be_visible()
    saved = bank.lab.get(f"/runs/{run_id}/feedback")["feedback"]
    assert (saved["score"], [each["value"] for each in saved["products"]]) == (-2.5, [1.5])
    assert bank.jobs(run_id) == []

    # Learned from later, by hand.
    page.get_by_role("tab", name=re.compile("^(Learning|学习)")).click()
    page.get_by_role("button", name=words["learn"]).click()
    expect(rows(page, "rbjob_")).to_contain_text(words["completed"], timeout=WORK_MS)
    expect(rows(page, "rbd_").last).to_be_visible()
    expect(page.get_by_role("button", name=words["again"])).to_be_enabled()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_notes_are_written_found_archived_and_brought_back(visit: Visitor, bank: Bank, language: Language) -> None:
    words, about = WORDS[language], seeds.new_subject(language, "note")
    page = visit("/ui/rb", language)
    page.get_by_role("button", name=words["new note"]).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(words["note"], exact=True).fill(f"Dry the frame of {about} overnight.")
    dialog.get_by_role("combobox").click()
    page.get_by_role("option", name="tio2_expert").click()
    dialog.get_by_role("button", name=words["add note"]).click()
    page.wait_for_url(re.compile(r"/ui/rb/[0-9a-f-]{30,}"))
    ((mem_id, _),) = bank.lessons(about).items()
    expect(page.get_by_text("tio2_expert").first).to_be_visible()
    page.get_by_role("tab", name=words["lineage"]).click()
    page.get_by_role("button", name=words["more"]).click()
    page.get_by_role("menuitem", name=words["put away"], exact=True).click()
    page.get_by_role("button", name=words["bring back"], exact=True).wait_for()
    assert bank.lab.get(f"/memories/{mem_id}")["memory"]["status"] == "archived"
    page.goto(f"/ui/rb?role=tio2_expert&status=archived&q={about}")
    expect(rows(page, about)).to_be_visible()
    page.get_by_role("combobox", name=words["status"]).click()
    page.get_by_role("option", name=words["active"], exact=True).click()
    expect(rows(page, about)).to_have_count(0)
    assert "status=active" in page.url
    page.goto(f"/ui/rb?type=reasoningbank_item&role=tio2_expert&q={about}")
    expect(page.get_by_text(words["no lesson"])).to_be_visible()
    page.get_by_role("button", name=words["clear"]).click()
    rows(page, about).click()
    page.get_by_role("button", name=words["bring back"], exact=True).click()
    expect(page.get_by_role("button", name=words["edit"], exact=True)).to_be_visible()
    assert bank.lab.get(f"/memories/{mem_id}")["memory"]["status"] == "active"


@pytest.mark.parametrize("language", SIDE_JOB)
def test_nobodys_edit_is_overwritten_unseen(visit: Visitor, bank: Bank, language: Language) -> None:
    words, about = WORDS[language], seeds.new_subject(language, "both")
    made = bank.server.post("/api/v1/memories", {"content": f"First of {about}"})
    mem_id = made.json["memory"]["mem_id"]
    page = visit(f"/ui/rb/{mem_id}", language)
    page.get_by_role("button", name=words["edit"], exact=True).click()
    page.get_by_role("textbox", name=words["content"]).fill(f"Mine of {about}")
    reply = bank.server.request("PATCH", f"/api/v1/memories/{mem_id}", {"content": f"Theirs of {about}"})
    assert reply.status == 200
    page.get_by_role("button", name=words["save"], exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text(words["theirs"])
    assert bank.lessons(about) == {mem_id: f"Theirs of {about}"}
    page.get_by_role("button", name=words["mine"]).click()
    expect(page.get_by_text(words["saved as"])).to_be_visible()
    assert bank.lessons(about) == {mem_id: f"Mine of {about}"}


@pytest.mark.parametrize("language", SIDE_JOB)
def test_the_keyboard_alone_corrects_a_lesson(visit: Visitor, bank: Bank, language: Language) -> None:
    words, about = WORDS[language], seeds.new_subject(language, "keys")
    bank.server.post("/api/v1/memories", {"content": f"Typed of {about}"})
    page = visit(f"/ui/rb?q={about}", language)
    rows(page, about).wait_for()
    page.keyboard.press("j")
    expect(rows(page, about)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/ui/rb/[0-9a-f-]{30,}"))
    page.get_by_role("button", name=words["edit"], exact=True).wait_for()
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name=words["content"])).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" by keys")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(f"Typed of {about} by keys").first).to_be_visible()
    eventually(lambda: list(bank.lessons(about).values()) == [f"Typed of {about} by keys"])
    page.get_by_role("tab").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("grid").get_by_role("row")).to_have_count(2)


def places(bank: Bank, learned: tuple[str, str]) -> dict[str, str]:
    """Addresses of this area, with a text that says that the page stands."""
    run_id, delta_id = learned
    mem_id = next(iter(bank.lessons(seeds.subject("en", "axe"))))
    return {
        f"/ui/rb?q={seeds.subject('en', 'axe')}": "Zx-axeen",
        f"/ui/rb/{mem_id}": "Zx-axeen",
        f"/ui/rb/{mem_id}?tab=versions&v=1": "Zx-axeen",
        "/ui/rb/jobs": "rbjob_",
        "/ui/rb/deltas": "rbd_",
        f"/ui/rb/deltas/{delta_id}": "Zx-axeen",
        f"/ui/runs/{run_id}?tab=feedback": "rbd_",
        f"/ui/runs/{run_id}?tab=learning": "rbjob_",
    }


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(visit: Visitor, bank: Bank, learned: tuple[str, str], language: Language) -> None:
    page = visit("/ui/rb", language)
    for path, text in places(bank, learned).items():
        page.goto(path)
        page.get_by_text(text).first.wait_for()
        assert axe.violations(page) == [], path
    page.goto(f"/ui/rb/deltas/{learned[1]}")
    page.get_by_role("button", name=WORDS[language]["roll back"]).click()
    page.get_by_role("dialog").get_by_text("Zx-axeen").first.wait_for()
    assert axe.violations(page) == []


def test_a_narrow_screen_shows_everything(visit: Visitor, bank: Bank, learned: tuple[str, str]) -> None:
    page = visit("/ui/rb", viewport={"width": 360, "height": 740})
    for path, text in places(bank, learned).items():
        page.goto(path)
        page.get_by_text(text).first.wait_for(state="attached")  # a list leaves ids out
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
