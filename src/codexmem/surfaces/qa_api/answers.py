"""What this door answers: the bodies that contract 001 leaves open, defined here and shown in `/openapi.json`."""

import json
from typing import Any

from pydantic import BaseModel, Field

from codexmem.domain.memory import Status
from codexmem.domain.qa.items import anchor, attrs_of
from codexmem.domain.query import Cursor
from codexmem.services.qa.candidates import Stored
from codexmem.services.qa.expiry import Expired
from codexmem.services.qa.reviewing import Looked, Shelf
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
    }


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
    return {
        **item(looked.item),
        "metadata": json.loads(attrs.metadata) if attrs.metadata else {},
        "alternatives": list(attrs.alternatives),
        "merged_into": into.id if into is not None else None,
        "similar": [item(each) for each in looked.similar],
        "contradictions": [item(each) for each in looked.contradictions],
    }


def _hits(found: Item) -> dict[str, int]:
    return {"shown": found.memory.counters.shown, "used": found.memory.counters.used}


def _validations(found: Item) -> dict[str, int]:
    return {"success": found.memory.counters.valid, "failure": found.memory.counters.invalid}
