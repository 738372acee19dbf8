"""Which adapter reads which agent."""

from __future__ import annotations

import pytest

from codexmem import agents
from codexmem.agents import CodingAgent
from codexmem.codecli.agents.choosing import NAMES, STREAM_FORMATS, choose
from codexmem.codecli.configuration import CommandConfig, Config
from tests.clients.codecli.agents import wired


@pytest.mark.parametrize("argv, name", [
    ("codex", "codex"),
    ("codex exec --json hi", "codex"),
    ("codex -c a=1 app-server", "codex-app-server"),
    ("codex exec app-server", "codex"),
    ("qwen --acp", "acp"),
    ("gemini --experimental-acp", "acp"),
    ("opencode acp", "acp"),
    ("qwen -o stream-json hi", "claude-json"),
    ("qwen hi", "claude-json"),
    ("claude -p hi --output-format stream-json", "claude-json"),
    ("another --output-format=stream-json hi", "claude-json"),
    ("gemini -o stream-json -p hi", "generic"),
    ("gemini -p hi", "text"),
    ("aider --message hi", "text"),
    ("", "text"),
])  # fmt: skip
def test_by_name_and_arguments(argv: str, name: str) -> None:
    assert choose(Config(), wired.launch(*argv.split())).name == name


@pytest.mark.parametrize("agent", tuple(agents.startable()), ids=lambda agent: agent.name)
def test_an_agent_names_adapters_that_there_are(agent: CodingAgent) -> None:
    assert agent.adapter in {"", *NAMES}
    assert agent.stream_adapter in {*NAMES, *STREAM_FORMATS}
    assert agents.started_by(agent.program) is agent


@pytest.mark.parametrize("adapter", ["codex", "codex-app-server", "acp", "claude-json", "generic"])
def test_by_configuration(adapter: str) -> None:
    chosen = choose(Config(codecli=CommandConfig(adapter=adapter, stream_format="jsonl")), wired.launch("codex"))
    assert chosen.name == adapter
    assert adapter in NAMES


@pytest.mark.parametrize("stream_format, name", [("text", "text"), ("jsonl", "generic"), ("sse", "generic")])
def test_by_stream_format(stream_format: str, name: str) -> None:
    assert (
        choose(Config(codecli=CommandConfig(stream_format=stream_format)), wired.launch("codex", "exec")).name == name
    )


def test_a_mapping_means_json_lines() -> None:
    config = Config(codecli=CommandConfig(adapter="generic", mapping={"text": "said"}))
    assert choose(config, wired.launch("x")).name == "generic"
    assert choose(Config(codecli=CommandConfig(adapter="generic")), wired.launch("x")).name == "text"
