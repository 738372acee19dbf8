"""A judged run in, proposals of lessons out; and proposals beside known lessons in, decisions out.

By a model if there is one and it answers well, else by rules; the result says who answered and why. Whatever a model
decides, what may be changed is settled by who applies it: here numbers are checked, not rights.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from codexmem.kernel.llm.asking import Asking, ModelTrial
from codexmem.kernel.llm.clip import clean
from codexmem.kernel.llm.material import By, ModelOutcome
from codexmem.kernel.llm.model import Check, Model
from codexmem.kernel.llm.structured import UnusableAnswer, parsed, validated
from codexmem.lab import lesson_rules as rules
from codexmem.lab.feedback_model import Feedback
from codexmem.lab.lesson_model import GLOBAL, Proposal
from codexmem.lab.prompts import consolidation as consolidation_prompt
from codexmem.lab.prompts import lessons as lessons_prompt
from codexmem.lab.prompts.lessons import MAX_LESSONS

__all__ = ["MAX_LESSONS", "Disproof", "LessonDecision", "Merging", "ModelOpinion", "RunMaterial", "Teacher"]

_TITLE = 200
_CONTENT = 4_000
_MAX_ARCHIVES = 5


@dataclass(frozen=True, slots=True)
class RunMaterial:
    """What was read about a run."""

    request: str
    output: dict[str, object] | None
    feedback: Feedback
    sources: tuple[tuple[str, str], ...]  # label and text, as far as the budget went
    known: tuple[str, ...]  # lessons near to it
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LessonDecision:
    """What becomes of one proposal; numbers count from 0."""

    proposal: int
    action: Literal["add", "update", "skip"]
    target: int | None = None
    content: str = ""


@dataclass(frozen=True, slots=True)
class Disproof:
    """A known lesson that a proposal disproves."""

    target: int
    proposal: int
    reason: str


@dataclass(frozen=True, slots=True)
class Merging:
    """All decisions about one set of proposals."""

    decisions: tuple[LessonDecision, ...]
    disproofs: tuple[Disproof, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelOpinion:
    """Who answered, and what that took."""

    by: By
    outcomes: tuple[ModelOutcome, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error_class: str | None = None  # why rules answered although a model was there
    error: str | None = None

    def to_json(self) -> dict[str, object]:
        """As it is traced."""
        return {
            "by": self.by,
            "outcome": [outcome.value for outcome in self.outcomes],
            "tokens": {"prompt": self.prompt_tokens, "completion": self.completion_tokens},
            "error_class": self.error_class,
            "error": self.error,
        }


def _text(limit: int) -> BeforeValidator:
    return BeforeValidator(lambda value: clean(value, limit) if isinstance(value, str) else value)


class SaidLesson(BaseModel):
    """One lesson as a model wrote it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    title: Annotated[str, _text(_TITLE)] = ""
    content: Annotated[str, _text(_CONTENT)] = ""
    role: Annotated[str, _text(100)] = GLOBAL


class SaidLessons(BaseModel):
    """A whole answer about lessons."""

    model_config = ConfigDict(extra="ignore", strict=True)

    skip: bool = False
    lessons: list[SaidLesson] = []


class SaidDecision(BaseModel):
    """One decision as a model wrote it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    lesson: int
    action: Literal["add", "update", "skip"]
    target: int = 0
    content: Annotated[str, _text(_CONTENT)] = ""


class SaidDisproof(BaseModel):
    """One archiving as a model wrote it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    target: int
    replaced_by: int
    reason: Annotated[str, _text(400)] = ""


class SaidMerging(BaseModel):
    """A whole answer about known lessons."""

    model_config = ConfigDict(extra="ignore", strict=True)

    decisions: Annotated[list[SaidDecision], Field(max_length=MAX_LESSONS * 2)]
    archive: Annotated[list[SaidDisproof], Field(max_length=_MAX_ARCHIVES)] = []


