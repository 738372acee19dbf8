"""Batches and runs as a researcher works with them: order, follow, read, check the sources, cancel, find out why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests.web import axe
from tests.web.seeds import lab as seeds
from tests.web.seeds.lab import Lab
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "batches": "Batches", "new": "New batch", "request": "Request", "runs": "Runs", "recipes": "Recipes per run",
        "start": "Start batch", "dry": "Dry run", "completed": "completed", "running": "running",
        "started": "Run started", "search": "Document search", "answered": "Model answered", "final": "Final output",
        "trace": "Trace", "output": "Output", "evidence": "Evidence", "open": "Open the source of {}",
        "source": "Source of {}", "close": "Close", "cancel batch": "Cancel batch", "canceled": "canceled",
        "was canceled": "This run was canceled", "failed": "This run failed", "show failed": "Show what failed",
        "again": "Run again", "failed only": "Failed only", "clear": "Clear filters", "placeholders": "placeholders",
        "missing": "Enter a request.", "whole": "A whole number from 1 to 1,000.",
        "server": "Model server", "refused": "The server did not accept the request", "everything": "Everything",
        "nothing": "No batch matches “no such request”.", "find": "Search requests", "lesson": "Open the lesson",
        "fold": "Fold the subtask of mof_expert", "unfold": "Unfold the subtask of mof_expert",
        "json": "Show payload as JSON", "run 1": "Run 1",
        "no event": "No event matches: Failed only.",
    },
    "zh": {
        "batches": "批次", "new": "新建批次", "request": "请求", "runs": "运行次数", "recipes": "每次运行的配方数",
        "start": "开始批次", "dry": "试运行", "completed": "已完成", "running": "运行中",
        "started": "运行开始", "search": "搜索文档", "answered": "模型回答", "final": "最终输出",
        "trace": "轨迹", "output": "输出", "evidence": "证据", "open": "打开 {} 的来源",
        "source": "{} 的来源", "close": "关闭", "cancel batch": "取消批次", "canceled": "已取消",
        "was canceled": "此次运行已取消", "failed": "此次运行失败", "show failed": "查看失败之处",
        "again": "再次运行", "failed only": "仅失败", "clear": "清除筛选", "placeholders": "占位",
        "missing": "请写明要回答什么。", "whole": "请输入 1 到 1,000 的整数。",
        "server": "模型服务器", "refused": "服务器没有接受此请求", "everything": "全部",
        "nothing": "没有批次符合“no such request”。", "find": "搜索请求", "lesson": "打开经验",
        "fold": "折叠 mof_expert 的子任务", "unfold": "展开 mof_expert 的子任务",
        "json": "显示 内容 JSON", "run 1": "运行 1",
        "no event": "没有事件符合：仅失败。",
    },
}  # fmt: skip
REPLIES = 6  # of the model in one run of the cast
WORK_MS = 20_000  # until a worker has done something


@pytest.fixture(scope="module")
def lab(served: Server, model: ModelServer) -> Iterator[Lab]:
    with seeds.lab(served, model) as made:
        yield made


@pytest.fixture(scope="module")
def finished(lab: Lab) -> str:
    """A run that has answered."""
    return lab.finished()


@pytest.fixture(scope="module")
def failed(lab: Lab) -> str:
    """A run that could not."""
    made = lab.batch(seeds.REFUSED)
    assert lab.ended(made) == "failed"
    run_id: str = made["runs"][0]["run_id"]
    return run_id


def rows(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_batch_is_ordered_followed_and_its_sources_opened(
    visit: Visitor, lab: Lab, finished: str, language: Language
) -> None:
    words, request = WORDS[language], f"{seeds.HELD} {language}"
    page = visit("/ui/batches", language)
    page.get_by_role("link", name=words["new"]).click()
    page.get_by_role("heading", name=words["new"]).wait_for()  # until then the list's search has the same label
    page.get_by_label(words["request"]).fill(request)
    page.get_by_label(words["recipes"]).fill("1")
    page.get_by_role("button", name=words["start"]).click()

    # The run is at work and stays in view: each step appears by itself.
    page.wait_for_url("**/ui/batches/batch_*")
    expect(rows(page, words["run 1"])).to_contain_text(words["running"], timeout=WORK_MS)
    rows(page, words["run 1"]).click()
    page.wait_for_url("**/ui/runs/run_*")
    expect(rows(page, words["started"])).to_be_visible(timeout=WORK_MS)
    expect(rows(page, words["search"])).to_have_count(0)
    lab.play.let()
    expect(rows(page, words["search"])).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text(words["running"], exact=True)).to_be_visible()
    lab.play.let(REPLIES - 1)
    expect(rows(page, words["final"])).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text(words["completed"], exact=True)).to_be_visible()
    expect(page.get_by_role("tab", name=words["evidence"])).to_contain_text("5")

    # What it answered, and what each statement rests on.
    run_id = page.url.split("/runs/")[1].split("?")[0]
    output, piece = lab.get(f"/runs/{run_id}/output"), lab.get(f"/runs/{run_id}/evidence/C1")
    tab(page, words["output"])
    recipe = page.get_by_role("listitem").filter(has_text="benzoic acid (-COOH)")
    expect(recipe).to_contain_text("Cu")
    expect(recipe).to_contain_text("1:1")
    recipe.get_by_role("button", name=words["open"].format("C1")).click()
    drawer = page.get_by_role("dialog", name=words["source"].format("C1"))
    expect(drawer).to_contain_text(max(piece["content"].splitlines(), key=len))
    expect(drawer).to_contain_text(piece["source"])
    page.reload()  # the address holds it all
    expect(drawer).to_contain_text(piece["source"])
    drawer.get_by_role("button", name=words["close"]).click()
    expect(drawer).to_have_count(0)
    lesson = f"mem:{output['memory_ids'][0]}"
    recipe.get_by_role("button", name=words["open"].format(lesson)).click()
    drawer = page.get_by_role("dialog", name=words["source"].format(lesson))
    expect(drawer).to_contain_text(seeds.LESSON)
    expect(drawer.get_by_role("link", name=words["lesson"])).to_have_attribute("href", f"/ui/rb/{lesson[4:]}")


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_dry_run_ordered_twice_at_once_is_one_batch(visit: Visitor, lab: Lab, language: Language) -> None:
    words, request = WORDS[language], f"twice at once {language}"
    page = visit("/ui/batches/new", language)
    page.get_by_label(words["request"]).fill(request)
    page.get_by_role("switch", name=words["dry"]).check()
    page.evaluate("() => { const form = document.querySelector('form'); form.requestSubmit(); form.requestSubmit(); }")
    page.wait_for_url("**/ui/batches/batch_*")
    expect(rows(page, words["run 1"])).to_contain_text(words["completed"], timeout=WORK_MS)
    assert len(lab.get(f"/batches?q={request.replace(' ', '%20')}")["items"]) == 1
    rows(page, words["run 1"]).click()
    tab(page, words["output"])
    expect(page.get_by_text(words["placeholders"])).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_the_form_says_what_is_wrong(visit: Visitor, lab: Lab, language: Language) -> None:
    words = WORDS[language]
    page = visit("/ui/batches/new", language)
    before = len(lab.get("/batches?limit=200")["items"])
    page.get_by_label(words["runs"], exact=True).fill("0")
    page.get_by_role("button", name=words["start"]).click()
    expect(page.get_by_text(words["missing"])).to_be_visible()
    expect(page.get_by_text(words["whole"])).to_be_visible()
    expect(page.get_by_label(words["request"])).to_be_focused()
    page.get_by_label(words["runs"], exact=True).fill("1")
    page.get_by_label(words["request"]).fill("x")
    page.get_by_label(words["server"]).fill("http://elsewhere.invalid/v1")
    page.keyboard.press("Control+Enter")
    refusal = page.get_by_role("alert")
    expect(refusal).to_contain_text(words["refused"])
    expect(refusal).to_contain_text("CODEXMEM_LAB_API_BASES")
    assert len(lab.get("/batches?limit=200")["items"]) == before


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_batch_is_canceled_from_the_list(visit: Visitor, lab: Lab, language: Language) -> None:
    words, request = WORDS[language], f"{seeds.HELD} cancel {language}"
    made = lab.batch(request)
    page = visit(f"/ui/batches?q={request}", language)
    row = rows(page, request)
    row.get_by_role("button", name=words["cancel batch"]).click()
    page.get_by_role("dialog").get_by_role("button", name=words["cancel batch"]).click()
    expect(row).to_contain_text(words["canceled"], timeout=WORK_MS)
    row.click()
    rows(page, words["run 1"]).click()
    expect(page.get_by_text(words["was canceled"])).to_be_visible()
    assert lab.ended(made) == "canceled"
    lab.play.let()  # for the question that nobody waits for any more
    page.go_back()
    page.go_back()
    page.get_by_label(words["find"]).fill("no such request")
    expect(page.get_by_text(words["nothing"])).to_be_visible()
    page.get_by_role("button", name=words["clear"]).click()
    expect(rows(page, request)).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_failed_run_says_why_and_what_next(visit: Visitor, lab: Lab, failed: str, language: Language) -> None:
    words = WORDS[language]
    page = visit(f"/ui/runs/{failed}", language)
    notice = page.get_by_role("alert").filter(has_text=words["failed"])
    expect(notice).to_contain_text(lab.get(f"/runs/{failed}")["run"]["error"])
    expect(notice).to_contain_text("codexmem doctor")
    notice.get_by_role("button", name=words["show failed"]).click()
    expect(page.get_by_role("row")).to_have_count(1)
    page.get_by_role("row").click()
    expect(page.get_by_role("term").filter(has_text="error")).to_be_visible()
    assert "failed=1" in page.url
    notice.get_by_role("link", name=words["again"]).click()
    expect(page.get_by_label(words["request"])).to_have_value(seeds.REFUSED)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_link_shows_what_its_sender_saw(visit: Visitor, lab: Lab, finished: str, language: Language) -> None:
    words = WORDS[language]
    events = lab.get(f"/runs/{finished}/events?limit=200")["items"]
    asked = [each for each in events if each["event_type"] == "kb_query"]
    page = visit(f"/ui/runs/{finished}?type=kb_query&event={asked[1]['event_id']}", language)
    expect(page.get_by_role("row")).to_have_count(len(asked))
    expect(page.get_by_role("row", selected=True)).to_contain_text(asked[1]["label"])
    detail = page.get_by_role("region", name=words["search"])
    expect(detail).to_contain_text("kb_modulation")
    detail.get_by_role("button", name=words["open"].format("C4")).click()
    expect(page.get_by_role("dialog", name=words["source"].format("C4"))).to_be_visible()
    page.keyboard.press("Escape")
    detail.get_by_role("button", name=words["json"]).click()
    expect(detail.get_by_text("task_path")).to_be_visible()

    tab(page, words["evidence"])
    page.get_by_role("row").filter(has_text="C3").click()
    page.wait_for_url("**alias=C3**")
    page.reload()
    expect(page.get_by_role("heading", level=2, name="C3")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("row", selected=True)).to_contain_text(asked[1]["label"])

    page = visit(f"/ui/runs/{finished}?failed=1", language)
    expect(page.get_by_text(words["no event"])).to_be_visible()
    page.get_by_role("button", name=words["clear"]).click()
    expect(rows(page, words["final"])).to_be_visible()
    page.get_by_text(words["everything"], exact=True).click()
    grid = page.get_by_role("grid")  # not all of its rows are in the page
    expect(grid).to_have_attribute("aria-rowcount", str(len(events)))
    page.get_by_role("button", name=words["fold"]).click()
    inside = [each for each in events if each["depth"] == 1]
    expect(grid).to_have_attribute("aria-rowcount", str(len(events) - len(inside) + 1))
    page.get_by_role("row").filter(has=page.get_by_role("button", name=words["unfold"])).click()
    page.keyboard.press("f")
    expect(grid).to_have_attribute("aria-rowcount", str(len(events)))


@pytest.mark.parametrize("language", SIDE_JOB)
def test_the_keyboard_alone_reads_a_run(visit: Visitor, lab: Lab, finished: str, language: Language) -> None:
    words = WORDS[language]
    batch_id = lab.get(f"/runs/{finished}")["run"]["batch_id"]
    page = visit(f"/ui/batches/{batch_id}", language)
    rows(page, words["run 1"]).wait_for()
    page.keyboard.press("j")
    expect(rows(page, words["run 1"])).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/ui/runs/{finished}")
    rows(page, words["started"]).wait_for()
    for _ in range(3):
        page.keyboard.press("j")
    selected = page.get_by_role("row", selected=True)
    expect(selected).to_be_focused()
    expect(selected).to_have_attribute("aria-rowindex", "3")
    expect(page.get_by_role("term").filter(has_text="recap_state")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_role("region", name=words["answered"])).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("row", selected=True)).to_have_count(0)
    page.get_by_role("tab", name=words["trace"]).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    citation = page.get_by_role("button", name=words["open"].format("C1")).first
    citation.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=words["source"].format("C1"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(citation).to_be_focused()


def places(lab: Lab, finished: str, failed: str) -> dict[str, str]:
    """Addresses of this area, each with a text that says that the page stands."""
    batch_id = lab.get(f"/runs/{finished}")["run"]["batch_id"]
    event = next(each for each in lab.get(f"/runs/{failed}/events")["items"] if each["event_type"] == "run_failed")
    return {
        f"/ui/batches?q={seeds.REQUEST}": seeds.REQUEST,
        "/ui/batches/new": "c2xc",
        f"/ui/batches/{batch_id}": "c2xc",
        f"/ui/runs/{failed}?event={event['event_id']}": "codexmem doctor",
        f"/ui/runs/{finished}?tab=evidence&alias=C2": "kb:kb_principles__",
        f"/ui/runs/{finished}?tab=output": "benzoic acid (-COOH)",
    }


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(visit: Visitor, lab: Lab, finished: str, failed: str, language: Language) -> None:
    page = visit("/ui/settings", language)
    for path, text in places(lab, finished, failed).items():
        page.goto(path)
        page.get_by_text(text).first.wait_for()
        assert axe.violations(page) == [], path
        if path.endswith("output"):
            page.get_by_role("button", name=WORDS[language]["open"].format("C1")).first.click()
            page.get_by_text("kb:kb_principles__").wait_for()
            assert axe.violations(page) == []


def test_a_narrow_screen_shows_everything(visit: Visitor, lab: Lab, finished: str, failed: str) -> None:
    page = visit("/ui/settings", viewport={"width": 360, "height": 740})
    for path, text in places(lab, finished, failed).items():
        page.goto(path)
        page.get_by_text(text).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
