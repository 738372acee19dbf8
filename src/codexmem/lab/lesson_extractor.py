"""A judged run in, proposals of lessons out; and proposals beside known lessons in, decisions out.

By a model if there is one and it answers well, else by rules; the result says who answered and why. Whatever a model
decides, what may be changed is settled by who applies it: here numbers are checked, not rights.

Lessons without any model: what a person said and measured, beside what was asked and tried.

Nothing is concluded that the feedback does not say: its praise, its criticism and its measurements each become one
lesson, in the person's own words. The same feedback gives the same lessons.

New lessons beside the known ones: which to add, which to merge, and which known ones they disprove.

Both are named by number, so an answer cannot name a lesson that it was not shown.

Lessons from one judged run: what to do again and what to avoid, as the person's feedback shows it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from codexmem.kernel.llm.asking import Asking, ModelTrial
from codexmem.kernel.llm.clip import clean, clip, line
from codexmem.kernel.llm.language import Language, language_of
from codexmem.kernel.llm.material import By, ModelOutcome
from codexmem.kernel.llm.model import Check, Message, Model, ModelPrompt
from codexmem.kernel.llm.prompts import shared
from codexmem.kernel.llm.structured import UnusableAnswer, parsed, validated
from codexmem.kernel.model import own_prompts
from codexmem.lab.lesson_model import GLOBAL, Proposal
from codexmem.lab.model import Feedback, Share

EXTRACTION = "lessons"
EXTRACTION_TOKENS = 3_000
MAX_LESSONS = 8

_EXTRACTION_SYSTEM = f"""You keep the memory of a laboratory. An agent answered a request with recipes, and a person \
tried them and judged the result. Write down what later runs should do again or avoid.

{shared.DATA_RULE}

Rules:
- At most {MAX_LESSONS} lessons; two good ones are better than eight. Each holds beyond this one run, and each is \
supported by the person's feedback: the agent's own reasons are not evidence.
- title: the lesson in one line. content: one to four sentences with the conditions under which it holds and what was \
measured. Say "avoid" or "do not" where something harmed. No citations, no names of runs.
- role: whom it helps, one of the roles given; "global" if it helps everyone.
- Leave out what the known lessons say already, unless the feedback corrects it.
- If the feedback teaches nothing, set skip to true and say why in reason; otherwise skip is false.

Answer with one JSON object and nothing else."""


def extraction_schema(roles: Sequence[str]) -> dict[str, object]:
    """The answer's shape for these roles."""
    lesson = shared.strict(
        {
            "title": shared.text("the lesson in one line"),
            "content": shared.text("one to four sentences"),
            "role": {"type": "string", "enum": list(roles)},
        }
    )
    return shared.strict(
        {
            "skip": {"type": "boolean", "description": "true if the feedback teaches nothing"},
            "reason": shared.text("why it teaches nothing; otherwise empty"),
            "lessons": {"type": "array", "items": lesson},
        }
    )


def extraction_prompt(
    request: str, sources: Sequence[tuple[str, str]], known: Sequence[str], roles: Sequence[str]
) -> ModelPrompt:
    """The question about a run; `sources` are what was read about it, each under its label."""
    secret = shared.mark()
    parts = [
        own_prompts.marked(secret),
        f"Roles: {', '.join(roles)}",
        shared.language_rule(request),
        shared.fenced("request", secret, clip(request, shared.MAX_REQUEST)),
        *(shared.fenced(label, secret, clip(text, shared.MAX_FIELD)) for label, text in sources),
        shared.fenced("known lessons", secret, "\n".join(f"- {each}" for each in known) or "(none)"),
    ]
    return ModelPrompt(
        (Message("system", _EXTRACTION_SYSTEM), Message("user", "\n\n".join(parts))),
        EXTRACTION,
        extraction_schema(roles),
        EXTRACTION_TOKENS,
    )


CONSOLIDATION = "consolidation"
CONSOLIDATION_TOKENS = 3_000
_SHOWN = 1_500  # characters of a lesson

_CONSOLIDATION_SYSTEM = f"""You keep the memory of a laboratory in order. New lessons were drawn from one judged run. \
Compare them with the known lessons that are nearest to them and decide, for each new lesson, what becomes of it.

{shared.DATA_RULE}

Rules:
- decisions: one entry per new lesson, by its number. action add: nothing known says it. action update: the known \
lesson with the number target says the same; content is then the one text that says both. action skip: it is known \
already and needs no change. target is 0 and content empty unless the action is update.
- archive: known lessons that a new lesson disproves. target is the known lesson, replaced_by the number of a new \
lesson whose action is add or update. Leave the list empty unless both cannot be true at once.
- A known lesson marked (person) was written by a person: never update or archive it.

Answer with one JSON object and nothing else."""

CONSOLIDATION_SCHEMA = shared.strict(
    {
        "decisions": {
            "type": "array",
            "items": shared.strict(
                {
                    "lesson": {"type": "integer", "description": "number of a new lesson"},
                    "action": {"type": "string", "enum": ["add", "update", "skip"]},
                    "target": {"type": "integer", "description": "number of a known lesson, or 0"},
                    "content": shared.text("the merged text of an update, or empty"),
                }
            ),
        },
        "archive": {
            "type": "array",
            "items": shared.strict(
                {
                    "target": {"type": "integer", "description": "number of a known lesson"},
                    "replaced_by": {"type": "integer", "description": "number of a new lesson"},
                    "reason": shared.text("one sentence"),
                }
            ),
        },
    }
)