class Teacher:
    """A model, if there is one, with rules behind it. Every call may come from any thread."""

    def __init__(self, model: Model | None = None, *, may_spend: Callable[[int], bool] = lambda _: True) -> None:
        self._model = model
        self._asking = Asking(may_spend)

    @property
    def model(self) -> str | None:
        """The model's name; None where rules answer everything."""
        return None if self._model is None else self._model.name

    def propose(self, material: RunMaterial, check: Check) -> tuple[tuple[Proposal, ...], ModelOpinion]:
        """What the run teaches."""
        trial: ModelTrial[tuple[Proposal, ...]] = ModelTrial()
        if self._model is not None:
            prompt = lessons_prompt.ask(material.request, material.sources, material.known, material.roles)
            trial = self._asking.ask(self._model, prompt, lambda text: read_lessons(text, material.roles), check)
        if trial.answered and trial.value is not None:
            return trial.value, _opinion(trial)
        return rules.proposals(material.request, material.output, material.feedback), _opinion(trial)

    def merge(self, proposals: Sequence[Proposal], known: Sequence[tuple[str, bool]], check: Check
              ) -> tuple[Merging | None, ModelOpinion]:  # fmt: skip
        """What becomes of the proposals beside these known lessons; None where rules have to decide."""
        trial: ModelTrial[Merging] = ModelTrial()
        if self._model is not None:
            new = [f"{each.title}\n{each.content}" for each in proposals]
            trial = self._asking.ask(
                self._model, consolidation_prompt.ask(new, known),
                lambda text: read_merging(text, len(proposals), len(known)), check,
            )  # fmt: skip
        return trial.value if trial.answered else None, _opinion(trial)


def read_lessons(text: str, roles: Sequence[str]) -> tuple[Proposal, ...]:
    """What the answer says; nothing only if it says that the feedback teaches nothing."""
    said = validated(SaidLessons, parsed(text))
    if said.skip:
        return ()
    kept = [
        Proposal(each.title or clean(each.content, _TITLE), each.content or each.title, each.role)
        for each in said.lessons
        if each.title or each.content
    ][:MAX_LESSONS]
    if not kept:
        raise UnusableAnswer(ModelOutcome.SCHEMA_FAIL, "there was no lesson, and skip was not true")
    strange = next((each.role for each in kept if each.role not in roles), None)
    if strange is not None:
        raise UnusableAnswer(ModelOutcome.SCHEMA_FAIL, f"role must be one of {', '.join(roles)}")
    return tuple(kept)


def read_merging(text: str, proposals: int, known: int) -> Merging:
    """What the answer decides; a number that was not given, or a proposal without a decision, does not fit."""
    said = validated(SaidMerging, parsed(text))
    decisions: dict[int, LessonDecision] = {}
    for each in said.decisions:
        _require(1 <= each.lesson <= proposals, f"there is no new lesson {each.lesson}")
        _require(each.lesson - 1 not in decisions, f"new lesson {each.lesson} was decided twice")
        updates = each.action == "update"
        _require(not updates or 1 <= each.target <= known, f"there is no known lesson {each.target} to update")
        decisions[each.lesson - 1] = LessonDecision(
            each.lesson - 1, each.action, each.target - 1 if updates else None, each.content if updates else ""
        )
    _require(len(decisions) == proposals, "every new lesson needs one decision")
    disproofs = []
    for gone in said.archive:
        _require(1 <= gone.target <= known, f"there is no known lesson {gone.target} to archive")
        _require(
            1 <= gone.replaced_by <= proposals and decisions[gone.replaced_by - 1].action != "skip",
            f"replaced_by {gone.replaced_by} names no new lesson that is added or updated",
        )
        disproofs.append(Disproof(gone.target - 1, gone.replaced_by - 1, gone.reason))
    return Merging(tuple(decisions[number] for number in sorted(decisions)), tuple(disproofs))


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise UnusableAnswer(ModelOutcome.SCHEMA_FAIL, problem)


def _opinion(trial: ModelTrial[Any]) -> ModelOpinion:
    end = ModelOutcome.SUCCESS if trial.answered else ModelOutcome.FALLBACK_USED
    return ModelOpinion(
        "model" if trial.answered else "rules", (*trial.outcomes, end), trial.prompt_tokens, trial.completion_tokens,
        trial.error_class, trial.error,
    )  # fmt: skip
