"""The documents of `/v1/qa`: requests with the names, bounds and defaults of contract 001, and the answers that the
contract leaves open. Routes return these models, the client parses them, commands print them.

What only the server may decide is refused in a request rather than ignored: a client that sends a status would believe
that it counts. Importing this loads nothing of a server: services are named for their types alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from codexmem.http.living import LivingFields
from codexmem.http.moments import stretch
from codexmem.kernel.model.memory import MAX_PROJECT, Status
from codexmem.kernel.wire import WireAnswer, WireRequest
from codexmem.qa.model.items import (
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
    Correction,
    NewQa,
    anchor,
    attrs_of,
)
from codexmem.qa.model.validation import QaReference, ValidationReport, trial

if TYPE_CHECKING:
    from codexmem.qa.service.candidates import Stored
    from codexmem.qa.service.evidence import Expired, HitOutcome, Validated
    from codexmem.qa.service.items import Answers, QaEntry
    from codexmem.qa.service.review import Beside, QaReviewPage, ReviewQueue

_OURS = ("qa_id", "status", "origin")  # of a candidate, set by the server
_MAX_ID = 400
_DIGITS = 4  # of a score or confidence; more would say nothing

Project = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_PROJECT),
    Field(description="the project that is asked, or written to"),
]
QaId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_MAX_ID)]
_Label = Annotated[str, Field(max_length=1_000)]


class QASearchPayload(WireRequest):
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


class QACandidatePayload(WireRequest):
    """`POST /v1/qa/candidates`."""

    project_id: Project
    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)]
    answer: Annotated[str, Field(min_length=1, max_length=MAX_ANSWER)]
    summary: Annotated[str, Field(max_length=MAX_SUMMARY)] | None = None
    tags: Annotated[list[_Label], Field(max_length=MAX_TAGS)] = []  # noqa: RUF012  pydantic copies defaults
    metadata: dict[str, object] = {}  # noqa: RUF012
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


class QAReferencePayload(WireRequest):
    """One item that was put before a model or a person; without `shown` and `used` it counts as shown."""

    qa_id: QaId
    shown: bool | None = None
    used: bool | None = Field(None, description="relied upon; what is used was shown, unless shown is false")
    message_id: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE)] | None = Field(
        None, description="of the run or message; the same report about it counts once"
    )
    context: Any = None

    def reference(self) -> QaReference:
        """The reference as the service takes it."""
        used = bool(self.used)
        shown = self.shown if self.shown is not None else used or self.used is None
        return QaReference(self.qa_id, shown, used, self.message_id, self.context)


class QAHitsPayload(WireRequest):
    """`POST /v1/qa/hit`."""

    project_id: Project
    references: Annotated[list[QAReferencePayload], Field(max_length=MAX_REFERENCES)]


class QAValidationPayload(WireRequest):
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

    def report(self) -> ValidationReport:
        """The report as the service takes it."""
        result = str(self.result).lower() if isinstance(self.result, bool) else self.result
        read = trial(success=self.success, result=result, strength=self.signal_strength, strong=self.strong_signal)
        names = ("source", "context", "client", "payload")
        return ValidationReport(self.qa_id, read, self._at_ms(), {name: getattr(self, name) for name in names})

    def _at_ms(self) -> int | None:
        if self.ts is None:
            return None
        try:
            return max(0, stretch(self.ts).first_ms)
        except ValueError:
            raise ValueError("ts must be epoch seconds, epoch milliseconds or ISO 8601") from None


class QAExpirePayload(WireRequest):
    """`POST /v1/qa/expire`."""

    batch_size: int = Field(BATCH, ge=1, le=MAX_BATCH, description="items that are looked at")


class QAProjectPayload(WireRequest):
    """`POST /v1/qa/items/{qa_id}/approve` and `reject`; with a project, the item must be of it."""

    project_id: Project | None = None


class QAMergePayload(WireRequest):
    """`POST /v1/qa/items/{qa_id}/merge`."""

    into: QaId
    project_id: Project | None = None


class QACorrectionPayload(WireRequest):
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


class QAUndoPayload(WireRequest):
    """`POST /v1/qa/items/{qa_id}/undo`."""

    delta: Annotated[str, StringConstraints(min_length=1, max_length=_MAX_ID), Field(
        description="what approve, reject, merge or a correction answered with"
    )]  # fmt: skip
    project_id: Project | None = None


class QAHits(WireAnswer):
    """How often an item was put before somebody, and how often relied upon."""

    shown: int
    used: int

    @classmethod
    def of(cls, item: "QaEntry") -> Self:
        """Those of an item."""
        return cls(shown=item.memory.counters.shown, used=item.memory.counters.used)


class QAValidations(WireAnswer):
    """How often an item was tried, with which outcome."""

    success: int
    failure: int

    @classmethod
    def of(cls, item: "QaEntry") -> Self:
        """Those of an item."""
        return cls(success=item.memory.counters.valid, failure=item.memory.counters.invalid)


class QAItem(WireAnswer):
    """One question with its answer."""

    qa_id: str
    anchor: str = Field(description="the mark by which a text refers to the item: [QA_REF qa-…]")
    project_id: str
    question: str
    answer: str
    summary: str | None
    tags: tuple[str, ...]
    phrasings: tuple[str, ...] = Field(description="the same question in other words")
    confidence: float = Field(description="what evidence makes of the author's confidence")
    status: Status
    unproven: bool = Field(description="true while it is a candidate")
    score: float | None = Field(None, description="in a search: relevance weighed by belief, 0 to 1")
    hits: QAHits
    validations: QAValidations
    contradicts: tuple[str, ...] = Field(description="ids of items with another answer to the same question")
    source: str | None
    author: str | None
    created_at_ms: int
    updated_at_ms: int
    version: int = Field(description="send it with a correction, which is then refused if somebody was faster")

    @classmethod
    def of(cls, item: "QaEntry", **more: Any) -> Self:
        """An item, with the further fields of a larger document."""
        memory, attrs = item.memory, attrs_of(item.memory)
        return cls(
            qa_id=memory.id,
            anchor=anchor(memory.id),
            project_id=memory.state.project,
            question=attrs.question,
            answer=memory.state.content,
            summary=attrs.summary or None,
            tags=attrs.tags,
            phrasings=attrs.phrasings,
            confidence=round(item.confidence, _DIGITS),
            status=item.status,
            unproven=item.status is Status.CANDIDATE,
            score=round(item.score, _DIGITS) if item.score is not None else None,
            hits=QAHits.of(item),
            validations=QAValidations.of(item),
            contradicts=tuple(other.id for other in item.contradicts),
            source=attrs.source or None,
            author=attrs.author or None,
            created_at_ms=memory.created_ms,
            updated_at_ms=memory.updated_ms,
            version=memory.version,
            **more,
        )


class QADecision(QAItem):
    """An item after a person's decision."""

    delta: str | None = Field(description="what takes the decision back; null: nothing was changed")


