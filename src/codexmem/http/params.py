"""Parameters that several surfaces read in the same way: the idempotency key, integers that fit the store, and whole
requests that a query string or a tool's arguments spell.
"""

import re
from collections.abc import Mapping
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request
from pydantic import BaseModel, Field, ValidationError

from codexmem.http.errors import invalid
from codexmem.kernel.model.errors import InvalidArgument

_KEY = re.compile(r"[!-~]{1,200}")

# For path and query parameters: larger numbers would only fail later, inside an engine.
Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


async def idempotency_key(
    request: Request,
    header: Annotated[str | None, Header(alias="Idempotency-Key", description="makes repeating safe")] = None,
) -> str | None:
    """The caller's key, 1 to 200 visible ASCII characters given once, or None."""
    if header is None:
        return None
    if len(request.headers.getlist("idempotency-key")) != 1 or not _KEY.fullmatch(header):
        raise InvalidArgument("Idempotency-Key must be given once, as 1 to 200 visible ASCII characters")
    return header


IdempotencyKey = Annotated[str | None, Depends(idempotency_key)]


M = TypeVar("M", bound=BaseModel)


def parsed(model: type[M], raw: Mapping[str, object]) -> M:
    """The request that these values spell; what is wrong is said as if the framework had parsed it."""
    try:
        return model.model_validate(dict(raw))
    except ValidationError as error:
        problems = [{**problem, "loc": ("request", *problem["loc"])} for problem in error.errors()]
        raise invalid("", problems, {}) from None


def asked(model: type[M], request: Request) -> M:
    """The request that the query string spells; a name that is repeated has a list of values."""
    given = request.query_params
    values = {name: given.getlist(name) for name in given}
    return parsed(model, {name: each if len(each) > 1 else each[0] for name, each in values.items()})


def described(model: type[BaseModel]) -> dict[str, object]:
    """The parameters of a route that reads its query string by `asked`, for the interface description."""
    schema = model.model_json_schema()
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "schema": _without(value, "description"),
             **({"description": value["description"]} if "description" in value else {})}
            for name, value in schema["properties"].items()
        ]
    }  # fmt: skip


def _without(schema: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in schema.items() if key != name}
