"""A request as a value: what is asked of the server and how its answer is read. Both clients send the same ones.

From a description of a call to a method that makes it: at once, awaited, or page by page.

A client's methods are made from the functions that build calls, so that both clients have the same ones with the same
arguments, and each is written once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

KEY_HEADER = "Idempotency-Key"


class Body(Protocol):
    """What an answer is read from."""

    @property
    def text(self) -> str:
        """The whole body, decoded."""
        ...

    @property
    def content(self) -> bytes:
        """The whole body."""
        ...


@dataclass(frozen=True, slots=True)
class ApiCall(Generic[T_co]):
    """One request; `None` in a query or a body is a field that is not sent."""

    method: str
    path: str  # as the description of the interface has it: /api/observation/{number}
    read: Callable[[Body], T_co]
    answer: type[BaseModel] | None = None  # what `read` makes its result of; None: plain text
    named: Mapping[str, object] = field(default_factory=dict)  # the parts of the path in braces
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    safe: bool = False  # changes nothing
    keyed: bool = False  # may carry a key under which the server does it once, however often it is sent
    many: bool = False  # answers with a list of `answer`
    wait_s: float | None = None  # an answer of its own time, instead of the client's

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        return self.safe or self.keyed

    @property
    def target(self) -> str:
        """The path that is asked for."""
        return self.path.format(**{name: quote(str(value), safe="") for name, value in self.named.items()})

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """The query; a list is the same name several times."""
        return tuple((name, _spelled(one)) for name, value in self.query.items() for one in _each(value))

    @property
    def sent(self) -> dict[str, object] | None:
        """The body."""
        return None if self.body is None else {name: value for name, value in self.body.items() if value is not None}


class PagedAnswer(Protocol[T_co]):
    """Some of a longer list, and where it goes on."""

    @property
    def items(self) -> tuple[T_co, ...]:
        """These."""
        ...

    @property
    def following(self) -> str | None:
        """The cursor of the next page; None after the last."""
        ...


def get(path: str, answer: type[M], named: Mapping[str, object] | None = None, /, **query: object) -> ApiCall[M]:
    """A call that only asks."""
    return ApiCall("GET", path, _reading(answer), answer, named or {}, query, safe=True)


def post(path: str, answer: type[M], named: Mapping[str, object] | None = None, /, *, safe: bool = False,
         keyed: bool = True, wait_s: float | None = None, **body: object) -> ApiCall[M]:  # fmt: skip
    """A call that brings a body; unless it is safe or has no key, it is done once however often it is sent."""
    return ApiCall("POST", path, _reading(answer), answer, named or {}, {}, body, safe=safe, keyed=keyed, wait_s=wait_s)


def next_call(call: ApiCall[PagedAnswer[T]], page: PagedAnswer[T]) -> ApiCall[PagedAnswer[T]] | None:
    """The call for the page after this one; None after the last."""
    if page.following is None:
        return None
    return replace(call, query={**call.query, "cursor": page.following})


def _reading(answer: type[M]) -> Callable[[Body], M]:
    return lambda body: answer.model_validate_json(body.content)


def _each(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        yield from value
    elif value is not None:
        yield value


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


P = ParamSpec("P")
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