class QARetracted(QAItem):
    """An item after a decision about it was taken back."""

    delta: str | None = Field(description="the delta that took it back")
    undone: bool = Field(description="false: it had been taken back before")


class QABeside(QAItem):
    """An item beside another one."""

    similarity: float = Field(description="how well it fits the other one's question, 0 to 1, whatever is believed")
    likeness: Literal["same", "narrower", "alike", "other"] = Field(description="of the questions")
    agreement: Literal["agrees", "differs", "contradicts"] = Field(description="of the answers")


class QASimilarAnswer(WireAnswer):
    """Items that ask nearly the same, the most alike first."""

    items: tuple[QABeside, ...]
    count: int
    mode: str
    degraded: tuple[str, ...] | None = None

    @classmethod
    def of(cls, near: "Sequence[Beside]", how: "Answers") -> Self:
        """What was found, and how."""
        items = tuple(
            QABeside.of(
                each.item,
                similarity=round(each.item.relevance or 0.0, _DIGITS),
                likeness=each.likeness.value,
                agreement=each.agreement.value,
            )
            for each in near
        )
        return cls(items=items, count=len(items), mode=how.mode.value, **_degraded(how))


class QAStatusCounts(WireAnswer):
    """How many items there are of each status."""

    candidate: int
    active: int
    validated: int
    deprecated: int
    expired: int


class QACountsAnswer(WireAnswer):
    """Items by status, each counted up to a limit."""

    counts: QAStatusCounts
    counted_up_to: int

    @classmethod
    def of(cls, counts: Mapping[Status, int], up_to: int) -> Self:
        """These counts."""
        return cls(counts=QAStatusCounts(**{status.value: count for status, count in counts.items()}),
                   counted_up_to=up_to)  # fmt: skip


class QARule(WireAnswer):
    """What one of the gatekeeper's rules says of an item's text as it stands."""

    name: Literal["reusable", "form", "safe"]
    passed: bool
    why: str
    why_zh: str


class QAGatekeeper(WireAnswer):
    """The gatekeeper's word."""

    mode: str | None = Field(description="in which mode a wrapper's gatekeeper let it through, if one did")
    rules: tuple[QARule, ...]


