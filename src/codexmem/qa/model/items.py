"""Questions with answers that agents ask for and report on: what an item is, its limits and how it grows old.

An item is a memory of the kind qa: its answer is the content, its question the title. It begins as a candidate, is
validated by evidence or by a person, and ends deprecated (refuted) or expired (nobody speaks for it any more). What was
learned about it (`domain.belief`) is no part of its state: an undone write does not undo what was learned. Only a
person's own decision can be taken back with what was learned from it.

What of a candidate is kept: nothing private, no secrets, and no text that is longer than an item may hold.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from codexmem.kernel.model import privacy, redaction
from codexmem.kernel.model.attrs import QaAttrs
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.qa.model.validation import UnprocessableReport

KINDS = frozenset({Kind.QA})
OFFERED = frozenset({Status.CANDIDATE, Status.ACTIVE, Status.VALIDATED})  # what a search may give
JUDGED = OFFERED | {Status.DEPRECATED, Status.EXPIRED}  # what a new candidate may turn out to be the same as

# Of the contract.
LIMIT, MAX_LIMIT = 6, 20
MIN_SCORE = 0.2
CONFIDENCE = 0.5
BATCH, MAX_BATCH = 200, 1_000

# Our own: every text, list and answer is bounded.
MAX_QUERY = 20_000  # characters
MAX_QUESTION = 4_000
MAX_ANSWER = 200_000
MAX_SUMMARY = 10_000
MAX_LABEL = 400  # of a tag, author or source
MAX_TAGS = 50
MAX_METADATA = 16_384  # characters of its JSON
MAX_REFERENCES = 200
MAX_MESSAGE = 200
MAX_PHRASINGS = 20  # further ones are counted as evidence and not kept
MAX_ALTERNATIVES = 3  # other wordings of the answer; the newest are kept
MAX_CONTRADICTIONS = 8

CONTRADICTS = "contradicts"  # the link between items of which one at most is right; it goes both ways
MERGED_INTO = "merged_into"  # the link from an item to the one that took its question over

_DAY_MS = 86_400_000
CANDIDATE_MS = 90 * _DAY_MS  # for which nothing spoke for it, and a candidate expires
VALIDATED_MS = 365 * _DAY_MS  # the same of one that was validated
SIGNALS_KEPT_MS = 90 * _DAY_MS  # in which a repeated signal is known to be one

_ANCHOR = re.compile(r"\[QA_REF (qa-[A-Za-z0-9_.:-]{1,120})\]")


@dataclass(frozen=True, slots=True)
class NewQa:
    """A candidate as it was handed in."""

    project: str
    question: str
    answer: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    metadata: str = ""  # JSON text
    source: str = ""
    author: str = ""
    confidence: float = CONFIDENCE


@dataclass(frozen=True, slots=True)
class Correction:
    """What changes; None leaves a field as it is."""

    question: str | None = None
    answer: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None


def anchor(qa_id: str) -> str:
    """The mark by which a text refers to an item."""
    return f"[QA_REF {qa_id}]"


def anchors_in(text: str) -> tuple[str, ...]:
    """The ids that a text refers to, each once, in order."""
    return tuple(dict.fromkeys(_ANCHOR.findall(text)))


def attrs_of(memory: Memory) -> QaAttrs:
    """The typed fields of an item."""
    attrs = memory.state.attrs
    assert isinstance(attrs, QaAttrs)
    return attrs


def questions_of(attrs: QaAttrs) -> tuple[str, ...]:
    """The question in every wording it was asked in."""
    return tuple(dict.fromkeys((attrs.question, *attrs.phrasings)))


def linked(memory: Memory, relation: str) -> tuple[int, ...]:
    """The numbers of the items that one points to in this way."""
    return tuple(seq for name, seq in memory.state.links if name == relation)


def with_phrasings(attrs: QaAttrs, more: Iterable[str]) -> tuple[str, ...]:
    """The phrasings with new ones, each once and as many as are kept; the question itself is none."""
    known = dict.fromkeys(attrs.phrasings) | dict.fromkeys(each for each in more if each != attrs.question)
    return tuple(known)[:MAX_PHRASINGS]


def expires_ms(status: Status, spoken_ms: int) -> int | None:
    """When an item of this status expires for which something spoke last at that time; None if it does not."""
    if status is Status.CANDIDATE:
        return spoken_ms + CANDIDATE_MS
    return spoken_ms + VALIDATED_MS if status in OFFERED else None


def promoted(status: Status) -> Status:
    """One step up, as a strong confirmation takes an item."""
    if status in (Status.DEPRECATED, Status.EXPIRED):
        return Status.CANDIDATE
    return Status.VALIDATED if status is Status.CANDIDATE else status


def demoted(status: Status) -> Status:
    """One step down, as a strong refutation takes an item."""
    if status in (Status.VALIDATED, Status.ACTIVE):
        return Status.CANDIDATE
    return Status.DEPRECATED if status is Status.CANDIDATE else status


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
