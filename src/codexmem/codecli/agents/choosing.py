"""Which adapter reads an agent: by configuration, else by its name and what its command line says it speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codexmem import agents
from codexmem.codecli.agents.acp import SWITCHES, Acp
from codexmem.codecli.agents.claude_json import STREAM, ClaudeJson
from codexmem.codecli.agents.codex_app_server import CodexAppServer
from codexmem.codecli.agents.codex_exec import CodexExec
from codexmem.codecli.agents.codex_options import CommandLine
from codexmem.codecli.agents.command_line import program_of
from codexmem.codecli.agents.generic import JSON_LINES, SSE, Generic
from codexmem.codecli.agents.protocol import Adapter, Launch
from codexmem.codecli.agents.text import Text
from codexmem.codecli.configuration import Config

AUTO, TEXT = "auto", "text"
_BY_NAME: Mapping[str, Callable[[], Adapter]] = {
    "codex": CodexExec,
    "codex-app-server": CodexAppServer,
    "acp": Acp,
    "claude-json": ClaudeJson,
}
NAMES = (AUTO, *_BY_NAME, "generic")
STREAM_FORMATS = (AUTO, TEXT, JSON_LINES, SSE)


def choose(config: Config, launch: Launch) -> Adapter:
    """The adapter for this launch. A stream format that is given says that the output is to be read as just that."""
    chosen, stream_format = config.codecli.adapter, config.codecli.stream_format
    if chosen in _BY_NAME:
        return _BY_NAME[chosen]()
    if chosen != AUTO or stream_format != AUTO:
        return _generic(config, stream_format)
    agent = agents.started_by(program_of(launch.argv).name)
    words = set(launch.argv[1:])
    if agent.acp and words & SWITCHES:
        return Acp()
    if agent.adapter:
        return _named(agent.adapter, config, launch)
    if any(word.rpartition("=")[2] == STREAM for word in words):
        return _named(agent.stream_adapter, config, launch)
    return _generic(config, stream_format)


def _named(adapter: str, config: Config, launch: Launch) -> Adapter:
    """The adapter that an agent names, or the format that it prints."""
    if adapter == CodexExec.name and CommandLine.read(launch.argv).subcommand == "app-server":
        return CodexAppServer()
    return _BY_NAME[adapter]() if adapter in _BY_NAME else _generic(config, adapter)


def _generic(config: Config, stream_format: str) -> Adapter:
    if stream_format in {JSON_LINES, SSE}:
        return Generic(stream_format, config.codecli.mapping)
    if stream_format == AUTO and config.codecli.mapping:
        return Generic(JSON_LINES, config.codecli.mapping)
    return Text(config.codecli.marker)
