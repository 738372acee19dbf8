"""What a model is to us: one prompt in, one text out, nothing remembered in between.

A model that does not answer says which class of trouble it is, because that decides whether waiting, another key or
nothing at all helps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from codexmem.kernel.model.errors import Unavailable

Check = Callable[[], None]  # raises if the work should stop here


class Trouble(StrEnum):
    """Why there is no answer."""

    TRANSIENT = "transient"  # may work later: no connection, too slow, server error
    RATE_LIMIT = "rate_limit"  # works later
    QUOTA_EXHAUSTED = "quota_exhausted"  # somebody has to pay or wait for the next month
    AUTH_INVALID = "auth_invalid"  # somebody has to fix the key
    SETUP_REQUIRED = "setup_required"  # somebody has to fix address, model or installation
    UNRECOVERABLE = "unrecoverable"  # this prompt will never be answered


SOMEBODY_MUST_ACT = frozenset({Trouble.AUTH_INVALID, Trouble.QUOTA_EXHAUSTED, Trouble.SETUP_REQUIRED})


class Unanswered(Unavailable):
    """A model gave no answer. What the server said stays out: it may repeat the prompt or the key."""

    def __init__(self, message: str, trouble: Trouble, *, hint: str | None = None, prompt_tokens: int = 0,
                 wait_s: float = 0.0) -> None:  # fmt: skip
        super().__init__(message, hint=hint)
        self.trouble = trouble
        self.prompt_tokens = prompt_tokens  # that were probably paid for nevertheless
        self.wait_s = wait_s  # how long the server asked to be left alone, if it did


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the short conversation that a prompt is."""

    role: str  # system, user or assistant
    content: str


@dataclass(frozen=True, slots=True)
class ModelPrompt:
    """A question with the shape that its answer must have."""

    messages: tuple[Message, ...]
    schema_name: str
    schema: Mapping[str, Any]
    max_tokens: int  # of the answer

    @property
    def text(self) -> str:
        """All that is sent, to estimate what it costs."""
        return "\n".join(message.content for message in self.messages)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said and what it took."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class Model(Protocol):
    """Answers prompts. Every call may come from any thread, holds no state and ends within its time."""

    name: str

    def answer(self, prompt: ModelPrompt, check: Check) -> Completion:
        """The answer as text, or `Unanswered`; whatever `check` raises passes through."""
        ...
