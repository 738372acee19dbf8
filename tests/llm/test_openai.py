"""Chat completions over HTTP: what is sent, what each failure becomes, and that no server can hold a caller."""

from __future__ import annotations

import datetime
import gzip
import ipaddress
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from codexmem.kernel.llm.model import Message, ModelPrompt, Trouble, Unanswered
from codexmem.kernel.llm.openai import STRIKES, OpenAIModel
from codexmem.kernel.model.breaker import Breaker
from tests._support.model_server import (
    DRIP_HEADERS,
    RESET,
    SILENCE,
    Asked,
    Manner,
    ModelServer,
    Reply,
    huge,
    out_of_quota,
    rate_limited,
    refused,
    said,
)
from tests.llm.events import nothing

KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
PROMPT = ModelPrompt((Message("system", "Answer in JSON."), Message("user", "这是什么？")), "observations", SCHEMA, 500)
LATE_S = 5.0  # a machine with much to do


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(script=lambda _: "{}") as running:
        yield running


def model(server: ModelServer, **more: Any) -> OpenAIModel:
    given: dict[str, Any] = {"api_key": KEY, "pause_s": 0.01, "deadline_s": 20.0} | more
    return OpenAIModel("small", base_url=server.url, **given)


def trouble(asking: OpenAIModel) -> Unanswered:
    with pytest.raises(Unanswered) as caught:
        asking.answer(PROMPT, nothing)
    return caught.value


def test_a_prompt_is_sent_with_its_schema_and_its_limits(server: ModelServer) -> None:
    server.script = lambda _: said("回答", prompt_tokens=7, completion_tokens=3)
    answer = model(server).answer(PROMPT, nothing)
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("回答", 7, 3)
    asked = server.asked[0]
    assert (asked.path, asked.key) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert asked.body["response_format"] == {
        "type": "json_schema", "json_schema": {"name": "observations", "strict": True, "schema": SCHEMA},
    }  # fmt: skip
    assert asked.body["messages"][1] == {"role": "user", "content": "这是什么？"}
    assert asked.body["max_completion_tokens"] == 500
    assert asked.headers["accept-encoding"] == "identity"
    assert "stream" not in asked.body
    assert "reasoning_effort" not in asked.body  # a word that only OpenAI's own server is sure to know


@pytest.mark.parametrize(
    "reply, meant, calls",
    [
        (refused(400, "too long"), Trouble.UNRECOVERABLE, 1),
        (refused(401), Trouble.AUTH_INVALID, 1),
        (refused(403), Trouble.AUTH_INVALID, 1),
        (refused(404), Trouble.SETUP_REQUIRED, 1),
        (refused(402), Trouble.QUOTA_EXHAUSTED, 1),
        (out_of_quota(), Trouble.QUOTA_EXHAUSTED, 1),
        (rate_limited(), Trouble.RATE_LIMIT, 2),
        (rate_limited("0.01"), Trouble.RATE_LIMIT, 2),
        (rate_limited("6"), Trouble.RATE_LIMIT, 1),
        (rate_limited("Wed, 21 Oct 2026 07:28:00 GMT"), Trouble.RATE_LIMIT, 1),
        (refused(500), Trouble.TRANSIENT, 2),
        (refused(503), Trouble.TRANSIENT, 2),
        (RESET, Trouble.TRANSIENT, 2),
        (huge(10), Trouble.TRANSIENT, 1),
        (Reply(200, b"{not json"), Trouble.TRANSIENT, 1),
        (Reply(200, []), Trouble.TRANSIENT, 1),
        (Reply(200, {"choices": []}), Trouble.TRANSIENT, 1),
        (said(None), Trouble.TRANSIENT, 1),
        (Reply(200, b"<html>log in</html>", {"Content-Type": "text/html"}), Trouble.SETUP_REQUIRED, 1),
        (Reply(302, {}, {"Location": "http://127.0.0.1:9/"}), Trouble.SETUP_REQUIRED, 1),
        (said(None, finish="content_filter"), Trouble.UNRECOVERABLE, 1),
    ],
)
def test_each_failure_has_its_class_and_never_tells_the_key(
    server: ModelServer, reply: Reply, meant: Trouble, calls: int
) -> None:
    server.script = lambda _: reply
    error = trouble(model(server))
    assert error.trouble is meant
    assert server.count == calls
    assert KEY not in f"{error.message} {error.hint} {error!r} {error.__cause__} {model(server)!r}"
    assert "very-secret" not in error.message


def test_a_second_try_can_help(server: ModelServer) -> None:
    replies = iter([refused(500), said("{}")])
    server.script = lambda _: next(replies)
    assert model(server).answer(PROMPT, nothing).text == "{}"
    assert server.count == 2


