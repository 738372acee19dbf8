"""Reading a model's answer: JSON of a known shape, with the small slips of models fixed and everything else refused.

Fixed: a code fence or a block of thoughts around the answer, a list or one memory where an object of them was asked
for, a single text where a list belongs, null for nothing. A memory that says nothing is dropped. What does not fit is
described, so that the model can be asked once to fix it.
"""

import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from codexmem.kernel.llm.clip import clean
from codexmem.kernel.llm.material import ModelOutcome

_FENCE = re.compile(r"\A```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)\r?\n?```\Z", re.DOTALL)
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_MAX_MEMORIES = 20
_MAX_LABELS = 60

M = TypeVar("M", bound=BaseModel)


class UnusableAnswer(Exception):
    """An answer that cannot be used, and what is wrong with it in words for the model."""

    def __init__(self, outcome: ModelOutcome, problem: str) -> None:
        super().__init__(problem)
        self.outcome = outcome
        self.problem = problem


def _one(limit: int) -> BeforeValidator:
    def fix(value: object) -> object:
        if value is None:
            return ""
        return clean(value, limit) if isinstance(value, str) else value

    return BeforeValidator(fix)


def _numbers(value: object) -> object:
    """Numbers of events; what is none is left out, because events can be made good for."""
    given = value if isinstance(value, list) else [value]
    plain = (str(each) for each in given[:200] if not isinstance(each, bool))
    return tuple(int(each) for each in plain if each.isdecimal() and len(each) < 10)


def _labels(value: object) -> object:
    """Labels; what is none is left out."""
    given = value if isinstance(value, list) else [value]
    return tuple(clean(each, 60) for each in given[:_MAX_LABELS] if isinstance(each, str) and each.strip())


Label = Annotated[str, _one(60)]
Title = Annotated[str, _one(200)]
Sentence = Annotated[str, _one(400)]
Paragraph = Annotated[str, _one(4_000)]
Labels = Annotated[tuple[str, ...], BeforeValidator(_labels)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_numbers)]


class SaidMemory(BaseModel):
    """One thing that a model wants to be remembered, as it wrote it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    op: Label = ""
    target: Label = ""
    kind: Label = ""
    title: Title = ""
    text: Paragraph = ""
    rests_on: Numbers = ()
    reason: Sentence = ""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.title or self.text or self.target)


class SaidMemories(BaseModel):
    """A whole answer."""

    model_config = ConfigDict(extra="ignore", strict=True)

    reason: Sentence = ""
    memories: list[SaidMemory]


class SaidChange(BaseModel):
    """One thing that a model wants to be done to memories that are there, as it wrote it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    op: Label = ""
    keep: Label = ""
    drop: Labels = ()
    rests_on: Labels = ()
    kind: Label = ""
    title: Title = ""
    text: Paragraph = ""
    reason: Sentence = ""


class SaidReview(BaseModel):
    """A whole answer about what a project knows."""

    model_config = ConfigDict(extra="ignore", strict=True)

    reason: Sentence = ""
    operations: list[SaidChange]


def parsed(text: str) -> Any:
    """The answer's JSON."""
    body = _THOUGHTS.sub("", text, count=1).strip()
    fenced = _FENCE.match(body)
    try:
        return json.loads(fenced.group(1) if fenced else body)
    except (ValueError, RecursionError):
        raise UnusableAnswer(ModelOutcome.PARSE_FAIL, "the answer was not one complete JSON object") from None


def memories(text: str) -> tuple[SaidMemory, ...]:
    """What the answer says; nothing is an answer too."""
    found = parsed(text)
    if isinstance(found, list):
        found = {"memories": found}
    elif isinstance(found, dict) and "memories" not in found and "title" in found:
        found = {"memories": [found]}
    said = validated(SaidMemories, found)
    return tuple(each for each in said.memories if not each.is_empty)[:_MAX_MEMORIES]


def review(text: str) -> tuple[SaidChange, ...]:
    """What the answer wants to be done; nothing is an answer too."""
    found = parsed(text)
    return tuple(validated(SaidReview, {"operations": found} if isinstance(found, list) else found).operations)


def validated(shape: type[M], found: Any) -> M:
    """The answer in this shape, or Unfit with what is wrong with it."""
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        wrong = [
            f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False, include_context=False)[:5]
        ]
        raise UnusableAnswer(ModelOutcome.SCHEMA_FAIL, "; ".join(wrong)[:600]) from None
