"""The boundary of ownership, and who acts inside it.

The tenant comes from the caller's key, never from a request body. Its name is restricted so that it can stand in any
path, metric or setting without quoting.
"""

import re
from dataclasses import dataclass

from codexmem.kernel.model.errors import InvalidArgument

LOCAL = "local"  # the one tenant of a single developer's store
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def tenant_name(text: str) -> str:
    """The name, if it is one."""
    if not _NAME.fullmatch(text):
        raise InvalidArgument(f"{text[:80]!r} is not a tenant name", hint="use 1 to 63 of a-z, 0-9, _ and -")
    return text


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a request acts for."""

    tenant: str
    actor: str  # shown in versions and the audit trail, e.g. key:ci