@pytest.mark.parametrize(
    "reply",
    [
        SILENCE,
        DRIP_HEADERS,
        Reply(200, said("x" * 4_000).octets, manner=Manner.DRIP),
        Reply(500, b"x" * 4_000, manner=Manner.DRIP),
    ],
    ids=["silence", "headers", "body", "error"],
)
def test_t23_a_slow_server_is_cut_at_the_deadline_wherever_it_drips(server: ModelServer, reply: Reply) -> None:
    server.script = lambda _: reply
    asking = model(server, deadline_s=0.5)
    asking.server.prepared()  # loading the SDK is not the server's fault
    server.silence_s = 600
    error = trouble(asking)
    assert error.trouble is Trouble.TRANSIENT
    assert "within 0.5 s" in error.message
    assert error.prompt_tokens > 0  # the server may well send a bill


def test_t23_a_large_answer_is_not_read_to_its_end(server: ModelServer) -> None:
    server.script = lambda _: huge(10)
    assert "too large" in trouble(model(server)).message
    server.script = lambda _: said("x" * 900_000)
    assert len(model(server).answer(PROMPT, nothing).text) == 900_000


def test_t23_a_compressed_answer_is_refused(server: ModelServer) -> None:
    packed = gzip.compress(said("x" * 50_000_000).octets)
    assert len(packed) < 100_000
    server.script = lambda _: Reply(200, packed, {"Content-Encoding": "gzip"})
    assert "compressed" in trouble(model(server)).message


def test_t8_the_key_never_follows_a_redirect(server: ModelServer) -> None:
    with ModelServer() as elsewhere:
        server.script = lambda _: Reply(307, {}, {"Location": f"{elsewhere.url}/chat/completions"})
        assert trouble(model(server)).trouble is Trouble.SETUP_REQUIRED
        assert elsewhere.count == 0


class Interrupted(Exception):
    pass


def test_a_job_can_be_interrupted_while_the_server_thinks(server: ModelServer) -> None:
    server.script = lambda _: SILENCE
    server.silence_s = 600

    def check() -> None:
        if server.count:
            raise Interrupted

    with pytest.raises(Interrupted):
        model(server, deadline_s=600).answer(PROMPT, check)


def test_a_job_can_be_interrupted_between_two_tries(server: ModelServer) -> None:
    server.script = lambda _: refused(500)
    asked = [0]

    def check() -> None:
        if server.count:
            asked[0] += 1
        if asked[0] > 3:
            raise Interrupted

    with pytest.raises(Interrupted):
        model(server, pause_s=4.0).answer(PROMPT, check)
    assert server.count == 1


def test_strict_schemas_are_left_out_once_they_were_refused(server: ModelServer) -> None:
    def old(asked: Asked) -> Reply | None:
        wrong = asked.form == "json_schema"
        return refused(400, "Invalid 'response_format': json_schema is not supported") if wrong else said("{}")

    server.script = old
    asking = model(server)
    asking.answer(PROMPT, nothing)
    asking.answer(PROMPT, nothing)
    assert [asked.form for asked in server.asked] == ["json_schema", "json_object", "json_object"]
    instructions = server.asked[1].body["messages"][0]["content"]
    assert json.dumps(SCHEMA, separators=(",", ":")) in instructions  # the schema always goes along
    assert PROMPT.messages[0].content == "Answer in JSON."


def test_a_server_without_any_format_is_asked_in_words(server: ModelServer) -> None:
    server.script = lambda asked: said("{}") if asked.form == "text" else refused(400, "unknown field response_format")
    model(server).answer(PROMPT, nothing)
    assert [asked.form for asked in server.asked] == ["json_schema", "json_object", "text"]


def test_an_older_name_of_the_limit_is_used_once_the_new_one_was_refused(server: ModelServer) -> None:
    def old(asked: Asked) -> Reply:
        return refused(400, "unsupported: max_completion_tokens") if "max_tokens" not in asked.body else said("{}")

    server.script = old
    asking = model(server)
    asking.answer(PROMPT, nothing)
    asking.answer(PROMPT, nothing)
    assert [asked.body.get("max_tokens") for asked in server.asked] == [None, 500, 500]


def test_a_refusal_that_nothing_can_fix_ends(server: ModelServer) -> None:
    server.script = lambda _: refused(400, "response_format max_completion_tokens reasoning_effort")
    assert trouble(model(server)).trouble is Trouble.UNRECOVERABLE
    assert server.count <= 5


def test_what_a_server_cannot_have_counted_is_estimated(server: ModelServer) -> None:
    for usage in (None, {}, {"prompt_tokens": -1, "completion_tokens": 10**12}, {"prompt_tokens": "x"}):
        body = json.loads(said("四个字的").octets)
        body["usage"] = usage
        server.script = lambda _, body=body: Reply(200, body)  # type: ignore[misc]
        answer = model(server).answer(PROMPT, nothing)
        assert 5 < answer.prompt_tokens < 50
        assert answer.completion_tokens == 4


