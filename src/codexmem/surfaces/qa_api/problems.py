"""How this door says what went wrong: `{"error", "hint"}`, the plain style of most doors, for the same clients read it.

Only the status differs: a body that is JSON and does not fit is 422, as services of this contract's make answer, and
one that is no JSON at all is 400.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from codexmem.domain.errors import CodexmemError, InvalidArgument
from codexmem.domain.qa.validation import Unfit
from codexmem.surfaces._kit.errors import PLAIN, STATUSES, ErrorStyle, Reply


class Problem(BaseModel):
    """What every refusal answers."""

    error: str
    hint: str | None = None


@dataclass(frozen=True)
class QaErrors(ErrorStyle):
    """The plain style with 422 for what was understood and does not fit."""

    def reply(self, error: CodexmemError) -> Reply:
        """Render the error; what the framework found wrong with fields comes with a list of them."""
        if type(error) is InvalidArgument and "errors" in error.details:
            error = Unfit(error.message, hint=error.hint, details=error.details)
        return ErrorStyle.reply(self, error)


ERRORS = QaErrors(PLAIN.body, {**STATUSES, Unfit.code: 422})

# For the interface description, where the framework would promise bodies of its own.
_TOLD = {401: "no API key, or an unknown one", 409: "the Idempotency-Key was used for another request",
         422: "a field is missing, out of bounds, or contradicts another", 503: "not ready yet; try again"}  # fmt: skip


def refusals(*, missing: bool = False, keyed: bool = True) -> dict[int | str, dict[str, Any]]:
    """What a route may answer instead of its answer."""
    told = {**_TOLD, **({404: "no such item in this project"} if missing else {})}
    return {
        status: {"model": Problem, "description": text}
        for status, text in sorted(told.items())
        if keyed or status != 409
    }
