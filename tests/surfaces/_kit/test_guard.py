"""The guard as an ASGI application: what it refuses never reaches a handler, what it admits arrives whole."""

import asyncio
import json
import threading

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codexmem.http import guard
from codexmem.http.errors import ErrorTable
from codexmem.http.guard import Guard, GuardSettings
from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.model.tenant import Identity
from tests.surfaces._kit.asgi import HOST, JSON, PORT, Answer, Pairs, answered, call, post
from tests.surfaces._kit.endpoints import KEY, LIMITS, ROUTES, TENANT, Endpoints, acting_as, application, keyring
from tests.surfaces._kit.variants import ALLOWED, FORBIDDEN, OURS, Variant

BEARER = ("authorization", f"Bearer {KEY}")


def usual(method: str, path: str) -> bytes:
    return b'{"title": "t"}' if method == "POST" and path != "/api/reset" else b""


def concrete(path: str) -> str:
    return path.replace("{item}", "5").replace("{how}", "missing")


def attempt(app: ASGIApp, method: str, path: str, variant: Variant, extra: Pairs = ()) -> Answer:
    body = usual(method, path) if variant.body is None else variant.body
    headers = [*variant.at(PORT), *extra]
    if variant.body is None and body:
        headers.append(JSON)
    return call(app, method, concrete(path), host=None, headers=headers, body=body)


def assert_silent(answer: Answer) -> None:
    assert not [name for name, _ in answer.headers if name.startswith("access-control-")]
    assert answer.header("x-content-type-options") == "nosniff"
    assert b"Traceback" not in answer.body


@pytest.mark.parametrize("variant", FORBIDDEN, ids=lambda variant: variant.name)
def test_a_forbidden_request_enters_no_handler(app: ASGIApp, endpoints: Endpoints, variant: Variant) -> None:
    for method, path in ROUTES:
        answer = attempt(app, method, path, variant)
        assert answer.status == variant.status, (method, path)
        assert answer.header("content-type") == "application/json"
        assert set(answer.json) <= {"error", "hint"}
        assert_silent(answer)
    assert endpoints.total == 0


@pytest.mark.parametrize("variant", FORBIDDEN, ids=lambda variant: variant.name)
def test_a_key_does_not_open_what_is_forbidden(keyed: ASGIApp, endpoints: Endpoints, variant: Variant) -> None:
    for method, path in ROUTES:
        assert attempt(keyed, method, path, variant, [BEARER]).status == variant.status
    assert endpoints.total == 0


@pytest.mark.parametrize("variant", ALLOWED, ids=lambda variant: variant.name)
def test_an_allowed_request_enters_one_handler(app: ASGIApp, endpoints: Endpoints, variant: Variant) -> None:
    for method, path in ROUTES:
        before = endpoints.total
        answer = attempt(app, method, path, variant)
        handled = path not in {"/openapi.json", "/api/nowhere"} and method != "OPTIONS"
        assert endpoints.total - before == handled, (method, path)
        assert answer.status == {"/api/nowhere": 404, "/api/v1/fail/{how}": 404}.get(
            path, 405 if method == "OPTIONS" else 200
        )
        assert_silent(answer)


def test_a_missing_host_is_refused(app: ASGIApp, endpoints: Endpoints) -> None:
    for method, path in ROUTES:
        assert call(app, method, concrete(path), host=None).status == 421
    assert endpoints.total == 0


@pytest.mark.parametrize("second", [HOST, "evil.test", ""])
def test_a_doubled_host_is_refused_even_if_both_are_ours(app: ASGIApp, endpoints: Endpoints, second: str) -> None:
    for method, path in ROUTES:
        assert call(app, method, concrete(path), headers=[("host", second)]).status == 421
    assert endpoints.total == 0


def test_a_target_in_absolute_form_is_refused(app: ASGIApp, endpoints: Endpoints) -> None:
    assert call(app, "GET", "http://evil.test/api/health").status == 421
    assert endpoints.total == 0