def test_a_dead_server_is_left_alone_after_a_few_quick_failures(server: ModelServer) -> None:
    now = [100.0]
    asking = model(server, breaker=Breaker(first_s=10.0), now_s=lambda: now[0])
    server.stop()
    for _ in range(STRIKES):
        assert "retrying later" not in trouble(asking).message
    for _ in range(100):
        error = trouble(asking)
        assert "retrying later" in error.message
        assert error.trouble is Trouble.TRANSIENT
    server.start()
    now[0] += 10.0
    asking.answer(PROMPT, nothing)
    asking.answer(PROMPT, nothing)


@pytest.mark.parametrize("reply", [refused(401), out_of_quota(), refused(404)])
def test_what_somebody_has_to_fix_is_not_asked_again_at_once(server: ModelServer, reply: Reply) -> None:
    server.script = lambda _: reply
    asking = model(server)
    first, second = trouble(asking), trouble(asking)
    assert first.trouble is second.trouble
    assert server.count == 1


def test_one_slow_failure_is_enough(server: ModelServer) -> None:
    server.script = lambda _: SILENCE
    asking = model(server, deadline_s=0.3)
    trouble(asking)
    assert "retrying later" in trouble(asking).message
    assert server.count == 1


def test_a_server_that_asks_for_a_pause_gets_it(server: ModelServer) -> None:
    now = [100.0]
    server.script = lambda _: rate_limited("30")
    asking = model(server, now_s=lambda: now[0])
    assert trouble(asking).wait_s == 30
    now[0] += 29
    assert trouble(asking).trouble is Trouble.RATE_LIMIT
    assert server.count == 1
    now[0] += 1
    trouble(asking)
    assert server.count == 2


def test_a_refused_prompt_does_not_close_the_way_for_the_next(server: ModelServer) -> None:
    replies = iter([refused(400, "no")] * 5)
    server.script = lambda _: next(replies, said("{}"))
    asking = model(server)
    for _ in range(5):
        assert trouble(asking).trouble is Trouble.UNRECOVERABLE
    assert asking.answer(PROMPT, nothing).text == "{}"


def test_without_a_key_nothing_is_sent_to_the_default_server() -> None:
    error = trouble(OpenAIModel("small"))
    assert error.trouble is Trouble.SETUP_REQUIRED
    assert "OPENAI_API_KEY" in str(error.hint)


def test_what_the_environment_says_about_openai_stays_at_openai(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET", "BASE_URL"):
        monkeypatch.setenv(f"OPENAI_{name}", f"canary-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: canary-1\nAuthorization: Bearer canary-2")
    model(server).answer(PROMPT, nothing)
    assert "canary" not in str(server.asked[0].headers)
    assert server.asked[0].key == f"Bearer {KEY}"
    assert "x-stainless-os" not in server.asked[0].headers


def test_a_server_at_home_needs_no_key(server: ModelServer) -> None:
    model(server, api_key="").answer(PROMPT, nothing)
    assert server.asked[0].key == "Bearer none"


def test_a_prompt_beyond_all_bounds_is_not_sent(server: ModelServer) -> None:
    long = ModelPrompt((Message("user", "x" * 200_000),), "observations", SCHEMA, 10)
    with pytest.raises(Unanswered, match="longer than"):
        model(server).answer(long, nothing)
    assert server.count == 0


def test_a_proxy_is_used_where_one_is_set_but_never_for_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    server.endpoints["http://model.invalid/v1/chat/completions"] = server.endpoints["/v1/chat/completions"]
    far = OpenAIModel("small", base_url="http://model.invalid/v1", api_key=KEY)
    assert far.answer(PROMPT, nothing).text == "{}"
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert model(server).answer(PROMPT, nothing).text == "{}"
    monkeypatch.setenv("http_proxy", "gopher://127.0.0.1:9")
    assert "proxy" in trouble(OpenAIModel("small", base_url="http://model.invalid/v1", api_key=KEY)).message


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of our own for this machine, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1)).add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256())
    )  # fmt: skip
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


def test_an_encrypted_server_is_asked_and_bounded_alike(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ModelServer(script=lambda _: "{}", tls=context) as server:
        untrusting = model(server)
        assert trouble(untrusting).trouble is Trouble.TRANSIENT
        assert server.count == 0  # neither prompt nor key went to a stranger
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert model(server).answer(PROMPT, nothing).text == "{}"
        server.script = lambda _: said("x" * 900_000)
        assert len(model(server).answer(PROMPT, nothing).text) == 900_000
        server.script = lambda _: Reply(200, said("x" * 4_000).octets, manner=Manner.DRIP)
        assert "within 0.5 s" in trouble(model(server, deadline_s=0.5)).message
