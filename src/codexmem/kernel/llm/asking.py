"""Asking a model for an answer of a known shape: once, and once more with what was wrong.

What the calls came to is kept, whether or not there was an answer: who asks falls back to rules and says why.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from codexmem.kernel.llm.clip import clip
from codexmem.kernel.llm.material import ModelOutcome
from codexmem.kernel.llm.model import Check, Message, Model, ModelPrompt, Unanswered
from codexmem.kernel.llm.structured import UnusableAnswer
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.spans import timed
from codexmem.kernel.model.text_size import tokens

BUDGET = "budget"  # error class of a call that was not made because it might cost too much
_MAX_QUOTED = 8_000  # characters of an unfit answer that the model is shown again

T = TypeVar("T")


@dataclass(slots=True)
class ModelTrial(Generic[T]):
    """What asking the model came to."""

    value: T | None = None
    answered: bool = False
    outcomes: tuple[ModelOutcome, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_ms: float = 0.0
    error_class: str | None = None
    error: str | None = None
    wait_s: float = 0.0  # how long the model asked to be left alone


def failed(error_class: str | None) -> bool:
    """Whether no answer means that the model failed; a budget that is used up does not."""
    return error_class not in {None, BUDGET}


class Asking:
    """Asks within a budget. Every call may come from any thread."""

    def __init__(self, may_spend: Callable[[int], bool] = lambda _: True,
                 now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self._may_spend = may_spend
        self._now_s = now_s

    @timed("model.ask")
    def ask(self, model: Model, prompt: ModelPrompt, read: Callable[[str], T], check: Check) -> ModelTrial[T]:
        """Ask, and ask once more if the answer does not fit; `read` raises Unfit for what it cannot use."""
        trial: ModelTrial[T] = ModelTrial()
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
                trial.wait_s = error.wait_s
                return trial
            finally:
                trial.model_ms += (self._now_s() - began) * 1000
            trial.prompt_tokens += answer.prompt_tokens
            trial.completion_tokens += answer.completion_tokens
            try:
                trial.value = read(answer.text)
            except UnusableAnswer as unfit:
                trial.outcomes += (ModelOutcome.REPAIR_FAIL,) if last else (unfit.outcome,)
                trial.error_class, trial.error = unfit.outcome.value, unfit.problem
                prompt = _corrected(prompt, answer.text, unfit.problem)
            else:
                trial.answered = True
                trial.error_class = trial.error = None
                return trial
        return trial


def _corrected(prompt: ModelPrompt, answer: str, problem: str) -> ModelPrompt:
    """The same question with what was wrong with the first answer."""
    wish = f"That answer cannot be used: {problem}. Answer the same question again, with one JSON object of the schema."
    said = (Message("assistant", clip(answer, _MAX_QUOTED) or "(nothing)"), Message("user", wish))
    return replace(prompt, messages=(*prompt.messages, *said))


def _told(error: CodexmemError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
