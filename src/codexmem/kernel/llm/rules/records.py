"""What the rules see in tool calls, before it becomes observations."""

from dataclasses import dataclass, field
from typing import Literal

from codexmem.kernel.llm.rules.testruns import TestRun
from codexmem.kernel.model.capture import CapturedEvent

Verb = Literal["edited", "created", "rewrote", "deleted", "moved"]


@dataclass(frozen=True, slots=True)
class LookRecord:
    """Files were read, or something was looked for."""

    event: CapturedEvent
    paths: tuple[str, ...] = ()
    outline: tuple[str, ...] = ()  # sentences about what the files hold
    searched: str = ""
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """One file was changed."""

    event: CapturedEvent
    path: str
    verb: Verb
    detail: str = ""
    plus: int = 0
    minus: int = 0
    to: str = ""


@dataclass(frozen=True, slots=True)
class TestRecord:
    """Tests were run."""

    event: CapturedEvent
    command: str
    run: TestRun
    passed: bool | None  # None: nobody knows
    error: str = ""


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """A command was run that was neither a look nor a test."""

    event: CapturedEvent
    command: str
    sort: Literal["plain", "git", "install", "failure"]
    title: str
    facts: tuple[str, ...] = ()
    type: str = "change"
    succeeded: bool = False  # whether that is known


@dataclass(frozen=True, slots=True)
class ToolRecord:
    """Anything else that a tool was asked and answered."""

    event: CapturedEvent
    title: str
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = field(default=("how-it-works",))


Record = LookRecord | ChangeRecord | TestRecord | CommandRecord | ToolRecord
