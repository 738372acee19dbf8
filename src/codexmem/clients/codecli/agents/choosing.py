"""Which adapter reads an agent: by configuration, else by its name and what its command line says it speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codexmem.clients.codecli.agents.acp import SWITCHES, Acp
from codexmem.clients.codecli.agents.claude_json import STREAM, ClaudeJson
from codexmem.clients.codecli.agents.codex_app_server import CodexAppServer
from codexmem.clients.codecli.agents.codex_exec import Codex
from codexmem.clients.codecli.agents.codex_options import CommandLine
from codexmem.clients.codecli.agents.command_line import CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, program_of
from codexmem.clients.codecli.agents.generic import JSON_LINES, SSE, Generic
from codexmem.clients.codecli.agents.protocol import Adapter, Launch
from codexmem.clients.codecli.agents.text import Text
from codexmem.clients.codecli.configuration import Config

AUTO, TEXT = "auto", "text"
_BY_NAME: Mapping[str, Callable[[], Adapter]] = {
    "codex": Codex,
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
    name = program_of(launch.argv).name
    words = set(launch.argv[1:])
    if name == CODEX:
        return CodexAppServer() if CommandLine.read(launch.argv).subcommand == "app-server" else Codex()
    if name in {QWEN, GEMINI, OPENCODE} and words & SWITCHES:
        return Acp()
    if name in {CLAUDE, QWEN}:
        return ClaudeJson()
    if any(word.rpartition("=")[2] == STREAM for word in words):
        # The format of Gemini CLI has the same name and another form.
        return Generic(JSON_LINES, config.codecli.mapping) if name == GEMINI else ClaudeJson()
    return _generic(config, stream_format)


def _generic(config: Config, stream_format: str) -> Adapter:
    if stream_format in {JSON_LINES, SSE}:
        return Generic(stream_format, config.codecli.mapping)
    if stream_format == AUTO and config.codecli.mapping:
        return Generic(JSON_LINES, config.codecli.mapping)
    return Text(config.codecli.marker)
