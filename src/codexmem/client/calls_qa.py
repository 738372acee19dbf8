"""What can be asked about questions with answers: found, proposed, reported on, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codexmem.client import answers_qa as answers
from codexmem.client.call import Call, get, post


def search(
    query: str, *, project: str, limit: int | None = None, min_score: float | None = None
) -> Call[answers.Matches]:
    """Items of a project whose question or answer bears on this one."""
    return post("/v1/qa/search", answers.Matches, safe=True, keyed=False, project_id=project, query=query, limit=limit,
                min_score=min_score)  # fmt: skip


def propose(
    question: str, answer: str, *, project: str, summary: str | None = None, tags: Sequence[str] = (),
    confidence: float | None = None, author: str | None = None, source: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Call[answers.Candidate]:  # fmt: skip
    """Propose an item; it is a candidate until its answer has been seen to work."""
    return post(
        "/v1/qa/candidates", answers.Candidate, project_id=project, question=question, answer=answer, summary=summary,
        tags=list(tags), confidence=confidence, author=author, source=source, metadata=metadata,
    )  # fmt: skip


def validate(
    qa_id: str, success: bool, *, project: str, strong: bool | None = None, strength: float | None = None
) -> Call[answers.Judged]:
    """Report whether its answer worked when it was tried; a `strong` report moves the item a step by itself."""
    return post("/v1/qa/validate", answers.Judged, project_id=project, qa_id=qa_id, success=success,
                strong_signal=strong, signal_strength=strength)  # fmt: skip


def report(qa_ids: Sequence[str], *, project: str, used: bool, message_id: str | None = None) -> Call[answers.Counted]:
    """Report that items were shown to a model or a person or, with `used`, relied upon.

    The same report about the same `message_id` counts once.
    """
    references = [{"qa_id": each, "shown": True, "used": used} | ({"message_id": message_id} if message_id else {})
                  for each in qa_ids]  # fmt: skip
    return post("/v1/qa/hit", answers.Counted, project_id=project, references=references)


def items(
    *, project: str | None = None, status: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[answers.Items]:
    """Items, the newest first."""
    return get("/v1/qa/items", answers.Items, project_id=project, status=status, limit=limit, cursor=cursor)


def item(qa_id: str, *, project: str | None = None) -> Call[answers.Item]:
    """One item."""
    return get("/v1/qa/items/{qa_id}", answers.Item, {"qa_id": qa_id}, project_id=project)


def approve(qa_id: str, *, project: str | None = None) -> Call[answers.Decision]:
    """Decide, as a person, that it holds."""
    return post("/v1/qa/items/{qa_id}/approve", answers.Decision, {"qa_id": qa_id}, project_id=project)


def reject(qa_id: str, *, project: str | None = None) -> Call[answers.Decision]:
    """Decide, as a person, that it does not."""
    return post("/v1/qa/items/{qa_id}/reject", answers.Decision, {"qa_id": qa_id}, project_id=project)


def undo(qa_id: str, delta: str, *, project: str | None = None) -> Call[answers.Decision]:
    """Take a decision back, by the delta that it answered."""
    return post("/v1/qa/items/{qa_id}/undo", answers.Decision, {"qa_id": qa_id}, delta=delta, project_id=project)
