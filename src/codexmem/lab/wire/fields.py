"""Field spelling that all resources of the lab share: seconds, schema versions, `extra`, pages and errors."""

from collections.abc import Iterable
from typing import Annotated, Generic, Self, TypeVar, overload

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.wire import WireAnswer
from codexmem.lab.model import kept_extra

_LATEST_S = 10**11  # a larger number does not count seconds


def _checked(value: dict[str, object]) -> dict[str, object]:
    try:
        return kept_extra(value)
    except InvalidArgument as error:
        raise ValueError(error.message) from None


Extra = Annotated[dict[str, object], AfterValidator(_checked)]
SchemaVersion = Annotated[int, Field(ge=1, le=1000)]
Seconds = Annotated[float, Field(ge=0, le=_LATEST_S, allow_inf_nan=False)]

EpochSeconds = Annotated[float, Field(description="epoch seconds")]
# An object whose fields are somebody else's: it is answered as it is kept.
Document = Annotated[dict[str, object], WithJsonSchema({"type": "object"})]
T = TypeVar("T", bound=BaseModel)


@overload
def seconds(ms: int) -> float: ...
@overload
def seconds(ms: None) -> None: ...
def seconds(ms: int | None) -> float | None:
    """A time as this contract writes it."""
    return None if ms is None else ms / 1000


def milliseconds(given: float | None) -> int | None:
    """The millisecond that so many seconds mean."""
    return None if given is None else round(given * 1000)


class LabPage(WireAnswer, Generic[T]):
    """A page as every list of the lab answers it."""

    items: tuple[T, ...]
    next_cursor: str | None
    has_more: bool

    @classmethod
    def of(cls, items: Iterable[T], next_cursor: str | None) -> Self:
        """These, and where the next page starts if there is one."""
        return cls(items=tuple(items), next_cursor=next_cursor, has_more=next_cursor is not None)


class LabProblem(WireAnswer):
    """What went wrong."""

    code: str
    message: str
    details: Document


class LabError(WireAnswer):
    """The envelope of every error."""

    error: LabProblem
