"""The page at `/viewer`: a plain look at the queue, the live events and the reports (contract 000 §3.5.2).

One file without anything from elsewhere. The policy names its script and style by their digests, so nothing that finds
its way into the page can run; the script itself writes text, never markup. The page holds no memory of anybody: what it
shows it asks for, with the key that a person types in where one is needed.
"""

# ruff: noqa: RUF001

import base64
import hashlib
import re
from pathlib import Path

from fastapi import APIRouter, Request, Response

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
        "later": "Charts and filters come with the web application; what they will show is at the addresses above.",
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
        "later": "图表与筛选将随网页应用提供；它们要展示的内容都可从上面的地址取得。",
        "script": "实时部分需要 JavaScript；链接不需要。",
    },
}
_SPOT = re.compile(r"\{\{(\w+)\}\}")


def add(door: APIRouter) -> None:
    """Add the page."""
    source = Path(__file__).with_name("viewer.html").read_text(encoding="utf-8")
    pages = {
        name: _SPOT.sub(lambda spot, texts=texts: texts[spot[1]], source).encode()  # type: ignore[misc]
        for name, texts in _TEXTS.items()
    }
    headers = {
        "Content-Security-Policy": policy(source),
        "Cache-Control": "no-cache",
        "Vary": "Accept-Language",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }

    @door.get("/viewer", response_class=Response, include_in_schema=False)
    async def viewer(request: Request) -> Response:
        language = preferred(request.headers.get("accept-language", ""))
        return Response(pages[language], headers=headers, media_type="text/html; charset=utf-8")


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
