"""Timeline, observation and session pages: see what was captured as it comes, read it, forget it, take it back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests._support.model_server import ModelServer
from tests._support.pages import drawn, pausing
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import axe
from tests.web.seeds import timeline as seed
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "list": "Memories, newest first", "found": "Found memories, best match first",
        "explained": "Why these results?",
        "ranked": "Results and their ranking factors", "new": "1 new",
        "nothing": "No matches: project", "session": "Session {}", "preview": "Selected memory",
        "turns": "Turns, given memories, tool events and resulting memories", "became": "Resulting memories",
        "show": "Show the tool events of turn 1", "goes": "1 memory is erased", "newer": "Newer", "older": "Older",
        "forget": "Forget…", "forget?": "Forget {} for good?", "do": "Forget", "cancel": "Cancel",
        "forgotten": "memories were forgotten", "search": "Search memories", "undo": "Undo this session…",
        "follow": "Also erase this text wherever else it occurs",
        "undo?": "Undo everything this session wrote", "back": "Undo", "hidden": "is hidden", "undone": "Undone",
        "hide": "Also hide other memories that contain this text", "three": "3 memories were undone",
        "changes": "7 memories change", "taken": "7 memories were undone", "sessions": "Sessions",
        "handed": "Given at the start", "timings": "Timings", "about": "About this memory",
        "kind": "Observations", "kinds": "Kind", "listed": "Sessions, last active first", "newest": "Go to the newest",
        "gone": "no longer exists", "why": "Where does this come from?", "whence": "Where this comes from",
        "forget session?": "Forget session {} for good?", "type": "Type {} to confirm", "nobody": "Not found",
        "restore": "Bring back…", "is hidden": "this memory is hidden.", "all": "Bring all of it back…",
        "more": "More actions", "hides": "Session {}: hidden", "undone?": "7 memories of this session are hidden",
        "mark": "hidden", "bring": "Bring back",
        "bring?": "Bring back what was undone",
        "are back": "7 memories were brought back", "about session": "About the session", "taken back": "undone",
    },
    "zh": {
        "list": "记忆，最新在前", "found": "找到的记忆，最相关在前", "explained": "为何是这些结果？",
        "ranked": "结果及其排序依据", "new": "1 条新内容",
        "nothing": "没有符合条件的内容：项目", "session": "会话 {}", "preview": "所选记忆",
        "turns": "各轮、交给智能体的内容、工具事件及其结果", "became": "由此写入的记忆",
        "show": "显示第 1 轮的工具事件", "goes": "1 条记忆将被清除", "newer": "较新", "older": "较旧",
        "forget": "遗忘…", "forget?": "永久遗忘 {}？", "do": "遗忘", "cancel": "取消",
        "follow": "同时清除其他位置中带有其文本的内容",
        "forgotten": "已遗忘", "search": "搜索记忆", "undo": "撤销此会话…",
        "undo?": "撤销此会话写入的一切", "back": "撤销", "hidden": "将被隐藏", "undone": "已撤销",
        "hide": "同时隐藏其他位置中带有其文本的记忆", "three": "已撤销 3 条记忆",
        "changes": "7 条记忆将改变", "taken": "已撤销 7 条记忆", "sessions": "会话",
        "handed": "开始时交给智能体", "timings": "耗时", "about": "关于此记忆",
        "kind": "观察", "kinds": "种类", "listed": "会话，最近活动在前", "newest": "回到最新",
        "gone": "已不存在", "why": "它从何而来？", "whence": "来源",
        "forget session?": "永久遗忘会话 {}？", "type": "输入 {} 以确认", "nobody": "未找到",
        "restore": "恢复…", "is hidden": "此记忆处于隐藏状态。", "all": "恢复全部撤销内容…", "more": "更多操作",
        "hides": "会话 {}：已隐藏", "undone?": "此会话的 7 条记忆处于隐藏状态", "mark": "已隐藏", "bring": "恢复",
        "bring?": "恢复已撤销的内容", "are back": "已恢复 7 条记忆",
        "about session": "关于此会话", "taken back": "已撤销",
    },
}  # fmt: skip
LOGIN, PORT = seed.LOGIN, seed.PORT
MANY = 500  # some pages of them
MOST_ROWS = 60


@pytest.fixture(scope="module", autouse=True)
def nothing_to_say(model: ModelServer) -> Iterator[None]:
    """The model has nothing to add to what rules say."""
    before, model.script = model.script, lambda _: '{"reason": "", "memories": []}'
    yield
    model.script = before


@pytest.fixture(scope="package")
def working(served: Server) -> Callable[[str], seed.Agent]:
    """A session of a name, made once, as long there as the server; a test that changes it is alone with its name."""
    made: dict[str, seed.Agent] = {}

    def get(name: str) -> seed.Agent:
        if name not in made:
            made[name] = seed.working_session(served, f"web-{name}", f"story-{name}")
        return made[name]

    return get


@pytest.fixture(scope="module")
def many(built_web: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with many pages of memories; without vectors, which nobody looks at here."""
    with Server(tmp_path_factory.mktemp("many"), settings={"CODEXMEM_EMBEDDER": "none"}) as server:
        seed.import_rows(server, "many", MANY, newest_ms=int(time.time() * 1000) - seed.DAY_MS)
        yield server


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def titled(page: Page, title: str) -> Locator:
    """The row of the memory that is called so; a turn may say it too."""
    return page.get_by_role("row").filter(has=page.get_by_text(title, exact=True))


