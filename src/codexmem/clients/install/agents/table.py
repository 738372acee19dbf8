"""The agents that we can be installed into."""

from __future__ import annotations

from codexmem.clients.install.agent import Agent
from codexmem.clients.install.agents.claude_code import ClaudeCode
from codexmem.clients.install.agents.codex import Codex
from codexmem.clients.install.agents.cursor import Cursor
from codexmem.clients.install.agents.gemini_cli import GeminiCli
from codexmem.clients.install.agents.opencode import OpenCode
from codexmem.clients.install.agents.qwen_code import QwenCode

AGENTS: tuple[Agent, ...] = (Codex(), ClaudeCode(), Cursor(), GeminiCli(), QwenCode(), OpenCode())
BY_NAME: dict[str, Agent] = {agent.name: agent for agent in AGENTS}
ALIASES = {"claude": "claude-code", "gemini": "gemini-cli", "qwen": "qwen-code"}
