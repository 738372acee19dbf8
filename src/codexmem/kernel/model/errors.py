"""The one error hierarchy.

An error says what happened (`message`), what to do next (`hint`) and carries a stable `code`; each surface maps the
code to its own status or number. Expected outcomes are return values, not errors.
"""

from collections.abc import Mapping
from typing import ClassVar


class CodexmemError(Exception):
    """Root of every error that is meant to reach a caller."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})


class InvalidArgument(CodexmemError):
    """The request itself is wrong; repeating it unchanged cannot succeed."""

    code = "invalid_argument"


class Unauthorized(CodexmemError):
    """No key, or a key we do not know."""

    code = "unauthorized"


class TenantElsewhere(CodexmemError):
    """The caller's tenant lives in another cluster; the details say where."""

    code = "misdirected"


class Forbidden(CodexmemError):
    """The caller is known and may not do this, or the request was sent by a page of another site."""

    code = "forbidden"


class NotFound(CodexmemError):
    """Nothing answers to that handle within the caller's reach; foreign tenants' things look the same."""

    code = "not_found"


class Conflict(CodexmemError):
    """The thing changed since the caller saw it, or the name is taken."""

    code = "conflict"


class RateLimited(CodexmemError):
    """A configured limit is spent; waiting helps."""

    code = "rate_limited"


class Unavailable(CodexmemError):
    """Something we depend on does not answer; the same request may succeed later."""

    code = "dependency_unavailable"


class NotReady(CodexmemError):
    """We are still starting, migrating, or have stopped making progress."""

    code = "not_ready"


class StorageFull(CodexmemError):
    """The disk or quota under the store is full; nothing was written."""

    code = "storage_full"


# For a client that rebuilds an error from what a server said.
BY_CODE: dict[str, type[CodexmemError]] = {
    kind.code: kind
    for kind in (
        InvalidArgument,
        Unauthorized,
        Forbidden,
        NotFound,
        Conflict,
        RateLimited,
        Unavailable,
        NotReady,
        StorageFull,
    )
}
