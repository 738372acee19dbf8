"""Questions with answers, handed in and reported on as agents do it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests._support.server import Server
from tests.web.visiting import Language

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Asked:
    """A question with its answer."""

    question: str
    answer: str


# The ports contradict each other; to rotate and to renew are asked for in nearly the same words, with other answers.
PORT = {
    "en": Asked("Which port does the server listen on by default?", "It listens on port **37877**."),
    "zh": Asked("服务器默认监听哪个端口？", "默认监听端口 **37877**。"),
}
OTHER_PORT = {
    "en": Asked("Which port does the server listen on by default?", "It listens on port **8080**."),
    "zh": Asked("服务器默认监听哪个端口？", "默认监听端口 **8080**。"),
}
ROTATE = {
    "en": Asked(
        "How do I rotate the signing key of a release?",
        "Run `just rotate-key`, then:\n\n1. publish the new key\n2. sign the release again\n\n"
        "```sh\njust rotate-key --release 1.4\n```",
    ),
    "zh": Asked(
        "如何轮换发布版本的签名密钥？",
        "运行 `just rotate-key`，然后：\n\n1. 公布新密钥\n2. 重新签名\n\n```sh\njust rotate-key --release 1.4\n```",
    ),
}
RENEW = {
    "en": Asked(
        "How do I rotate the signing key of a release every year?",
        "Ask the release team; they keep the old key for thirty days.",
    ),
    "zh": Asked("如何每年轮换发布版本的签名密钥？", "请联系发布团队；旧密钥保留三十天。"),
}
TESTS = {
    "en": Asked("How are the slow tests left out?", "Call `pytest -m 'not slow'`."),
    "zh": Asked("怎样跳过较慢的测试？", "调用 `pytest -m 'not slow'`。"),
}


def new_project(name: str) -> str:
    """A project without items, though the test may be tried again."""
    return f"{name}-{next(_numbers)}"


def hand_in(server: Server, project: str, asked: Asked, **more: Any) -> str:
    """The id of a candidate that was stored on its own."""
    body = {"project_id": project, "question": asked.question, "answer": asked.answer, **more}
    reply = server.post("/v1/qa/candidates", body)
    assert (reply.status, reply.json["created"]) == (201, True), reply.body
    qa_id: str = reply.json["qa_id"]
    return qa_id


def item(server: Server, qa_id: str) -> dict[str, Any]:
    """An item as the server tells it now."""
    reply = server.request("GET", f"/v1/qa/items/{qa_id}")
    assert reply.status == 200, reply.body
    told: dict[str, Any] = reply.json
    return told


def search(server: Server, project: str, query: str) -> list[dict[str, Any]]:
    """What an agent is answered."""
    reply = server.post("/v1/qa/search", {"project_id": project, "query": query})
    assert reply.status == 200, reply.body
    found: list[dict[str, Any]] = reply.json["items"]
    return found


def counts(server: Server, project: str) -> dict[str, int]:
    """How many items of each status a project has."""
    reply = server.request("GET", f"/v1/qa/counts?project_id={quote(project)}")
    assert reply.status == 200, reply.body
    counted: dict[str, int] = reply.json["counts"]
    return counted


def report(server: Server, project: str, qa_id: str, *, used: int = 0, worked: int = 0, failed: int = 0) -> None:
    """Agents used it, and tried it with these outcomes."""
    references = [{"qa_id": qa_id, "used": True, "message_id": f"m{number}"} for number in range(used)]
    assert server.post("/v1/qa/hit", {"project_id": project, "references": references}).status == 200
    for success in [True] * worked + [False] * failed:
        body = {"project_id": project, "qa_id": qa_id, "success": success, "signal_strength": "weak"}
        assert server.post("/v1/qa/validate", body).status == 200


def shelf(server: Server, project: str, language: Language) -> dict[str, str]:
    """A project with something on each shelf: ids by name, the newest last."""
    ids = {
        "tests": hand_in(server, project, TESTS[language], tags=["pytest"], confidence=0.8),
        "port": hand_in(server, project, PORT[language], tags=["net", "默认值"], source="codex", author="林"),
        "other_port": hand_in(server, project, OTHER_PORT[language], confidence=0.4),
        "rotate": hand_in(server, project, ROTATE[language], source="claude-code", author="Ada", tags=["release"]),
        "renew": hand_in(server, project, RENEW[language]),
    }
    report(server, project, ids["port"], used=4, worked=1, failed=1)
    return ids
