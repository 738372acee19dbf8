"""The field spelling of `/api/sessions/*`: what hooks send, and what they are told."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from codexmem.domain.capture import Captured, HookReport, Queued, Repeated, Skip, Skipped
from codexmem.services.capture import Begun, Completed


class _Said(BaseModel):
    """What every hook event may say about itself; unknown fields are ignored, agents send many."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    contentSessionId: str = ""  # noqa: N815  the contract's spelling
    project: str | None = None
    platform: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    event_id: str | None = None  # the sender's own id: a delivery that is repeated is one event
    at: int | None = None  # when it happened, in milliseconds

    def report(self, **told: Any) -> HookReport:
        """The event as the services take it."""
        return HookReport(
            self.contentSessionId, project=self.project or "", platform=self.platform or "", cwd=self.cwd or "",
            agent=self.agent_id or "", event=self.event_id or "", at_ms=self.at, **told,
        )  # fmt: skip


class InitRequest(_Said):
    """`POST /api/sessions/init`."""

    prompt: str | None = None
    private: bool = False  # the sender has already removed a prompt that was private as a whole

    def to_report(self) -> HookReport:
        """A turn begins."""
        return self.report(prompt=self.prompt or "", private=self.private)


class ObservationRequest(_Said):
    """`POST /api/sessions/observations`."""

    tool_name: str | None = None
    tool_input: Any = None
    tool_response: Any = None
    tool_use_id: str | None = None

    def to_report(self) -> HookReport:
        """A tool was used."""
        return self.report(
            tool=self.tool_name or "", input=self.tool_input, response=self.tool_response, call=self.tool_use_id or ""
        )


class SummarizeRequest(_Said):
    """`POST /api/sessions/summarize`."""

    last_assistant_message: str | None = None

    def to_report(self) -> HookReport:
        """A turn ended."""
        return self.report(message=self.last_assistant_message or "")


class CompleteRequest(_Said):
    """`POST /api/sessions/complete`."""


def begun(turn: Begun) -> dict[str, Any]:
    """The answer to init."""
    answer = {"sessionDbId": turn.session, "promptNumber": turn.turn, "skipped": turn.skipped is not None}
    return answer if turn.skipped is None else {**answer, "reason": turn.skipped.value}


def captured(outcome: Captured) -> dict[str, Any]:
    """The answer to an observation or a summary."""
    match outcome:
        case Queued():
            return {"status": "queued"}
        case Repeated():
            return {"status": "deduped"}
        case Skipped(reason):
            return _skipped(reason)


def completed(outcome: Completed | Skipped) -> dict[str, Any]:
    """The answer to complete."""
    if isinstance(outcome, Skipped):
        return _skipped(outcome.reason)
    return {"status": "completed", "sessionDbId": outcome.session}


def _skipped(reason: Skip) -> dict[str, Any]:
    return {"status": "skipped", "reason": reason.value}
