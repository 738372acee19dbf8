"""Contract 003: memory_dump and memory_search."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests._support.rpc_calls import Rpc

_words = iter([
    "accordion", "barnacle", "cormorant", "dulcimer", "eggplant", "flamingo", "gondola", "hedgehog", "iguana",
    "jellyfish", "kangaroo", "lobster", "mandolin", "narwhal", "obelisk", "pangolin", "quokka", "rhubarb", "saxophone",
    "tarantula", "ukulele", "vicuna", "walrus", "xylophone",
])  # fmt: skip


@pytest.fixture
def word() -> str:
    """A word that no other test uses."""
    return next(_words)


def filled(rpc: Rpc, task: str, **files: str) -> str:
    path: str = rpc.result("memory_init_workspace", [task])["path"]
    for name, text in files.items():
        (rpc.folder(path) / f"{name}.md").write_text(text)
    return path


@pytest.mark.clause("003 §7", "level kb: entries by id with content, summary and tags")
def test_dump_of_knowledge(rpc: Rpc) -> None:
    entry = {"content": "使用 `requests` 库", "summary": "Python HTTP 请求库", "tags": ["python", "http", "requests"]}
    number = rpc.result("memory_add", entry)["id"]
    result = rpc.result("memory_dump", {"level": "kb"})
    assert set(result) == {"status", "data"}
    assert result["status"] == "ok"
    assert result["data"][number] == entry


@pytest.mark.clause("003 §7", "level workspace: files of every task; level all, which is meant without one, has both")
def test_dump_of_workspaces_and_all(rpc: Rpc, task: str) -> None:
    path = filled(rpc, task, 笔记="第一行\nsecond line")
    (rpc.folder(path) / "sub").mkdir()
    (rpc.folder(path) / "sub" / "b.bin").write_bytes(b"\0\1\2")
    shown = {"path": path, "files": {"笔记.md": "第一行\nsecond line", "sub/b.bin": {"bytes": 3}}}
    workspaces = rpc.result("memory_dump", {"level": "workspace"})
    assert workspaces["status"] == "ok"
    assert workspaces["data"][task] == shown
    ways: list[object] = [None, {}, [], {"level": "all"}, {"level": None}]
    for params in ways:
        everything = rpc.result("memory_dump", params)["data"]
        assert set(everything) == {"kb", "workspace"}
        assert everything["workspace"][task] == shown
    rpc.result("memory_cleanup", [task])


@pytest.mark.clause("003 §7", "what does not fit is told in a note, and what is shown is whole")
def test_dump_says_what_is_left_out(rpc: Rpc, task: str) -> None:
    path = filled(rpc, task)
    for number in range(6):
        (rpc.folder(path) / f"{number}.txt").write_text("x" * 900_000)
    result = rpc.result("memory_dump", {"level": "workspace"})
    assert "not every file is shown" in result["note"]
    shown = [text for text in result["data"][task]["files"].values() if isinstance(text, str)]
    assert 0 < sum(map(len, shown)) <= 4 << 20
    rpc.result("memory_cleanup", [task])


@pytest.mark.clause("003 §8", "level kb: source, key and value with content, summary and tags")
def test_search_in_knowledge(rpc: Rpc, word: str) -> None:
    value = {
        "content": f"FastAPI 是一个现代、快速的 Web 框架 {word}",
        "summary": "Python Web 框架",
        "tags": ["fastapi"],
    }
    number = rpc.result("memory_add", value)["id"]
    result = rpc.result("memory_search", {"query": f"fastapi {word}", "level": "kb"})
    assert set(result) == {"status", "results"}
    assert result["status"] == "ok"
    assert result["results"][0] == {"source": "kb", "key": number, "value": value}
    assert all(set(each) == {"source", "key", "value"} for each in result["results"])


@pytest.mark.clause("003 §8", "level kb: the entries that have the words, and no others")
def test_search_in_knowledge_is_by_words(rpc: Rpc, word: str) -> None:
    def add(content: str, summary: str, *tags: str) -> str:
        number: str = rpc.result("memory_add", [content, summary, list(tags)])["id"]
        return number

    def found(query: str) -> set[str]:
        return {each["key"] for each in rpc.result("memory_search", {"query": query, "level": "kb"})["results"]}

    framework = add("FastAPI 是一个现代、快速（高性能）的 Web 框架，用于构建 API。", "Python Web 框架", "python", word)
    requests = add("在 Python 中，使用 `requests` 库可以方便地发送 HTTP 请求。", "Python HTTP 请求库", word)
    deploying = add(f"服务的部署：先打标签，再推送 {word}。", "发布流程")
    code = add(f"fetchWithBackoff retries three times ({word}).", "Retries")
    try:
        assert found(f"fastapi {word}") == {framework}
        assert found(f"python {word}") == {framework, requests}
        assert found(f"python http {word}") == {requests}
        assert found(f"部署服务 {word}") == {deploying}
        assert found(f"怎么部署 {word}") == {deploying}
        assert found(f"框架 {word}") == {framework}
        assert found(f"架构 {word}") == set()
        assert found(f"retry {word}") == {code}
        assert found(f"fetch backoff {word}") == {code}
        assert found(f"FetchWithBackoff {word}") == {code}
        for nonsense in ("zzz qqq", "xyzzy plugh", "乌龟吃什么", f"{word} zebra", f"web {word} 乌龟", f"absent{word}"):
            assert found(nonsense) == set(), nonsense
    finally:
        for number in (framework, requests, deploying, code):
            rpc.result("memory_delete", [number])


@pytest.mark.clause("003 §8", "level kb: more entries than are shown are told in a note")
def test_search_in_knowledge_is_bounded(rpc: Rpc, word: str) -> None:
    made = [rpc.result("memory_add", [f"{word} number {number}", "of many"])["id"] for number in range(22)]
    result = rpc.result("memory_search", [word, "kb"])
    assert len(result["results"]) == 20
    assert "first 20 entries" in result["note"]
    for number in made:
        rpc.result("memory_delete", [number])


@pytest.mark.clause("003 §8", "level workspace: task and path as key; the first line that says it as value")
def test_search_in_workspaces(rpc: Rpc, task: str, word: str) -> None:
    filled(rpc, task, notes=f"first\n第二行 {word.upper()} 端口\nthird", other="nothing")
    result = rpc.result("memory_search", {"query": word, "level": "workspace"})
    value = {"line": 2, "text": f"第二行 {word.upper()} 端口"}
    assert result == {"status": "ok", "results": [{"source": "workspace", "key": f"{task}/notes.md", "value": value}]}
    assert rpc.result("memory_search", [f"端口 {word}", "workspace"])["results"][0]["key"] == f"{task}/notes.md"
    assert rpc.result("memory_search", [f"absent{word}", "workspace"])["results"] == []
    rpc.result("memory_cleanup", [task])


@pytest.mark.clause("003 §8", "all is meant without a level, and has both")
def test_search_everywhere(rpc: Rpc, task: str, word: str) -> None:
    filled(rpc, task, **{word: "the path says it"})
    number = rpc.result("memory_add", [f"knows {word}", "知识"])["id"]
    for params in ({"query": word}, {"query": word, "level": "all"}, [word]):
        found = {(each["source"], each["key"]) for each in rpc.result("memory_search", params)["results"]}
        assert {("kb", number), ("workspace", f"{task}/{word}.md")} <= found
    rpc.result("memory_cleanup", [task])


@pytest.mark.clause("003 §8", "links, pipes and binary files are not looked into")
def test_search_reads_plain_text_only(rpc: Rpc, task: str, word: str, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text(f"{word} outside")
    folder = rpc.folder(filled(rpc, task))
    (folder / "link.txt").symlink_to(outside)
    (folder / "folder").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / "binary").write_bytes(b"\0" + word.encode())
    assert rpc.result("memory_search", [word, "workspace"])["results"] == []
    assert word not in str(rpc.result("memory_dump", ["workspace"]))
    rpc.result("memory_cleanup", [task])


@pytest.mark.clause("003 §8", "more hits than are shown are told in a note")
def test_search_is_bounded(rpc: Rpc, task: str, word: str) -> None:
    filled(rpc, task, **{f"f{number}": word for number in range(30)})
    result = rpc.result("memory_search", [word, "workspace"])
    assert len(result["results"]) == 20
    assert "first 20" in result["note"]
    rpc.result("memory_cleanup", [task])
