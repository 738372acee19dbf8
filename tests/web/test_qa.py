"""The review of questions and answers as a person does it: by keys, one item after the other, with nothing lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests._support.server import Server
from tests.web import axe
from tests.web.seeds import qa
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "candidates": "Candidates", "validated": "Validated", "expired": "Expired, deprecated", "of": "{} of {}",
        "approved": "Approved:", "rejected": "Rejected:", "merged": "Merged into:", "saved": "Saved:", "undo": "Undo",
        "undone": "Undone", "approve": "Approve", "question": "Question", "answer": "Answer",
        "preview": "Preview", "decision": "Decision", "merge_dialog": "Merge memories into one", "merge": "Merge",
        "write": "Write", "tags": "Tags", "keep_mine": "Save mine as v3", "this": "This item",
        "contradicts": "contradicts",
        "contradicted": "Another answer to this question contradicts it.",
        "difference": "Difference", "nothing": "Nothing to review",
        "command": "mem-codecli memory candidate",
        "nowhere": "No items with this status in the project “{}”", "clear": "Clear filters", "new": "1 new",
        "deprecated": "deprecated", "help": "Keyboard shortcuts", "key": "Approve, and show the next",
        "single": "Single-key shortcuts", "search": "Search", "whence": "Where does this come from?",
        "origin": "Where this comes from", "confidence": "Confidence",
        "changed": "Somebody else changed this in the meantime",
        "failed": "The decision failed and was undone:", "queue": "Items with this status",
        "no_audit": "No audit rows yet",
    },
    "zh": {
        "candidates": "候选", "validated": "已验证", "expired": "已过期、已弃用", "of": "第 {} 条，共 {} 条",
        "approved": "已批准：", "rejected": "已拒绝：", "merged": "已合并到：", "saved": "已保存：", "undo": "撤销",
        "undone": "已撤销", "approve": "批准", "question": "问题", "answer": "答案",
        "preview": "预览", "decision": "决定", "merge_dialog": "将记忆合并为一条", "merge": "合并",
        "write": "编写", "tags": "标签", "keep_mine": "将我的保存为 v3", "this": "此条目", "contradicts": "答案矛盾",
        "contradicted": "另有 1 个答案与它矛盾", "difference": "答案的差异",
        "nothing": "没有待审核的条目", "command": "mem-codecli memory candidate",
        "nowhere": "项目“{}”中没有此类条目", "clear": "清除筛选", "new": "1 条新内容",
        "deprecated": "已弃用", "help": "键盘快捷键", "key": "批准并显示下一条",
        "single": "单键快捷键", "search": "搜索", "whence": "它从何而来？",
        "origin": "来源", "confidence": "置信度", "changed": "在此期间有人修改了这条记忆",
        "failed": "操作失败，已恢复原状：", "queue": "此类条目",
        "no_audit": "尚未收到审计记录",
    },
}  # fmt: skip


def asked(page: Page, question: str) -> None:
    """This question is under review."""
    expect(page.get_by_role("heading", level=2, name=question, exact=True)).to_be_visible()


def tab(page: Page, name: str, count: int) -> Locator:
    return page.get_by_role("tab", name=re.compile(rf"^{re.escape(name)}\s*{count}$"))


def notice(page: Page, text: str) -> Locator:
    return page.get_by_role("alert").filter(has_text=text)


def counted(page: Page, words: dict[str, str], candidates: int, validated: int, expired: int) -> None:
    for name, count in (("candidates", candidates), ("validated", validated), ("expired", expired)):
        expect(tab(page, words[name], count)).to_be_visible()


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_candidate_is_approved_by_keys_alone_and_then_found(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], qa.new_project(f"qa-approve-{language}")
    ids = qa.shelf(served, project, language)
    before = qa.item(served, ids["rotate"])
    page = visit(f"/ui/qa?project={project}", language)
    asked(page, qa.RENEW[language].question)
    expect(page.get_by_text(words["of"].format(1, 5))).to_be_visible()
    counted(page, words, 5, 0, 0)

    page.keyboard.press("j")
    asked(page, qa.ROTATE[language].question)
    expect(page.get_by_role("article").get_by_role("listitem").first).to_be_visible()
    page.keyboard.press("a")
    expect(notice(page, words["approved"])).to_be_visible()
    # The next one comes, and the work done counts.
    asked(page, qa.OTHER_PORT[language].question)
    expect(page.get_by_text(words["of"].format(3, 5))).to_be_visible()
    counted(page, words, 4, 1, 0)
    found = qa.search(served, project, qa.ROTATE[language].question)[0]
    assert (found["qa_id"], found["status"], found["unproven"]) == (ids["rotate"], "validated", False)

    page.keyboard.press("u")
    expect(notice(page, words["undone"])).to_be_visible()
    asked(page, qa.ROTATE[language].question)
    counted(page, words, 5, 0, 0)
    after = qa.item(served, ids["rotate"])
    assert [after[name] for name in ("status", "confidence", "validations")] == [
        before[name] for name in ("status", "confidence", "validations")
    ]


def test_the_undo_beside_a_long_notice_is_whole(visit: Visitor, served: Server) -> None:
    project = qa.new_project("qa-long-notice")
    long = qa.Asked("Which of the two deployment scripts has to be run first after the database was migrated?", "Ours.")
    qa_id = qa.hand_in(served, project, long)
    page = visit(f"/ui/qa?project={project}&sel={qa_id}")
    asked(page, long.question)
    page.keyboard.press("r")
    undo = notice(page, WORDS["en"]["rejected"]).get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_visible()
    clipped = """(button) => [button, ...button.querySelectorAll('*')].some(
        (each) => each.scrollWidth > each.clientWidth && getComputedStyle(each).display !== 'inline')"""
    assert undo.evaluate(clipped) is False


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_rejection_can_be_taken_back_from_its_notice(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], qa.new_project(f"qa-reject-{language}")
    qa_id = qa.hand_in(served, project, qa.PORT[language])
    qa.hand_in(served, project, qa.TESTS[language])
    page = visit(f"/ui/qa?project={project}&sel={qa_id}", language)
    asked(page, qa.PORT[language].question)
    page.keyboard.press("r")
    asked(page, qa.TESTS[language].question)
    counted(page, words, 1, 0, 1)
    assert qa.item(served, qa_id)["status"] == "deprecated"
    assert qa.search(served, project, qa.PORT[language].question) == []

    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=2)).to_have_text(["队列" if language == "zh" else "Queue"])
    counted(page, words, 0, 0, 2)
    notice(page, qa.PORT[language].question).get_by_role("button", name=words["undo"]).click()
    asked(page, qa.PORT[language].question)
    counted(page, words, 1, 0, 1)
    told = qa.item(served, qa_id)
    assert (told["status"], told["validations"], told["confidence"]) == ("candidate", {"success": 0, "failure": 0}, 0.5)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_question_and_answer_are_corrected_with_a_preview(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], qa.new_project(f"qa-edit-{language}")
    qa_id = qa.hand_in(served, project, qa.TESTS[language], tags=["pytest"])
    page = visit(f"/ui/qa?project={project}", language)
    asked(page, qa.TESTS[language].question)
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog")
    answer = dialog.get_by_label(words["answer"], exact=True)
    expect(answer).to_be_focused()
    # Letters are text here, not decisions.
    question = dialog.get_by_label(words["question"], exact=True)
    question.fill("")
    question.press_sequentially("a r s? 麒麟")
    answer.fill("用 **just quick** 代替")
    dialog.get_by_text(words["preview"], exact=True).click()
    expect(dialog.locator("strong")).to_have_text("just quick")
    dialog.get_by_text(words["write"], exact=True).click()
    tags = dialog.get_by_label(words["tags"], exact=True)
    tags.fill("gate")
    tags.press("Enter")

    # Somebody is faster: their text is shown before it is replaced.
    assert served.request("PATCH", f"/v1/qa/items/{qa_id}", {"answer": "Ask somebody."}).status == 200
    answer.press("Control+Enter")
    expect(dialog.get_by_role("alert").filter(has_text=words["changed"])).to_contain_text("Ask somebody.")
    dialog.get_by_role("button", name=words["keep_mine"], exact=True).click()
    expect(notice(page, words["saved"])).to_be_visible()
    asked(page, "a r s? 麒麟")
    expect(page.get_by_role("row").filter(has_text="a r s? 麒麟")).to_be_visible()
    told = qa.item(served, qa_id)
    assert (told["question"], told["answer"], told["tags"]) == (
        "a r s? 麒麟",
        "用 **just quick** 代替",
        ["pytest", "gate"],
    )

    page.keyboard.press("u")
    asked(page, qa.TESTS[language].question)
    assert qa.item(served, qa_id)["answer"] == "Ask somebody."


@pytest.mark.parametrize("language", SIDE_JOB)
def test_two_items_become_one_that_both_questions_find(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], qa.new_project(f"qa-merge-{language}")
    rotate = qa.hand_in(served, project, qa.ROTATE[language])
    renew = qa.hand_in(served, project, qa.RENEW[language])
    page = visit(f"/ui/qa?project={project}", language)
    asked(page, qa.RENEW[language].question)
    expect(
        page.get_by_role("toolbar", name=words["decision"]).get_by_role("button", name=words["merge"])
    ).to_be_enabled()
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog", name=words["merge_dialog"])
    # Both answers are shown before anything happens, and the other one would stay.
    expect(dialog.get_by_text(qa.RENEW[language].answer)).to_be_visible()
    expect(dialog.locator("code").first).to_contain_text("just rotate-key")
    expect(dialog.get_by_label(qa.ROTATE[language].question)).to_be_checked()
    dialog.get_by_label(qa.RENEW[language].question).check()
    dialog.get_by_role("button", name=words["merge"]).press("Enter")
    expect(notice(page, words["merged"])).to_be_visible()
    # Its answer stayed, so that it is still under review; the other one has left the queue.
    asked(page, qa.RENEW[language].question)
    expect(page.get_by_role("article").get_by_text(qa.ROTATE[language].question)).to_be_visible()
    counted(page, words, 1, 0, 1)
    for question in (qa.ROTATE[language].question, qa.RENEW[language].question):
        first = qa.search(served, project, question)[0]
        assert (first["qa_id"], first["answer"]) == (renew, qa.RENEW[language].answer)
    assert qa.item(served, rotate)["merged_into"] == renew

    page.keyboard.press("u")
    counted(page, words, 2, 0, 0)
    expect(page.get_by_role("row")).to_have_count(2)
    assert (qa.item(served, rotate)["status"], qa.item(served, renew)["phrasings"]) == ("candidate", [])


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_contradiction_is_flagged_and_shown_side_by_side(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], qa.new_project(f"qa-against-{language}")
    port = qa.hand_in(served, project, qa.PORT[language], tags=["net"], source="codex", author="林")
    other = qa.hand_in(served, project, qa.OTHER_PORT[language])
    qa.report(served, project, port, used=3, worked=1)
    page = visit(f"/ui/qa?project={project}&sel={port}", language)
    asked(page, qa.PORT[language].question)
    expect(page.get_by_role("note")).to_contain_text(words["contradicted"])
    sides = [page.get_by_role("group", name=name) for name in (words["this"], other[:11])]
    for side, answer in zip(sides, ("37877", "8080"), strict=True):
        expect(side.locator("strong")).to_have_text(answer)
    expect(page.get_by_text(words["contradicts"], exact=True)).to_be_visible()
    page.get_by_text(words["difference"]).click()
    expect(page.get_by_role("table")).to_contain_text("8080")
    # How the confidence came about.
    told = qa.item(served, port)
    expect(page.get_by_role("meter", name=words["confidence"])).to_have_attribute(
        "aria-valuenow", str(told["confidence"])
    )
    facts = page.get_by_role("article").get_by_role("definition")
    for text in ("net", "codex", "林"):
        expect(facts.filter(has_text=text).first).to_be_visible()
    page.get_by_role("button", name=words["whence"]).click()
    expect(page.get_by_role("dialog", name=words["origin"])).to_contain_text(port)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_each_shelf_shows_its_own(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], qa.new_project(f"qa-shelf-{language}")
    rotate = qa.hand_in(served, project, qa.ROTATE[language])
    port = qa.hand_in(served, project, qa.PORT[language])
    qa.hand_in(served, project, qa.TESTS[language])
    for qa_id, verdict in ((port, "approve"), (rotate, "reject")):
        assert served.post(f"/v1/qa/items/{qa_id}/{verdict}", {}).status == 200
    page = visit(f"/ui/qa?project={project}", language)
    counted(page, words, 1, 1, 1)
    asked(page, qa.TESTS[language].question)
    tab(page, words["validated"], 1).click()
    asked(page, qa.PORT[language].question)
    tab(page, words["expired"], 1).click()
    expect(page.get_by_role("row")).to_contain_text(words["deprecated"])
    # What was rejected can still be approved.
    expect(page.get_by_role("button", name=words["approve"])).to_be_enabled()
    page.go_back()
    asked(page, qa.PORT[language].question)


def test_links_searches_and_what_is_not_there(visit: Visitor, reviewed: str, served: Server) -> None:
    words = WORDS["zh"]
    page = visit(f"/ui/qa?project={reviewed}", "zh")
    page.get_by_role("searchbox", name=words["search"]).fill("8080")
    page.keyboard.press("Enter")
    asked(page, qa.OTHER_PORT["zh"].question)
    page.reload()
    asked(page, qa.OTHER_PORT["zh"].question)
    expect(page.get_by_role("searchbox", name=words["search"])).to_have_value("8080")
    # A link to an item opens the shelf where it stands.
    project = qa.new_project("qa-proven")
    proven = qa.hand_in(served, project, qa.TESTS["zh"])
    assert served.post(f"/v1/qa/items/{proven}/approve", {}).status == 200
    page.goto(f"/ui/qa?project={project}&sel={proven}")
    asked(page, qa.TESTS["zh"].question)
    expect(page.get_by_role("tab", selected=True)).to_contain_text(words["validated"])
    # An empty shelf names the filter.
    tab(page, words["expired"], 0).click()
    expect(page.get_by_text(words["nowhere"].format(project))).to_be_visible()
    page.get_by_role("button", name=words["clear"]).click()
    expect(page.get_by_role("combobox")).to_have_value("")


def test_keys_are_listed_and_can_be_turned_off(visit: Visitor, served: Server) -> None:
    words, project = WORDS["en"], qa.new_project("qa-keys")
    qa_id = qa.hand_in(served, project, qa.PORT["zh"])
    context = visit.context()
    page = visit(f"/ui/qa?project={project}", context=context)
    asked(page, qa.PORT["zh"].question)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name=words["help"])).to_contain_text(words["key"])
    page.keyboard.press("Escape")
    settings = visit("/ui/settings", context=context)
    settings.get_by_role("switch", name=words["single"]).click()
    page.bring_to_front()
    expect(page.get_by_role("dialog")).to_have_count(0)
    # The letters on the buttons go with the keys.
    expect(page.get_by_role("button", name=words["approve"]).locator("kbd")).to_have_count(0)
    for key in "ares":
        page.keyboard.press(key)
    asked(page, qa.PORT["zh"].question)
    assert qa.item(served, qa_id)["status"] == "candidate"


def test_what_is_handed_in_meanwhile_waits_to_be_shown(visit: Visitor, served: Server) -> None:
    words, project = WORDS["zh"], qa.new_project("qa-live")
    page = visit(f"/ui/qa?project={project}", "zh")
    expect(page.get_by_text(words["nowhere"].format(project))).to_be_visible()
    # Where nothing is shown, the first appears by itself.
    qa.hand_in(served, project, qa.PORT["zh"])
    asked(page, qa.PORT["zh"].question)
    # A list that is being read does not move.
    qa.hand_in(served, project, qa.TESTS["zh"])
    more = page.get_by_role("button", name=words["new"])
    expect(more).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(1)
    more.click()
    expect(page.get_by_role("row")).to_have_count(2)


def test_a_decision_that_fails_brings_the_item_back(visit: Visitor, served: Server) -> None:
    words, project = WORDS["en"], qa.new_project("qa-fails")
    qa.hand_in(served, project, qa.TESTS["en"])
    qa_id = qa.hand_in(served, project, qa.PORT["en"])
    page = visit(f"/ui/qa?project={project}")
    asked(page, qa.PORT["en"].question)
    page.route("**/approve", lambda route: route.abort())
    page.keyboard.press("a")
    expect(notice(page, words["failed"])).to_be_visible()
    asked(page, qa.PORT["en"].question)
    expect(page.get_by_role("row")).to_have_count(2)
    expect(notice(page, words["approved"])).to_have_count(0)
    assert qa.item(served, qa_id)["status"] == "candidate"


def test_a_queue_of_several_pages_is_worked_through(visit: Visitor, served: Server) -> None:
    words, project = WORDS["en"], qa.new_project("qa-long")
    for number in range(22):
        qa.hand_in(
            served, project, qa.Asked(f"What is thing {number:03} of kind {chr(65 + number)}?", f"It is {number}.")
        )
    page = visit(f"/ui/qa?project={project}")
    expect(page.get_by_text(words["of"].format(1, 22))).to_be_visible()
    rows = page.get_by_role("grid", name=words["queue"]).get_by_role("row")
    assert 5 < rows.count() <= 60
    page.keyboard.press("s")
    expect(page.get_by_text(words["of"].format(2, 22))).to_be_visible()
    page.keyboard.press("k")
    expect(rows.first).to_be_focused()
    # The end may come before the next page has arrived; then it is further on.
    page.keyboard.press("End")
    expect(rows.filter(has_text="What is thing 000")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_text(words["of"].format(22, 22))).to_be_visible()
    asked(page, "What is thing 000 of kind A?")
    # After the last the first comes again.
    page.keyboard.press("s")
    asked(page, f"What is thing 021 of kind {chr(65 + 21)}?")


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(visit: Visitor, reviewed: str, language: Language) -> None:
    words = WORDS[language]
    page = visit(f"/ui/qa?project={reviewed}", language)
    asked(page, qa.RENEW["zh"].question)
    page.keyboard.press("j")
    page.keyboard.press("j")
    asked(page, qa.OTHER_PORT["zh"].question)
    expect(page.get_by_role("group", name=words["this"]).locator("strong")).to_be_visible()
    expect(page.get_by_role("article").locator("strong")).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("m")
    page.get_by_role("dialog", name=words["merge_dialog"]).wait_for()
    assert axe.violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("e")
    expect(page.get_by_role("dialog").get_by_label(words["tags"], exact=True)).to_be_visible()
    assert axe.violations(page) == []


@pytest.fixture(scope="module")
def reviewed(served: Server) -> str:
    """A project that tests look at without changing it."""
    project = qa.new_project("qa-reviewed")
    qa.shelf(served, project, "zh")
    return project


def test_a_narrow_screen_shows_everything(visit: Visitor, reviewed: str) -> None:
    page = visit(f"/ui/qa?project={reviewed}", "en", viewport={"width": 360, "height": 740})
    page.get_by_role("row").first.click()
    asked(page, qa.RENEW["zh"].question)
    expect(page.get_by_role("group", name=WORDS["en"]["this"])).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.fixture(scope="module")
def bare(built_web: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A store in which nobody has asked or done anything yet."""
    with Server(tmp_path_factory.mktemp("bare")) as server:
        yield server


@pytest.mark.parametrize("language", SIDE_JOB)
def test_empty_pages_say_how_things_come_about(browser: Browser, bare: Server, language: Language) -> None:
    words = WORDS[language]
    visit = Visitor(browser, f"http://127.0.0.1:{bare.port}")
    page = visit("/ui/qa", language)
    expect(page.get_by_text(words["nothing"])).to_be_visible()
    expect(page.get_by_role("code").filter(has_text=words["command"])).to_be_visible()
    assert axe.violations(page) == []
    page.goto("/ui/audit")
    expect(page.get_by_text(words["no_audit"])).to_be_visible()
    expect(page.get_by_role("code").filter(has_text="mem-codecli audit push")).to_be_visible()
    assert axe.violations(page) == []
    visit.close()