@pytest.mark.parametrize("language", MAIN_JOB)
def test_what_a_hook_captures_appears_without_reload_and_leads_to_its_session(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], f"web-live-{language}"
    about = {"session_id": f"live-{language}", "cwd": f"/home/me/{project}"}
    page = visit(f"/ui/timeline?project={project}", language)
    expect(page.get_by_text(words["nothing"])).to_be_visible()
    page.evaluate("window.stayed = true")

    seed.hook(served, "session-init", {**about, "prompt": "登录为什么超时？"})
    expect(row(page, "登录为什么超时？")).to_be_visible()  # an empty list fills by itself
    tool = {"tool_name": "Edit", "tool_input": seed.LARGER_POOL, "tool_use_id": "u-1", "tool_response": "ok"}
    seed.hook(served, "observation", {**about, **tool})
    page.get_by_role("button", name=words["new"]).click()
    expect(titled(page, LOGIN)).to_be_visible()
    assert page.evaluate("window.stayed") is True

    titled(page, LOGIN).click()
    chosen = page.get_by_role("region", name=words["preview"])
    expect(chosen.get_by_text("src/登录.py：+1 −1 行。")).to_be_visible()
    chosen.get_by_role("link", name=re.compile(words["session"].format(r"\d+"))).click()

    turns = page.get_by_role("grid", name=words["turns"])
    expect(turns.get_by_role("row").first).to_contain_text("登录为什么超时？")
    expect(row(page, '"old_string"')).to_have_count(0)
    page.get_by_role("button", name=words["show"]).click()
    row(page, '"old_string"').click()
    event = page.get_by_role("region", name="Edit")
    expect(event.get_by_text("pool = Pool(20)")).to_be_visible()
    expect(event.get_by_role("heading", name=words["became"])).to_be_visible()
    event.get_by_role("link", name=re.compile(r"#\d+")).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(LOGIN)


@pytest.mark.parametrize("language", MAIN_JOB)
def test_a_session_shows_turns_timings_and_what_was_handed_over(
    visit: Visitor, working: Callable[[str], seed.Agent], language: Language
) -> None:
    words, agent = WORDS[language], working("read")
    page = visit(f"/ui/sessions/{agent.number}", language)
    turns = page.get_by_role("grid", name=words["turns"])
    expect(turns.get_by_role("row").filter(has_text="Which port does the deployment use?").first).to_be_visible()
    row(page, words["handed"]).click()
    expect(page.get_by_role("link", name=LOGIN)).to_be_visible()
    turns.get_by_role("row").first.click()
    expect(page.get_by_role("heading", name=words["timings"])).to_be_visible()
    # The address holds the choice: another person sees the same.
    address = page.url
    assert "sel=t1" in address
    again = visit(address.removeprefix(visit.url), language)
    expect(again.get_by_role("heading", name=words["timings"])).to_be_visible()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_everything_a_session_wrote_is_taken_back_after_a_look_and_brought_back(
    visit: Visitor, served: Server, working: Callable[[str], seed.Agent], language: Language
) -> None:
    words, agent = WORDS[language], working(language)
    first = seed.rows_of(served, agent.project, "observation")[-1]
    page = visit(f"/ui/sessions/{agent.number}", language)
    page.get_by_role("button", name=words["undo"]).click()
    dialog = page.get_by_role("dialog", name=words["undo?"])
    expect(dialog.get_by_text(words["changes"])).to_be_visible()
    # It is named among what changes, and again where its text is carried on.
    expect(dialog.get_by_role("listitem").filter(has_text=LOGIN).filter(has_text=words["hidden"])).to_be_visible()
    assert len(seed.rows_of(served, agent.project)) == 7
    dialog.get_by_role("button", name=words["back"], exact=True).click()
    notice = page.get_by_role("alert").filter(has_text=words["taken"])
    expect(notice).to_be_visible()
    expect(titled(page, LOGIN)).to_contain_text(words["mark"])
    assert seed.rows_of(served, agent.project) == []
    hidden = visit(f"/ui/observations/{first['seq']}", language)
    expect(hidden.get_by_text(words["is hidden"])).to_be_visible()
    expect(hidden.get_by_role("button", name=words["all"])).to_be_visible()
    notice.get_by_role("button", name=words["back"], exact=True).click()
    expect(page.get_by_text(words["undone"], exact=True)).to_be_visible()
    expect(titled(page, LOGIN)).not_to_contain_text(words["mark"])
    assert len(seed.rows_of(served, agent.project)) == 7


