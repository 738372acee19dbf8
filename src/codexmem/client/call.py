"""A request as a value: what is asked of the server and how its answer is read. Both clients send the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar
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
