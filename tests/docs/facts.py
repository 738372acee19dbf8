"""Claims of pages that code can check: how many agents, which roles, how people sign in, the schema, what is compared.

People write the sentences; `just generated` puts in what the code says, and refuses a page that lacks a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from codexmem.agents import NAMES, installable
from codexmem.agents.install import plugins
from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.store import upgrade
from codexmem.recall.staleness import FileFreshness
from codexmem.settings.table import SETTINGS
from tests.docs.pages import ROOT, Language

_LEAST = 5
_NUMBERS: dict[Language, tuple[str, ...]] = {
    "en": ("five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    "zh": ("五", "六", "七", "八", "九", "十", "十一", "十二"),
}
_SIGN_IN = {"oidc": "OpenID Connect", "saml": "SAML", "ldap": "LDAP"}  # by how its settings begin
_COMPARED: dict[Language, dict[bool, str]] = {
    "en": {True: "the lines that were read or changed", False: "the content of files"},
    "zh": {True: "读过或改过的行", False: "文件内容"},
}


class Fact(NamedTuple):
    """A sentence of a page: the group of the pattern is what the code says."""

    page: Path
    sentence: str
    said: str


def facts() -> Iterator[Fact]:
    """All of them."""
    roles = list(map(str, TenantRole))
    begin = {each.name.partition("_")[0] for each in SETTINGS}
    sign_in = [title for name, title in _SIGN_IN.items() if name in begin]
    by_line = hasattr(FileFreshness, "NEARBY")
    schema = upgrade.newest()
    english, chinese = _number("en", len(NAMES)), _number("zh", len(NAMES))
    *titles, last = (agent.title for agent in installable().values())
    shops = {name.split("/")[1] for name in plugins.tree() if name.startswith("plugins/")}
    for page, sentence, said in (
        ("README.md", r"This works for ([^(]+?)\s+\(\[how", f"{', '.join(titles)} and {last}"),
        ("README.zh.md", r"\n([^\n]+) 都这样安装", f"{'、'.join(titles)} 和 {last}"),
        ("README.md", r"(\w+) of them also take it as a \[plugin", _number("en", len(shops))),
        ("README.zh.md", r"其中(\w+)种也可作为\[插件", _number("zh", len(shops))),
        ("README.md", r"hooks for (\w+) agents", english),
        ("README.zh.md", r"(\w+)种智能体的钩子", chinese),
        ("docs/hooks.md", r"writes all of this for (\w+) agents", english),
        ("docs/hooks.zh.md", r"会为(\w+?)个智能体写好", chinese),
        ("docs/install.md", r"`--all` selects all (\w+),", english),
        ("docs/install.zh.md", r"选择全部(\w+?)个", chinese),
        ("docs/comparison.md", r"\[(\w+) agents, and whatever speaks MCP\]", english),
        ("docs/comparison.zh.md", r"\[(\w+)种智能体，以及任何支持 MCP 的程序\]", chinese),
        ("docs/limits.md", r"codexmem connects (\w+) agents", english),
        ("docs/limits.zh.md", r"codexmem 可接入(\w+?)种智能体", chinese),
        ("docs/people.md", r"gives a role \(([^:]+): ", ", ".join(roles)),
        ("docs/people.zh.md", r"给予角色（([^：]+)：", "、".join(roles)),
        ("docs/limits.md", r"a role in a project \(([^)]+)\)", ", ".join(roles)),
        ("docs/limits.zh.md", r"项目中的角色（([^）]+)）", "、".join(roles)),
        ("docs/people.md", r"sign in with the ([\w ,]+) issuer", ", ".join(sign_in)),
        ("docs/people.zh.md", r"用公司的 ([\w 、]+) 身份提供方登录", "、".join(sign_in)),
        ("docs/limits.md", r"they sign in with ([\w ,]+)\.", ", ".join(sign_in)),
        ("docs/limits.zh.md", r"用 ([\w 、]+) 登录", "、".join(sign_in)),
        ("docs/operations.md", r"codexmem db upgrade\n(\d+)\n", schema),
        ("docs/operations.md", r"upgraded from - to (\d+)", schema),
        ("docs/operations.zh.md", r"codexmem db upgrade\n(\d+)\n", schema),
        ("docs/operations.zh.md", r"已从 - 升级到 (\d+)", schema),
        ("docs/comparison.md", r"\[by ([^\]]+)\]\(staleness\.md\)", _COMPARED["en"][by_line]),
        ("docs/comparison.zh.md", r"\[按([^\]]+)\]\(staleness\.zh\.md\)", _COMPARED["zh"][by_line]),
        ("docs/comparison.md", r"codexmem compares ([^,;]+),", _COMPARED["en"][by_line]),
        ("docs/comparison.zh.md", r"codexmem 比较([^，；]+)，", _COMPARED["zh"][by_line]),
    ):
        yield Fact(ROOT / page, sentence, said)


def _number(language: Language, count: int) -> str:
    return _NUMBERS[language][count - _LEAST]


def documents() -> dict[Path, str]:
    """Each page with what the code says."""
    pages: dict[Path, str] = {}
    for page, sentence, said in facts():
        text = pages.get(page) or page.read_text(encoding="utf-8")
        found = re.search(sentence, text)
        if found is None:
            raise SystemExit(f"{page.name} has no sentence like: {sentence}")
        pages[page] = text[: found.start(1)] + said + text[found.end(1) :]
    return pages
