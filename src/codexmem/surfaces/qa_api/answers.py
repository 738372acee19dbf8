"""What this door answers: the bodies that contract 001 leaves open, defined here and shown in `/openapi.json`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from codexmem.domain.memory import Status
from codexmem.domain.qa.items import anchor, attrs_of
from codexmem.domain.query import Cursor
from codexmem.services.qa.candidates import Stored
from codexmem.services.qa.expiry import Expired
from codexmem.services.qa.retracting import Retracted
from codexmem.services.qa.reviewing import COUNTED, Beside, Looked, Shelf
from codexmem.services.qa.searching import Answers
from codexmem.services.qa.signals import Hits, Validated
from codexmem.services.qa.views import Item

_DIGITS = 4  # of a score or confidence; more would say nothing


class QAHits(BaseModel):
    """How often an item was put before somebody, and how often relied upon."""

    shown: int
    used: int


class QAValidations(BaseModel):
    """How often an item was tried, with which outcome."""

    success: int
    failure: int


class QAItem(BaseModel):
    """One question with its answer."""

    qa_id: str
    anchor: str = Field(description="the mark by which a text refers to the item: [QA_REF qa-…]")
    project_id: str
    question: str
    answer: str
    summary: str | None
    tags: list[str]
    phrasings: list[str] = Field(description="the same question in other words")
    confidence: float = Field(description="what evidence makes of the author's confidence")
    status: Status
    unproven: bool = Field(description="true while it is a candidate")
    score: float | None = Field(None, description="in a search: relevance weighed by belief, 0 to 1")
    hits: QAHits
    validations: QAValidations
    contradicts: list[str] = Field(description="ids of items with another answer to the same question")
    source: str | None
    author: str | None
    created_at_ms: int
    updated_at_ms: int
    version: int = Field(description="send it with a correction, which is then refused if somebody was faster")


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


class QASimilarAnswer(BaseModel):
    """Items that ask nearly the same, the most alike first."""

    items: list[QABeside]
    count: int
    mode: str
    degraded: list[str] | None = None


class QAStatusCounts(BaseModel):
    """How many items there are of each status."""

    candidate: int
    active: int
    validated: int
    deprecated: int
    expired: int


class QACountsAnswer(BaseModel):
    """Items by status, each counted up to a limit."""

    counts: QAStatusCounts
    counted_up_to: int


class QARule(BaseModel):
    """What one of the gatekeeper's rules says of an item's text as it stands."""

    name: Literal["reusable", "form", "safe"]
    passed: bool
    why: str
    why_zh: str


class QAGatekeeper(BaseModel):
    """The gatekeeper's word."""

    mode: str | None = Field(description="in which mode a wrapper's gatekeeper let it through, if one did")
    rules: list[QARule]


class QASearchAnswer(BaseModel):
    """The items that fit, best first."""

    items: list[QAItem]
    count: int
    mode: str = Field(description="hybrid, or lexical-only where vectors took no part")
    degraded: list[str] | None = Field(None, description="why, in words; only where something was missing")


class QACandidateAnswer(BaseModel):
    """What became of a candidate: 201 if it was stored, 200 if it was added to an item that asks the same."""

    qa_id: str
    status: Status
    created: bool
    merged_into: str | None = Field(description="the item that has it now, if it was not stored on its own")
    contradicts: list[str]
    confidence: float


class QAHitsAnswer(BaseModel):
    """What became of the references."""

    accepted: int
    deduped: int = Field(description="references of which nothing was new")
    unknown: list[str] = Field(description="ids that the project does not have")


class QAValidationAnswer(BaseModel):
    """The item after a report."""

    qa_id: str
    status: Status
    previous_status: Status
    confidence: float
    unproven: bool
    hits: QAHits
    validations: QAValidations


class QAExpireAnswer(BaseModel):
    """What one call expired."""

    expired: int
    remaining: bool = Field(description="whether more items are due")
    delta: str | None = Field(description="what `codexmem undo` takes back")


class QAItemsAnswer(BaseModel):
    """One page of items, newest first."""

    items: list[QAItem]
    count: int
    next_cursor: str | None


class QAItemDetail(QAItem):
    """An item with everything that is known of it."""

    metadata: dict[str, Any]
    alternatives: list[str] = Field(description="the answer in other words")
    merged_into: str | None
    similar: list[QAItem]
    contradictions: list[QAItem]
    gatekeeper: QAGatekeeper


