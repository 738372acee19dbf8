"""The page without the application: a plain look at the queue, the live events and the reports (contract 000 §3.5.2).

It stands in where the application was not built, and serves browsers without scripts. One file without anything from
elsewhere. The policy names its script and style by their digests, so nothing that finds its way into the page can run;
the script itself writes text, never markup. The page holds no memory of anybody: what it shows it asks for, with the
key that a person types in where one is needed.
"""

# ruff: noqa: RUF001

import base64
import hashlib
import html
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_TEXTS = {
    "en": {
        "lang": "en",
        "title": "codexmem viewer",
        "queue": "Queue",
        "queued": "waiting",
        "running": "running",
        "failed": "failed",
        "live": "Live events",
        "connecting": "connecting …",
        "open": "connected",
        "closed": "not connected; trying again",
        "refused": "the server asks for a key",
        "reports": "Reports",
        "exports": "Downloads",
        "key": "API key, if the server asks for one",
        "use": "Use",
        "unbuilt": "This installation has no web application: it was installed without Node, or with CODEXMEM_WEB=0. "
        "Install it again with Node 22.12 or newer on the PATH; for an editable installation run in the source tree: "
        "npm --prefix web ci && npm --prefix web run build. Released packages bring it along.",
        "built": "The web application",
        "script": "This page needs JavaScript for the live part; the links work without.",
    },
    "zh": {
        "lang": "zh-CN",
        "title": "codexmem 查看器",
        "queue": "队列",
        "queued": "等待中",
        "running": "处理中",
        "failed": "失败",
        "live": "实时事件",
        "connecting": "正在连接…",
        "open": "已连接",
        "closed": "未连接，正在重试",
        "refused": "服务器要求提供密钥",
        "reports": "报告",
        "exports": "下载",
        "key": "API 密钥（仅在服务器要求时填写）",
        "use": "使用",
        "unbuilt": "此安装不含网页应用：安装时没有 Node，或设置了 CODEXMEM_WEB=0。请在 PATH 中有 Node 22.12 "
        "或更新版本时重新安装；可编辑安装请在源码目录中运行："
        "npm --prefix web ci && npm --prefix web run build。正式发布的软件包自带网页应用。",
        "built": "网页应用",
        "script": "实时部分需要 JavaScript；链接不需要。",
    },
}
_SPOT = re.compile(r"\{\{(\w+)\}\}")


class PlainPage:
    """The page in each language, with or without a way to the application."""

    def __init__(self) -> None:
        source = Path(__file__).with_name("plain.html").read_text(encoding="utf-8")
        self._pages = {
            (language, built): _SPOT.sub(
                lambda spot, texts=texts, built=built: (  # type: ignore[misc]
                    _way(texts, built=built) if spot[1] == "application" else texts[spot[1]]
                ),
                source,
            ).encode()
            for language, texts in _TEXTS.items()
            for built in (False, True)
        }
        self.headers: Mapping[str, str] = MappingProxyType({"Content-Security-Policy": policy(source)})

    def text(self, language: str, *, built: bool) -> bytes:
        """The page; `built` says whether the application can be offered."""
        return self._pages[language, built]


def _way(texts: Mapping[str, str], *, built: bool) -> str:
    return f'<p><a href="/viewer">{texts["built"]}</a></p>' if built else f"<p>{html.escape(texts['unbuilt'])}</p>"


def policy(page: str) -> str:
    """What the page may do: run its own script, wear its own style, ask its own server."""
    script, style = (_digest(page, tag) for tag in ("script", "style"))
    return (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def preferred(accepted: str) -> str:
    """The language that a browser likes best of those we have."""
    best, liking = "en", 0.0
    for part in accepted.split(",")[:20]:
        tag, _, parameter = part.strip().partition(";")
        name = tag.partition("-")[0].lower()
        weight = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", parameter)
        worth = float(weight[1]) if weight is not None else 0.0 if parameter else 1.0
        if name in _TEXTS and worth > liking:
            best, liking = name, worth
    return best


def _digest(page: str, tag: str) -> str:
    inside = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    assert inside is not None
    return "sha256-" + base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
