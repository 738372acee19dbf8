"""Conversations over HTTP: streams put together, servers that cannot do everything, and stopping in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from codexmem.kernel.llm.chat import ChatMessage, ChatReply, ChatTool, ToolCall
from codexmem.kernel.llm.chat_choice import MOST, ChatModels
from codexmem.kernel.llm.chat_openai import OpenAIChat
from codexmem.kernel.llm.choice import ModelChoice
from codexmem.kernel.llm.model import Trouble, Unanswered
from tests._support.chat_server import chunk, stream, streamed
from tests._support.model_server import (
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
from tests._support.waiting import eventually
from tests.llm.events import nothing

KEY = "sk-very-secret-0123456789"
TOOL = ChatTool("kb_query", "Search", {"type": "object", "properties": {"query": {"type": "string"}}})
MESSAGES = [ChatMessage("system", "Plan."), ChatMessage("user", "找一个催化剂")]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(script=lambda _: streamed("好")) as running:
        yield running


def chat(server: ModelServer, **more: Any) -> OpenAIChat:
    given: dict[str, Any] = {"api_key": KEY, "pause_s": 0.01, "deadline_s": 20.0, "max_bytes": 1 << 20} | more
    return OpenAIChat("small", base_url=server.url, **given)


def ask(model: OpenAIChat, check: Any = nothing, messages: Any = MESSAGES, **more: Any) -> ChatReply:
    return model.reply(messages, [TOOL], temperature=0.3, max_tokens=500, check=check, **more)


def trouble(model: OpenAIChat) -> Unanswered:
    with pytest.raises(Unanswered) as caught:
        ask(model)
    return caught.value


def test_a_stream_is_put_together(server: ModelServer) -> None:
    arguments = {"query": "二氧化钛 " * 200}
    server.script = lambda _: streamed("我先查一下。", ("kb_query", arguments), ("kb_list", {}), usage=(70, 30))
    reply = ask(chat(server))
    assert reply.content == "我先查一下。"
    assert [(call.id, call.name) for call in reply.tool_calls] == [("call_0", "kb_query"), ("call_1", "kb_list")]
    assert "二氧化钛" in reply.tool_calls[0].arguments
    assert (reply.prompt_tokens, reply.completion_tokens, reply.finish) == (70, 30, "tool_calls")
    assert reply.raw == {"id": "chatcmpl-1", "model": "scripted", "finish_reason": "tool_calls"}
    body = server.asked[0].body
    assert (body["stream"], body["stream_options"], body["temperature"]) == (True, {"include_usage": True}, 0.3)
    assert body["tools"][0] == {
        "type": "function",
        "function": {"name": "kb_query", "description": "Search", "parameters": dict(TOOL.schema)},
    }
    assert server.asked[0].key == f"Bearer {KEY}"


def test_a_conversation_goes_over_whole_and_unreadable_arguments_cannot_upset_a_server(server: ModelServer) -> None:
    calls = (
        ToolCall("a", "kb_query", '{"query": "x"}'),
        ToolCall("b", "nonsense", "{broken"),
        ToolCall("c", "kb_list", ""),
    )
    talk = [*MESSAGES, ChatMessage("assistant", "", calls), ChatMessage("tool", "结果", (), "a")]
    ask(chat(server), messages=talk)
    sent = server.asked[0].body["messages"]
    assert [call["function"]["arguments"] for call in sent[2]["tool_calls"]] == [
        '{"query": "x"}', '{"unreadable": "{broken"}', "{}",
    ]  # fmt: skip
    assert sent[3] == {"role": "tool", "content": "结果", "tool_call_id": "a"}


@pytest.mark.parametrize(
    "pieces, expected",
    [
        # No index: a piece without an id goes on with the last call.
        ([{"id": "x", "function": {"name": "a", "arguments": "{"}}, {"function": {"arguments": "}"}},
          {"id": "y", "function": {"name": "b", "arguments": "{}"}}], [("x", "a", "{}"), ("y", "b", "{}")]),
        # The same index for another call.
        ([{"index": 0, "id": "x", "function": {"name": "a", "arguments": "{}"}},
          {"index": 0, "id": "y", "function": {"name": "b", "arguments": "{}"}}], [("x", "a", "{}"), ("y", "b", "{}")]),
        # Ids left out or given twice.
        ([{"index": 0, "function": {"name": "a", "arguments": "{}"}},
          {"index": 1, "id": "call_1", "function": {"name": "b", "arguments": "{}"}}],
         [("call_1", "a", "{}"), ("call_2", "b", "{}")]),
        # Nothing that could be a call.
        ([5, None, {"index": 0, "id": 7, "function": "no"}], [("call_1", "", "")]),
    ],
    ids=["no-index", "same-index", "ids", "garbage"],
)  # fmt: skip
def test_servers_spell_calls_differently(
    server: ModelServer, pieces: list[Any], expected: list[tuple[str, str, str]]
) -> None:
    sent = [chunk({"tool_calls": [piece]}) for piece in pieces]
    server.script = lambda _: stream(*sent, chunk({}, "tool_calls"), "[DONE]")
    calls = ask(chat(server)).tool_calls
    assert [(call.id, call.name, call.arguments) for call in calls] == expected


def test_calls_without_end_are_cut(server: ModelServer) -> None:
    many = [chunk({"tool_calls": [{"index": n, "id": f"c{n}", "function": {"name": "a", "arguments": "{}"}}]})
            for n in range(500)]  # fmt: skip
    server.script = lambda _: stream(*many, chunk({}, "tool_calls"), "[DONE]")
    assert len(ask(chat(server)).tool_calls) == 16


def test_a_server_that_does_not_stream_answers_whole(server: ModelServer) -> None:
    server.script = lambda _: said("整个回答", prompt_tokens=9, completion_tokens=4)
    reply = ask(chat(server))
    assert (reply.content, reply.prompt_tokens, reply.completion_tokens) == ("整个回答", 9, 4)


def test_usage_is_estimated_where_the_server_tells_none(server: ModelServer) -> None:
    server.script = lambda _: streamed("x" * 400, usage=None)
    reply = ask(chat(server))
    assert (reply.prompt_tokens > 5, reply.completion_tokens) == (True, 100)


@pytest.mark.parametrize(
    "word, gone",
    [
        ("max_completion_tokens", "max_completion_tokens"), ("temperature", "temperature"),
        ("stream_options", "stream_options"), ("stream", "stream"),
    ],
)  # fmt: skip
def test_what_a_server_refuses_is_left_out_from_then_on(server: ModelServer, word: str, gone: str) -> None:
    def script(asked: Asked) -> Reply:
        if gone in asked.body:
            return refused(400, f"Unsupported parameter: {word}")
        return streamed("好") if asked.body.get("stream") else said("好")

    server.script = script
    model = chat(server)
    assert ask(model).content == "好"
    before = server.count
    assert ask(model).content == "好"
    assert server.count == before + 1


def test_a_model_without_tools_is_told_as_such(server: ModelServer) -> None:
    server.script = lambda _: refused(400, "this model does not support tools")
    error = trouble(chat(server))
    assert (error.trouble, "takes no tools" in error.message) == (Trouble.SETUP_REQUIRED, True)
    assert error.hint


@pytest.mark.parametrize(
    "reply, meant, calls",
    [
        (refused(400, "too long"), Trouble.UNRECOVERABLE, 1),
        (refused(401), Trouble.AUTH_INVALID, 1),
        (refused(404), Trouble.SETUP_REQUIRED, 1),
        (out_of_quota(), Trouble.QUOTA_EXHAUSTED, 1),
        (rate_limited("60"), Trouble.RATE_LIMIT, 1),
        (refused(503), Trouble.TRANSIENT, 2),
        (RESET, Trouble.TRANSIENT, 2),
        (huge(2), Trouble.TRANSIENT, 1),
        (stream(chunk({"content": "half an ans"})), Trouble.TRANSIENT, 1),
        (stream("[DONE]"), Trouble.TRANSIENT, 1),
        (stream("{not json"), Trouble.TRANSIENT, 1),
        (stream("5", "null", '"x"', {"choices": 3}, {"choices": [4]}), Trouble.TRANSIENT, 1),
        (stream({"error": {"message": "overloaded", "type": "server_error"}}), Trouble.TRANSIENT, 2),
        (Reply(200, b"<html>log in</html>", {"Content-Type": "text/html"}), Trouble.SETUP_REQUIRED, 1),
        (Reply(200, []), Trouble.TRANSIENT, 1),
        (Reply(200, {"choices": []}), Trouble.TRANSIENT, 1),
        (stream(chunk({"refusal": "no"}), chunk({}, "content_filter")), Trouble.UNRECOVERABLE, 1),
    ],
)  # fmt: skip
def test_each_failure_has_its_class_and_never_tells_the_key(
    server: ModelServer, reply: Reply, meant: Trouble, calls: int
) -> None:
    server.script = lambda _: reply
    error = trouble(chat(server))
    assert error.trouble is meant
    assert server.count == calls
    assert KEY not in f"{error.message} {error.hint} {error!r} {error.__cause__} {chat(server)!r}"


class Interrupted(Exception):
    pass


@pytest.mark.clause("002 §2.5", "a cancel stops a streaming model call in its middle and closes the connection")
@pytest.mark.parametrize("reply", [streamed("x" * 20_000, manner=Manner.DRIP), SILENCE], ids=["stream", "silence"])
def test_a_call_is_stopped_in_the_middle_and_the_connection_closed(server: ModelServer, reply: Reply) -> None:
    server.script = lambda _: reply
    server.drip_s = 0.002
    server.silence_s = 600
    looks_inside = 0

    def check() -> None:
        nonlocal looks_inside
        looks_inside += server.count
        if looks_inside >= 3:
            raise Interrupted

    with pytest.raises(Interrupted):
        ask(chat(server), check, deadline_s=600)
    if reply is not SILENCE:
        eventually(lambda: server.left)


def test_a_stream_that_drips_is_cut_at_the_deadline(server: ModelServer) -> None:
    server.script = lambda _: streamed("x" * 20_000, manner=Manner.DRIP)
    server.drip_s = 0.01
    model = chat(server)
    model.server.prepared()
    with pytest.raises(Unanswered) as caught:
        ask(model, deadline_s=0.5)
    assert "within 0.5 s" in caught.value.message
    assert caught.value.prompt_tokens > 0


def test_a_conversation_that_is_too_long_is_not_sent(server: ModelServer) -> None:
    with pytest.raises(Unanswered) as caught:
        ask(chat(server), messages=[ChatMessage("user", "x" * 1_000_001)])
    assert (caught.value.trouble, server.count) == (Trouble.UNRECOVERABLE, 0)


def test_t8_the_key_goes_to_the_configured_server_alone(server: ModelServer) -> None:
    with ModelServer(script=lambda _: streamed("there")) as other:
        models = ChatModels(ModelChoice(model="small", base_url=server.url, api_key=KEY))
        for given in ("", server.url, f"{server.url}/"):
            ask(models.get("", given))  # type: ignore[arg-type]
        ask(models.get("other", other.url))  # type: ignore[arg-type]
    assert {asked.key for asked in server.asked} == {f"Bearer {KEY}"}
    assert [(asked.key, asked.body["model"]) for asked in other.asked] == [("Bearer none", "other")]


def test_which_model(server: ModelServer) -> None:
    assert ChatModels(ModelChoice(model="m")).get() is None
    assert ChatModels(ModelChoice(provider="rules", model="m", api_key=KEY)).get() is None
    assert ChatModels(ModelChoice(model="", base_url=server.url)).get() is None
    models = ChatModels(ModelChoice(model="m", api_key=KEY))
    assert "api.openai.com" in repr(models.get())
    assert models.get() is models.get("m")
    assert KEY not in repr(models.get())
    first = models.get("a")
    for number in range(MOST):
        models.get(f"m{number}")
    assert models.get("a") is not first
