"""What of a candidate is kept: nothing private, no secrets, and no text that is longer than an item may hold."""

import json
from collections.abc import Iterable
from dataclasses import replace

from codexmem.kernel.model import privacy, redaction
from codexmem.qa.model.items import MAX_ANSWER, MAX_LABEL, MAX_METADATA, MAX_QUESTION, MAX_SUMMARY, MAX_TAGS, NewQa
from codexmem.qa.model.validation import UnprocessableReport


def cleaned(new: NewQa) -> NewQa:
    """The candidate as it may be stored; one that has nothing left is refused."""
    return replace(
        new,
        question=_required(new.question, "question", MAX_QUESTION).strip(),
        answer=_required(new.answer, "answer", MAX_ANSWER),
        summary=_bounded(clean(new.summary), "summary", MAX_SUMMARY).strip(),
        tags=_labels(new.tags),
        metadata=_metadata(new.metadata),
        source=_bounded(clean(new.source), "source", MAX_LABEL).strip(),
        author=_bounded(clean(new.author), "author", MAX_LABEL).strip(),
    )


def clean(text: str) -> str:
    """The text without what is private or secret."""
    return redaction.redact(privacy.strip(text))


def clean_value(value: object, most: int) -> object:
    """A JSON value without what is private or secret; one that is longer than that is told by its length."""
    kept: object = redaction.redact_value(privacy.strip_value(value))
    size = len(json.dumps(kept, ensure_ascii=False))
    return kept if size <= most else f"[{size:,} characters, not kept]"


def _required(text: str, name: str, most: int) -> str:
    kept = clean(text)
    if not kept.strip():
        hint = "all of it was marked as private, so nothing is left" if text.strip() else None
        raise UnprocessableReport(f"{name} must not be empty", hint=hint)
    return _bounded(kept, name, most)


def _bounded(text: str, name: str, most: int) -> str:
    if len(text) > most:
        raise UnprocessableReport(
            f"{name} is longer than {most:,} characters", hint="shorten it, or put the rest into a file"
        )
    return text


def _labels(tags: Iterable[str]) -> tuple[str, ...]:
    kept = tuple(dict.fromkeys(label for tag in tags if (label := clean(tag).strip())))
    if len(kept) > MAX_TAGS:
        raise UnprocessableReport(f"tags: at most {MAX_TAGS} are kept")
    return tuple(_bounded(tag, "a tag", MAX_LABEL) for tag in kept)


def _metadata(text: str) -> str:
    if not text:
        return ""
    kept = redaction.redact_value(privacy.strip_value(json.loads(text)))
    if not kept:
        return ""
    return _bounded(json.dumps(kept, ensure_ascii=False, separators=(",", ":")), "metadata", MAX_METADATA)