def item(found: Item) -> dict[str, Any]:
    """One item."""
    memory, attrs = found.memory, attrs_of(found.memory)
    return {
        "qa_id": memory.id,
        "anchor": anchor(memory.id),
        "project_id": memory.state.project,
        "question": attrs.question,
        "answer": memory.state.content,
        "summary": attrs.summary or None,
        "tags": list(attrs.tags),
        "phrasings": list(attrs.phrasings),
        "confidence": round(found.confidence, _DIGITS),
        "status": found.status.value,
        "unproven": found.status is Status.CANDIDATE,
        "score": round(found.score, _DIGITS) if found.score is not None else None,
        "hits": _hits(found),
        "validations": _validations(found),
        "contradicts": [other.id for other in found.contradicts],
        "source": attrs.source or None,
        "author": attrs.author or None,
        "created_at_ms": memory.created_ms,
        "updated_at_ms": memory.updated_ms,
        "version": memory.version,
    }


def decided(found: Item) -> dict[str, Any]:
    """The answer to a decision."""
    return {**item(found), "delta": found.delta}


def retracted(outcome: Retracted) -> dict[str, Any]:
    """The answer to an undo."""
    return {**decided(outcome.item), "undone": outcome.undone}


def similar(near: Sequence[Beside], how: Answers) -> dict[str, Any]:
    """The answer to what is similar."""
    items = [
        {
            **item(each.item),
            "similarity": round(each.item.relevance or 0.0, _DIGITS),
            "likeness": each.likeness.value,
            "agreement": each.agreement.value,
        }
        for each in near
    ]
    degraded = {"degraded": list(how.degraded)} if how.degraded else {}
    return {"items": items, "count": len(items), "mode": how.mode.value, **degraded}


def counts(found: Mapping[Status, int]) -> dict[str, Any]:
    """The answer to how many there are."""
    return {"counts": {status.value: found[status] for status in found}, "counted_up_to": COUNTED}


def found(answers: Answers) -> dict[str, Any]:
    """The answer to a search."""
    items = [item(each) for each in answers.items]
    degraded = {"degraded": list(answers.degraded)} if answers.degraded else {}
    return {"items": items, "count": len(items), "mode": answers.mode.value, **degraded}


def stored(outcome: Stored) -> dict[str, Any]:
    """The answer to a candidate."""
    memory = outcome.item.memory
    return {
        "qa_id": memory.id,
        "status": outcome.item.status.value,
        "created": outcome.created,
        "merged_into": None if outcome.created else memory.id,
        "contradicts": [other.id for other in outcome.item.contradicts],
        "confidence": round(outcome.item.confidence, _DIGITS),
    }


def counted(hits: Hits) -> dict[str, Any]:
    """The answer to a hit."""
    return {"accepted": hits.accepted, "deduped": hits.deduped, "unknown": list(hits.unknown)}


def validated(outcome: Validated) -> dict[str, Any]:
    """The answer to a validation."""
    return {
        "qa_id": outcome.item.memory.id,
        "status": outcome.item.status.value,
        "previous_status": outcome.before.value,
        "confidence": round(outcome.item.confidence, _DIGITS),
        "unproven": outcome.item.status is Status.CANDIDATE,
        "hits": _hits(outcome.item),
        "validations": _validations(outcome.item),
    }


def expired(outcome: Expired) -> dict[str, Any]:
    """The answer to an expiry."""
    return {"expired": outcome.expired, "remaining": outcome.remaining, "delta": outcome.delta}


def page(shelf: Shelf) -> dict[str, Any]:
    """One page."""
    items = [item(each) for each in shelf.items]
    after = f"{shelf.after.created_ms}.{shelf.after.seq}" if shelf.after is not None else None
    return {"items": items, "count": len(items), "next_cursor": after}


def cursor(text: str) -> Cursor:
    """Where a page goes on; ValueError if the text is none of ours."""
    created_ms, seq = (int(part) for part in text.split("."))
    return Cursor(created_ms, seq)


def detail(looked: Looked) -> dict[str, Any]:
    """An item with its company."""
    attrs, into = attrs_of(looked.item.memory), looked.item.merged_into
    metadata = json.loads(attrs.metadata) if attrs.metadata else {}
    mode = metadata.get("gatekeeper")
    return {
        **item(looked.item),
        "metadata": metadata,
        "alternatives": list(attrs.alternatives),
        "merged_into": into.id if into is not None else None,
        "similar": [item(each) for each in looked.similar],
        "contradictions": [item(each) for each in looked.contradictions],
        "gatekeeper": {
            "mode": mode if isinstance(mode, str) else None,
            "rules": [
                {"name": rule.name, "passed": rule.passed, "why": rule.why, "why_zh": rule.explained("zh")[1]}
                for rule in looked.rules
            ],
        },
    }


def _hits(found: Item) -> dict[str, int]:
    return {"shown": found.memory.counters.shown, "used": found.memory.counters.used}


def _validations(found: Item) -> dict[str, int]:
    return {"success": found.memory.counters.valid, "failure": found.memory.counters.invalid}
