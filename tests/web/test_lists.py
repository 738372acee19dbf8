"""Lists that are worked with: narrowed by labels, selected as a whole, saved as views, looked into, and decided by keys
of which none is lost."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web import axe
from tests.web.seeds import brief, life, notes, qa
from tests.web.seeds.audit import Wrapper
from tests.web.visiting import SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "labels": "Filter by file, concept, agent…", "matching": "Matching memories", "file": "File: …/api/routes.py",
        "remove": "Remove the filter File: …/api/routes.py", "list": "Memories, newest first",
        "preview": "Selected memory", "bar": "Selected memories", "all": "Select all 6", "never": "Never tell agents",
        "undo": "Undo", "undone": "Undone", "withheld": "6 memories", "forget": "Forget…",
        "word": "forget 6", "do forget": "Forget", "forgotten": "6 memories were forgotten", "views": "Views",
        "save": "Save this view…", "name": "Name of the view", "keep": "Save view", "rename": "Rename…",
        "delete": "Delete this view", "peek": "Quick look", "hide": "Hide", "hidden": "3 memories were hidden",
    },
    "zh": {
        "labels": "按文件、概念、智能体筛选…", "matching": "符合条件的记忆", "file": "文件：…/api/routes.py",
        "remove": "移除筛选“文件：…/api/routes.py”", "list": "记忆，最新在前", "preview": "所选记忆",
        "bar": "所选记忆", "all": "全选 6 条", "never": "不再告诉智能体", "undo": "撤销", "undone": "已撤销",
        "withheld": "6 条", "forget": "遗忘…", "word": "遗忘 6", "do forget": "遗忘", "forgotten": "已遗忘 6 条记忆",
        "views": "视图", "save": "保存此视图…", "name": "视图名称", "keep": "保存视图", "rename": "重命名…",
        "delete": "删除此视图", "peek": "快速查看", "hide": "隐藏", "hidden": "已隐藏 3 条",
    },
}  # fmt: skip

WORDS_OF_TWELVE = (
    "amber", "basalt", "cedar", "dune", "ember", "fjord", "granite", "heron", "iris", "jade", "kelp", "lava",
)  # fmt: skip


def notice(page: Page, text: str) -> Locator:
    return page.get_by_role("alert").filter(has_text=text)


def listed(server: Server, **asked: str) -> list[str]:
    """The titles of what the server lists."""
    query = "&".join(f"{name}={quote(value)}" for name, value in asked.items())
    rows = server.request("GET", f"/api/memories?limit=200&{query}").json["items"]
    return [row["title"] for row in rows]


@pytest.mark.parametrize("language", SIDE_JOB)
def test_labels_narrow_the_list_and_lead_to_it(visit: Visitor, served: Server, language: Language) -> None:
    words, project = WORDS[language], life.new_project("lists-labels")
    brief.learned(served, project, 20)
    page = visit(f"/ui/timeline?project={project}", language)
    field = page.get_by_role("combobox", name=words["labels"])
    field.click()
    field.fill("routes")
    page.get_by_role("option").filter(has_text="src/api/routes.py (").click()
    wanted = listed(served, project=project, file="src/api/routes.py")
    assert 0 < len(wanted) < len(listed(served, project=project))
    grid = page.get_by_role("grid", name=words["matching"])
    expect(grid.get_by_role("row")).to_have_count(len(wanted))
    expect(page).to_have_url(re.compile("file=src%2Fapi%2Froutes.py"))
    # The first row is read without a choice; its concept leads to all memories with it.
    preview = page.get_by_role("region", name=words["preview"])
    expect(preview).to_contain_text(wanted[0])
    assert axe.violations(page) == []
    page.reload()
    expect(grid.get_by_role("row")).to_have_count(len(wanted))
    preview.get_by_role("link", name=re.compile(f"^({'|'.join(brief.CONCEPTS)})$")).first.wait_for()
    concept = next(each for each in brief.CONCEPTS if preview.get_by_role("link", name=each, exact=True).count())
    preview.get_by_role("link", name=concept, exact=True).click()
    expect(grid.get_by_role("row")).to_have_count(len(listed(served, project=project, concept=concept)))
    page.go_back()
    page.get_by_role("button", name=words["remove"]).click()
    expect(page.get_by_role("grid", name=words["list"])).to_be_visible()
    # What no project offers is typed.
    page.goto("/ui/timeline")
    field.fill("lists-labels-no-such-file")
    page.get_by_role("option").first.click()
    expect(page).to_have_url(re.compile("file=lists-labels-no-such-file"))
    expect(grid).to_have_count(0)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_all_rows_are_changed_at_once_taken_back_at_once_and_forgotten(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], life.new_project("lists-all")
    numbers = life.saved(served, project, *(f"Fact {n} of six" for n in range(6)))
    page = visit(f"/ui/timeline?project={project}", language)
    rows = page.get_by_role("grid", name=words["list"]).get_by_role("row").filter(has_text="of six")
    expect(rows).to_have_count(6)
    bar = page.get_by_role("toolbar", name=words["bar"])
    page.keyboard.press("x")
    bar.get_by_role("button", name=words["all"]).click()
    bar.get_by_role("button", name=words["never"]).click()
    marks = f"/api/memories?project={project}&mark=withheld"
    told = notice(page, words["withheld"])
    expect(told).to_be_visible()
    assert len(served.request("GET", marks).json["items"]) == 6
    told.get_by_role("button", name=words["undo"]).click()
    expect(notice(page, words["undone"])).to_be_visible()
    expect(bar).to_have_count(0)
    expect(rows).to_have_count(6)
    assert served.request("GET", marks).json["items"] == []
    page.keyboard.press("A")
    bar.get_by_role("button", name=words["forget"]).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill(words["word"])
    dialog.get_by_role("button", name=words["do forget"], exact=True).click()
    expect(notice(page, words["forgotten"])).to_be_visible()
    expect(rows).to_have_count(0)
    assert served.request("GET", f"/api/memories/named/{numbers[0]}").status == 404


@pytest.mark.parametrize("language", SIDE_JOB)
def test_notes_questions_and_lessons_are_hidden_together_and_one_undo_restores_them(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, project = WORDS[language], life.new_project("lists-kinds")
    book = notes.Notebook(served, project)
    for number in range(3):
        book.adds(f"n{number}", f"Note {number} of three")
        about = f"What is the {WORDS_OF_TWELVE[number]} of three about?"
        qa.hand_in(served, project, qa.Asked(about, f"About {WORDS_OF_TWELVE[number]}."))
        lesson = {"content": f"{WORDS_OF_TWELVE[number]} is dried, of three in {project}", "role": "tio2_expert"}
        assert served.request("POST", "/api/v1/memories", lesson).status == 200
    lists = (f"/ui/notes?domain={project}", f"/ui/qa?project={project}", f"/ui/rb?q={project}&status=active")
    page = visit(lists[0], language)
    for address in lists:
        page.goto(address)
        rows = page.get_by_role("grid").get_by_role("row").filter(has_text="of three")
        expect(rows).to_have_count(3)
        rows.nth(0).get_by_role("checkbox").click()
        rows.nth(1).get_by_role("checkbox").click(modifiers=["Shift"])
        bar = page.get_by_role("toolbar", name=words["bar"])
        assert axe.violations(page) == []
        page.keyboard.press("Escape")
        expect(bar).to_have_count(0)
        listed_rows = page.get_by_role("grid").get_by_role("row").count()
        page.keyboard.press("A")
        bar.get_by_role("button", name=words["hide"], exact=True).click()
        told = page.get_by_role("alert").last
        # A search for lessons may find others of the server, too: all that is listed is hidden.
        expect(told).to_contain_text(words["hidden"].replace("3", str(listed_rows)))
        told.hover()  # it stays as long as it is looked at
        expect(rows).to_have_count(0)
        told.get_by_role("button", name=words["undo"]).click()
        expect(rows).to_have_count(3)
        expect(bar).to_have_count(0)


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_view_is_saved_opened_renamed_and_deleted(visit: Visitor, served: Server, language: Language) -> None:
    words = WORDS[language]
    life.saved(served, life.new_project("lists-views"), "Something to see")
    page = visit("/ui/timeline?life=hidden&kind=observation", language)

    def choose(item: str) -> None:
        page.get_by_role("main").get_by_role("button", name=name, exact=True).click()
        page.get_by_role("menuitem", name=words[item], exact=True).click()

    name = words["views"]
    choose("save")
    page.get_by_label(words["name"]).fill("Put away")
    page.get_by_role("button", name=words["keep"]).click()
    name = "Put away"
    nav = page.get_by_role("navigation")
    page.goto("/ui/sessions")
    nav.get_by_role("link", name="Put away").click()
    expect(page).to_have_url(re.compile(r"/ui/timeline\?.*life=hidden"))
    expect(page).to_have_url(re.compile("kind=observation"))
    assert axe.violations(page) == []
    choose("rename")
    page.get_by_label(words["name"]).fill("Hidden 观察")
    page.keyboard.press("Enter")
    name = "Hidden 观察"
    page.reload()  # it is kept
    expect(nav.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
    choose("delete")
    expect(nav.get_by_role("link", name=name)).to_have_count(0)
    page.get_by_role("alert").get_by_role("button", name=words["undo"]).click()
    expect(nav.get_by_role("link", name=name)).to_be_visible()


def test_space_shows_a_row_and_the_keys_go_on(visit: Visitor, served: Server) -> None:
    words, project = WORDS["en"], life.new_project("lists-peek")
    life.saved(served, project, "The first thing that was saved", "The second thing that was saved")
    page = visit(f"/ui/timeline?project={project}")
    expect(page.get_by_role("region", name=words["preview"])).to_contain_text("The second thing")
    page.keyboard.press("Space")
    dialog = page.get_by_role("dialog", name=words["peek"])
    expect(dialog).to_contain_text("The second thing that was saved")
    assert axe.violations(page) == []
    page.keyboard.press("j")
    expect(dialog).to_contain_text("The first thing that was saved")
    page.keyboard.press("Space")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("row", selected=True)).to_be_focused()
    expect(page.get_by_role("row", selected=True)).to_contain_text("The first thing")


def test_from_a_result_to_its_reasons_is_one_click(visit: Visitor, served: Server) -> None:
    project = life.new_project("lists-why")
    life.saved(served, project, "The quokka cache is cleared at noon.", "The quokka queue is drained at midnight.")
    page = visit(f"/ui/timeline?project={project}&q=quokka+queue")
    row = page.get_by_role("row").filter(has_text="drained")
    row.get_by_role("link", name="Why?").click()
    expect(page).to_have_url(re.compile(r"/viewer\?tab=traces&query=quokka\+queue"))
    result = page.get_by_role("listitem").filter(has_text="drained")
    expect(result).to_have_attribute("aria-current", "true")
    expect(result.get_by_role("table")).to_be_visible()


def test_twelve_keys_are_twelve_decisions_however_slow_the_server_is(visit: Visitor, served: Server) -> None:
    project = qa.new_project("lists-keys")
    ids = [
        qa.hand_in(served, project, qa.Asked(f"What is the {word} of the twelve questions about?", f"About {word}."))
        for word in WORDS_OF_TWELVE
    ]
    context = visit.context()
    page = visit("/ui/settings", context=context)
    page.goto(f"/ui/qa?project={project}")
    expect(page.get_by_role("row")).to_have_count(12)
    slow = {"offline": False, "latency": 700, "downloadThroughput": -1, "uploadThroughput": -1}
    context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    decided: list[str] = []
    page.on("request", lambda request: decided.append(request.url) if request.url.endswith("approve") else None)
    for _ in ids:
        page.keyboard.press("a")
    expect(page.get_by_role("row")).to_have_count(0, timeout=60_000)
    eventually(lambda: qa.counts(served, project)["validated"] == len(ids))
    assert len(decided) == 12


# Another tab's choice is heard at once.
_DENSITY = """async (density) => {
    localStorage.setItem('codexmem-preferences', JSON.stringify({ density }));
    dispatchEvent(new StorageEvent('storage', { key: 'codexmem-preferences' }));
    for (let frame = 0; frame < 3; frame++) await new Promise((then) => requestAnimationFrame(then));
}"""


def test_compact_rows_are_lower_in_every_list(visit: Visitor, served: Server, tmp_path: Path) -> None:
    project = life.new_project("lists-compact")
    brief.learned(served, project, 8)
    brief.worked(served, project)
    qa.hand_in(served, project, qa.TESTS["en"])
    notes.kept(served, "project").create(project, "The port is 8080")
    wrapper = Wrapper(tmp_path, project, "run-compact")
    wrapper.run("just test", "c1", ok=True, took_ms=10)
    wrapper.send(served)
    addresses = (
        f"/ui/timeline?project={project}", f"/ui/timeline?project={project}&q=pool",
        f"/ui/timeline?project={project}&file=src/db.py", f"/ui/sessions?project={project}", "/ui/memories",
        f"/ui/qa?project={project}", "/ui/audit", "/viewer?tab=traces",
    )  # fmt: skip
    heights: dict[str, list[float]] = {}
    page = visit("/ui/settings")
    for address in addresses:
        page.goto(address)
        row = page.locator("[role=grid] [role=row][data-key]").first
        row.wait_for()
        for density in ("comfortable", "compact"):
            page.evaluate(_DENSITY, density)
            expect(page.locator(f":root[data-density={density}]")).to_have_count(1)
            box = row.bounding_box()
            assert box is not None
            clipped = row.evaluate("(row) => row.scrollHeight > row.clientHeight + 1")
            assert not clipped, (density, address)
            heights.setdefault(address, []).append(box["height"])
    assert all(compact < usual for usual, compact in heights.values()), heights
