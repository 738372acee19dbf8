"""What a run is made of: its configuration and everything that it is given to work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from codexmem.codecli.agents.protocol import Adapter, Happening, Keep, Launch
from codexmem.codecli.child import spawning
from codexmem.codecli.configuration import Config
from codexmem.codecli.memory_client import MemoryClient
from codexmem.codecli.post_run import Gatekeeper
from codexmem.codecli.redactor import Redactor
from codexmem.codecli.trace import RunTracer
from codexmem.codecli.turns import Pending, RecentTurns
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest


class RunRecorder(Protocol):
    """What records a run; `recording.Recorder` is one."""

    def wrote(self, stream: str, piece: bytes) -> None:
        """These bytes passed on this stream."""
        ...

    def ended(self, code: int) -> None:
        """The agent ended."""
        ...


class ToolGate(Protocol):
    """Decides about tools and keeps account of them."""

    def decide(self, request: ToolRequest) -> ToolDecision:
        """Allow or deny, perhaps after asking a person; never raises, never answers ask."""
        ...

    def started(self, request: ToolRequest) -> None:
        """A tool is at work."""
        ...

    def ended(self, call_id: str, ok: bool, took_ms: int | None) -> None:
        """A tool came to its end."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is made of."""

    config: Config
    run_id: str
    project: str
    launch: Launch
    adapter: Adapter
    note: Callable[[str], None]
    redactor: Redactor
    trace: RunTracer
    memory: MemoryClient | None = None  # None: memory is off
    gatekeeper: Gatekeeper | None = None
    gate: ToolGate | None = None  # None: nothing is held back
    hook_command: tuple[str, ...] = ()
    keep: Keep | None = None  # puts a file where only this run's user can read it
    renamed: Callable[[Happening], Happening] = lambda happening: happening  # calls by the id they were decided by
    tape: Callable[[Launch, str], RunRecorder] | None = None  # begins a recording of this launch by this adapter
    turns: RecentTurns | None = None
    pending: Pending | None = None
    waits: Callable[[str], str] = lambda why: f"not kept: {why}"  # what a person is told of an answer that waits
    strip: bool = False
    connected: spawning.Connected | None = None
