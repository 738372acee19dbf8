"""What can be asked about questions with answers: found, proposed, reported on, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codexmem.client.call import ApiCall, get, post
from codexmem.qa import wire


def search(
    query: str, *, project: str, limit: int | None = None, min_score: float | None = None
) -> ApiCall[wire.QASearchAnswer]:
    """Items of a project whose question or answer bears on this one."""
    return post("/v1/qa/search", wire.QASearchAnswer, safe=True, keyed=False, project_id=project, query=query,
                limit=limit, min_score=min_score)  # fmt: skip


def propose(
    question: str, answer: str, *, project: str, summary: str | None = None, tags: Sequence[str] = (),
    confidence: float | None = None, author: str | None = None, source: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> ApiCall[wire.QACandidateAnswer]:  # fmt: skip
    """Propose an item; it is a candidate until its answer has been seen to work."""
    return post(
        "/v1/qa/candidates", wire.QACandidateAnswer, project_id=project, question=question, answer=answer,
        summary=summary, tags=list(tags), confidence=confidence, author=author, source=source, metadata=metadata,
    )  # fmt: skip


def validate(
    qa_id: str, success: bool, *, project: str, strong: bool | None = None, strength: float | None = None
) -> ApiCall[wire.QAValidationAnswer]:
    """Report whether its answer worked when it was tried; a `strong` report moves the item a step by itself."""
    return post("/v1/qa/validate", wire.QAValidationAnswer, project_id=project, qa_id=qa_id, success=success,
                strong_signal=strong, signal_strength=strength)  # fmt: skip


def report(
    qa_ids: Sequence[str], *, project: str, used: bool, message_id: str | None = None
) -> ApiCall[wire.QAHitsAnswer]:
    """Report that items were shown to a model or a person or, with `used`, relied upon.

    The same report about the same `message_id` counts once.
    """
    references = [{"qa_id": each, "shown": True, "used": used} | ({"message_id": message_id} if message_id else {})
                  for each in qa_ids]  # fmt: skip
    return post("/v1/qa/hit", wire.QAHitsAnswer, project_id=project, references=references)


def items(
    *, project: str | None = None, status: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiCall[wire.QAItemsAnswer]:
    """Items, the newest first."""
    return get("/v1/qa/items", wire.QAItemsAnswer, project_id=project, status=status, limit=limit, cursor=cursor)


def item(qa_id: str, *, project: str | None = None) -> ApiCall[wire.QAItemDetail]:
    """One item, with what asks nearly the same and what contradicts it."""
    return get("/v1/qa/items/{qa_id}", wire.QAItemDetail, {"qa_id": qa_id}, project_id=project)


def approve(qa_id: str, *, project: str | None = None) -> ApiCall[wire.QADecision]:
    """Decide, as a person, that it holds."""
    return post("/v1/qa/items/{qa_id}/approve", wire.QADecision, {"qa_id": qa_id}, project_id=project)


def reject(qa_id: str, *, project: str | None = None) -> ApiCall[wire.QADecision]:
    """Decide, as a person, that it does not."""
    return post("/v1/qa/items/{qa_id}/reject", wire.QADecision, {"qa_id": qa_id}, project_id=project)


def undo(qa_id: str, delta: str, *, project: str | None = None) -> ApiCall[wire.QARetracted]:
    """Take a decision back, by the delta that it answered."""
    return post("/v1/qa/items/{qa_id}/undo", wire.QARetracted, {"qa_id": qa_id}, delta=delta, project_id=project)
