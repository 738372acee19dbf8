"""Captured events in, observations and summaries out: by a model if there is one and it answers well, else by rules.

An answer that does not fit is sent back once with what is wrong; after that, and whenever the model is away or too
dear, rules answer. So there is always a result, and it says who gave it and why. Files that were changed come from
tool evidence alone, and a change that the model left out is not lost: rules add it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from codexmem.domain import ids
from codexmem.domain.capture import CapturedEvent
from codexmem.domain.errors import CodexmemError
from codexmem.domain.text_size import tokens
from codexmem.llm import evidence, rules, structured
from codexmem.llm.clip import clip
from codexmem.llm.material import MAX_READ, By, Digest, Distilled, Material, Outcome, Result
from codexmem.llm.model import Check, Message, Model, Prompt, Unanswered
from codexmem.llm.paths import relative
from codexmem.llm.prompts import observations as observation_prompt
from codexmem.llm.prompts import summaries as summary_prompt
from codexmem.llm.structured import SaidObservation, Unfit

__all__ = ["By", "Digest", "Distilled", "Distiller", "Material", "Outcome", "Result"]

BUDGET = "budget"  # error class of a call that was not made because it might cost too much
_MAX_QUOTED = 8_000  # characters of an unfit answer that the model is shown again
_TITLE_WORDS = 120

T = TypeVar("T")


@dataclass(slots=True)
class _Trial(Generic[T]):
    """What asking the model came to."""

    value: T | None = None
    answered: bool = False
    outcomes: tuple[Outcome, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_ms: float = 0.0
    error_class: str | None = None
    error: str | None = None


class Distiller:
    """A model, if there is one, with rules behind it. Every call may come from any thread."""

    def __init__(self, model: Model | None = None, *, may_spend: Callable[[int], bool] = lambda _: True,
                 now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self._model = model
        self._may_spend = may_spend
        self._now_s = now_s

    @property
    def model(self) -> str | None:
        """The model's name; None where rules answer everything."""
        return None if self._model is None else self._model.name

    def observations(self, material: Material, check: Check) -> Result[tuple[Distilled, ...]]:
        """What these events taught; nothing, if the model says so or rules find nothing worth remembering."""
        trial: _Trial[tuple[SaidObservation, ...]] = _Trial()
        if self._model is not None and material.events:
            trial = self._asked(self._model, observation_prompt.ask(material), structured.observations, check)
        if trial.answered and trial.value is not None:
            return _result(trial, _with_evidence(trial.value, material))
        return _result(trial, rules.observations(material))

    def summary(self, material: Material, message: str, check: Check) -> Result[Digest | None]:
        """Where things stand after this turn; None if there is nothing to say."""
        trial: _Trial[Digest | None] = _Trial()
        if self._model is not None and (message.strip() or material.events):
            files = evidence.files(material.events)
            done = [each.title for each in rules.observations(material)]
            prompt = summary_prompt.ask(material, message, done, files.read, files.modified)
            trial = self._asked(self._model, prompt, structured.summary, check)
        if trial.answered:
            return _result(trial, trial.value)
        return _result(trial, rules.summary(material, message))

    def _asked(self, model: Model, prompt: Prompt, read: Callable[[str], T], check: Check) -> _Trial[T]:
        """Ask, and ask once more if the answer does not fit."""
        trial: _Trial[T] = _Trial()
        for last in (False, True):
            check()
            if not self._may_spend(tokens(prompt.text) + prompt.max_tokens):
                trial.error_class, trial.error = BUDGET, "the day's tokens are spent"
                return trial
            began = self._now_s()
            try:
                answer = model.answer(prompt, check)
            except Unanswered as error:
                trial.prompt_tokens += error.prompt_tokens
                trial.error_class, trial.error = error.trouble.value, _told(error)
                return trial
            finally:
                trial.model_ms += (self._now_s() - began) * 1000
            trial.prompt_tokens += answer.prompt_tokens
            trial.completion_tokens += answer.completion_tokens
            try:
                trial.value = read(answer.text)
            except Unfit as unfit:
                trial.outcomes += (Outcome.REPAIR_FAIL,) if last else (unfit.outcome,)
                trial.error_class, trial.error = unfit.outcome.value, unfit.problem
                prompt = _mended(prompt, answer.text, unfit.problem)
            else:
                trial.answered = True
                trial.error_class = trial.error = None
                return trial
        return trial


def _mended(prompt: Prompt, answer: str, problem: str) -> Prompt:
    """The same question with what was wrong with the first answer."""
    wish = f"That answer cannot be used: {problem}. Answer the same question again, with one JSON object of the schema."
    said = (Message("assistant", clip(answer, _MAX_QUOTED) or "(nothing)"), Message("user", wish))
    return replace(prompt, messages=(*prompt.messages, *said))


def _told(error: CodexmemError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _result(trial: _Trial[Any], value: T) -> Result[T]:
    by: By = "model" if trial.answered else "rules"
    end = Outcome.SUCCESS if trial.answered else Outcome.FALLBACK_USED
    return Result(
        value, (*trial.outcomes, end), by, trial.prompt_tokens, trial.completion_tokens, trial.model_ms,
        trial.error_class, trial.error,
    )  # fmt: skip


def _with_evidence(said: tuple[SaidObservation, ...], material: Material) -> tuple[Distilled, ...]:
    """The model's observations with what tools prove, and the changes that it passed over."""
    if not said:
        return ()
    found = [_distilled(each, material.events) for each in said]
    covered = {seq for each in found for seq in each.events}
    left_out = tuple(
        event for event in material.events if event.seq not in covered and evidence.files([event]).modified
    )
    if left_out:
        found += rules.observations(replace(material, events=left_out))
    return tuple(found)


def _distilled(said: SaidObservation, events: tuple[CapturedEvent, ...]) -> Distilled:
    # Numbers count from 1 in the prompt; one that names no event proves nothing, none at all means all of them.
    sources = [event for number, event in enumerate(events, 1) if number in said.events] or list(events)
    files = evidence.files(sources)
    cwd = sources[-1].cwd
    named = (relative(path, cwd) for path in said.files_read)
    read = dict.fromkeys((*files.read, *(path for path in named if path)))
    kind = said.type.lower() or ("change" if files.modified else "discovery")
    narrative = said.narrative or " ".join(said.facts)
    return Distilled(
        type=kind,
        title=said.title or clip(narrative.partition("\n")[0], _TITLE_WORDS) or kind,
        subtitle=said.subtitle,
        narrative=narrative,
        facts=tuple(fact for fact in said.facts if fact),
        concepts=tuple(concept for concept in said.known_concepts if concept != kind),
        files_read=tuple(path for path in read if path not in set(files.modified))[:MAX_READ],
        files_modified=files.modified,
        events=tuple(event.seq for event in sources),
    )