@pytest.mark.parametrize("language", SIDE_JOB)
def test_undoing_a_session_hides_what_carries_its_text_elsewhere_and_one_undo_restores_both(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], f"web-follow-{language}"
    agent = seed.Agent(served, f"follow-{language}", project)  # whose words no other session of these tests has
    moved = {"file_path": "deploy/queue.toml", "old_string": "depth = 30", "new_string": "depth = 90"}
    agent.asks("How deep?")
    agent.uses("Edit", moved, "ok")
    (found,) = seed.until_there(served, project, 1, "observation")
    said = served.request("GET", f"/api/observation/{found['seq']}").json["narrative"]
    quoting = served.post("/api/memory/save", {"text": f"Ann says: {said}", "project": f"{project}-2"}).json["id"]
    other = f"/api/memories/named/{quoting}"
    page = visit(f"/ui/sessions/{agent.number}", language)
    page.get_by_role("button", name=words["undo"]).click()
    dialog = page.get_by_role("dialog", name=words["undo?"])
    expect(dialog.get_by_role("listitem").filter(has_text="Ann says:")).to_be_visible()
    dialog.get_by_role("checkbox", name=words["hide"]).check()
    dialog.get_by_role("button", name=words["back"], exact=True).click()
    notice = page.get_by_role("alert").filter(has_text=words["three"])
    expect(notice).to_be_visible()
    assert served.request("GET", other).json["life"] == "hidden"
    notice.get_by_role("button", name=words["back"], exact=True).click()
    expect(page.get_by_text(words["undone"], exact=True)).to_be_visible()
    assert served.request("GET", other).json["life"] == "active"
    assert len(seed.rows_of(served, project, "observation")) == 1


@pytest.mark.parametrize("language", SIDE_JOB)
def test_an_undone_session_says_that_it_is_hidden_and_is_brought_back_at_any_later_time(
    visit: Visitor, served: Server, working: Callable[[str], seed.Agent], language: Language
) -> None:
    words, agent = WORDS[language], working(f"later-{language}")
    assert served.post("/api/undo", {"source": f"session:{agent.number}"}).json["restored"] == 7
    page = visit(f"/ui/sessions/{agent.number}", language)
    expect(page.get_by_role("heading", level=1)).to_have_text(words["hides"].format(agent.number))
    expect(page.get_by_role("status").filter(has_text=words["undone?"])).to_be_visible()
    expect(page.get_by_role("region", name=words["about session"])).to_contain_text(words["taken back"])
    titled(page, LOGIN).click()
    expect(titled(page, LOGIN)).to_contain_text(words["mark"])
    expect(page.get_by_role("region", name=LOGIN)).to_contain_text(words["mark"])
    assert axe.violations(page) == []
    # There is nothing left to undo.
    expect(page.get_by_role("button", name=words["undo"])).to_have_count(0)
    expect(page.get_by_role("main").get_by_role("button").first).to_have_text(words["restore"])
    page.get_by_role("button", name=words["restore"]).click()
    dialog = page.get_by_role("dialog", name=words["bring?"])
    expect(dialog.get_by_text(words["changes"])).to_be_visible()
    dialog.get_by_role("button", name=words["bring"], exact=True).click()
    expect(page.get_by_text(words["are back"])).to_be_visible()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(words["hides"].format(agent.number))
    expect(page.get_by_role("button", name=words["restore"])).to_have_count(0)
    expect(titled(page, LOGIN)).not_to_contain_text(words["mark"])
    assert len(seed.rows_of(served, agent.project)) == 7


