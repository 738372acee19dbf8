"""MCP sampling: a connected client's model writes memories, through the real bridge and the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from codexmem.capture.sampling import GONE_S, LEASE_S, REFUSED_S, SampledModel
from codexmem.kernel.llm.model import Message, ModelPrompt, Trouble, Unanswered
from tests._support.mcp_calls import stdio_to
from tests._support.model_server import memory_answer
from tests._support.server import Server
from tests._support.waiting import eventually

PORT = "The dev server listens on port 5179."
WITHIN_S = 90.0
Sampled = types.CreateMessageResult | types.ErrorData


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One whose writer is sampling, and that gives a question to another client after three seconds."""
    settings = {"CODEXMEM_PROVIDER": "sampling", "CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_EMBEDDER": "none"}
    with Server(tmp_path, settings=settings, constants={"codexmem.capture.sampling.LEASE_S": 3.0}) as server:
        yield server


def captured(server: Server, session: str) -> None:
    """A session of one turn, to its end."""
    about = {"contentSessionId": session, "project": "shop"}
    for path, said in (
        ("init", {"prompt": "Which port?"}), ("summarize", {"last_assistant_message": PORT}), ("complete", {}),
    ):  # fmt: skip
        assert server.post(f"/api/sessions/{path}", about | said).status == 200


def titles(server: Server) -> list[str]:
    return [row["title"] for row in server.request("GET", "/api/observations?limit=20").json["items"]]


def answer(params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    """What a good model says."""
    content = params.messages[0].content
    assert isinstance(content, types.TextContent)
    numbers = [int(each) for each in re.findall(r"^\[\[(?:person|agent) (\d+)", content.text, re.MULTILINE)]
    said = json.dumps(memory_answer(numbers, title=PORT, text=PORT, kind="how-to"))
    return types.CreateMessageResult(role="assistant", content=types.TextContent(text=said), model="m")


def connected(server: Server, sampled: Callable[[types.CreateMessageRequestParams], Awaitable[Sampled]]) -> Client:
    """An agent, with the bridge that it starts."""

    async def callback(context: Any, params: types.CreateMessageRequestParams) -> Sampled:
        return await sampled(params)

    return Client(stdio_to(server), mode="legacy", sampling_callback=callback)


@pytest.mark.sqlite
def test_a_client_that_goes_away_loses_the_question_and_the_next_one_answers_it(server: Server) -> None:
    async def run() -> list[str]:
        asked: list[str] = []
        begun = asyncio.Event()

        async def never(_: types.CreateMessageRequestParams) -> Sampled:
            asked.append("first")
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError("it was ended long ago")

        async def at_once(params: types.CreateMessageRequestParams) -> Sampled:
            asked.append("second")
            assert (params.include_context, "one JSON object" in (params.system_prompt or "")) == ("none", True)
            return answer(params)

        async with connected(server, never):
            await asyncio.to_thread(captured, server, "s1")
            await asyncio.wait_for(begun.wait(), WITHIN_S)
        async with connected(server, at_once) as client:
            await asyncio.to_thread(eventually, lambda: PORT in titles(server))
            assert (await client.list_tools()).tools  # it is still a server for its client
        return asked

    assert asyncio.run(run()) == ["first", "second"]


@pytest.mark.sqlite
def test_a_client_that_refuses_is_left_alone_and_what_rules_wrote_stands(server: Server) -> None:
    async def run() -> int:
        asked = 0

        async def refuses(_: types.CreateMessageRequestParams) -> Sampled:
            nonlocal asked
            asked += 1
            return types.ErrorData(code=-1, message="User rejected sampling request")

        async def logged(words: str) -> None:
            log = server.data_dir / "server.log"
            await asyncio.to_thread(eventually, lambda: words in log.read_text())

        async with connected(server, refuses):
            await asyncio.to_thread(captured, server, "s1")
            await logged("RetryLater: the agent that is connected over MCP refused the question")
            await asyncio.to_thread(captured, server, "s2")
            await logged("RetryLater: the agent that is connected over MCP did not answer recently")
        return asked

    assert asyncio.run(run()) == 1
    assert PORT not in titles(server)
    assert len(server.request("GET", "/api/summaries?limit=9").json["items"]) == 2


@pytest.mark.slow
def test_a_question_is_leased_given_out_twice_and_not_waited_for_without_hope() -> None:
    clock = [100.0]
    model = SampledModel(lambda: "t", now_s=lambda: clock[0])
    prompt = ModelPrompt((Message("user", "What?"),), "m", {"type": "object"}, 500)
    steps: list[Callable[[], object]] = []

    def check() -> None:
        if steps:
            steps.pop(0)()

    def passes(seconds: float) -> Callable[[], None]:
        def step() -> None:
            clock[0] += seconds

        return step

    def trouble() -> Trouble:
        with pytest.raises(Unanswered) as caught:
            model.answer(prompt, check)
        return caught.value.trouble

    steps = [passes(GONE_S)]
    assert trouble() is Trouble.SETUP_REQUIRED  # nobody is connected
    taken: list[Any] = []
    one, two = (lambda: taken.append(model.take("one", "")), lambda: taken.append(model.take("two", "")))
    kept = [passes(LEASE_S - 1), lambda: model.take("one", taken[0].id), passes(LEASE_S - 1), two]
    steps = [one, two, *kept, passes(2), two, passes(LEASE_S), two]
    assert trouble() is Trouble.TRANSIENT  # both went away
    assert [each is not None for each in taken] == [True, False, False, True]
    assert not model.settle("two", taken[0].id, "too late")
    taken.clear()
    steps = [one, lambda: model.settle("two", taken[0].id, "not yours"), lambda: model.settle("one", taken[0].id, "{}")]
    assert model.answer(prompt, check).text == "{}"
    taken.clear()
    steps = [one, lambda: model.settle("one", taken[0].id, None)]
    assert trouble() is Trouble.RATE_LIMIT  # refused
    steps = []
    assert trouble() is Trouble.RATE_LIMIT  # without asking
    clock[0] += REFUSED_S
    steps = [passes(GONE_S)]
    assert trouble() is Trouble.SETUP_REQUIRED
