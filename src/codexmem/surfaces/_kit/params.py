"""Parameters that several surfaces read in the same way: the idempotency key and integers that fit the store."""

import re
from typing import Annotated

from fastapi import Depends, Header, Request
from pydantic import Field

from codexmem.domain.errors import InvalidArgument

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
