"""A tool request as policy sees it, and what is decided about it: values only, no rules.

Whoever reads an agent's protocol fills in what the request says of itself. Nothing here is trusted: names and paths are
made canonical by the policy, and a request that was only seen as a marker in text can never be granted.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any


class Risk(IntEnum):
    """What a tool can do at worst, each class containing the ones before it."""

    READ = 1
    WRITE = 2
    NETWORK = 3
    EXECUTE = 4


class Verdict(StrEnum):
    """What is decided."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class Cause(StrEnum):
    """Why something was decided."""

    RULE_DENIES = "rule-denies"
    RULE_ASKS = "rule-asks"
    RULE_ALLOWS = "rule-allows"
    CLASS_ALLOWS = "class-allows"  # no rule names it, and its risk is small enough
    UNKNOWN = "unknown"  # no rule allows all of it
    UNREADABLE = "unreadable"  # a command that cannot be shown to keep the rules
    FROM_TEXT = "from-text"  # only seen as a marker in text
    BROKEN = "broken"  # the rules themselves cannot be read
    PERSON_ALLOWS = "person-allows"
    PERSON_DENIES = "person-denies"
    TIMED_OUT = "timed-out"  # nobody answered
    NO_TERMINAL = "no-terminal"  # nobody could be asked
    NOBODY_ASKED = "nobody-asked"  # the policy decides alone
    NOT_RECORDED = "not-recorded"  # the audit log cannot be written
    OFF = "off"  # nothing is held back


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """An agent wants to use a tool."""

    tool: str  # as the agent names it: Bash, apply_patch, mcp__github__create_issue
    server: str = ""  # of the MCP server, if the agent's protocol says so
    risk: Risk | None = None  # if the protocol says so; else policy derives it from the name
    command: str = ""  # the shell command, if that is what it is
    paths: tuple[str, ...] = ()  # files it names
    urls: tuple[str, ...] = ()  # addresses it names
    arguments: Any = None  # all of them, as JSON; redacted before it is written anywhere
    cwd: str = ""
    call_id: str = ""  # the agent's own id of the call
    agent: str = ""  # codex, qwen, …
    from_text: bool = False  # seen as a marker in text: may raise a question, never be granted


@dataclass(frozen=True, slots=True)
class ToolDecision:
    """What was decided about a request, and why."""

    verdict: Verdict
    reason: str  # for a person and for the agent: what, why, what to do instead
    rule: str = ""  # which rule decided, as `policies explain` names it
    by: str = "policy"  # policy, person, or no-terminal
    steps: tuple[str, ...] = field(default=())  # every rule that was looked at, for `explain`
    cause: Cause | None = None  # why, in one word, for those who say it in another language
    argument_hash: str = ""  # of the request that was decided; another request needs another decision

    def binds(self, request: ToolRequest) -> bool:
        """Whether it was this very request that was decided."""
        return bool(self.argument_hash) and self.argument_hash == argument_hash(request)


def argument_hash(request: ToolRequest) -> str:
    """What tells one request from another, whoever makes it and whatever number it has."""
    said = [
        request.tool, request.server, request.command, list(request.paths), list(request.urls), request.cwd,
        request.arguments, request.from_text,
    ]  # fmt: skip
    text = json.dumps(said, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
