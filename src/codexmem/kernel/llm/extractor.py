"""Captured events in, observations and summaries out: by a model if there is one and it answers well, else by rules.

An answer that does not fit is sent back once with what is wrong; after that, and whenever the model is away or too
dear, rules answer. So there is always a result, and it says who gave it and why. Files that were changed come from
tool evidence alone, and a change that the model left out is not lost: rules add it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from codexmem.kernel.llm import evidence, rules, structured
from codexmem.kernel.llm.asking import BUDGET, Asking, ModelTrial
from codexmem.kernel.llm.clip import clip
from codexmem.kernel.llm.material import (
    MAX_READ,
    By,
    ExtractedObservation,
    ExtractionResult,
    Material,
    ModelOutcome,
    TurnSummary,
)
from codexmem.kernel.llm.model import Check, Model
from codexmem.kernel.llm.paths import relative
from codexmem.kernel.llm.prompts import observations as observation_prompt
from codexmem.kernel.llm.prompts import summaries as summary_prompt
from codexmem.kernel.llm.structured import SaidObservation
from codexmem.kernel.model import ids
from codexmem.kernel.model.capture import CapturedEvent

__all__ = [
    "BUDGET",
    "By",
    "ExtractedObservation",
    "ExtractionResult",
    "Extractor",
    "Material",
    "ModelOutcome",
    "TurnSummary",
    "failed",
]

_TITLE_WORDS = 120

T = TypeVar("T")


class Extractor:
    """A model, if there is one, with rules behind it. Every call may come from any thread."""

    def __init__(self, model: Model | None = None, *, may_spend: Callable[[int], bool] = lambda _: True,
                 now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self._model = model
        self._asking = Asking(may_spend, now_s)

    @property
    def model(self) -> str | None:
        """The model's name; None where rules answer everything."""
        return None if self._model is None else self._model.name

    def observations(self, material: Material, check: Check) -> ExtractionResult[tuple[ExtractedObservation, ...]]:
        """What these events taught; nothing, if the model says so or rules find nothing worth remembering."""
        trial: ModelTrial[tuple[SaidObservation, ...]] = ModelTrial()
        if self._model is not None and material.events:
            trial = self._asking.ask(self._model, observation_prompt.ask(material), structured.observations, check)
        if trial.answered and trial.value is not None:
            return _result(trial, _with_evidence(trial.value, material))
        return _result(trial, rules.observations(material))

    def summary(self, material: Material, message: str, check: Check) -> ExtractionResult[TurnSummary | None]:
        """Where things stand after this turn; None if there is nothing to say."""
        trial: ModelTrial[TurnSummary | None] = ModelTrial()
        if self._model is not None and (message.strip() or material.events):
            files = evidence.files(material.events)
            done = [each.title for each in rules.observations(material)]
            prompt = summary_prompt.ask(material, message, done, files.read, files.modified)
            trial = self._asking.ask(self._model, prompt, structured.summary, check)
        if trial.answered:
            return _result(trial, trial.value)
        return _result(trial, rules.summary(material, message))


def failed(error_class: str | None) -> bool:
    """Whether an answer by rules means that the model failed; a budget that is used up does not."""
    return error_class not in {None, BUDGET}


def _result(trial: ModelTrial[Any], value: T) -> ExtractionResult[T]:
    by: By = "model" if trial.answered else "rules"
    # Where no model was to be asked, rules are no fallback.
    fallback = (ModelOutcome.FALLBACK_USED,) if trial.error_class else ()
    end = (ModelOutcome.SUCCESS,) if trial.answered else fallback
    return ExtractionResult(
        value, (*trial.outcomes, *end), by, trial.prompt_tokens, trial.completion_tokens, trial.model_ms,
        trial.error_class, trial.error,
    )  # fmt: skip


def _with_evidence(said: tuple[SaidObservation, ...], material: Material) -> tuple[ExtractedObservation, ...]:
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


def _distilled(said: SaidObservation, events: tuple[CapturedEvent, ...]) -> ExtractedObservation:
    # Numbers count from 1 in the prompt; one that names no event proves nothing, none at all means all of them.
    sources = [event for number, event in enumerate(events, 1) if number in said.events] or list(events)
    files = evidence.files(sources)
    cwd = sources[-1].cwd
    named = (relative(path, cwd) for path in said.files_read)
    read = dict.fromkeys((*files.read, *(path for path in named if path)))
    kind = said.type.lower() or ("change" if files.modified else "discovery")
    narrative = said.narrative or " ".join(said.facts)
    return ExtractedObservation(
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
