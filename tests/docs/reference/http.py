"""Every HTTP route, from the interface description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.docs.pages import Language
from tests.docs.reference.markdown import Spoken, both, code, page, table
from tests.surfaces.web import openapi

TITLE = both("HTTP", "HTTP")
_ABOUT = both(
    "Every route, from the interface descriptions [codexmem.json](../openapi/codexmem.json) (all of them) and "
    "[lab.json](../openapi/lab.json) (the lab's alone), which have every field. A name with `*` must be given. A "
    "creating `POST` takes an `Idempotency-Key`, which makes repeating it safe. On loopback no key is asked for unless "
    "`CODEXMEM_AUTH=token`; elsewhere `Authorization: Bearer …` is. A body is JSON and says so.",
    "全部路由，取自接口描述 [codexmem.json](../openapi/codexmem.json)（全部）与 "
    "[lab.json](../openapi/lab.json)（仅实验室），其中有每个字段的说明。"
    "带 `*` 的名称必须给出。创建类 `POST` 接受 `Idempotency-Key`，重复发送是安全的。"
    "在回环地址上不需要密钥，除非设置 `CODEXMEM_AUTH=token`；其他地址需要 `Authorization: Bearer …`。"
    "请求体为 JSON 并须注明类型。",
)
_HEAD = {"en": ("request", "takes", "body", "answers"), "zh": ("请求", "参数", "请求体", "回答")}
# The endpoints, the longest beginning first; a route that none of them names fails the page.
ENDPOINTS: tuple[tuple[str, Spoken, str], ...] = (
    ("/api/v1/", both("Lab", "实验室"), "lab"),
    ("/api/notes", both("Notes", "笔记"), "notes"),
    ("/api/ops/", both("Operations", "运维"), "operations"),
    ("/api/", both("Capture and recall", "捕获与回忆"), "hooks"),
    ("/v1/qa/", both("Questions and answers", "问答"), "qa"),
    ("/v1/audit", both("Audit", "审计"), "policy"),
    ("/rpc", both("JSON-RPC", "JSON-RPC"), "knowledge"),
    ("/healthz", both("Health", "健康检查"), "operations"),
)


def render(language: Language) -> str:
    """The page."""
    described = json.loads(openapi.text())
    rows: dict[str, list[list[str]]] = {beginning: [] for beginning, _, _ in ENDPOINTS}
    for path, methods in described["paths"].items():
        beginning = next(endpoint for endpoint, _, _ in ENDPOINTS if path.startswith(endpoint))
        rows[beginning] += [_route(method, path, told, described) for method, told in methods.items()]
    suffix = ".zh.md" if language == "zh" else ".md"
    parts = [_ABOUT[language]]
    for beginning, name, about in ENDPOINTS:
        parts += [f"## {name[language]}", f"[{about}](../{about}{suffix})", table(_HEAD[language], rows[beginning])]
    return page(language, TITLE, *parts)


def _route(method: str, path: str, told: Mapping[str, Any], described: Mapping[str, Any]) -> list[str]:
    takes = [
        code(each["name"] + "*" * each.get("required", False))
        for each in told.get("parameters", [])
        if each["in"] == "query"
    ]
    content = told.get("requestBody", {}).get("content", {})
    body = [field for kind in content.values() for field in _fields(kind.get("schema", {}), described)]
    statuses = sorted(status for status in told["responses"] if status not in {"422", "default"})
    return [code(f"{method.upper()} {path}"), ", ".join(takes), ", ".join(body), ", ".join(statuses)]


def _fields(schema: Mapping[str, Any], described: Mapping[str, Any]) -> list[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _fields(described["components"]["schemas"][name], described)
    needed = set(schema.get("required", ()))
    return [code(name + "*" * (name in needed)) for name in schema.get("properties", {})]