def test_the_port_is_that_of_the_socket(app: ASGIApp) -> None:
    assert call(app, "GET", "/api/health", host="127.0.0.1:5", server=("127.0.0.1", 5)).status == 200
    assert call(app, "GET", "/api/health", host="127.0.0.1", server=("127.0.0.1", 80)).status == 200
    assert call(app, "GET", "/api/health", server=("127.0.0.1", 5)).status == 421
    assert call(app, "GET", "/api/health", server=None).status == 421


def test_configured_names_are_answered(endpoints: Endpoints) -> None:
    app = application(endpoints, names=("mem.example.org", "box:8443"))
    for host, status in [
        ("mem.example.org", 200),
        ("MEM.example.org", 200),
        (f"mem.example.org:{PORT}", 200),
        ("mem.example.org:1", 421),
        ("mem.example.org.", 421),
        ("x.mem.example.org", 421),
        ("box:8443", 200),
        ("box", 421),
        (f"box:{PORT}", 421),
    ]:
        assert call(app, "GET", "/api/health", host=host).status == status, host


def test_https_origins_belong_to_configured_names_only(endpoints: Endpoints) -> None:
    app = application(endpoints, names=("mem.example.org",))
    for origin, status in [
        ("https://mem.example.org", 200),
        ("https://mem.example.org:443", 200),
        ("http://mem.example.org", 200),
        ("https://mem.example.org:444", 403),
        ("https://MEM.example.org", 403),
        (f"https://127.0.0.1:{PORT}", 403),
        ("ftp://mem.example.org", 403),
    ]:
        got = call(app, "GET", "/api/health", host="mem.example.org", headers=[("origin", origin)]).status
        assert got == status, origin


def test_a_malformed_configured_name_fails_at_start(endpoints: Endpoints) -> None:
    with pytest.raises(InvalidArgument, match="not a host name"):
        application(endpoints, names=("https://mem.example.org",))


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        'application/json; charset="UTF-8"',
        "application/json; charset=utf-8; profile=x",
        "application/json;",
    ],
)
def test_json_may_carry_parameters(app: ASGIApp, content_type: str) -> None:
    answer = call(app, "POST", "/api/echo", headers=[("content-type", content_type)], body=b'{"a": "\xc3\xa9"}')
    assert (answer.status, answer.json["echo"]) == (200, {"a": "é"})


def test_requests_without_a_body_need_no_content_type(app: ASGIApp, endpoints: Endpoints) -> None:
    assert call(app, "POST", "/api/reset").status == 200
    assert call(app, "POST", "/api/reset", headers=[("content-length", "0")]).status == 200
    assert call(app, "DELETE", "/api/items/5").status == 200
    assert call(app, "POST", "/api/reset", headers=[("content-type", "text/plain")]).status == 200
    assert endpoints.total == 4


def test_a_body_that_no_header_announced_is_still_a_body(app: ASGIApp, endpoints: Endpoints) -> None:
    async def sneak() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"a=1", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/api/reset", "query_string": b"",
            "headers": [(b"host", HOST.encode())], "server": ("127.0.0.1", PORT),
        }  # fmt: skip
        await app(scope, receive, send)
        return sent

    assert asyncio.run(sneak())[0]["status"] == 415
    assert endpoints.total == 0


def test_chunked_bodies_arrive_whole_or_not_at_all(app: ASGIApp, endpoints: Endpoints) -> None:
    answer = call(app, "POST", "/api/echo", headers=[JSON], chunks=[b'{"a":', b"", b"[1,2]}"])
    assert (answer.status, answer.json["echo"]) == (200, {"a": [1, 2]})
    big = [b'"', *[b"x" * 1000] * 66, b'"']
    for method, path in ROUTES:
        assert call(app, method, concrete(path), headers=[JSON], chunks=big).status == 413
    assert endpoints.total == 1


