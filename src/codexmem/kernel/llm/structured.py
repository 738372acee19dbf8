"""Reading a model's answer: JSON of a known shape, with the small slips of models fixed and everything else refused.

Fixed: a code fence or a block of thoughts around the answer, a list or one observation where an object of them was
asked for, a single text where a list belongs, null for nothing. A type that we do not know is kept; an observation
that says nothing is dropped. What does not fit is described, so that the model can be asked once to fix it.
"""

import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from codexmem.kernel.llm.clip import clean
from codexmem.kernel.llm.material import CONCEPTS, ModelOutcome, TurnSummary

_FENCE = re.compile(r"\A```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)\r?\n?```\Z", re.DOTALL)
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_MAX_OBSERVATIONS = 20
_MAX_LIST = 40

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


def _several(limit: int) -> BeforeValidator:
    def fix(value: object) -> object:
        if value is None:
            return ()
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list):
            return tuple(clean(each, limit) if isinstance(each, str) else each for each in value[:_MAX_LIST])
        return value

    return BeforeValidator(fix)


def _numbers(value: object) -> object:
    """Numbers of events; what is none is left out, because events can be made good for."""
    given = value if isinstance(value, list) else [value]
    plain = (str(each) for each in given[:200] if not isinstance(each, bool))
    return tuple(int(each) for each in plain if each.isdecimal() and len(each) < 10)


Label = Annotated[str, _one(60)]
Title = Annotated[str, _one(200)]
Sentence = Annotated[str, _one(400)]
Paragraph = Annotated[str, _one(4_000)]
Facts = Annotated[tuple[str, ...], _several(1_000)]
Labels = Annotated[tuple[str, ...], _several(400)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_numbers)]
Flag = Annotated[bool, BeforeValidator(lambda value: False if value is None else value)]


class SaidObservation(BaseModel):
    """One observation as a model wrote it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    type: Label = ""
    title: Title = ""
    subtitle: Sentence = ""
    narrative: Paragraph = ""
    facts: Facts = ()
    concepts: Labels = ()
    files_read: Labels = ()
    events: Numbers = ()

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.title or self.narrative or any(self.facts) or self.known_concepts)

    @property
    def known_concepts(self) -> tuple[str, ...]:
        """Those of the seven, without explanations behind a colon, each once."""
        cut = (concept.partition(":")[0].strip().lower() for concept in self.concepts)
        return tuple(dict.fromkeys(concept for concept in cut if concept in CONCEPTS))[:5]


class SaidObservations(BaseModel):
    """A whole answer about observations."""

    model_config = ConfigDict(extra="ignore", strict=True)

    skip: Flag = False
    reason: Sentence = ""
    observations: list[SaidObservation]


class SaidSummary(BaseModel):
    """A whole answer about a summary."""

    model_config = ConfigDict(extra="ignore", strict=True)

    skip: Flag = False
    reason: Sentence = ""
    request: Paragraph = ""
    investigated: Paragraph = ""
    learned: Paragraph = ""
    completed: Paragraph = ""
    next_steps: Paragraph = ""
    notes: Paragraph = ""


def parsed(text: str) -> Any:
    """The answer's JSON."""
    body = _THOUGHTS.sub("", text, count=1).strip()
    fenced = _FENCE.match(body)
    try:
        return json.loads(fenced.group(1) if fenced else body)
    except (ValueError, RecursionError):
        raise UnusableAnswer(ModelOutcome.PARSE_FAIL, "the answer was not one complete JSON object") from None


def observations(text: str) -> tuple[SaidObservation, ...]:
    """What the answer says; nothing only if it says that nothing is worth remembering."""
    found = parsed(text)
    if isinstance(found, list):
        found = {"observations": found}
    elif isinstance(found, dict) and "observations" not in found:
        found = {"observations": [found]} if "title" in found else {"observations": [], **found}
    said = validated(SaidObservations, found)
    if said.skip:
        return ()
    kept = tuple(each for each in said.observations if not each.is_empty)[:_MAX_OBSERVATIONS]
    if not kept:
        raise UnusableAnswer(ModelOutcome.SCHEMA_FAIL, "there was no observation, and skip was not true")
    return kept


def summary(text: str) -> TurnSummary | None:
    """What the answer says; None if it says that the turn is not worth a summary."""
    said = validated(SaidSummary, parsed(text))
    if said.skip:
        return None
    digest = TurnSummary(said.request, said.investigated, said.learned, said.completed, said.next_steps, said.notes)
    if digest.is_empty:
        raise UnusableAnswer(ModelOutcome.SCHEMA_FAIL, "every field of the summary was empty, and skip was not true")
    return digest


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
