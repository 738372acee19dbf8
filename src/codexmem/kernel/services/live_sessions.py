"""Which session of an agent speaks through an interface that is not told: the tools, and commands in an agent's shell.

Hooks name their session and the process of their agent; a caller names the processes it descends from. The session of
the nearest common one is meant. Where processes cannot be compared, a session is meant if it is the only one of that
agent in that project that is in the middle of a turn. In every other case none is: a wrong session would be worse than
none, because what it wrote is undone and forgotten with it.

Kept in memory and bounded: what is lost with the process is told again by the next hook.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from codexmem.kernel.model.session import Session

PERSON_HEADER = "x-codexmem-person"  # "1": a person types the command
PROCESSES_HEADER = "x-codexmem-processes"  # the caller's ancestors, the nearest first
CLIENT_HEADER = "x-codexmem-client"  # what an MCP client calls itself
MAX_PROCESSES = 16
_MAX_NAME = 80
_MOST = 1_000  # sessions that are remembered
# How agents call themselves as MCP clients begins so.
_AGENTS: Mapping[str, str] = {
    "claude": "claude-code", "codex": "codex", "cursor": "cursor", "gemini": "gemini-cli", "qwen": "qwen-code",
    "opencode": "opencode", "cline": "cline", "@cline/": "cline", "copilot": "copilot-cli", "kimi": "kimi-code",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Caller:
    """What a request says about where it comes from."""

    processes: tuple[str, ...] = ()
    client: str = ""
    project: str = ""

    @classmethod
    def of(cls, processes: str, client: str, project: str) -> "Caller":
        """As headers spell it; what is too long is no name of a process."""
        named = [each.strip() for each in processes.split(",")[:MAX_PROCESSES]]
        return cls(tuple(each for each in named if 0 < len(each) <= _MAX_NAME), client[:_MAX_NAME], project)

    @property
    def agent(self) -> str:
        """The agent that calls, by the name that its hooks have; empty if it is none that we know."""
        name = self.client.lower().replace(" ", "-")
        return next((agent for start, agent in _AGENTS.items() if name.startswith(start)), "")


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that something was heard of."""

    key: str
    subject: str
    project: str
    platform: str
    process: str = ""  # of its agent
    in_turn: bool = False


class LiveSessions:
    """The sessions of all tenants that this server has heard of and that have not ended."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], LiveSession] = OrderedDict()
        self._lock = threading.Lock()

    def heard(self, tenant: str, session: Session, process: str = "", *, in_turn: bool | None = None) -> None:
        """A hook spoke of this session; whether it is in a turn stays as it was unless that is said."""
        place = (tenant, session.key)
        with self._lock:
            before = self._known.pop(place, None)
            after = LiveSession(session.key, session.subject, session.project, session.platform, process[:_MAX_NAME])
            if before is not None:
                after = replace(after, process=after.process or before.process, in_turn=before.in_turn)
            self._known[place] = after if in_turn is None else replace(after, in_turn=in_turn)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)

    def ended(self, tenant: str, key: str) -> None:
        """The session is over."""
        with self._lock:
            self._known.pop((tenant, key), None)

    def below_agent(self, tenant: str, caller: Caller) -> bool:
        """Whether the caller was started by an agent that we know, whichever of its sessions that was."""
        with self._lock:
            known = {each.process for (owner, _), each in self._known.items() if owner == tenant and each.process}
        return not known.isdisjoint(caller.processes)

    def of(self, tenant: str, caller: Caller) -> LiveSession | None:
        """The session that speaks; None if that is not certain."""
        with self._lock:
            known = [each for (owner, _), each in self._known.items() if owner == tenant]
        for process in caller.processes:
            if own := [each for each in known if each.process == process]:
                return _only(own)
        if not caller.agent or not caller.project:
            return None
        # Where processes can be compared, a session of another process is another session.
        here = {_space(each) for each in caller.processes}
        open_turns = [
            each for each in known
            if each.in_turn and each.platform == caller.agent and each.project == caller.project
            and not (each.process and _space(each.process) in here)
        ]  # fmt: skip
        return open_turns[0] if len(open_turns) == 1 else None


def _only(sessions: list[LiveSession]) -> LiveSession | None:
    """The one of a process; of several, the one in whose turn a tool can be called."""
    if len(sessions) > 1:
        sessions = [each for each in sessions if each.in_turn]
    return sessions[0] if len(sessions) == 1 else None


def _space(process: str) -> str:
    return process.partition(".")[0]