class QASearchAnswer(WireAnswer):
    """The items that fit, best first."""

    items: tuple[QAItem, ...]
    count: int
    mode: str = Field(description="hybrid, or lexical-only where vectors took no part")
    degraded: tuple[str, ...] | None = Field(None, description="why, in words; only where something was missing")

    @classmethod
    def of(cls, found: "Answers") -> Self:
        """What a search found."""
        items = tuple(map(QAItem.of, found.items))
        return cls(items=items, count=len(items), mode=found.mode.value, **_degraded(found))


class QACandidateAnswer(WireAnswer):
    """What became of a candidate: 201 if it was stored, 200 if it was added to an item that asks the same."""

    qa_id: str
    status: Status
    created: bool
    merged_into: str | None = Field(description="the item that has it now, if it was not stored on its own")
    contradicts: tuple[str, ...]
    confidence: float

    @classmethod
    def of(cls, stored: "Stored") -> Self:
        """What was stored."""
        item = stored.item
        return cls(
            qa_id=item.memory.id,
            status=item.status,
            created=stored.created,
            merged_into=None if stored.created else item.memory.id,
            contradicts=tuple(other.id for other in item.contradicts),
            confidence=round(item.confidence, _DIGITS),
        )


class QAHitsAnswer(WireAnswer):
    """What became of the references."""

    accepted: int
    deduped: int = Field(description="references of which nothing was new")
    unknown: tuple[str, ...] = Field(description="ids that the project does not have")

    @classmethod
    def of(cls, hits: "HitOutcome") -> Self:
        """What was counted."""
        return cls(accepted=hits.accepted, deduped=hits.deduped, unknown=hits.unknown)


class QAValidationAnswer(WireAnswer):
    """The item after a report."""

    qa_id: str
    status: Status
    previous_status: Status
    confidence: float
    unproven: bool
    hits: QAHits
    validations: QAValidations

    @classmethod
    def of(cls, validated: "Validated") -> Self:
        """What was learned."""
        item = validated.item
        return cls(
            qa_id=item.memory.id,
            status=item.status,
            previous_status=validated.before,
            confidence=round(item.confidence, _DIGITS),
            unproven=item.status is Status.CANDIDATE,
            hits=QAHits.of(item),
            validations=QAValidations.of(item),
        )


class QAExpireAnswer(WireAnswer):
    """What one call expired."""

    expired: int
    remaining: bool = Field(description="whether more items are due")
    delta: str | None = Field(description="what `codexmem undo` takes back")

    @classmethod
    def of(cls, outcome: "Expired") -> Self:
        """What expired."""
        return cls(expired=outcome.expired, remaining=outcome.remaining, delta=outcome.delta)


class QAListedItem(LivingFields, QAItem):
    """An item in the list."""

    seq: int


class QAItemsAnswer(WireAnswer):
    """One page of items, newest first."""

    items: tuple[QAListedItem, ...]
    count: int
    next_cursor: str | None

    @classmethod
    def of(cls, queue: "ReviewQueue") -> Self:
        """One page."""
        items = tuple(
            QAListedItem.of(each, seq=each.memory.seq, **QAListedItem.living(each.memory)) for each in queue.items
        )
        after = queue.after
        return cls(items=items, count=len(items), next_cursor=f"{after.created_ms}.{after.seq}" if after else None)

    @property
    def following(self) -> str | None:
        """The cursor of the next page; None after the last."""
        return self.next_cursor


class QAItemDetail(QAItem):
    """An item with everything that is known of it."""

    metadata: dict[str, object]
    alternatives: tuple[str, ...] = Field(description="the answer in other words")
    merged_into: str | None
    similar: tuple[QAItem, ...]
    contradictions: tuple[QAItem, ...]
    gatekeeper: QAGatekeeper

    @classmethod
    def of_page(cls, page: "QaReviewPage") -> Self:
        """An item with its company."""
        attrs, into = attrs_of(page.item.memory), page.item.merged_into
        metadata = json.loads(attrs.metadata) if attrs.metadata else {}
        mode = metadata.get("gatekeeper")
        rules = [
            {"name": rule.name, "passed": rule.passed, "why": rule.why, "why_zh": rule.explained("zh")[1]}
            for rule in page.rules
        ]
        return cls.of(
            page.item,
            metadata=metadata,
            alternatives=attrs.alternatives,
            merged_into=into.id if into is not None else None,
            similar=tuple(map(QAItem.of, page.similar)),
            contradictions=tuple(map(QAItem.of, page.contradictions)),
            gatekeeper={"mode": mode if isinstance(mode, str) else None, "rules": rules},
        )


def _degraded(how: "Answers") -> dict[str, tuple[str, ...]]:
    """The field that is left out where nothing was missing."""
    return {"degraded": how.degraded} if how.degraded else {}