@pytest.mark.parametrize("language", SIDE_JOB)
def test_forgetting_shows_what_goes_and_asks_and_then_it_is_gone_everywhere(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], f"web-forget-{language}"
    agent = seed.Agent(served, f"forget-{language}", project)  # whose words no other session of these tests has
    agent.asks("Which host answers?")
    moved = {"file_path": "deploy/hosts.toml", "old_string": "host = web-1", "new_string": "host = web-2"}
    agent.uses("Edit", moved, "ok")
    (found,) = seed.until_there(served, project, 1, "observation")
    title = found["title"]
    said = served.request("GET", f"/api/observation/{found['seq']}").json["narrative"]
    quoting = served.post("/api/memory/save", {"text": f"Ann says: {said}", "project": project}).json["id"]
    page = visit(f"/ui/observations/{found['seq']}", language)
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/forget", hold, times=1)
    for confirmed in (False, True):
        page.get_by_role("button", name=words["more"]).click()
        page.get_by_role("menuitem", name=words["forget"]).click()
        dialog = page.get_by_role("dialog", name=words["forget?"].format(found["ref"]))
        if not confirmed:  # before it stands there what would go, nothing can be confirmed
            dialog.get_by_label(words["type"].format(found["ref"])).fill(found["ref"])
            expect(dialog.get_by_role("button", name=words["do"], exact=True)).to_be_disabled()
            held.pop().continue_()
        expect(dialog.get_by_text(words["goes"])).to_be_visible()
        expect(dialog.get_by_role("listitem").filter(has_text=title).first).to_be_visible()
        expect(dialog.get_by_role("listitem").filter(has_text="Ann says:")).to_be_visible()
        dialog.get_by_role("checkbox", name=words["follow"]).set_checked(confirmed)
        dialog.get_by_label(words["type"].format(found["ref"])).fill("")
        expect(dialog.get_by_role("button", name=words["do"], exact=True)).to_be_disabled()
        dialog.get_by_label(words["type"].format(found["ref"])).fill(found["ref"])
        dialog.get_by_role("button", name=words["do"] if confirmed else words["cancel"], exact=True).click()
        expect(dialog).to_have_count(0)
        if not confirmed:
            assert served.request("GET", f"/api/observation/{found['seq']}").status == 200
    expect(page.get_by_text(words["forgotten"])).to_be_visible()
    assert served.request("GET", f"/api/observation/{quoting}").status == 404
    page.wait_for_url("**/ui/memories")
    expect(page.get_by_role("grid", name=words["list"])).to_be_visible()
    page.get_by_label(words["search"]).fill("hosts deploy host")
    page.wait_for_url("**q=hosts*")
    expect(titled(page, title)).to_have_count(0)
    assert found["seq"] not in [each["seq"] for each in seed.found(served, "hosts deploy host", project)]
    page.goto(f"/ui/timeline?project={project}&q=web-2+hosts")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(titled(page, title)).to_have_count(0)
    page.goto(f"/ui/observations/{found['seq']}")
    expect(page.get_by_text(words["nobody"])).to_be_visible()


def test_a_whole_session_is_forgotten_only_by_its_name(
    visit: Visitor, served: Server, working: Callable[[str], seed.Agent]
) -> None:
    working("read")  # a session that stays, for the list
    words, agent = WORDS["en"], working("forgotten")
    page = visit(f"/ui/sessions/{agent.number}")
    page.get_by_role("button", name=words["forget"]).click()
    dialog = page.get_by_role("dialog", name=words["forget session?"].format(agent.number))
    action = dialog.get_by_role("button", name=words["do"], exact=True)
    expect(action).to_be_disabled()
    dialog.get_by_label(words["type"].format(f"session:{agent.number}")).fill(f"session:{agent.number}")
    action.click()
    page.wait_for_url("**/ui/sessions")
    expect(page.get_by_role("grid", name=words["listed"])).to_be_visible()
    assert served.request("GET", f"/api/sessions/{agent.number}").status == 404
    assert seed.rows_of(served, agent.project) == []


