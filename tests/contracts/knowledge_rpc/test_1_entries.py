"""Contract 003: memory_add, memory_query and memory_delete."""

from __future__ import annotations

import pytest

from tests._support.rpc_calls import Rpc

DOCKER = "Docker 是一个开源的应用容器引擎，让开发者可以打包他们的应用以及依赖包到一个可移植的容器中。"
_words = iter([
    "quokka", "rhubarb", "saxophone", "tarantula", "ukulele", "volcano", "walrus", "xylophone", "yacht",
    "zeppelin", "albatross", "bassoon", "catapult", "dromedary", "escalator", "ferret", "giraffe", "harpoon",
])  # fmt: skip


@pytest.fixture
def word() -> str:
    """A word that no other test uses."""
    return next(_words)


def add(rpc: Rpc, content: str, summary: str = "摘要", tags: list[str] | None = None) -> str:
    params = {"content": content, "summary": summary} | ({} if tags is None else {"tags": tags})
    number: str = rpc.result("memory_add", params)["id"]
    return number


def entry(rpc: Rpc, number: str) -> dict[str, object] | None:
    found: dict[str, dict[str, object]] = rpc.result("memory_dump", {"level": "kb"})["data"]
    return found.get(number)


@pytest.mark.clause("003 §2", "the contract's example: an id of our own and the summary, nothing else")
def test_add_answers_id_and_summary(rpc: Rpc) -> None:
    params = {"content": DOCKER, "summary": "Docker 容器化技术", "tags": ["docker", "container", "devops"]}
    result = rpc.result("memory_add", params)
    assert set(result) == {"id", "summary"}
    assert result["id"].startswith("kb-")
    assert result["summary"] == "Docker 容器化技术"
    assert entry(rpc, result["id"]) == params


@pytest.mark.clause("003 §2", "parameters by position; tags may be left out, and are kept once each")
def test_add_by_position_and_without_tags(rpc: Rpc, word: str) -> None:
    first = rpc.result("memory_add", [word, "by position", ["a", "b", "a", " "]])["id"]
    second = rpc.result("memory_add", [word, "by position"])["id"]
    assert first != second
    assert entry(rpc, first) == {"content": word, "summary": "by position", "tags": ["a", "b"]}
    assert entry(rpc, second) == {"content": word, "summary": "by position", "tags": []}


@pytest.mark.clause("003 §2", "what is private or secret is not kept")
def test_add_leaves_out_what_is_private(rpc: Rpc, word: str) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    number = add(rpc, f"{word} <private>内部</private> token {secret}", f"{word} <private>x</private>")
    kept = entry(rpc, number)
    assert kept is not None
    assert "内部" not in str(kept)
    assert secret not in str(kept)
    assert rpc.error("memory_add", ["<private>all of it</private>", "s"])[0] == -32602


@pytest.mark.clause("003 §2", "the same Idempotency-Key adds once")
def test_add_once_per_key(rpc: Rpc, word: str) -> None:
    key = {"Idempotency-Key": f"key-{word}"}
    numbers = {rpc.result("memory_add", [word, "once"], **key)["id"] for _ in range(3)}
    assert len(numbers) == 1
    assert rpc.answer("memory_add", [word, "another"], **key)["error"]["code"] == -32002


@pytest.mark.clause("003 §3", "results have id, summary and content, best first, top_k at most")
def test_query_finds_the_best(rpc: Rpc, word: str) -> None:
    content = f"在 Python 中，使用 `requests` 库可以方便地发送 HTTP 请求。{word}"
    best = add(rpc, content, f"Python HTTP 请求库 {word}", ["python", "http"])
    add(rpc, f"something else that mentions {word} in passing, among many other words", "else")
    result = rpc.result("memory_query", {"query": f"python http {word}", "top_k": 1})
    assert result == {"results": [{"id": best, "summary": f"Python HTTP 请求库 {word}", "content": content}]}
    assert rpc.result("memory_query", [f"请求 {word}", 1])["results"][0]["id"] == best


@pytest.mark.clause("003 §3", "three results unless top_k says otherwise")
def test_query_gives_three(rpc: Rpc, word: str) -> None:
    numbers = {add(rpc, f"{word} 条目 {n}", f"{word} {n}") for n in range(6)}
    assert len(rpc.result("memory_query", {"query": word})["results"]) == 3
    found = {each["id"] for each in rpc.result("memory_query", {"query": word, "top_k": 6})["results"]}
    assert found == numbers


@pytest.mark.clause("003 §3", "tags and summaries are found too, and other kinds are not seen")
def test_query_by_tag_and_only_knowledge(rpc: Rpc, word: str) -> None:
    number = add(rpc, "内容", "summary", [word])
    rpc.server.post("/api/memory/save", {"text": f"an observation about {word}"})
    found = rpc.result("memory_query", {"query": word, "top_k": 100})["results"]
    assert found[0]["id"] == number
    assert all(each["id"].startswith("kb-") for each in found)


@pytest.mark.clause("003 §4", "status success and the id; afterwards it is neither found nor shown")
def test_delete(rpc: Rpc, word: str) -> None:
    number = add(rpc, f"{word} to go", word)
    assert rpc.result("memory_delete", {"kb_id": number}) == {"status": "success", "id": number}
    assert entry(rpc, number) is None
    assert number not in str(rpc.result("memory_query", {"query": word, "top_k": 100}))
    assert number not in str(rpc.result("memory_search", {"query": word, "level": "kb"}))


@pytest.mark.clause("003 §4", "an unknown id, a deleted one and another kind's are an error that says so")
def test_delete_what_is_not_there(rpc: Rpc, word: str) -> None:
    number = add(rpc, word, word)
    rpc.result("memory_delete", [number])
    saved = rpc.server.post("/api/memory/save", {"text": f"observation {word}"}).json
    for unknown in (number, "kb-unknown", "", f"#{saved['id']}", str(saved["id"]), "条目", "x" * 10_000):
        code, message = rpc.error("memory_delete", {"kb_id": unknown})
        assert code == -32001
        assert "not found" in message
