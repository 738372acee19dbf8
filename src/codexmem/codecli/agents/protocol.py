"""What an adapter is: how memory gets into an agent, and how what the agent does is read from its output.

An adapter does no input or output of its own. `prepare` changes how the agent is started; an `OutputWatcher` reads what
streams past without holding it up; a `Dialogue` stands inside a two-way line protocol, where it may also change what
passes and answer the agent's questions about tools.

What an agent is told when a tool is refused, so that it can go on another way, in the words of all protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest


@dataclass(frozen=True, slots=True)
class Launch:
    """How the agent is started."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    cwd: str


@dataclass(frozen=True, slots=True)
class Injection:
    """What is to be told to the agent; either may be empty."""

    system: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class UserPrompt:
    """A person asked this, without what we added."""

    text: str


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """The agent said this; deltas come one by one."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The agent began to use a tool, whether or not anybody was asked.

    Where a hook was asked, its id of the call may be another one: `HookSocket.matching` brings them together.
    """

    request: ToolRequest


@dataclass(frozen=True, slots=True)
class ToolDecided:
    """A request was decided here; `Dialogue` has already answered the agent."""

    request: ToolRequest
    decision: ToolDecision


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool came to its end."""

    call_id: str
    ok: bool
    took_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The agent is done with what it was asked; `ok` is False if it gave up."""

    ok: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something a person should know of, once."""

    text: str


Happening = UserPrompt | AgentMessage | ToolStarted | ToolDecided | ToolEnded | TurnEnded | Noticed

Decide = Callable[[ToolRequest], ToolDecision]  # may wait for a person; never raises; never answers ask
Recall = Callable[[str], Injection]  # what memory has for this prompt; never raises, returns within its time-out
TextOf = Callable[[str], str | None]  # a file's text, None if there is none; never raises
Keep = Callable[[str, str], str]  # writes a named text where only this run's user can read it; returns its path


def no_text(_: str) -> str | None:
    """A `TextOf` that knows no files."""
    return None


class OutputWatcher(Protocol):
    """Reads one output stream of the agent."""

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell; pieces end anywhere. Never raises on what an agent prints."""
        ...

    def close(self) -> Iterable[Happening]:
        """What was still unfinished."""
        ...


@dataclass(frozen=True, slots=True)
class LineEffects:
    """What follows from a line: lines to send on, in order, and what happened."""

    to_agent: tuple[bytes, ...] = ()
    to_person: tuple[bytes, ...] = ()
    happenings: tuple[Happening, ...] = ()
    done: bool = False  # the conversation that we lead ourselves is over: close the agent's input


class Dialogue(Protocol):
    """Stands between a person's program and the agent. A line that is not understood passes unchanged."""

    def open(self, prompt: str | None) -> LineEffects:
        """The first lines; with a prompt we lead the conversation ourselves, without one the person's program does."""
        ...

    def from_person(self, line: bytes) -> LineEffects:
        """A line of the person's program."""
        ...

    def from_agent(self, line: bytes) -> LineEffects:
        """A line of the agent; a question about a tool is decided before this returns."""
        ...


@dataclass(frozen=True, slots=True)
class Wiring:
    """What an adapter may use."""

    decide: Decide
    recall: Recall
    hook_command: tuple[str, ...] = ()  # `hook_socket.HookSocket.command`, for agents that ask by hooks; empty if off
    inject_mode: str = "system"  # system, user or both
    holds: bool = True  # whether tools are held to policy; else the agent's questions go where they went without us
    text_of: TextOf = no_text  # for the agent's own configuration, which an injection must not displace
    keep: Keep | None = None  # `hook_socket.HookSocket.keep`, for agents that take a hook from a file only


@dataclass(frozen=True, slots=True)
class PreflightCheck:
    """Something to ask the agent before it is started, where trusting it blindly would leave tools unguarded.

    `argv` is run with the launch's surroundings and is sent `lines`; each line of its answer is shown to `proves`,
    which says yes or no, or None to go on reading. Anything but yes means that the agent must not be started.
    """

    argv: tuple[str, ...]
    lines: tuple[bytes, ...]
    proves: Callable[[bytes], bool | None]
    otherwise: str  # what to tell the person


Refusal = Callable[[ToolRequest, ToolDecision], bytes]  # what an agent that reads plain input is told about a refusal


@dataclass(frozen=True, slots=True)
class PreparedAgent:
    """An agent ready to be started, and how to read it. With a dialogue the watchers are not used."""

    launch: Launch
    prompt: str = ""  # what the person asks, as far as the command line says so
    dialogue: Dialogue | None = None
    leads: bool = False  # we speak the agent's protocol ourselves and print what it says as text
    stdout: OutputWatcher | None = None
    stderr: OutputWatcher | None = None
    notes: tuple[str, ...] = field(default=())  # what a person should know, e.g. that tools cannot be held back here
    ends_with_input: bool = True  # else it stays when its input is closed, and its process group must be ended
    check: PreflightCheck | None = None  # to be passed before the agent is started
    in_launch: bool = True  # whether what was to be told, or some of it, is in the launch
    by_input: bool = False  # the prompt comes by standard input, if any does
    before_input: str = ""  # goes before it
    refusal: Refusal | None = None  # written to the agent's input, if that is ours, after a watcher told of a refusal


class Adapter(Protocol):
    """One kind of agent."""

    name: str

    def prompt_of(self, launch: Launch) -> str | None:
        """What the person asks, if the command line says it; None if it comes by standard input or later."""
        ...

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """The launch with the injection in it."""
        ...


_SHOWN = 300  # characters of a command or of a tool's name


def told(request: ToolRequest, decision: ToolDecision) -> str:
    """One refusal."""
    what = request.command or request.tool
    what = what if len(what) <= _SHOWN else what[:_SHOWN] + "…"
    return f"[mem-codecli] The tool request {what!r} was refused by policy: {decision.reason}"


def go_on(refused: list[str]) -> str:
    """What follows where a refusal has ended the agent's turn."""
    return "\n".join([*refused, "Continue without it: find another way to do what was asked, or say what is missing."])