@pytest.mark.parametrize("language", SIDE_JOB)
def test_an_address_restores_filters_search_and_choice(
    visit: Visitor, working: Callable[[str], seed.Agent], language: Language
) -> None:
    words, agent = WORDS[language], working("read")
    page = visit(f"/ui/timeline?project={agent.project}", language)
    expect(titled(page, LOGIN)).to_be_visible()
    page.get_by_role("combobox", name=words["kinds"], exact=True).click()
    page.get_by_role("option", name=words["kind"], exact=True).click()
    expect(row(page, "The pool is larger now.")).to_have_count(0)
    titled(page, PORT).click()
    expect(page.get_by_role("region", name=words["preview"])).to_contain_text("8080")
    assert "kind=observation" in page.url
    page.wait_for_url("**anchor=*")
    page.reload()
    expect(titled(page, PORT)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("region", name=words["preview"])).to_contain_text("8080")
    page.go_back()
    expect(row(page, "The pool is larger now.")).to_be_visible()

    page.get_by_label(words["search"]).fill("firewall")
    found = page.get_by_role("grid", name=words["found"]).get_by_role("row")
    expect(found.first).to_contain_text(PORT)
    expect(found.first.locator("mark").first).to_have_text("firewall")
    page.reload()
    expect(page.get_by_label(words["search"])).to_have_value("firewall")
    expect(found.first).to_contain_text(PORT)
    # From the results it is one click to why each of them ranks where it does.
    page.get_by_role("link", name=words["explained"]).click()
    ranked = page.get_by_role("list", name=words["ranked"]).get_by_role("listitem")
    expect(ranked.filter(has_text=PORT).first).to_be_visible()
    page.goto("/ui/timeline?anchor=%23999999999")
    expect(page.get_by_text(words["gone"])).to_be_visible()
    page.get_by_role("button", name=words["newest"]).click()
    expect(page.get_by_role("grid", name=words["list"])).to_be_visible()


def test_the_keyboard_alone_finds_reads_and_forgets(
    visit: Visitor, served: Server, working: Callable[[str], seed.Agent]
) -> None:
    words, agent = WORDS["en"], working("read")
    page = visit(f"/ui/timeline?project={agent.project}&kind=observation")
    expect(titled(page, PORT)).to_be_visible()
    press = page.keyboard.press
    expect(titled(page, PORT)).to_have_attribute("aria-selected", "true")  # the first row, without a key
    expect(page.get_by_role("region", name=words["preview"])).to_contain_text("8080")
    for _ in range(2):
        press("j")
    expect(titled(page, LOGIN)).to_have_attribute("aria-selected", "true")
    press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(LOGIN)
    expect(page.get_by_role("link", name=words["newer"], exact=True)).to_be_visible()
    press("k")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(LOGIN)
    expect(page.get_by_role("link", name=words["older"], exact=True)).to_be_visible()
    press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text(LOGIN)
    page.get_by_role("button", name=words["more"]).focus()
    press("Enter")
    page.get_by_role("menuitem", name=words["forget"]).press("Enter")
    expect(page.get_by_role("dialog").get_by_text(words["goes"])).to_be_visible()
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    press("g")
    press("e")
    expect(page.get_by_role("heading", level=1)).to_have_text(words["sessions"])
    page.goto(f"/ui/sessions?project={agent.project}")
    expect(page.get_by_role("row").first).to_contain_text("登录为什么超时")
    press("j")
    press("Enter")
    turns = page.get_by_role("grid", name=words["turns"])
    expect(turns.get_by_role("row").first).to_be_visible()
    press("j")
    while page.evaluate("document.activeElement.textContent.includes('tool event')") is False:
        press("ArrowDown")
    press("Enter")
    expect(row(page, '{"command": "pytest -q"}')).to_be_visible()
    press("Enter")
    expect(row(page, '{"command": "pytest -q"}')).to_have_count(0)


def test_where_it_comes_from_is_one_click_away(visit: Visitor, working: Callable[[str], seed.Agent]) -> None:
    words, agent = WORDS["en"], working("read")
    page = visit(f"/ui/timeline?project={agent.project}&kind=observation")
    titled(page, PORT).click()
    page.get_by_role("button", name=words["why"]).click()
    expect(page.get_by_role("dialog", name=words["whence"])).to_be_visible()


