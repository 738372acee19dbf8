"""Contract 003: JSON-RPC 2.0 itself, over HTTP."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from tests._support.rpc_calls import Rpc

STATUS = {"jsonrpc": "2.0", "method": "memory_get_status"}


def code_of(answer: Any) -> tuple[int, Any]:
    return answer["error"]["code"], answer["id"]


@pytest.mark.clause("003 §0", "ids of every legal kind come back as they were")
@pytest.mark.parametrize("number", [1, -7, 0, 2.5, "a", "编号 1", "", None, 2**53 + 1])
def test_an_id_comes_back(rpc: Rpc, number: object) -> None:
    answer = rpc.raw({**STATUS, "params": {}, "id": number})
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", number)
    assert type(answer["id"]) is type(number)
    assert set(answer) == {"jsonrpc", "result", "id"}


@pytest.mark.clause("003 §0", "what is no request is -32600")
@pytest.mark.parametrize(
    "message",
    [
        1, "x", b"null", True, {}, {"jsonrpc": "1.0", "method": "memory_get_status", "id": 1},
        {"method": "memory_get_status", "id": 1}, {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "method": 5, "id": 1},
        {**STATUS, "params": 3, "id": 1}, {**STATUS, "params": None, "id": 1}, {**STATUS, "params": "x", "id": 1},
        {**STATUS, "id": {}}, {**STATUS, "id": [1]}, {**STATUS, "id": True},
    ],
)  # fmt: skip
def test_an_invalid_request(rpc: Rpc, message: object) -> None:
    number = message.get("id") if isinstance(message, dict) else None
    known = number if isinstance(number, int) and not isinstance(number, bool) else None
    assert code_of(rpc.raw(message)) == (-32600, known)


@pytest.mark.clause("003 §0", "what is no JSON is -32700, in the protocol's own form")
@pytest.mark.parametrize(
    "body",
    [
        b"{", b'{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', b"\xff\xfe", b"NaN", b'{"id": 1e999}',
        b"[" * 100_000, b'{"a": 1, "a": 2}', b'{"id": 9223372036854775808}', b'{"a": "\\ud800"}', b'{"a": "x\\u0000y"}',
        b'[{"jsonrpc": "2.0", "method": "memory_get_status", "id": "1"},{"jsonrpc": "2.0", "method"]',
    ],
)  # fmt: skip
def test_a_parse_error(rpc: Rpc, body: bytes) -> None:
    reply = rpc.server.post("/rpc", body)
    assert (reply.status, reply.headers["content-type"]) == (400, "application/json")
    assert (reply.json["jsonrpc"], *code_of(reply.json)) == ("2.0", -32700, None)
    assert reply.json["error"]["message"].startswith("Parse error")


@pytest.mark.clause("003 §0", "an unknown method is -32601")
@pytest.mark.parametrize("method", ["foobar", "rpc.discover", "MEMORY_ADD", "", "memory_add ", "内存"])
def test_an_unknown_method(rpc: Rpc, method: str) -> None:
    code, message = rpc.error(method, {})
    assert code == -32601
    assert message.startswith("Method not found")


@pytest.mark.clause("003 §0", "wrong parameters are -32602, by name and by position")
@pytest.mark.parametrize(
    "method, params",
    [
        ("memory_add", {}), ("memory_add", {"content": "a"}), ("memory_add", ["a"]), ("memory_add", {"content": 1,
         "summary": "s"}), ("memory_add", {"content": "a", "summary": "s", "tags": "x"}),
        ("memory_add", {"content": "a", "summary": "s", "tags": [1]}), ("memory_add", ["a", "s", ["t"], "more"]),
        ("memory_add", {"content": "", "summary": "s"}), ("memory_add", {"content": "a", "summary": " "}),
        ("memory_add", {"content": "a", "summary": "s", "color": "red"}),
        ("memory_query", {"query": "x", "top_k": 0}), ("memory_query", {"query": "x", "top_k": "3"}),
        ("memory_query", {"query": "x", "top_k": True}), ("memory_query", {"query": "x", "top_k": 1.5}),
        ("memory_query", {"query": " "}), ("memory_query", []), ("memory_query", {"query": "x", "top_k": 101}),
        ("memory_delete", {}), ("memory_delete", {"kb_id": 5}), ("memory_dump", {"level": "disk"}),
        ("memory_search", {"query": "x", "level": "KB"}), ("memory_get_status", {"x": 1}),
        ("memory_get_status", [1]), ("memory_backup", {"to": "/tmp"}), ("memory_restore", {}),
        ("memory_init_workspace", {"task_id": "../x"}), ("memory_cleanup", {"task_id": "."}),
    ],
)  # fmt: skip
def test_invalid_params(rpc: Rpc, method: str, params: object) -> None:
    code, message = rpc.error(method, params)
    assert code == -32602
    assert message.startswith("Invalid params")


@pytest.mark.clause("003 §0", "what the server cannot do is one of its own errors, with a hint")
def test_a_server_error(rpc: Rpc) -> None:
    answer = rpc.answer("memory_delete", {"kb_id": "kb-nowhere"})
    assert answer["error"]["code"] == -32001
    assert answer["error"]["data"]["code"] == "not_found"
    assert answer["error"]["data"]["hint"]


@pytest.mark.clause("003 §0", "a notification is carried out and not answered")
def test_a_notification(rpc: Rpc, task: str) -> None:
    reply = rpc.server.post("/rpc", {"jsonrpc": "2.0", "method": "memory_init_workspace", "params": {"task_id": task}})
    assert (reply.status, reply.body) == (204, b"")
    for silent in ({"jsonrpc": "2.0", "method": "nowhere"}, {"jsonrpc": "2.0", "method": "memory_add", "params": []}):
        assert rpc.server.post("/rpc", silent).body == b""
    assert rpc.result("memory_cleanup", [task])["status"] == "success"


@pytest.mark.clause("003 §0", "a batch is answered in order, notifications apart; an empty one is -32600")
def test_a_batch(rpc: Rpc, task: str) -> None:
    answers = rpc.raw([
        {"jsonrpc": "2.0", "method": "memory_init_workspace", "params": {"task_id": task}, "id": "1"},
        {"jsonrpc": "2.0", "method": "memory_get_status"},
        {"jsonrpc": "2.0", "method": "memory_cleanup", "params": [task], "id": "2"},
        {"foo": "boo"},
        1,
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "memory_get_status", "id": "2"},
    ])  # fmt: skip
    assert [answer["id"] for answer in answers] == ["1", "2", None, None, "5", "2"]
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, None, -32600, -32600, -32601, None]
    assert answers[1]["result"]["status"] == "success"
    assert code_of(rpc.raw([])) == (-32600, None)
    assert rpc.server.post("/rpc", [STATUS, STATUS]).status == 204


@pytest.mark.clause("003 §0", "a batch has at most 50 calls and 1 MiB; of a larger one none is run")
def test_a_batch_is_bounded(rpc: Rpc, task: str) -> None:
    make = {"jsonrpc": "2.0", "method": "memory_init_workspace", "params": [task], "id": 1}
    assert len(rpc.raw([{**STATUS, "id": n} for n in range(50)])) == 50
    assert code_of(rpc.raw([make] * 51)) == (-32600, None)
    assert code_of(rpc.raw([make] * 5_000)) == (-32600, None)
    large = rpc.server.post("/rpc", [make, {**STATUS, "id": "x" * (1 << 20)}])
    assert code_of(large.json) == (-32600, None)
    assert rpc.server.post("/rpc", b"[" + b"1," * 1_000_000 + b"1]").json["error"]["code"] == -32700
    assert rpc.error("memory_cleanup", [task])[0] == -32001


@pytest.mark.clause("003 §0", "what is refused before it is read is answered in the protocol's form too")
def test_refusals_speak_the_protocol(rpc: Rpc) -> None:
    server = rpc.server
    cases = [
        server.request("GET", "/rpc"),
        server.post("/rpc", b"{}", {"Content-Type": "text/plain"}),
        server.post("/rpc", {}, {"Origin": "http://evil.test"}),
        server.post("/rpc", {}, {"Sec-Fetch-Site": "cross-site"}),
        server.post("/rpc", b'"' + b"x" * (5 << 20) + b'"'),
        server.post("/rpc/more", {}),
    ]
    assert [reply.status for reply in cases] == [405, 415, 403, 403, 413, 404]
    for reply in cases:
        assert reply.json["jsonrpc"] == "2.0"
        assert reply.json["id"] is None
        assert -32099 <= reply.json["error"]["code"] <= -32000
    assert server.request("POST", "/rpc").json["error"]["code"] in {-32700, -32600}


@pytest.mark.clause("003 §0", "without a key a team's server answers -32003")
def test_a_key_is_asked_for(rpc: Rpc) -> None:
    if rpc.server.key is None:
        assert rpc.answer("memory_get_status")["result"]
        return
    connection = http.client.HTTPConnection("127.0.0.1", rpc.server.port, timeout=20)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/rpc", json.dumps({**STATUS, "id": 1}), headers)
        reply = connection.getresponse()
        assert (reply.status, json.loads(reply.read())["error"]["code"]) == (401, -32003)
    finally:
        connection.close()
