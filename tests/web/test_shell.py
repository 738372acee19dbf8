"""The frame: what every page promises, whatever it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests._support.server import Server
from tests.web import axe, building
from tests.web.visiting import BOTH, MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "viewer": "Activity", "settings": "Settings", "other": "切换到中文",
        "search": "Search memory, or jump to a page",
        "dark": "Dark theme", "light": "Light theme", "live": "Live", "memories": "Memories", "notes": "Notes",
        "single": "Single-key shortcuts", "help": "Keyboard shortcuts", "offline": "Offline", "menu": "Menu",
        "key": "API key", "use": "Use key", "wrong": "The server rejected this key.",
        "asks": "This server requires an API key", "observation": "Observation", "nothing": "No such page",
    },
    "zh": {
        "viewer": "动态", "settings": "设置", "other": "Switch to English", "search": "搜索记忆，或跳转到页面",
        "dark": "深色主题", "light": "浅色主题", "live": "实时", "memories": "记忆", "notes": "笔记",
        "single": "单键快捷键", "help": "键盘快捷键", "offline": "离线", "menu": "菜单",
        "key": "API 密钥", "use": "使用密钥", "wrong": "服务器拒绝了此密钥。",
        "asks": "此服务器要求提供 API 密钥", "observation": "观察", "nothing": "没有此页面",
    },
}  # fmt: skip


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1, name=text)).to_be_visible()


@pytest.mark.parametrize("language", BOTH)
def test_the_language_is_the_browsers_until_another_is_chosen(visit: Visitor, language: Language) -> None:
    other: Language = "zh" if language == "en" else "en"
    page = visit("/viewer", language)
    heading(page, WORDS[language]["viewer"])
    page.get_by_role("button", name=WORDS[language]["other"]).click()
    heading(page, WORDS[other]["viewer"])
    assert page.locator("html").get_attribute("lang") == ("zh-CN" if other == "zh" else "en")
    assert page.title() == f"{WORDS[other]['viewer']} · codexmem"
    page.reload()
    heading(page, WORDS[other]["viewer"])


@pytest.mark.parametrize("language", SIDE_JOB)
def test_the_theme_is_the_systems_until_another_is_chosen(visit: Visitor, language: Language) -> None:
    page = visit("/viewer", language, "light")
    root = page.locator("html")
    expect(root).to_have_attribute("data-mantine-color-scheme", "light")
    page.get_by_role("button", name=WORDS[language]["dark"]).click()
    expect(root).to_have_attribute("data-mantine-color-scheme", "dark")
    page.reload()
    heading(page, WORDS[language]["viewer"])
    expect(root).to_have_attribute("data-mantine-color-scheme", "dark")
    expect(page.get_by_role("button", name=WORDS[language]["light"])).to_be_visible()


def test_the_system_decides_where_nobody_chose(visit: Visitor) -> None:
    page = visit("/viewer", "en", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 22)"


def test_nothing_fades_where_motion_is_reduced(visit: Visitor) -> None:
    """One that takes "no time" on every element is begun and ended for each in turn, and so takes seconds."""
    page = visit("/ui/settings", "en", "light")
    page.evaluate("""() => {
        window.begun = [];
        addEventListener('transitionrun', (event) => { window.begun.push(event.propertyName); }, true);
    }""")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(":root[data-mantine-color-scheme=dark]")).to_be_attached()
    page.evaluate("() => new Promise((then) => requestAnimationFrame(() => setTimeout(then)))")
    assert page.evaluate("begun") == []
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("language", MAIN_JOB)
def test_the_palette_goes_to_a_page_and_finds_a_memory(visit: Visitor, served: Server, language: Language) -> None:
    words, title = WORDS[language], f"Palette story {language}"
    saved = served.post("/api/memory/save", {"text": "麒麟 unicorn harbour", "title": title, "project": "web-shell"})
    assert saved.status == 200
    page = visit("/viewer", language)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name=words["search"])
    field.fill(words["settings"])
    expect(page.get_by_role("option", name=words["settings"])).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    heading(page, words["settings"])
    assert page.url.endswith("/ui/settings")
    expect(field).to_have_count(0)

    page.keyboard.press("Control+k")
    field.fill("unicorn harbour")
    found = page.get_by_role("option").filter(has_text=title)
    expect(found).to_be_visible()
    found.click()
    page.wait_for_url(f"**/ui/memories/{saved.json['id']}")
    page.go_back()
    heading(page, words["settings"])


def test_a_reference_is_its_own_way(visit: Visitor) -> None:
    page = visit("/viewer")
    page.keyboard.press("/")
    page.get_by_role("combobox", name=WORDS["en"]["search"]).fill("project://config/port")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/m/project/config/port")


@pytest.mark.parametrize("language", SIDE_JOB)
def test_keys_go_to_pages_and_can_be_turned_off(visit: Visitor, language: Language) -> None:
    words = WORDS[language]
    page = visit("/viewer", language)
    expect(page.get_by_role("heading", level=1)).to_be_visible()  # else nobody hears the first key
    page.keyboard.press("g")
    page.keyboard.press("m")
    heading(page, words["memories"])
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name=words["help"])).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.keyboard.press("g")
    page.keyboard.press(",")
    heading(page, words["settings"])
    page.get_by_role("switch", name=words["single"]).click()
    page.get_by_role("heading", level=1).click()
    for key in ("g", "t", "?", "/"):
        page.keyboard.press(key)
    heading(page, words["settings"])
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    heading(page, words["settings"])
    expect(page.get_by_role("switch", name=words["single"])).not_to_be_checked()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name=words["search"])).to_be_visible()


def test_single_keys_are_off_while_typing(visit: Visitor) -> None:
    page = visit("/ui/settings")
    page.keyboard.press("/")
    page.get_by_role("combobox").press_sequentially("g t?")
    expect(page.get_by_role("combobox")).to_have_value("g t?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)
    heading(page, "Settings")


def test_a_letter_before_a_number_says_which_kind_it_must_be(visit: Visitor, served: Server) -> None:
    saved = served.post("/api/memory/save", {"text": "no summary", "title": "Plain", "project": "web-shell"}).json["id"]
    page = visit("/viewer")
    for typed, title in ((f"#S{saved}", f"#S{saved}"), (f"#{saved}", "Plain")):
        page.keyboard.press("/")
        page.get_by_role("combobox", name=WORDS["en"]["search"]).fill(typed)
        page.keyboard.press("Enter")
        heading(page, title)
    page.goto(f"/ui/observations/S{saved}")
    expect(page.get_by_role("alert")).to_contain_text("Not found")


@pytest.mark.parametrize("language", BOTH)
def test_a_refusal_is_told_in_sentences_of_the_readers_language(visit: Visitor, language: Language) -> None:
    page = visit("/ui/observations/99999999", language)
    alert = page.get_by_role("alert")
    own = alert.get_by_text(re.compile(r"^99999999 is not remembered\. Use #123, .*\.$"))
    if language == "en":
        expect(own).to_be_visible()
    else:
        expect(alert).to_contain_text("未找到")
        expect(alert).to_contain_text("可能已被删除，或地址有误。")
        expect(own).not_to_be_visible()
        alert.get_by_text("服务器原文（英文）").click()
        expect(own).to_be_visible()
    # Asking once more would get the same answer.
    expect(alert.get_by_role("button", name=re.compile("Try again|重试"))).to_have_count(0)
    assert axe.violations(page) == []


def test_an_unknown_address_says_so(visit: Visitor) -> None:
    heading(visit("/ui/no/such/page"), "No such page")


def test_the_keyboard_alone_reaches_content_and_pages(visit: Visitor) -> None:
    page = visit("/viewer")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.get_by_role("link", name="Memories", exact=True).focus()
    page.keyboard.press("Enter")
    heading(page, "Memories")
    # A reader of the screen hears where it is now.
    expect(page.get_by_role("heading", level=1)).to_be_focused()


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_narrow_screen_shows_everything(visit: Visitor, language: Language) -> None:
    words = WORDS[language]
    page = visit("/ui/settings", language, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    expect(page.get_by_role("link", name=words["memories"])).not_to_be_visible()
    page.get_by_role("button", name=words["menu"]).click()
    page.get_by_role("link", name=words["memories"]).click()
    heading(page, words["memories"])
    expect(page.get_by_role("link", name=words["memories"])).not_to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing_in_the_frame(visit: Visitor, language: Language) -> None:
    page = visit("/ui/settings", language)
    expect(page.get_by_role("status").filter(has_text=WORDS[language]["live"])).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    assert axe.violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("option").first.wait_for()
    assert axe.violations(page) == []


def test_first_load_is_small(built_web: object) -> None:
    for visited in (building.VIEWER, building.HOME):
        sizes = building.first_load(visited)
        assert sum(sizes.values()) <= 300_000, (visited, sizes)


def test_what_is_really_loaded_first_is_small(visit: Visitor) -> None:
    context, charts = visit.context(), building.drawing()
    took: dict[str, int] = {}

    def finished(request: Request) -> None:
        name = request.url.partition("/ui/")[2]
        if name.startswith("assets/") and name not in charts:
            took[name] = request.sizes()["responseBodySize"]

    context.on("requestfinished", finished)
    page = visit("/viewer", context=context)
    page.get_by_role("heading", level=2).first.wait_for()
    page.wait_for_load_state("load")
    assert 50_000 < sum(took.values()) <= 300_000, took


def test_the_policy_is_strict(visit: Visitor, served: Server) -> None:
    first, second = (served.request("GET", "/viewer").headers["content-security-policy"] for _ in range(2))
    assert first != second
    assert "unsafe" not in first
    assert "script-src 'self';" in first
    page = visit("/viewer")
    # The browser keeps to it: neither an inline script nor markup from text.
    assert (
        page.evaluate("""() => {
        const made = document.createElement('script');
        made.append('window.ran = true');
        try { document.body.append(made); } catch { /* Trusted Types */ }
        const image = '<img src=x onerror="window.ran = true">';
        try { document.body.insertAdjacentHTML('beforeend', image); } catch { /* the same */ }
        return window.ran ?? false;
    }""")
        is False
    )
    visit.faults[:] = [
        fault for fault in visit.faults if not re.search("inline script|TrustedHTML|TrustedScript", fault)
    ]


@pytest.fixture(scope="module")
def locked(built_web: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks for a key."""
    settings = {"CODEXMEM_AUTH": "token", "CODEXMEM_EMBEDDER": "none"}
    with Server(tmp_path_factory.mktemp("locked"), settings=settings) as server:
        yield server


@pytest.mark.parametrize("language", MAIN_JOB)
def test_nothing_is_shown_before_the_key_is_given(browser: Browser, locked: Server, language: Language) -> None:
    words = WORDS[language]
    visit = Visitor(browser, f"http://127.0.0.1:{locked.port}")
    page = visit("/ui/settings", language)
    heading(page, words["asks"])
    assert axe.violations(page) == []
    field = page.get_by_label(words["key"], exact=True)
    field.fill("wrong")
    page.get_by_role("button", name=words["use"]).click()
    expect(page.get_by_text(words["wrong"])).to_be_visible()
    field.fill((locked.data_dir / "token").read_text().strip())
    page.keyboard.press("Enter")
    heading(page, words["settings"])
    expect(page.get_by_role("status").filter(has_text=words["live"])).to_be_visible()
    page.reload()
    heading(page, words["settings"])
    visit.close()
