"""The documents of `/api/sessions/*`, which hooks send, and of transcripts that are imported."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.agents.transcripts.model import MachineOverview
from codexmem.capture.sampling import SampledQuestion
from codexmem.capture.transcripts import (
    MAX_SESSIONS,
    MAX_TOOLS,
    MAX_TURNS,
    SOURCE,
    ImportedPart,
    KnownSession,
    ReportedTurn,
    TranscriptPart,
)
from codexmem.kernel.model import file_blobs
from codexmem.kernel.model.capture import Captured, Deduped, HookReport, Queued, Skip, Skipped
from codexmem.kernel.model.memory import MAX_KEY
from codexmem.kernel.wire import WireAnswer, WireRequest

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
    rules_only: bool = False  # a file of the checkout says that no author may be told of it
    process: str | None = None  # of the agent, by which its tool calls are known

    def report(self, **told: Any) -> HookReport:
        """The event as the services take it."""
        return HookReport(
            self.contentSessionId, project=self.project or "", platform=self.platform or "", cwd=self.cwd or "",
            agent=self.agent_id or "", event=self.event_id or "", at_ms=self.at, rules_only=self.rules_only,
            process=self.process or "", **told,
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
    files: Any = None  # stamps of the files that the call was about; what is none is passed over

    def to_report(self) -> HookReport:
        """A tool was used."""
        return self.report(
            tool=self.tool_name or "", input=self.tool_input, response=self.tool_response, call=self.tool_use_id or "",
            files=file_blobs.stored(self.files),
        )  # fmt: skip


class SummarizeRequest(_Said):
    """`POST /api/sessions/summarize`."""

    last_assistant_message: str | None = None
    stop_hook_active: bool = False  # of agents that report a hook's reason to go on as a prompt

    def to_report(self) -> HookReport:
        """A turn ended."""
        return self.report(message=self.last_assistant_message or "", answers_hook=self.stop_hook_active)


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


_Moment = Annotated[int, Field(ge=0, lt=2**53, description="when, in milliseconds")]
_SessionKey = Annotated[str, Field(min_length=1, max_length=MAX_KEY)]


class _Sent(BaseModel):
    """Part of a transcript."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SentTool(_Sent):
    """A tool call that an agent wrote down."""

    tool_name: str
    tool_input: Any = None
    tool_response: Any = None
    tool_use_id: str = ""
    agent_id: str = ""
    at: _Moment


class SentTurn(_Sent):
    """A turn that an agent wrote down."""

    prompt: str = ""
    private: bool = Field(default=False, description="a prompt that was private as a whole has been removed")
    at: _Moment
    tools: Annotated[tuple[SentTool, ...], Field(max_length=MAX_TOOLS)] = ()
    last_assistant_message: str | None = Field(default=None, description="null if the turn never ended")
    ended_at: _Moment | None = None


class TranscriptRequest(_Sent):
    """`POST /api/transcripts`: consecutive turns of one session."""

    contentSessionId: _SessionKey  # noqa: N815  the contract's spelling
    platform: str
    project: str
    cwd: str = ""
    first: Annotated[int, Field(ge=1, lt=2**31, description="number of the first of these turns, from 1")]
    turns: Annotated[tuple[SentTurn, ...], Field(min_length=1, max_length=MAX_TURNS)]
    ended: bool = Field(default=False, description="the transcript ends here")
    ask_writer: bool = Field(default=False, description="let the writer be asked about the session once it has ended")
    delta: str | None = Field(default=None, description="what the part before answered")
    rules_only: bool = Field(default=False, description="a file of the checkout says that no author may be told of it")

    def to_part(self) -> TranscriptPart:
        """The part as the service takes it."""
        return TranscriptPart(
            self.contentSessionId, self.platform, self.project, self.cwd, self.first,
            tuple(map(self._turn, self.turns)), self.ended, self.ask_writer, self.rules_only,
        )  # fmt: skip

    def _turn(self, turn: SentTurn) -> ReportedTurn:
        about = HookReport(self.contentSessionId, cwd=self.cwd, at_ms=turn.at)
        stop = None
        if turn.last_assistant_message is not None:
            stop = replace(about, message=turn.last_assistant_message, at_ms=turn.ended_at or turn.at)
        tools = tuple(
            replace(
                about, tool=each.tool_name, input=each.tool_input, response=each.tool_response, call=each.tool_use_id,
                agent=each.agent_id, at_ms=each.at,
            )
            for each in turn.tools
        )  # fmt: skip
        return ReportedTurn(replace(about, prompt=turn.prompt, private=turn.private), tools, stop)


