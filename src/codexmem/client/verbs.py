"""From a description of a call to a method that makes it: at once, awaited, or page by page.

A client's methods are made from the functions that build calls, so that both clients have the same ones with the same
arguments, and each is written once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from codexmem.client.call import ApiCall, PagedAnswer, next_call

P = ParamSpec("P")
T = TypeVar("T")
I = TypeVar("I")  # noqa: E741  an item of a page


class Sends(Protocol):
    """What sends calls and waits for the answer."""

    def send(self, call: ApiCall[T]) -> T:
        """Make the call."""
        ...


class SendsAwaited(Protocol):
    """What sends calls, to be awaited."""

    async def send(self, call: ApiCall[T]) -> T:
        """Make the call."""
        ...


def now(build: Callable[P, ApiCall[T]]) -> Callable[Concatenate[Sends, P], T]:
    """A method that makes the call."""

    @functools.wraps(build)
    def method(self: Sends, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(build(*args, **kwargs))

    return _as_method(method, build)


def awaited(build: Callable[P, ApiCall[T]]) -> Callable[Concatenate[SendsAwaited, P], Awaitable[T]]:
    """A method that makes the call, to be awaited."""

    @functools.wraps(build)
    async def method(self: SendsAwaited, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(build(*args, **kwargs))

    return _as_method(method, build)


def every(build: Callable[P, ApiCall[PagedAnswer[I]]]) -> Callable[Concatenate[Sends, P], Iterator[I]]:
    """A method that goes through all pages, asking for each when it is reached."""

    @functools.wraps(build)
    def method(self: Sends, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[I]:
        call: ApiCall[PagedAnswer[I]] | None = build(*args, **kwargs)
        while call is not None:
            page = self.send(call)
            yield from page.items
            call = next_call(call, page)

    return _as_method(method, build)


def every_awaited(
    build: Callable[P, ApiCall[PagedAnswer[I]]],
) -> Callable[Concatenate[SendsAwaited, P], AsyncIterator[I]]:
    """The same for `async for`."""

    @functools.wraps(build)
    async def method(self: SendsAwaited, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[I]:
        call: ApiCall[PagedAnswer[I]] | None = build(*args, **kwargs)
        while call is not None:
            page = await self.send(call)
            for each in page.items:
                yield each
            call = next_call(call, page)

    return _as_method(method, build)


F = TypeVar("F", bound=Callable[..., Any])


def _as_method(method: F, build: Callable[..., Any]) -> F:
    """`help` and editors see the arguments of the call, after `self`, and what it answers."""
    signature = inspect.signature(build)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    answer = str(signature.return_annotation).removeprefix("ApiCall[").removesuffix("]")
    if inspect.isgeneratorfunction(method) or inspect.isasyncgenfunction(method):
        answer = f"each of the items of {answer}"
    arguments = [itself, *signature.parameters.values()]
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=arguments, return_annotation=answer
    )
    return method
