"""Beyond contract 000: the context as MCP prompt and resource, and the toolset that forgets."""

from __future__ import annotations

import pytest
from mcp import Client, MCPError

from codexmem.kernel.model import privacy
from tests._support.mcp_calls import Agent, text_of
from tests._support.server import Server

PERSON = {"Sec-Fetch-Site": "same-origin"}  # as a page of ours says


def test_the_context_is_a_prompt_and_a_resource(api: Server, project: str) -> None:
    api.post("/api/memory/save", {"text": "服务端口是 8123", "title": "Port", "project": project})

    async def read(client: Client) -> tuple[str, str, str]:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["context"]
        prompt = await client.get_prompt("context", {"project": project})
        own = await client.read_resource("codexmem://context")
        named = await client.read_resource(f"codexmem://context/{project}")
        return prompt.messages[0].content.text, own.contents[0].text, named.contents[0].text  # type: ignore[union-attr]

    prompt, own, named = Agent(api, "http-new", f"/mcp?project={project}").run(read)
    assert prompt == own == named
    assert prompt.startswith(f"<{privacy.CONTEXT_TAG}>")
    assert "服务端口是 8123" in prompt
    assert prompt == api.request("GET", f"/api/context?project={project}").body.decode()


def test_what_is_not_there_is_said_so(api: Server, project: str) -> None:
    async def read(client: Client) -> str:
        with pytest.raises(MCPError, match="there is no prompt"):
            await client.get_prompt("nonsense")
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource("codexmem://other")
        # Asked about something: notes for every project would be told otherwise, and this server is shared.
        about = {"project": f"{project}-empty", "about": "zyxwv utsrq ponml"}
        prompt = await client.get_prompt("context", about)
        text: str = prompt.messages[0].content.text  # type: ignore[union-attr]
        return text

    assert Agent(api, "http-old").run(read) == "Nothing is remembered about this project yet."


def test_forgetting_is_a_toolset_that_must_be_asked_for(api: Server, project: str) -> None:
    number = api.post("/api/memory/save", {"text": "to be forgotten", "project": project}).json["id"]

    async def usual(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert "forget" not in Agent(api, "http-new").run(usual)
    agent = Agent(api, "http-new", "/mcp/forget")
    wrong, right = agent.call("forget", {}), agent.call("forget", {"ids": [number]})
    assert wrong.is_error
    assert "exactly one of" in text_of(wrong)
    assert right.structured_content == {"erased": 1}
    assert api.request("GET", f"/api/observation/{number}").status == 404


def test_changing_memories_is_a_toolset_that_must_be_asked_for(api: Server, project: str) -> None:
    numbers = [
        api.post("/api/memory/save", {"text": text, "project": project}).json["id"] for text in ("port 1", "port 2")
    ]
    agent = Agent(api, "http-new", "/mcp/curate")
    done = agent.call("change_memory", {"act": "supersede", "ids": numbers[:1], "into": numbers[1], "reason": "newer"})
    assert not done.is_error
    assert f"#{numbers[0]} is now superseded, version 2" in text_of(done)
    assert [each["life"] for each in done.structured_content["changed"]] == ["superseded", "active"]
    # What decides what agents are told takes a person, and what a person withholds is not there for an agent.
    assert agent.call("change_memory", {"act": "pin", "ids": numbers}).is_error
    assert api.post("/api/memories/act", {"act": "withhold", "ids": numbers}, PERSON).status == 200
    missing = agent.call("change_memory", {"act": "edit", "ids": numbers[1:], "text": "x"})
    assert missing.is_error
    assert "is not remembered" in text_of(missing)


def test_what_is_withheld_is_not_handed_to_an_agent_that_asks(api: Server, project: str) -> None:
    word = f"zanzibar{project.removeprefix('project-')}"
    number = api.post("/api/memory/save", {"text": f"the {word} port is 8080", "project": project}).json["id"]
    agent = Agent(api, "http-new", "/mcp/recall")
    calls: list[tuple[str, dict[str, object]]] = [
        ("search", {"query": f"{word} port", "project": project}), ("search", {"project": project}),
        ("search", {"query": f"{word} port", "scope": "all"}), ("get_observations", {"ids": [number]}),
        ("timeline", {"query": f"{word} port", "project": project}),
    ]  # fmt: skip
    assert all(word in text_of(agent.call(name, {**given})).lower() for name, given in calls)
    assert api.post("/api/memories/act", {"act": "withhold", "ids": [number]}, PERSON).status == 200
    for name, given in calls:
        told = text_of(agent.call(name, {**given})).replace(f'"{word} port"', "")  # the question itself
        assert f"{word} port is" not in told, (name, told)
    assert agent.call("timeline", {"anchor": number}).is_error
    assert f"the {word} port" in api.request("GET", f"/api/observation/{number}").json["narrative"]