class TranscriptAnswer(WireAnswer):
    """What became of a part of a transcript."""

    success: bool
    source: str = Field(description="what everything that came by transcripts is undone by")
    delta: str | None = Field(description="what this run writes into; null while it wrote nothing")
    turns: dict[str, int] = Field(description="how many were imported, known, captured, excluded and empty")
    memories: dict[str, int] = Field(description="written, by kind")
    events: int

    @classmethod
    def of(cls, taken: ImportedPart) -> Self:
        """What the service says."""
        return cls(success=True, source=SOURCE, **asdict(taken))


class KnownSessionsRequest(_Sent):
    """`POST /api/transcripts/known`: which of these sessions are here."""

    sessions: Annotated[tuple[_SessionKey, ...], Field(max_length=MAX_SESSIONS)]


class KnownSessionRow(WireAnswer):
    """A session that is here."""

    turns: int
    imported: bool = Field(description="by an import; false if it was captured live")


class KnownSessionsAnswer(WireAnswer):
    """Those of the sessions that are here, by the agent's names for them."""

    sessions: dict[str, KnownSessionRow]
    asks_writer: bool = Field(description="whether a writer is there that could be asked")
    undone: str | None = Field(description="the delta that hides an earlier import; undo it to have that again")

    @classmethod
    def of(cls, known: Mapping[str, KnownSession], *, asks_writer: bool, undone: str | None) -> Self:
        """What the service says."""
        rows = {key: KnownSessionRow(turns=each.turns, imported=each.imported) for key, each in known.items()}
        return cls(sessions=rows, asks_writer=asks_writer, undone=undone)


class KeptTranscripts(WireAnswer):
    """What one program keeps on the server's machine."""

    program: str
    sessions: int
    first_ms: int
    last_ms: int
    bytes: int


class AgentOnMachine(WireAnswer):
    """An agent that is on the server's machine."""

    name: str = Field(description="as `codexmem install` takes it")
    title: str
    connected: bool = Field(description="its files name our hook")


class KeptTranscriptsAnswer(WireAnswer):
    """`GET /api/transcripts/found`: empty where the server is not the person's own."""

    transcripts: list[KeptTranscripts]
    agents: list[AgentOnMachine]
    claude_mem: str = Field(description="where claude-mem keeps its memory on this machine; empty if it keeps none")

    @classmethod
    def of(cls, found: MachineOverview) -> Self:
        """What a short look has found."""
        return cls(
            transcripts=[KeptTranscripts(**asdict(each)) for each in found.transcripts],
            agents=[AgentOnMachine(**asdict(each)) for each in found.agents],
            claude_mem=found.claude_mem,
        )


class NextQuestionRequest(WireRequest):
    """`POST /api/sampling/next`: a bridge whose client offers sampling has time."""

    bridge: Annotated[str, Field(min_length=1, max_length=64, description="the bridge's own name")]
    holding: Annotated[str, Field(max_length=64, description="the question that its client is thinking about")] = ""


class QuestionForClient(WireAnswer):
    """A question of the author's for a client's model."""

    id: str
    system: str
    text: str
    max_tokens: int


class NextQuestionAnswer(WireAnswer):
    """The next question, leased to the bridge for some seconds."""

    asks: bool = Field(description="whether the writer is sampling, so that questions may come")
    question: QuestionForClient | None

    @classmethod
    def of(cls, question: SampledQuestion | None, *, asks: bool) -> Self:
        """What the service says."""
        if question is None:
            return cls(asks=asks, question=None)
        told = QuestionForClient(
            id=question.id, system=question.system, text=question.text, max_tokens=question.max_tokens
        )
        return cls(asks=asks, question=told)


class SampledAnswerRequest(WireRequest):
    """`POST /api/sampling/answer`: what a client's model said; without text the client refused."""

    bridge: Annotated[str, Field(min_length=1, max_length=64)]
    id: Annotated[str, Field(min_length=1, max_length=64)]
    text: str | None = None


class SampledAnswerTaken(WireAnswer):
    """Whether anybody still waited for it."""

    accepted: bool