def test_a_chunked_body_is_refused_before_it_is_read_to_its_end(
    endpoints: Endpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "_DISCARDED_BYTES", 5_000)
    app = application(endpoints)
    seen = answered_at = 0

    async def endless() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            nonlocal seen
            seen += 1000
            return {"type": "http.request", "body": b" " * 1000, "more_body": True}

        async def send(message: Message) -> None:
            nonlocal answered_at
            answered_at = answered_at or seen
            sent.append(message)

        headers = [(b"host", HOST.encode()), (b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")]
        scope = {
            "type": "http", "method": "POST", "path": "/api/echo", "query_string": b"",
            "headers": headers, "server": ("127.0.0.1", PORT),
        }  # fmt: skip
        await app(scope, receive, send)
        return sent

    assert asyncio.run(endless())[0]["status"] == 413
    assert LIMITS.body_bytes < answered_at <= LIMITS.body_bytes + 1000
    assert seen == answered_at + 5_000  # thrown away behind the answer, and no more than that


def test_an_announced_body_over_the_limit_is_answered_before_it_is_read(app: ASGIApp, endpoints: Endpoints) -> None:
    async def announce() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        size = str(LIMITS.body_bytes + 1).encode()
        headers = [(b"host", HOST.encode()), (b"content-type", b"application/json"), (b"content-length", size)]
        scope = {
            "type": "http", "method": "POST", "path": "/api/echo", "query_string": b"",
            "headers": headers, "server": ("127.0.0.1", PORT),
        }  # fmt: skip
        await app(scope, receive, send)
        return sent

    assert asyncio.run(announce())[0]["status"] == 413
    assert endpoints.total == 0


def test_a_body_of_exactly_the_limit_passes(app: ASGIApp) -> None:
    body = b'"' + b"x" * (LIMITS.body_bytes - 2) + b'"'
    assert call(app, "POST", "/api/echo", headers=[JSON], body=body).status == 200
    assert call(app, "POST", "/api/echo", headers=[JSON], body=body + b" ").status == 413


@pytest.mark.parametrize(
    "framing",
    [
        [("content-length", "2"), ("transfer-encoding", "chunked")],
        [("content-length", "2"), ("content-length", "3")],
        [("content-length", "+2")],
        [("content-length", "-1")],
        [("content-length", "0x2")],
        [("content-length", "9" * 19)],
        [("content-length", "²")],
    ],
)
def test_ambiguous_framing_is_refused(app: ASGIApp, endpoints: Endpoints, framing: Pairs) -> None:
    assert call(app, "POST", "/api/reset", headers=[JSON, *framing]).status == 400
    assert endpoints.total == 0


def test_a_slow_body_is_given_up(endpoints: Endpoints) -> None:
    app = application(endpoints, body_seconds=0.05)

    async def drip() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            await asyncio.to_thread(int)  # let the clock of the guard go on
            return {"type": "http.request", "body": b" ", "more_body": True}

        async def send(message: Message) -> None:
            sent.append(message)

        headers = [(b"host", HOST.encode()), (b"content-type", b"application/json"), (b"content-length", b"9999")]
        scope = {
            "type": "http", "method": "POST", "path": "/api/v1/batches", "query_string": b"",
            "headers": headers, "server": ("127.0.0.1", PORT),
        }  # fmt: skip
        await app(scope, receive, send)
        return sent

    start, end = asyncio.run(drip())
    assert start["status"] == 408
    assert json.loads(end["body"])["error"]["code"] == "request_timeout"
    assert endpoints.total == 0


def test_a_client_that_hangs_up_gets_no_answer(app: ASGIApp, endpoints: Endpoints) -> None:
    async def hang_up() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {
            "type": "http", "method": "GET", "path": "/api/health", "query_string": b"",
            "headers": [(b"host", HOST.encode())], "server": ("127.0.0.1", PORT),
        }  # fmt: skip
        await app(scope, receive, send)
        return sent

    assert asyncio.run(hang_up()) == []
    assert endpoints.total == 0


def test_nul_in_the_address_is_refused(app: ASGIApp, endpoints: Endpoints) -> None:
    assert call(app, "GET", "/api/items/\0").status == 400
    assert call(app, "GET", "/api/health", query=b"q=a%00b").status == 400
    assert call(app, "GET", "/api/health", query=b"q=a%2500b").status == 200
    assert endpoints.total == 1


def test_a_huge_head_is_refused(app: ASGIApp, endpoints: Endpoints) -> None:
    assert call(app, "GET", "/api/health", headers=[("x", "x" * 33_000)]).status == 431
    assert call(app, "GET", "/api/health", query=b"q" * 33_000).status == 431
    assert call(app, "GET", "/api/health", headers=[("x", "x" * 30_000)]).status == 200
    assert endpoints.total == 1


def test_websockets_are_refused(app: ASGIApp, endpoints: Endpoints) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def connect() -> None:
        await app({"type": "websocket", "path": "/api/health", "headers": []}, receive, send)

    asyncio.run(connect())
    assert [message["type"] for message in sent] == ["websocket.close"]
    assert endpoints.total == 0


@pytest.mark.parametrize(
    "credentials",
    [
        [],
        [("authorization", "Bearer wrong")],
        [("authorization", "Bearer ")],
        [("authorization", f"Basic {KEY}")],
        [("authorization", f"Bearer {KEY} x")],
        [("authorization", f"Bearer {KEY}é")],
        [("authorization", "Bearer " + "k" * 600)],
        [BEARER, BEARER],
        [("x-api-key", KEY)],
        [("cookie", f"token={KEY}")],
    ],
)
def test_without_a_known_key_nothing_but_the_open_paths_answers(
    keyed: ASGIApp, endpoints: Endpoints, credentials: Pairs
) -> None:
    for method, path in ROUTES:
        body = usual(method, path)
        answer = call(keyed, method, concrete(path), headers=[*credentials, *([JSON] if body else [])], body=body)
        if path in {"/api/health", "/api/version"}:
            assert answer.status == 200
        else:
            assert (answer.status, answer.header("www-authenticate")) == (401, "Bearer"), (method, path)
    assert endpoints.total == 2


def test_open_paths_are_open_for_reading_and_by_their_exact_name(keyed: ASGIApp, endpoints: Endpoints) -> None:
    assert call(keyed, "POST", "/api/health").status == 401
    for path in ["/api/health/", "//api/health", "/api/health/../echo", "/API/health", "/api/healthz"]:
        assert call(keyed, "GET", path).status == 401
    assert endpoints.total == 0


def test_a_key_that_is_too_odd_never_reaches_the_authenticator(endpoints: Endpoints) -> None:
    asked: list[str | None] = []
    app = application(endpoints, authenticate=asked.append)
    for value in ["Bearer a b", "Bearer \x7f", "bearer", "Token x"]:
        assert call(app, "GET", "/api/items/5", headers=[("authorization", value)]).status == 401
    assert asked == []
    call(app, "GET", "/api/items/5")
    assert asked == [None]


def test_the_tenant_comes_from_the_key_and_reaches_worker_threads(keyed: ASGIApp, app: ASGIApp) -> None:
    answer = call(keyed, "GET", "/api/items/5", headers=[BEARER, ("x-tenant", "other")])
    assert answer.json["tenant"] == "acme"
    assert answer.json["thread"] != threading.current_thread().name
    assert call(keyed, "GET", "/api/stream", headers=[BEARER]).body == b"acme\nacme\n"
    assert call(keyed, "GET", "/api/health", headers=[BEARER]).json["tenant"] is None
    assert call(app, "GET", "/api/items/5").json["tenant"] == "local"
    assert TENANT.get() is None


def test_the_authenticator_runs_off_the_event_loop(endpoints: Endpoints) -> None:
    threads: list[str] = []

    def slow_lookup(bearer: str | None) -> None:
        threads.append(threading.current_thread().name)

    call(application(endpoints, authenticate=slow_lookup), "GET", "/api/items/5")
    assert threads != [threading.current_thread().name]


def test_requests_with_one_key_share_one_look(endpoints: Endpoints) -> None:
    looks: list[str | None] = []
    begun, all_wait = threading.Event(), threading.Event()

    def slow_lookup(bearer: str | None) -> Identity:
        looks.append(bearer)
        begun.set()
        assert all_wait.wait(60)
        return Identity("acme", "key")

    app = application(endpoints, authenticate=slow_lookup)

    async def together() -> list[int]:
        headers = [("authorization", "Bearer same")]
        given = (headers, HOST, b"", None, b"", ("127.0.0.1", PORT))
        calls = [asyncio.create_task(answered(app, "GET", "/api/items/5", *given)) for _ in range(20)]
        await asyncio.to_thread(begun.wait, 60)
        all_wait.set()
        return [answer.status for answer in await asyncio.gather(*calls)]

    assert asyncio.run(together()) == [200] * 20
    assert looks == ["same"]


def test_an_authenticator_that_fails_admits_nobody(endpoints: Endpoints, caplog: pytest.LogCaptureFixture) -> None:
    def broken(bearer: str | None) -> None:
        raise RuntimeError("password=hunter2")

    def down(bearer: str | None) -> None:
        raise Unavailable("the key store does not answer")

    answer = call(application(endpoints, authenticate=broken), "GET", "/api/items/5")
    assert answer.status == 500
    assert b"hunter2" not in answer.body
    assert "hunter2" in caplog.text
    assert call(application(endpoints, authenticate=down), "GET", "/api/items/5").status == 503
    assert endpoints.total == 0


def test_steps_are_taken_in_order(keyed: ASGIApp) -> None:
    """Each request breaks this rule and all later ones; the first broken rule answers."""
    wrongs = [
        ("host", "evil.test"),
        ("sec-fetch-site", "cross-site"),
        ("origin", "null"),
        ("content-type", "text/plain"),
    ]
    rights = [OURS, ("sec-fetch-site", "none"), ("origin", f"http://{HOST}"), JSON]
    for step, status in enumerate([421, 403, 403, 415]):
        headers = [(n, v.replace("P", str(PORT))) for n, v in [*rights[:step], *wrongs[step:]]]
        assert call(keyed, "POST", "/api/echo", host=None, headers=headers, body=b"{" * 99999).status == status
    assert call(keyed, "POST", "/api/echo", headers=[JSON], body=b"{" * 99999).status == 413
    assert call(keyed, "POST", "/api/echo", headers=[JSON], body=b"{" * 99).status == 400
    assert call(keyed, "POST", "/api/echo", headers=[JSON], body=b"{}").status == 401
    assert call(keyed, "POST", "/api/echo", headers=[JSON, BEARER], body=b"{}").status == 200


def test_refusals_speak_the_language_of_the_path(app: ASGIApp) -> None:
    plain = call(app, "POST", "/api/echo", headers=[JSON], body=b"{")
    assert plain.json == {"error": "request body is not valid JSON"}
    envelope = call(app, "POST", "/api/v1/batches", headers=[JSON], body=b"{")
    assert envelope.json == {
        "error": {"code": "invalid_argument", "message": "request body is not valid JSON", "details": {}}
    }


def test_cors_headers_of_an_endpoint_are_removed(app: ASGIApp) -> None:
    assert_silent(call(app, "POST", "/api/reset"))


def test_the_guard_stands_alone_before_any_application() -> None:
    """It needs nothing from the framework: a bare ASGI application gets the body once, whole."""
    got: list[bytes] = []

    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        got.append(message["body"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = Guard(bare, GuardSettings(keyring, acting_as), ErrorTable())
    assert call(guard, "POST", "/mcp", headers=[JSON, BEARER], chunks=[b"[1", b",2]"]).status == 204
    assert got == [b"[1,2]"]
    assert post(guard, "/mcp", {}).status == 401