def consolidation_prompt(new: Sequence[str], known: Sequence[tuple[str, bool]]) -> ModelPrompt:
    """The question; of each known lesson its text, and whether a person wrote it."""
    secret = shared.mark()
    listed = [f"{number}. {clip(text, _SHOWN)}" for number, text in enumerate(new, 1)]
    beside = [
        f"{number}.{' (person)' if person else ''} {clip(text, _SHOWN)}"
        for number, (text, person) in enumerate(known, 1)
    ]
    parts = [
        own_prompts.marked(secret),
        shared.language_rule("\n".join(new)),
        shared.fenced("new lessons", secret, "\n".join(listed)),
        shared.fenced("known lessons", secret, "\n".join(beside)),
    ]
    return ModelPrompt(
        (Message("system", _CONSOLIDATION_SYSTEM), Message("user", "\n\n".join(parts))),
        CONSOLIDATION,
        CONSOLIDATION_SCHEMA,
        CONSOLIDATION_TOKENS,
    )


# ruff: noqa: RUF001


_SAID = 1_500  # characters of what a person wrote
_REQUEST = 160
_RECIPES = 3
_RECIPE = 200
_VALUE = 60
_PRODUCTS = 5

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "pros": "Worked: {said}",
        "cons": "Avoid or improve: {said}",
        "other": "Remark: {said}",
        "measured": "Measured products: {said}",
        "request": "Asked for: {text}",
        "recipes": "Tried: {text}",
        "score": "Score given: {text}",
        "mostly": "mostly {name}, {share} of {total}",
    },
    "zh": {
        "pros": "有效：{said}",
        "cons": "应避免或改进：{said}",
        "other": "备注：{said}",
        "measured": "实测产物：{said}",
        "request": "请求：{text}",
        "recipes": "所试配方：{text}",
        "score": "评分：{text}",
        "mostly": "以 {name} 为主，占 {total} 的 {share}",
    },
}  # fmt: skip


def proposals(request: str, output: dict[str, object] | None, feedback: Feedback) -> tuple[Proposal, ...]:
    """What the feedback says, each part as one lesson; nothing for feedback that says nothing."""
    spoken = " ".join((feedback.pros, feedback.cons, feedback.other)).strip()
    words = _WORDS[language_of(spoken or request)]
    tried = _tried(output)
    about = [words["request"].format(text=line(request, _REQUEST))]
    if tried:
        about.append(words["recipes"].format(text=tried))
    if feedback.score is not None:
        about.append(words["score"].format(text=f"{feedback.score:g}"))
    said = {"pros": feedback.pros, "cons": feedback.cons}
    if not feedback.pros.strip() and not feedback.cons.strip():
        said["other"] = feedback.other
    found = [
        Proposal(line(text, _TITLE), "\n".join((words[name].format(said=clip(text.strip(), _SAID)), *about)))
        for name, text in said.items()
        if text.strip()
    ]
    measured = _measured(feedback.products, words)
    if measured:
        title = line(f"{tried or line(request, _REQUEST)}: {measured}", _TITLE)
        found.append(Proposal(title, "\n".join((words["measured"].format(said=measured), *about))))
    return tuple(found)


def _measured(products: tuple[Share, ...], words: dict[str, str]) -> str:
    there = sorted(
        (each for each in products if each.fraction > 0), key=lambda each: (-each.fraction, each.product_name)
    )
    if not there:
        return ""
    listed = ", ".join(f"{line(each.product_name, _VALUE)} {each.fraction:.1%}" for each in there[:_PRODUCTS])
    first = words["mostly"].format(
        name=line(there[0].product_name, _VALUE),
        share=f"{there[0].fraction:.1%}",
        total=f"{sum(e.value for e in products):g}",
    )
    return f"{first} ({listed})" if len(there) > 1 else first


def _tried(output: dict[str, object] | None) -> str:
    """The first recipes in short, whatever fields a profile gives them; long texts are reasons, not recipes."""
    recipes: Any = (output or {}).get("recipes_json")
    lists = [each for each in recipes.values() if isinstance(each, list)] if isinstance(recipes, dict) else []
    items = [each for each in (lists[0] if lists else []) if isinstance(each, dict)]
    shown = [
        ", ".join(f"{name} {value}" for name, value in item.items() if _is_plain(value))[:_RECIPE]
        for item in items[:_RECIPES]
    ]
    return "; ".join(each for each in shown if each)


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _VALUE and "[" not in value
    return isinstance(value, int | float) and not isinstance(value, bool)


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
            prompt = extraction_prompt(material.request, material.sources, material.known, material.roles)
            trial = self._asking.ask(self._model, prompt, lambda text: read_lessons(text, material.roles), check)
        if trial.answered and trial.value is not None:
            return trial.value, _opinion(trial)
        return proposals(material.request, material.output, material.feedback), _opinion(trial)

    def merge(self, proposals: Sequence[Proposal], known: Sequence[tuple[str, bool]], check: Check
              ) -> tuple[Merging | None, ModelOpinion]:  # fmt: skip
        """What becomes of the proposals beside these known lessons; None where rules have to decide."""
        trial: ModelTrial[Merging] = ModelTrial()
        if self._model is not None:
            new = [f"{each.title}\n{each.content}" for each in proposals]
            trial = self._asking.ask(
                self._model, consolidation_prompt(new, known),
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
