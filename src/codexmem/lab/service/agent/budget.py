"""What a run has spent of what it may: counted from the steps in its journal, so a crash gives nothing back and costs
nothing, and waiting in the queue does not count."""

from typing import Any

from codexmem.lab.service.profiles import RunLimits

_SHORTEST_S = 5.0  # of the last call, which is made even if the time is spent


class RunBudget:
    """The sums of one run."""

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self.steps = 0  # model calls
        self.tokens = 0
        self.took_ms = 0

    def spend(self, step: dict[str, Any]) -> None:
        """A step was done, now or before a crash."""
        self.steps += 1 if "content" in step else 0
        self.tokens += int(step.get("prompt_tokens", 0)) + int(step.get("completion_tokens", 0))
        self.took_ms += int(step.get("took_ms", 0))

    def over(self) -> str | None:
        """Which limit leaves room for an answer only; None while there is more."""
        limits = self._limits
        if self.steps >= limits.steps - 1:
            return f"all {limits.steps} model calls of this run are used"
        if self.tokens >= limits.tokens:
            return f"all {limits.tokens:,} tokens of this run are used"
        if self.took_ms >= limits.seconds * 1_000:
            return f"the {limits.seconds:,} seconds of this run are used"
        return None

    def call_s(self) -> float:
        """How long the next model call may take."""
        left_s = self._limits.seconds - self.took_ms / 1_000
        return max(_SHORTEST_S, min(float(self._limits.call_seconds), left_s))
