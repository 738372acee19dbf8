"""The viewer as somebody uses it who wants to know what the memory does, why it answered so, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests._support.kept_transcripts import kept
from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import axe
from tests.web.seeds import viewer as seeds
from tests.web.seeds.viewer import PROJECT
from tests.web.visiting import BOTH, MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "traces": "Searches", "timings": "Timings", "failures": re.compile("^Failures"),
        "events": "Events, newest first", "newest": re.compile("^Newest memories"),
        "became": "1 event became 1 memory, written by the model",
        "rules": re.compile(r"what rules wrote stands \(.*refuses the prompt"), "pause": "Pause",
        "paused": "Paused. New events are kept for you.", "new": "{} new", "began": "Session {} started",
        "searches": "Searches, newest first", "query": "Search text", "why": "Why these results",
        "ranked": "Results and their ranking factors", "words": re.compile(r"words #\d+ \(BM25"),
        "factors": "Show the factors of result {}", "spent": "Where the time went", "step": "find by words",
        "none": "No search matches these filters.", "clear": "Clear filters", "project": "Project", "csv": "CSV",
        "extractions": "Extractions, newest first", "session": "Session number", "total": "Total",
        "waiting": "Waiting", "recent": "Failures, newest first",
        "missing": "something it needs is missing", "retry": re.compile(r"^Retry \d+ failed"),
        "retried": re.compile(r"^\d+ jobs? (?:was|were) queued again\."), "detail": "What failed",
        "retry session": "Retry session {}", "not retried": "There were no failed jobs, so nothing was retried.",
        "table": "As table", "trend": re.compile("^Searches, finished work and failures in the last"),
        "range": "24 hours", "first": "Getting started",
        "kept": "claude-code: 1 session from May 4, 2026", "arrived": "The first memory is here",
        "go": "Continue", "only words": "words only", "no embedder": "No embedder is installed",
        "empty store": "This store is empty",
        "lexical": "Words only, because no embedder is configured.", "trends": "Trends",
        "show failures": re.compile("^Failed"), "week": "7 days", "live": "Live",
    },
    "zh": {
        "traces": "搜索", "timings": "耗时", "failures": re.compile("^失败"), "events": "事件，最新在前",
        "newest": re.compile("最新的记忆$"), "became": "1 个事件成为 1 条记忆，由模型完成",
        "rules": re.compile("规则写下的内容保留（.*refuses the prompt"), "pause": "暂停",
        "paused": "已暂停。期间发生的事件会为您保留。", "new": "{} 条新内容", "began": "会话 {} 开始",
        "searches": "搜索，最新在前", "query": "搜索文字", "why": "为何是这些结果", "ranked": "结果及其排序依据",
        "words": re.compile(r"词 #\d+（BM25"), "factors": "显示结果 {} 的依据", "spent": "时间花在了哪里",
        "step": "按词查找",
        "none": "没有符合这些筛选条件的搜索。", "clear": "清除筛选", "project": "项目", "csv": "CSV",
        "extractions": "提取，最新在前", "session": "会话编号", "total": "总计", "waiting": "等待",
        "recent": "失败，最新在前", "missing": "缺少所需的内容",
        "retry": re.compile(r"^重试 \d+ 个失败"), "retried": re.compile(r"^\d+ 个任务已重新排队。"),
        "detail": "失败详情", "retry session": "重试会话 {}", "not retried": "没有失败的任务，因此没有重试。",
        "table": "表格", "trend": re.compile("的搜索、完成的工作与失败$"), "range": "24 小时",
        "first": "开始使用",
        "kept": "claude-code：2026年5月4日 至",
        "arrived": "第一条记忆已到达", "go": "继续", "only words": "仅按词", "empty store": "还没有任何记忆",
        "no embedder": "没有安装嵌入模型", "lexical": "仅按词，因为没有配置嵌入模型。", "trends": "趋势",
        "show failures": re.compile("^失败"), "week": "7 天", "live": "实时",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def seeded(served: Server, model: ModelServer) -> Iterator[Server]:
    with seeds.speaking(model):
        seeds.noted(served, "Disk of 日志 host is full")
        seeds.noted(served, "Retry queue grows at night")
        seeds.search(served, "why does the 日志 disk fill")
        seeds.search(served, "retry queue at night")
        yield served


def tab(page: Page, name: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("tab", name=name, exact=isinstance(name, str))


def rows(page: Page, label: str) -> Locator:
    return page.get_by_role("grid", name=label).get_by_role("row")


def listening(visit: Visitor, address: str, language: Language = "en") -> Page:
    """The page once it hears what happens: an event before that is in the lists and not in the stream."""
    page = visit(address, language)
    expect(page.get_by_role("status").filter(has_text=WORDS[language]["live"]).first).to_be_visible()
    return page


@pytest.mark.parametrize("language", MAIN_JOB)
def test_what_a_hook_captures_appears_without_reload(visit: Visitor, seeded: Server, language: Language) -> None:
    words, title = WORDS[language], f"Live story {language} 直播"
    seeds.noted(seeded, f"Earlier story {language}")  # the list is short, and other tests write into the project
    page = listening(visit, f"/viewer?project={PROJECT}", language)
    page.evaluate("window.stayed = true")
    newest = page.get_by_role("region", name=words["newest"])
    expect(newest.get_by_role("link", name=f"Earlier story {language}")).to_be_visible()
    about = {"session_id": f"hook-{language}", "project": PROJECT, "cwd": str(seeded.data_dir)}
    seeds.hook(seeded, "session-init", about | {"prompt": "看日志"})
    tool = {"tool_name": "Bash", "tool_input": {"command": "tail"}, "tool_response": f"{seeds.NOTED}:{title};"}
    seeds.hook(seeded, "observation", about | tool)
    seeds.hook(seeded, "session-complete", about)
    # The event names the memory that came of it, and leads there.
    told = rows(page, words["events"]).filter(has_text=words["became"])
    expect(told.get_by_role("link", name=title)).to_have_attribute("href", re.compile("/ui/memories/"))
    found = newest.get_by_role("link", name=title)
    expect(found).to_be_visible()
    assert page.evaluate("window.stayed") is True
    found.click()
    page.wait_for_url("**/ui/memories/*")


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_model_that_fails_is_told_with_the_reason(visit: Visitor, seeded: Server, language: Language) -> None:
    words = WORDS[language]
    page = listening(visit, f"/viewer?project={PROJECT}", language)
    name, _ = seeds.begin(seeded)
    seeds.use(seeded, name, seeds.REFUSED)
    seeds.end(seeded, name)
    expect(rows(page, words["events"]).filter(has_text=words["rules"]).first).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_pause_holds_the_stream_and_misses_nothing(visit: Visitor, seeded: Server, language: Language) -> None:
    words, project = WORDS[language], f"{PROJECT}-pause-{language}"
    page = listening(visit, f"/viewer?project={project}&event=session.status", language)
    _, first = seeds.begin(seeded, project)
    events = rows(page, words["events"])
    expect(events).to_have_count(1)
    page.get_by_role("button", name=words["pause"], exact=True).click()
    expect(page.get_by_text(words["paused"])).to_be_visible()
    later = [seeds.begin(seeded, project)[1] for _ in range(2)]
    expect(page.get_by_role("button", name=words["new"].format(2))).to_be_visible()
    expect(events).to_have_count(1)
    # Looking at what waited does not end the pause.
    page.get_by_role("button", name=words["new"].format(2)).click()
    expect(events).to_have_count(3)
    last = seeds.begin(seeded, project)[1]
    expect(page.get_by_role("button", name=words["new"].format(1))).to_be_visible()
    expect(events).to_have_count(3)
    page.keyboard.press("p")
    expect(events).to_have_count(4)
    told = [words["began"].format(number) for number in (last, *later[::-1], first)]
    assert [each for text in events.all_inner_texts() for each in told if each in text] == told


def test_only_the_chosen_kind_of_event_is_shown(visit: Visitor, seeded: Server) -> None:
    page = listening(visit, f"/viewer?project={PROJECT}")
    seeds.noted(seeded, "Two kinds of event")
    events = rows(page, "Events, newest first")
    expect(events.filter(has_text="by the model")).to_have_count(1)
    expect(events.filter(has_text="started")).to_have_count(1)
    page.get_by_role("combobox", name="Event type").select_option("Session")
    page.wait_for_url("**event=session.status**")
    expect(events.filter(has_text="became")).to_have_count(0)
    expect(events.filter(has_text="started")).to_have_count(1)


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_search_explains_its_ranks(visit: Visitor, seeded: Server, language: Language) -> None:
    words = WORDS[language]
    page = visit("/viewer?tab=traces", language)
    before = rows(page, words["searches"])
    before.first.wait_for()
    query = f"disk 日志 full {language}"
    trace = seeds.search(seeded, query)
    # It is announced, and shown when somebody asks for it.
    page.get_by_role("button", name=re.compile(r"^[1-9]\d*\b")).filter(has_text=words["new"].format("").strip()).click()
    row = rows(page, words["searches"]).filter(has_text=query)
    expect(row).to_have_count(1)
    row.click()
    page.wait_for_url(f"**sel={trace['id']}**")
    told = seeded.request("GET", f"/api/ops/search-traces/{trace['id']}").json
    assert told["explained"]
    detail = page.get_by_role("region", name=words["why"])
    results = detail.get_by_role("list", name=words["ranked"]).locator("> li")
    expect(results).to_have_count(len(told["ranked"]))
    best = told["ranked"][0]
    expect(results.first).to_contain_text(best["title"])
    expect(results.first).to_contain_text(words["words"])
    shown = results.first.get_by_role("table").locator("tbody tr")
    expect(shown).to_have_count(len(best["factors"]))
    for line, factor in zip(shown.all(), best["factors"], strict=True):
        expect(line).to_contain_text(factor["name"])
        expect(line.locator("td").last).to_have_text(f"{factor['share']:+g}")
    # The bar is made of the groups that have a share.
    groups = {each["group"] for each in best["factors"]}
    assert (
        set(results.first.locator("[data-group]").evaluate_all("all => all.map(each => each.dataset.group)")) <= groups
    )
    spent = detail.get_by_role("region", name=words["spent"])
    expect(spent).to_contain_text(words["step"])
    if len(told["ranked"]) > 1:
        results.nth(1).get_by_role("button", name=words["factors"].format(2)).click()
        expect(results.nth(1).get_by_role("table")).to_be_visible()
    page.reload()
    expect(detail).to_contain_text(query)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_filters_are_in_the_address_and_survive(visit: Visitor, seeded: Server, language: Language) -> None:
    words, mark = WORDS[language], f"lantern-{language}"
    seeds.search(seeded, f"{mark} one")
    seeds.search(seeded, f"{mark} two")
    page = visit("/viewer?tab=traces", language)
    page.get_by_label(words["query"]).fill(mark.upper())
    listed = rows(page, words["searches"])
    expect(listed).to_have_count(2)
    page.get_by_role("combobox", name=words["project"]).select_option(PROJECT)
    page.wait_for_url(f"**query={mark.upper()}&project={PROJECT}")
    page.reload()
    expect(page.get_by_label(words["query"])).to_have_value(mark.upper())
    expect(page.get_by_role("combobox", name=words["project"])).to_have_value(PROJECT)
    expect(listed).to_have_count(2)
    page.get_by_label(words["query"]).fill(f"{mark} nowhere")
    expect(page.get_by_text(words["none"])).to_be_visible()
    page.get_by_role("button", name=words["clear"]).click()
    expect(page.get_by_label(words["query"])).to_have_value("")
    listed.first.wait_for()
    page.go_back()
    expect(page.get_by_text(words["none"])).to_be_visible()


def test_a_time_that_ends_before_it_begins_is_told(visit: Visitor, seeded: Server) -> None:
    page = visit("/viewer?tab=traces&from=2026-02-02T00:00Z&to=2026-02-01T00:00Z")
    expect(page.get_by_text("The end is before the beginning.")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="from is later than to")).to_be_visible()
    page.get_by_label("From").fill("2026-01-31T23:00")
    expect(page.get_by_text("No search matches these filters.")).to_be_visible()
    assert "from=2026-01-31T23%3A00Z" in page.url


@pytest.mark.parametrize("language", SIDE_JOB)
def test_the_same_rows_come_as_a_file(visit: Visitor, seeded: Server, language: Language, tmp_path: Path) -> None:
    words, mark = WORDS[language], f"compass-{language}"
    seeds.search(seeded, f"{mark} export")
    page = visit(f"/viewer?tab=traces&query={mark}", language)
    expect(rows(page, words["searches"])).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name=words["csv"], exact=True).click()
    assert download.value.suggested_filename.endswith(".csv")
    download.value.save_as(tmp_path / "traces.csv")
    head, *lines = (tmp_path / "traces.csv").read_text(encoding="utf-8-sig").splitlines()
    assert "query" in head.split(",")
    assert [mark in line for line in lines] == [True]


@pytest.mark.parametrize("language", SIDE_JOB)
def test_timings_show_where_a_message_waited(visit: Visitor, seeded: Server, language: Language) -> None:
    words = WORDS[language]
    number = seeds.noted(seeded, f"Timed {language}")
    page = visit("/viewer?tab=timings", language)
    rows(page, words["extractions"]).first.wait_for()

    def told() -> dict[str, Any]:
        said: dict[str, Any] = seeded.request("GET", f"/api/ops/session-timings?sessionDbId={number}").json
        return said

    # Work of a session is timed when it is done, which is after its memories can be read.
    eventually(lambda: len(told()["timings"]) >= 3)
    page.get_by_label(words["session"]).fill(str(number))
    page.wait_for_url(f"**session={number}")
    listed = rows(page, words["extractions"])
    bar = listed.first.get_by_role("img")
    expect(bar).to_have_attribute("aria-label", re.compile(words["waiting"]))
    fields = {"queueWait": "queueWaitMs", "model": "modelMs", "index": "indexMs"}
    script = (
        "bar => Object.fromEntries([...bar.children].map(part => [part.dataset.part, parseFloat(part.style.width)]))"
    )

    def as_told() -> bool:
        """Whether each part of the shortest is as long as its time is of the longest."""
        timings = told()["timings"]
        *_, usual, longest = sorted(each["totalMs"] for each in timings)
        full = 1.5 * usual if longest > 4 * usual else longest  # one that took far longer than the others is cut
        place = min(range(len(timings)), key=lambda number: timings[number]["totalMs"])
        bar = listed.nth(place).get_by_role("img")
        wanted = {part: pytest.approx(100 * timings[place][name] / full, abs=0.3) for part, name in fields.items()}
        if listed.count() != len(timings):  # more work was done meanwhile
            page.reload()
            listed.first.wait_for()
            return False
        return {part: bar.evaluate(script).get(part, 0) for part in fields} == wanted

    # The rows of all sessions go when those of this one come, and later work of the session comes in by itself.
    eventually(as_told)
    expect(page.get_by_role("group", name=words["total"], exact=True)).to_be_visible()
    listed.first.click()
    page.wait_for_url(f"**/ui/sessions/{number}")


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_failed_job_is_found_and_retried(visit: Visitor, seeded: Server, language: Language) -> None:
    words = WORDS[language]
    run, job = seeds.failed_learning(seeded)
    page = visit("/viewer", language)
    page.get_by_role("button", name=words["show failures"]).click()
    expect(tab(page, words["failures"])).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name=re.compile(f"^missing *{words['missing']}")).click()
    page.wait_for_url("**class=missing")
    row = rows(page, words["recent"]).filter(has_text=run)
    row.click()
    detail = page.get_by_role("region", name=words["detail"])
    expect(detail).to_contain_text(words["missing"])
    expect(detail).to_contain_text(f"run {run} has no feedback to learn from")
    page.reload()
    expect(detail).to_contain_text(run)
    # What was missing is given; then the retry learns.
    judged = {"score": 7.5, "pros": "日志 ok", "cons": "", "other": "", "products": []}
    assert seeded.request("PUT", f"/api/v1/runs/{run}/feedback", judged).status == 200
    page.get_by_role("button", name=words["retry"]).click()
    expect(page.get_by_text(words["retried"])).to_be_visible()
    eventually(lambda: seeds.job_status(seeded, run, job) == "completed")
    # One session alone: here it has nothing that failed, and that is said.
    _, number = seeds.begin(seeded)
    page.get_by_label(words["session"]).fill(str(number))
    page.get_by_role("button", name=words["retry session"].format(number)).click()
    expect(page.get_by_text(words["not retried"])).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_trends_can_be_read_as_a_table(visit: Visitor, seeded: Server, language: Language) -> None:
    words = WORDS[language]
    page = visit("/viewer", language)
    trends = page.get_by_role("region", name=words["trends"], exact=True)
    trends.get_by_role("img", name=words["trend"]).wait_for()
    for span, count in ((words["range"], 48), (words["week"], 168)):
        trends.get_by_text(span, exact=True).click()
        trends.get_by_text(words["table"], exact=True).click()
        lines = trends.get_by_role("table").locator("tbody tr")
        expect(lines).to_have_count(count)
        found = lines.evaluate_all("all => all.reduce((sum, each) => sum + Number(each.children[1].textContent), 0)")
        told = seeded.request("GET", "/api/ops/trends?windowSec=86400&bucketSec=3600").json["buckets"]
        assert 0 < found <= sum(each["searchCount"] for each in told)


def test_the_keyboard_alone_goes_from_the_overview_to_a_factor(visit: Visitor, seeded: Server) -> None:
    page = visit("/viewer")
    tab(page, "Overview").focus()
    page.keyboard.press("ArrowRight")
    expect(tab(page, "Searches")).to_be_focused()
    listed = rows(page, "Searches, newest first")
    listed.first.wait_for()
    page.keyboard.press("j")
    expect(listed.first).to_be_focused()
    expect(listed.first).to_have_attribute("aria-selected", "true")
    detail = page.get_by_role("region", name="Why these results")
    first = listed.first.inner_text().splitlines()[0]
    expect(detail).to_contain_text(first)
    page.keyboard.press("ArrowDown")
    expect(listed.nth(1)).to_have_attribute("aria-selected", "true")
    expect(listed.nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(detail).to_have_count(0)
    assert "sel=" not in page.url


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing_in_any_view(visit: Visitor, seeded: Server, language: Language) -> None:
    words = WORDS[language]
    trace = seeds.search(seeded, "disk of 日志 host")
    page = visit("/viewer", language)
    page.get_by_role("img", name=words["trend"]).wait_for()
    seeds.noted(seeded, "Something that happens while the page is open")
    rows(page, words["events"]).first.wait_for()
    assert axe.violations(page) == []
    for name, label in (("timings", "extractions"), ("failures", None)):
        tab(page, words[name]).click()
        if label:
            rows(page, words[label]).first.wait_for()
        else:
            page.get_by_role("region").last.wait_for()
        assert axe.violations(page) == []
    page.goto(f"/viewer?tab=traces&sel={trace['id']}")
    page.get_by_role("list", name=words["ranked"]).wait_for()
    assert axe.violations(page) == []


def test_a_narrow_screen_shows_every_view(visit: Visitor, seeded: Server) -> None:
    trace = seeds.search(seeded, "disk of 日志 host")
    page = visit("/viewer", viewport={"width": 360, "height": 740})
    for view in ("overview", "traces", "timings", "failures", f"traces&sel={trace['id']}"):
        page.goto(f"/viewer?tab={view}")
        page.get_by_role("tabpanel").get_by_role("region").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") == 360, view


def test_an_empty_store_shows_the_way_to_the_first_memory(
    browser: Browser, built_web: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home") / "home"
    kept(home, "s1", "We decided to use valve seven.")
    (home / ".codex").mkdir()
    settings = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_PROVIDER": "rules", "CODEXMEM_BATCH_WAIT_S": "0",
                "HOME": str(home)}  # fmt: skip
    with Server(tmp_path_factory.mktemp("empty"), settings=settings) as server:
        visit = Visitor(browser, f"http://127.0.0.1:{server.port}")
        # The same steps at home and in the activity.
        pages = {language: visit(path, language) for language, path in zip(BOTH, ("/", "/viewer"), strict=True)}
        for language, page in pages.items():
            words = WORDS[language]
            steps = page.get_by_role("region", name=words["first"]).locator("ol > li")
            expect(steps).to_have_count(4)
            for place, done in enumerate((False, False, False, True)):
                expect(steps.nth(place)).to_have_attribute("data-done", "true") if done else expect(
                    steps.nth(place)
                ).not_to_have_attribute("data-done", "true")
            expect(steps.nth(0)).to_contain_text("Claude Code")
            expect(steps.nth(0)).to_contain_text("Codex")
            expect(steps.nth(1)).to_contain_text(words["kept"])
            assert [each.inner_text() for each in steps.locator("code").all()[:2]] == [
                "codexmem install codex claude-code", "codexmem import transcripts",
            ]  # fmt: skip
            if page.url.endswith("/viewer"):
                expect(page.get_by_text(words["only words"])).to_be_visible()
                expect(page.get_by_text(words["no embedder"])).to_be_visible()
            assert axe.violations(page) == []
        seeds.hook(server, "session-init", {"session_id": "first", "prompt": "Remember this"})
        for language, page in pages.items():
            words = WORDS[language]
            expect(page.get_by_text(words["arrived"])).to_be_visible()
            region = page.get_by_role("region", name=words["first"])
            expect(region.get_by_role("link")).to_have_text("Remember this")
            # What was sent by hand has filled the store, and has connected nobody.
            expect(region).not_to_contain_text(words["empty store"])
            expect(region.locator("ol > li").nth(0)).not_to_have_attribute("data-done", "true")
            expect(region.locator("ol > li").nth(2)).to_have_attribute("data-done", "true")
            page.get_by_role("button", name=words["go"]).click()
            page.goto("/viewer")
            expect(page.get_by_role("region", name=words["newest"])).to_contain_text("Remember this")
            trace = seeds.search(server, f"Remember {language}", "")
            page.goto(f"/viewer?tab=traces&sel={trace['id']}")
            expect(page.get_by_text(words["lexical"])).to_be_visible()
        visit.close()
