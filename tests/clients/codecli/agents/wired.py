"""A judge of words and a memory of one sentence, for adapters that are tested without an agent."""

from __future__ import annotations

from codexmem.codecli.agents.protocol import Injection, Launch, Wiring
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

REASON = "not here 不行"


def decide(request: ToolRequest) -> ToolDecision:
    """Denies rm."""
    denied = request.command.startswith("rm") or request.tool == "rm"
    return ToolDecision(Verdict.DENY if denied else Verdict.ALLOW, REASON if denied else "fine")


def recall(prompt: str) -> Injection:
    """One sentence for every prompt."""
    return Injection("SYS", "USR") if prompt else Injection()


def launch(*argv: str, **environ: str) -> Launch:
    """A launch in a person's repository."""
    return Launch(argv, {"HOME": "/home/me", **environ}, "/repo")


WIRING = Wiring(decide, recall)
UNHELD = Wiring(decide, recall, holds=False)
HOOKED = Wiring(decide, recall, ("python", "-m", "hook", "/tmp/a b/endpoint"), keep=lambda name, _: f"/run/{name}")
