"""Beyond the contracts: GET /api/context, what an agent is handed, as plain text."""

from __future__ import annotations

from urllib.parse import quote

from tests._support.server import Server


def test_context_is_plain_text_inside_one_envelope(api: Server, project: str) -> None:
    assert api.post("/api/memory/save", {"text": "端口是 8081，不是 8080", "project": project}).status == 200
    reply = api.request("GET", f"/api/context?project={project}")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    text = reply.body.decode()
    assert text.startswith("<codexmem-context>")
    assert text.rstrip().endswith("</codexmem-context>")
    assert "端口是 8081" in text


def test_nothing_to_say_is_an_empty_text(api: Server, project: str) -> None:
    reply = api.request("GET", f"/api/context?project={project}&prompt={quote('登录测试为什么失败')}")
    assert (reply.status, reply.body) == (200, b"")


def test_the_tokens_are_bounded(api: Server, project: str) -> None:
    for tokens in ("5", "1000000", "many"):
        assert api.request("GET", f"/api/context?project={project}&tokens={tokens}").status == 400
