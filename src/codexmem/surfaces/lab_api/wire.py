"""Field spelling that all resources of this door share: seconds, schema versions and `extra`."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.lab import kept_extra

_LATEST_S = 10**11  # a larger number does not count seconds


def seconds(ms: int | None) -> float | None:
    """A time as this contract writes it."""
    return None if ms is None else ms / 1000


def _checked(value: dict[str, Any]) -> dict[str, Any]:
    try:
        return kept_extra(value)
    except InvalidArgument as error:
        raise ValueError(error.message) from None


Extra = Annotated[dict[str, Any], AfterValidator(_checked)]
SchemaVersion = Annotated[int, Field(ge=1, le=1000)]


def ms(given: float | None) -> int | None:
    """The millisecond that so many seconds mean."""
    return None if given is None else round(given * 1000)


Seconds = Annotated[float, Field(ge=0, le=_LATEST_S, allow_inf_nan=False)]
