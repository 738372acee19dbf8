"""A judge of words and a memory of one sentence, for adapters that are tested without an agent."""

from __future__ import annotations

from codexmem.clients.codecli.agents.protocol import Injection, Launch, Wiring
from codexmem.domain.tool_access import Decision, ToolRequest, Verdict

REASON = "not here 不行"


def decide(request: ToolRequest) -> Decision:
    """Denies rm."""
    denied = request.command.startswith("rm") or request.tool == "rm"
    return Decision(Verdict.DENY if denied else Verdict.ALLOW, REASON if denied else "fine")


def recall(prompt: str) -> Injection:
    """One sentence for every prompt."""
    return Injection("SYS", "USR") if prompt else Injection()


def launch(*argv: str, **environ: str) -> Launch:
    """A launch in a person's repository."""
    return Launch(argv, {"HOME": "/home/me", **environ}, "/repo")


WIRING = Wiring(decide, recall)
UNHELD = Wiring(decide, recall, holds=False)
HOOKED = Wiring(decide, recall, ("python", "-m", "hook", "/tmp/a b/door"), keep=lambda name, _: f"/run/{name}")
