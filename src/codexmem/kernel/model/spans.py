"""Where the parts of one request or job say how long they take, if anybody records it.

What records spans is put in by the composition root; without it a span is one look at a variable. A span carries names
and numbers only: never a text of a memory, a prompt, a path that somebody wrote or a key. Parts below a request or a
job are recorded inside it alone, so that what runs by itself (a look into the queue, a wake-up) leaves none.
"""

import functools
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import ParamSpec, Protocol, TypeVar

CAUSE = "traceparent"  # in the payload of a job: which span enqueued it, where that was recorded

P = ParamSpec("P")
R = TypeVar("R")


class Span(Protocol):
    """One part that is being timed."""

    def set(self, **attributes: str | int) -> None:
        """Say more about it; dots of names are written as double underscores."""

    def name(self, name: str) -> None:
        """Name it anew, where the name is known only at its end."""

    def failed(self, kind: str) -> None:
        """It did not end well; the kind of error, never its text."""


class SpanRecorder(Protocol):
    """What records them."""

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """A request that came from outside, below the span that its headers name."""

    def job(self, kind: str, cause: object) -> AbstractContextManager[Span]:
        """A job, linked to the span that enqueued it."""

    def part(self, name: str) -> AbstractContextManager[Span]:
        """Something inside them."""

    def statements(self, name: str) -> AbstractContextManager[Span]:
        """A group of statements inside them: what one transaction asks of the database."""

    def statement(self, text: str) -> None:
        """One statement of that group, without its values."""

    def cause(self) -> str | None:
        """The present span as another process can name it; None where nothing is recorded."""


class _Nothing:
    """A span that nobody records."""

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def set(self, **attributes: str | int) -> None:
        pass

    def name(self, name: str) -> None:
        pass

    def failed(self, kind: str) -> None:
        pass


NOTHING: AbstractContextManager[Span] = _Nothing()
_recorder: SpanRecorder | None = None


def record_spans(recorder: SpanRecorder | None) -> None:
    """From now on this one records them for the whole process; None for nobody."""
    global _recorder  # noqa: PLW0603  the process has one, put in as it begins
    _recorder = recorder


def recorder() -> SpanRecorder | None:
    """What records spans in this process."""
    return _recorder


def part(name: str) -> AbstractContextManager[Span]:
    """Time the block as a part of the present request or job."""
    return NOTHING if _recorder is None else _recorder.part(name)


def timed(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Time each call of a function in the same way."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            if _recorder is None:
                return function(*args, **named)
            with _recorder.part(name):
                return function(*args, **named)

        return call

    return wrap
