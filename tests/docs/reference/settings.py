"""Every setting: its variable, its default, and whether a project's file may set it."""

from __future__ import annotations

from codexmem.console.messages import texts
from codexmem.settings import SETTINGS
from tests.docs.pages import Language
from tests.docs.reference.markdown import both, code, page, table

TITLE = both("Settings", "设置")
_ABOUT = both(
    "A setting comes from a flag, the environment, `.codexmem.toml` in the project, the user's file, or its default, "
    "in that order. `codexmem config list --show-origin` prints each value and where it comes from, `codexmem config "
    "path` the files. A project's file may not set what is marked ✕: a checkout must not decide where memories live, "
    "who may read them or which servers are asked.",
    "设置的来源依次为：命令行选项、环境变量、项目中的 `.codexmem.toml`、用户文件、默认值。"
    "`codexmem config list --show-origin` 显示每项的值与来源，`codexmem config path` 显示这些文件。"
    "标有 ✕ 的设置不能写在项目文件里：检出的代码不应决定记忆存在哪里、谁能读取、向谁查询。",
)
_HEAD = {
    "en": ("setting", "environment", "default", "project file", "means"),
    "zh": ("设置", "环境变量", "默认值", "项目文件", "含义"),
}
# What a default is called where it is no value; the rest are values and read alike in every language.
_DEFAULTS = {
    "the platform's user-data folder": "系统的用户数据目录",
    "SQLite in the data directory": "数据目录中的 SQLite",
    "off": "关",
    "on": "开",
    "none": "无",
    "found on PATH": "在 PATH 中查找",
    "the server's": "由服务器决定",
    "the shipped sample": "自带的示例",
    "server.json in the data directory": "由数据目录中的 server.json 给出",
    "the token in the data directory": "数据目录中的令牌",
}


def render(language: Language) -> str:
    """The page."""
    rows = []
    for each in SETTINGS:
        variables = ", ".join(code(name) for name in (each.env, *each.aliases))
        default = _DEFAULTS.get(each.default, each.default) if language == "zh" else each.default
        meaning = texts(language)[f"setting.{each.name}"]
        rows.append([code(each.name), variables, default, "" if each.in_project else "✕", meaning])
    return page(language, TITLE, _ABOUT[language], table(_HEAD[language], rows))