def test_a_long_list_holds_few_rows_and_keeps_its_place(browser: Browser, many: Server) -> None:
    visit = Visitor(browser, f"http://127.0.0.1:{many.port}")
    page = visit("/ui/timeline?project=many")
    grid = page.get_by_role("grid", name=WORDS["en"]["list"])
    rows = grid.get_by_role("row")
    expect(rows.nth(3)).to_be_visible()
    page.keyboard.press("j")
    held, oldest = list[int](), row(page, "number 0?")

    def at_the_end() -> bool:
        page.keyboard.press("End")
        held.append(rows.count())
        return oldest.count() > 0

    eventually(at_the_end, pause=pausing(page))
    expect(oldest).to_be_visible()
    assert 5 < max(*held, rows.count()) <= MOST_ROWS

    newest = seed.rows_of(many, "many")[0]["seq"]
    page.goto(f"/ui/timeline?project=many&anchor={newest - MANY // 2}")
    chosen = grid.locator('[aria-selected="true"]')
    expect(chosen).to_be_visible()
    chosen.focus()
    # Up past the first rows that came: newer ones are put before them, and what is read does not jump.
    # The first row there is stops a step short until the newer ones have come, so a step may be short, never long.
    numbers = [_number(chosen)]

    def far_up() -> bool:
        page.keyboard.press("PageUp")
        drawn(page)
        if _number(chosen) != numbers[-1]:  # else it is the first row that came, and newer ones are on their way
            expect(chosen).to_be_in_viewport()
            numbers.append(_number(chosen))
        return numbers[-1] - numbers[0] > 100

    eventually(far_up, pause=pausing(page))
    steps = [after - before for before, after in pairwise(numbers)]
    assert min(steps) > 0, numbers
    assert max(steps) <= median(steps) + 1, numbers  # a heading counts as a row
    assert rows.count() <= MOST_ROWS

    # The same from the very top of the list, where a heading stands and not a row.
    page.goto(f"/ui/timeline?project=many&anchor={newest - MANY // 2}")
    expect(chosen).to_be_visible()
    first, loaded = _number(chosen) + 99, grid.get_attribute("aria-rowcount") or ""
    grid.evaluate("(list) => { list.scrollTop = 0 }")
    expect(grid).not_to_have_attribute("aria-rowcount", re.compile(rf"{loaded}|-1"))
    expect(row(page, str(first)).first).to_be_in_viewport()
    visit.close()


def _number(chosen: Locator) -> int:
    """Which of the imported memories it is."""
    found = re.search(r"(?:#|number |step )(\d+)", chosen.inner_text())
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_narrow_screen_reads_everything(
    visit: Visitor, working: Callable[[str], seed.Agent], language: Language
) -> None:
    words, agent = WORDS[language], working("read")
    page = visit(f"/ui/timeline?project={agent.project}", language, viewport={"width": 360, "height": 740})
    titled(page, LOGIN).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(LOGIN)
    expect(page.get_by_text("src/登录.py：+1 −1 行。")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.go_back()
    expect(titled(page, LOGIN)).to_be_visible()
    page.goto(f"/ui/sessions/{agent.number}")
    row(page, words["handed"]).click()
    expect(page.get_by_role("link", name=LOGIN)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(
    visit: Visitor, served: Server, working: Callable[[str], seed.Agent], language: Language
) -> None:
    words, agent = WORDS[language], working("read")
    seq = seed.rows_of(served, agent.project, "observation")[0]["seq"]
    page = visit(f"/ui/timeline?project={agent.project}&anchor={seq}", language)
    expect(page.get_by_role("region", name=words["preview"])).to_contain_text("8080")
    assert axe.violations(page) == []
    page.goto(f"/ui/observations/{seq}")
    expect(page.get_by_role("region", name=words["about"])).to_be_visible()
    expect(page.get_by_text("deploy/firewall.toml", exact=True).first).to_be_visible()
    page.get_by_role("button", name=words["more"]).click()
    page.get_by_role("menuitem", name=words["forget"]).click()
    expect(page.get_by_role("dialog").get_by_text(words["goes"])).to_be_visible()
    assert axe.violations(page) == []
    page.goto(f"/ui/sessions/{agent.number}?events=1&sel=t1")
    expect(page.get_by_role("heading", name=words["timings"])).to_be_visible()
    assert axe.violations(page) == []
    page.goto(f"/ui/sessions?project={agent.project}")
    expect(page.get_by_role("row").first).to_be_visible()
    assert axe.violations(page) == []
