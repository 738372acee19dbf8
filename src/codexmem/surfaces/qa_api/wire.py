"""The field spelling of contract 001: what each request may hold, with the contract's names, bounds and defaults.

Fields that nobody here knows are passed over, for clients of other makes send more than we read. What only the server
may decide is refused rather than ignored: a client that sends a status would believe that it counts.
"""

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from codexmem.domain.memory import MAX_PROJECT
from codexmem.domain.qa.items import (
    BATCH,
    CONFIDENCE,
    LIMIT,
    MAX_ANSWER,
    MAX_BATCH,
    MAX_LIMIT,
    MAX_MESSAGE,
    MAX_QUERY,
    MAX_QUESTION,
    MAX_REFERENCES,
    MAX_SUMMARY,
    MAX_TAGS,
    MIN_SCORE,
    NewQa,
)
from codexmem.domain.qa.validation import trial
from codexmem.services.qa.editing import Correction
from codexmem.services.qa.signals import Reference, Report
from codexmem.surfaces._kit.moments import stretch

_OURS = ("qa_id", "status", "origin")  # of a candidate, set by the server
_MAX_ID = 400

Project = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_PROJECT),
    Field(description="the project that is asked, or written to"),
]
QaId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_MAX_ID)]
_Label = Annotated[str, Field(max_length=1_000)]


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _given(cls, given: Any) -> Any:
        """Null stands for a field that is not given: clients that know types write it so."""
        if isinstance(given, dict):
            return {name: value for name, value in given.items() if value is not None}
        return given


class QASearchPayload(_Payload):
    """`POST /v1/qa/search`."""

    project_id: Project
    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY)]
    limit: int = Field(LIMIT, ge=1, le=MAX_LIMIT)
    min_score: float = Field(MIN_SCORE, ge=0.0, le=1.0, description="results below this score are left out")

    @field_validator("query")
    @classmethod
    def _asks(cls, query: str) -> str:
        if not query.strip():
            raise ValueError("query must not be blank")
        return query


class QACandidatePayload(_Payload):
    """`POST /v1/qa/candidates`."""

    project_id: Project
    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)]
    answer: Annotated[str, Field(min_length=1, max_length=MAX_ANSWER)]
    summary: Annotated[str, Field(max_length=MAX_SUMMARY)] | None = None
    tags: Annotated[list[_Label], Field(max_length=MAX_TAGS)] = []
    metadata: dict[str, Any] = {}
    source: _Label | None = Field(None, description="a label of the caller's; provenance is the server's own")
    author: _Label | None = None
    confidence: float = Field(CONFIDENCE, ge=0.0, le=1.0, description="how sure the author is, before any evidence")

    @model_validator(mode="before")
    @classmethod
    def _not_ours(cls, given: Any) -> Any:
        if isinstance(given, dict):
            for name in _OURS:
                if given.get(name) not in (None, "candidate"):
                    raise ValueError(f"{name} is set by the server; a candidate does not bring one")
        return given

    def new(self) -> NewQa:
        """The candidate as the service takes it."""
        metadata = json.dumps(self.metadata, ensure_ascii=False) if self.metadata else ""
        return NewQa(
            self.project_id, self.question, self.answer, self.summary or "", tuple(self.tags), metadata,
            self.source or "", self.author or "", self.confidence,
        )  # fmt: skip


class QAReferencePayload(_Payload):
    """One item that was put before a model or a person; without `shown` and `used` it counts as shown."""

    qa_id: QaId
    shown: bool | None = None
    used: bool | None = Field(None, description="relied upon; what is used was shown, unless shown is false")
    message_id: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE)] | None = Field(
        None, description="of the run or message; the same report about it counts once"
    )
    context: Any = None

    def reference(self) -> Reference:
        """The reference as the service takes it."""
        used = bool(self.used)
        shown = self.shown if self.shown is not None else used or self.used is None
        return Reference(self.qa_id, shown, used, self.message_id, self.context)


class QAHitsPayload(_Payload):
    """`POST /v1/qa/hit`."""

    project_id: Project
    references: Annotated[list[QAReferencePayload], Field(max_length=MAX_REFERENCES)]


class QAValidationPayload(_Payload):
    """`POST /v1/qa/validate`: `success`, or a `result` in words, says whether the answer worked when it was tried."""

    project_id: Project
    qa_id: QaId
    result: bool | Annotated[str, Field(max_length=200)] | None = Field(
        None, description="pass, success, ok, 通过 …; fail, error, 失败 …; unknown, skipped, 未知 …"
    )
    signal_strength: float | Annotated[str, Field(max_length=50)] | None = Field(
        None, description="how sure the reporter is: 0 to 1, or weak, medium, strong; 1 unless given"
    )
    success: bool | None = None
    strong_signal: bool | None = Field(
        None, description="moves the item one step, unless all evidence together leans the other way"
    )
    source: Any = None
    context: Any = None
    client: Any = None
    ts: float | str | None = Field(None, description="when it was tried: epoch seconds, milliseconds or ISO 8601")
    payload: Any = None

    @model_validator(mode="after")
    def _timed(self) -> Self:
        self._at_ms()
        return self

    def report(self) -> Report:
        """The report as the service takes it."""
        result = str(self.result).lower() if isinstance(self.result, bool) else self.result
        read = trial(success=self.success, result=result, strength=self.signal_strength, strong=self.strong_signal)
        names = ("source", "context", "client", "payload")
        return Report(self.qa_id, read, self._at_ms(), {name: getattr(self, name) for name in names})

    def _at_ms(self) -> int | None:
        if self.ts is None:
            return None
        try:
            return max(0, stretch(self.ts).first_ms)
        except ValueError:
            raise ValueError("ts must be epoch seconds, epoch milliseconds or ISO 8601") from None


class QAExpirePayload(_Payload):
    """`POST /v1/qa/expire`."""

    batch_size: int = Field(BATCH, ge=1, le=MAX_BATCH, description="items that are looked at")


class QAProjectPayload(_Payload):
    """`POST /v1/qa/items/{qa_id}/approve` and `reject`; with a project, the item must be of it."""

    project_id: Project | None = None


class QAMergePayload(_Payload):
    """`POST /v1/qa/items/{qa_id}/merge`."""

    into: QaId
    project_id: Project | None = None


class QACorrectionPayload(_Payload):
    """`PATCH /v1/qa/items/{qa_id}`: only what is given changes; an empty summary or list of tags removes them."""

    project_id: Project | None = None
    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)] | None = None
    answer: Annotated[str, Field(min_length=1, max_length=MAX_ANSWER)] | None = None
    summary: Annotated[str, Field(max_length=MAX_SUMMARY)] | None = None
    tags: Annotated[list[_Label], Field(max_length=MAX_TAGS)] | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1, description="only if it is still this version")] | None = None

    def correction(self) -> Correction:
        """The correction as the service takes it."""
        return Correction(
            self.question, self.answer, self.summary, tuple(self.tags) if self.tags is not None else None
        )  # fmt: skip


class QAUndoPayload(_Payload):
    """`POST /v1/qa/items/{qa_id}/undo`."""

    delta: Annotated[str, StringConstraints(min_length=1, max_length=_MAX_ID), Field(
        description="what approve, reject, merge or a correction answered with"
    )]  # fmt: skip
    project_id: Project | None = None
