"""The documents of `/api/sessions/*`: what hooks send, and what they are told."""

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.kernel.model.capture import Captured, Deduped, HookReport, Queued, Skip, Skipped
from codexmem.kernel.wire import WireAnswer

if TYPE_CHECKING:
    from codexmem.capture.service import Completed, TurnStarted


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


class TurnAnswer(WireAnswer):
    """The answer to init."""

    sessionDbId: int  # noqa: N815  the contract's spelling
    promptNumber: int  # noqa: N815
    skipped: bool
    reason: Skip | None = Field(default=None, description="why the prompt was not kept; absent if it was")

    @classmethod
    def of(cls, turn: "TurnStarted") -> Self:
        """A turn that began."""
        skipped = turn.skipped is not None
        why = {"reason": turn.skipped} if skipped else {}
        return cls(sessionDbId=turn.session, promptNumber=turn.turn, skipped=skipped, **why)


class CaptureAnswer(WireAnswer):
    """The answer to an observation or a summary."""

    status: Literal["queued", "deduped", "skipped"]
    reason: Skip | None = Field(default=None, description="why it was skipped; absent if it was not")

    @classmethod
    def of(cls, outcome: Captured) -> Self:
        """What became of it."""
        match outcome:
            case Queued():
                return cls(status="queued")
            case Deduped():
                return cls(status="deduped")
            case Skipped(reason):
                return cls(status="skipped", reason=reason)


class CompleteAnswer(WireAnswer):
    """The answer to complete."""

    status: Literal["completed", "skipped"]
    reason: Skip | None = Field(default=None, description="why it was skipped; absent if it was not")
    sessionDbId: int | None = Field(default=None, description="the session; absent if it was skipped")  # noqa: N815

    @classmethod
    def of(cls, outcome: "Completed | Skipped") -> Self:
        """What became of it."""
        if isinstance(outcome, Skipped):
            return cls(status="skipped", reason=outcome.reason)
        return cls(status="completed", sessionDbId=outcome.session)
