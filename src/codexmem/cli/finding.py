"""What a check of `doctor` says."""

from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["ok", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `key` names its texts: the fact, and unless all is well the reason and the remedy."""

    check: str
    state: State
    key: str
    values: dict[str, Any] = field(default_factory=dict)
