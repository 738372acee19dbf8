"""Products and presets, as the person who keeps the laboratory's catalog works with them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests._support.server import Server
from tests.web import axe
from tests.web.visiting import MAIN_JOB, SIDE_JOB, Language, Visitor

WORDS = {
    "en": {
        "new": "New product", "add": "Add product", "added": "{} was added.", "missing": "Enter a name.",
        "taken": "An active product already has this name.", "rename": "Rename {}", "renaming": "New name of {}",
        "save": "Save", "archive": "Archive {}", "archived": "{} was archived.", "undo": "Undo", "shelf": "Archived",
        "presets": "Presets", "new preset": "New preset", "name": "Name", "up": "Move {} up", "remove": "Remove {}",
        "create": "Create preset", "saved": "{} was saved.", "products": "Products, in this order",
        "bring back": "Bring back {}", "offered": "{} is offered again.",
    },
    "zh": {
        "new": "新产物", "add": "添加产物", "added": "{} 已添加。", "missing": "请填写名称。",
        "taken": "已有同名的使用中产物。", "rename": "重命名 {}", "renaming": "{} 的新名称",
        "save": "保存", "archive": "归档 {}", "archived": "{} 已归档。", "undo": "撤销", "shelf": "已归档",
        "presets": "预设", "new preset": "新建预设", "name": "名称", "up": "上移 {}", "remove": "移除 {}",
        "create": "创建预设", "saved": "{} 已保存。", "products": "产物（按此顺序）",
        "bring back": "恢复使用 {}", "offered": "{} 已恢复使用。",
    },
}  # fmt: skip


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


def found(server: Server, path: str, name: str) -> list[dict[str, Any]]:
    """Products or presets whose name begins so, oldest first."""
    items = server.request("GET", f"/api/v1/{path}?limit=200").json["items"]
    return [each for each in reversed(items) if each["name"].startswith(name)]


def product(server: Server, name: str) -> str:
    reply = server.post("/api/v1/products", {"name": name})
    assert reply.status == 200, reply.body
    product_id: str = reply.json["product"]["product_id"]
    return product_id


@pytest.mark.parametrize("language", MAIN_JOB)
def test_products_are_added_renamed_archived_and_brought_back(
    visit: Visitor, served: Server, language: Language
) -> None:
    words, name = WORDS[language], f"甲烷 {language}"
    page = visit("/ui/catalog/products", language)
    page.get_by_role("button", name=words["add"]).click()
    expect(page.get_by_text(words["missing"])).to_be_visible()
    page.get_by_label(words["new"]).fill(f"  {name} ")
    page.keyboard.press("Enter")
    expect(page.get_by_text(words["added"].format(name))).to_be_visible()
    expect(page.get_by_label(words["new"])).to_be_focused()
    expect(page.get_by_label(words["new"])).to_have_value("")
    page.get_by_label(words["new"]).fill(name.upper())
    page.keyboard.press("Enter")
    expect(page.get_by_text(words["taken"])).to_be_visible()
    page.get_by_label(words["new"]).fill("")

    page.get_by_role("button", name=words["rename"].format(name)).click()
    page.get_by_label(words["renaming"].format(name)).fill(f"{name} CH4")
    page.keyboard.press("Enter")
    expect(row(page, f"{name} CH4")).to_be_visible()
    page.get_by_role("button", name=words["archive"].format(f"{name} CH4")).click()
    expect(row(page, name)).to_have_count(0)
    page.get_by_role("button", name=words["undo"]).click()
    expect(row(page, f"{name} CH4")).to_be_visible()
    assert [(each["name"], each["status"]) for each in found(served, "products", name)] == [(f"{name} CH4", "active")]

    page.get_by_role("button", name=words["archive"].format(f"{name} CH4")).click()
    expect(row(page, name)).to_have_count(0)
    page.get_by_text(words["shelf"], exact=True).click()
    page.get_by_role("button", name=words["bring back"].format(f"{name} CH4")).click()
    expect(page.get_by_text(words["offered"].format(f"{name} CH4"))).to_be_visible()
    assert found(served, "products", name)[0]["status"] == "active"


@pytest.mark.parametrize("language", SIDE_JOB)
def test_a_preset_keeps_its_products_in_order(visit: Visitor, served: Server, language: Language) -> None:
    words, mark = WORDS[language], f"次序 {language}"
    names = [f"{mark} {each}" for each in ("C2H4", "CO", "H2")]
    ids = dict(zip(names, [product(served, each) for each in names], strict=True))
    first, second, third = names
    page = visit("/ui/catalog/products", language)
    page.get_by_role("link", name=words["presets"], exact=True).click()
    page.get_by_role("button", name=words["new preset"]).click()
    page.get_by_role("button", name=words["create"]).click()
    expect(page.get_by_text(words["missing"])).to_be_visible()
    page.get_by_label(words["name"], exact=True).fill(mark)
    for each in names:
        page.get_by_role("combobox", name=words["add"]).fill(each)
        page.get_by_role("option", name=each).click()
    page.get_by_role("button", name=words["up"].format(third)).click()
    page.get_by_role("button", name=words["create"]).click()
    expect(page.get_by_text(words["saved"].format(mark))).to_be_visible()
    (made,) = found(served, "product_presets", mark)
    assert made["product_ids"] == [ids[first], ids[third], ids[second]]

    # The address names it; what is changed stands after it was saved.
    page.wait_for_url(f"**sel={made['preset_id']}**")
    page.reload()
    expect(page.get_by_role("list", name=words["products"]).get_by_role("listitem")).to_have_count(3)
    page.get_by_role("button", name=words["remove"].format(first)).click()
    page.get_by_label(words["name"], exact=True).fill(f"{mark} 2")
    page.get_by_role("button", name=words["save"], exact=True).click()
    expect(row(page, f"{mark} 2")).to_be_visible()
    (made,) = found(served, "product_presets", mark)
    assert (made["name"], made["product_ids"]) == (f"{mark} 2", [ids[third], ids[second]])
    row(page, f"{mark} 2").get_by_role("button", name=words["archive"].format(f"{mark} 2")).click()
    expect(row(page, f"{mark} 2")).to_have_count(0)
    assert found(served, "product_presets", mark)[0]["status"] == "archived"


@pytest.mark.parametrize("language", SIDE_JOB)
def test_the_keyboard_alone_makes_a_preset(visit: Visitor, served: Server, language: Language) -> None:
    words, mark = WORDS[language], f"按键 {language}"
    product_id = product(served, f"{mark} N2")
    page = visit("/ui/catalog/presets", language)
    page.get_by_role("button", name=words["new preset"]).focus()
    page.keyboard.press("Enter")
    page.get_by_label(words["name"], exact=True).focus()
    page.keyboard.type(mark)
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name=words["add"])).to_be_focused()
    page.keyboard.type(f"{mark} N2")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=words["remove"].format(f"{mark} N2"))).to_be_visible()
    page.get_by_label(words["name"], exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(words["saved"].format(mark))).to_be_visible()
    assert found(served, "product_presets", mark)[0]["product_ids"] == [product_id]


def places(served: Server) -> dict[str, str]:
    """Addresses of this area, with a text that says that the page stands."""
    name = "axe C3H6"
    if not (presets := found(served, "product_presets", name)):
        made = served.post("/api/v1/product_presets", {"name": name, "product_ids": [product(served, name)]})
        presets = [made.json["preset"]]
    return {
        "/ui/catalog/products": name,
        "/ui/catalog/products?shelf=all": name,
        "/ui/catalog/presets": name,
        f"/ui/catalog/presets?sel={presets[0]['preset_id']}": name,
    }


@pytest.mark.parametrize("language", SIDE_JOB)
def test_axe_finds_nothing(visit: Visitor, served: Server, language: Language) -> None:
    page = visit("/ui/catalog/products", language)
    for path, text in places(served).items():
        page.goto(path)
        page.get_by_text(text).first.wait_for()
        assert axe.violations(page) == [], path


def test_a_narrow_screen_shows_everything(visit: Visitor, served: Server) -> None:
    page = visit("/ui/catalog/products", viewport={"width": 360, "height": 740})
    for path, text in places(served).items():
        page.goto(path)
        page.get_by_text(text).first.wait_for(state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
