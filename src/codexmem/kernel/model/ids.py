"""Time and identity: the only place that asks the machine for either.

Times are integer epoch milliseconds. Ids are minted once and never parsed: the prefix is for people, not for code.
"""

import secrets
import time
import uuid
from typing import Protocol

from codexmem.kernel.model.memory import Kind


class Clock(Protocol):
    """What tells the time; tests bring one they can move."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, as this machine sees it."""
        return time.time_ns() // 1_000_000


# A lesson is a bare UUID and an observation shows its number, because their contracts spell them so.
_PREFIX = {Kind.QA: "qa-", Kind.KNOWLEDGE: "kb-"}


def mint(kind: Kind) -> str:
    """A new id for a memory of this kind."""
    return _PREFIX.get(kind, "") + str(uuid.uuid4())


def prefixed(prefix: str) -> str:
    """A new id such as `evt_1f…`, for things that are not memories."""
    return f"{prefix}_{uuid.uuid4().hex}"


def bare() -> str:
    """A new id without a prefix, where a contract spells it so."""
    return str(uuid.uuid4())


def secret(nbytes: int = 32) -> str:
    """Unguessable text for tokens and keys, 256 bits by default."""
    return secrets.token_hex(nbytes)


def monotonic() -> float:
    """Seconds on a clock that never goes back, for measuring how long things take."""
    return time.monotonic()
