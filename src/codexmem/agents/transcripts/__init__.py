"""Readers of what coding agents keep of their conversations. They only read: no store, no network, no program."""

from __future__ import annotations

from codexmem.agents.transcripts.claude_code import ClaudeTranscripts
from codexmem.agents.transcripts.codex import CodexTranscripts
from codexmem.agents.transcripts.gemini_cli import GeminiTranscripts
from codexmem.agents.transcripts.model import TranscriptReader
from codexmem.agents.transcripts.opencode import OpenCodeTranscripts
from codexmem.agents.transcripts.qwen_code import QwenTranscripts
from codexmem.agents.transcripts.specstory import SpecStoryTranscripts

READERS: tuple[TranscriptReader, ...] = (
    CodexTranscripts(),
    ClaudeTranscripts(),
    GeminiTranscripts(),
    QwenTranscripts(),
    OpenCodeTranscripts(),
    SpecStoryTranscripts(),
)
