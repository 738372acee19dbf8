"""What a person says about a run, and the products that were measured.

A product is never removed, only archived: feedback that names it stays readable. How much of the whole a product made
up is worked out once, when the feedback is saved, and kept, so that it means the same for ever.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from codexmem.lab.model import SCHEMA_VERSION

MAX_NAME = 200
MAX_MEASURED = 200  # products of one feedback, or of one preset
MAX_WORDS = 20_000  # characters of each of pros, cons and other
MAX_SCORE = 1_000_000.0  # either way; every laboratory has its own scale
MAX_VALUE = 1e300  # so that the sum of all of them is a number


class Shelved(StrEnum):
    """Whether a product or preset is offered."""

    ACTIVE = "active"
    ARCHIVED = "archived"  # no longer offered; what names it stays as it is


@dataclass(frozen=True, slots=True)
class Product:
    """Something that an experiment can yield."""

    id: str
    name: str
    status: Shelved
    created_ms: int
    updated_ms: int
    schema_version: int
    extra: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Preset:
    """Products that are measured together."""

    id: str
    name: str
    status: Shelved
    product_ids: tuple[str, ...]
    created_ms: int
    updated_ms: int
    schema_version: int
    extra: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """What is to be kept of a product or preset; None leaves a field as it is, or at its default."""

    name: str | None = None
    status: Shelved | None = None
    product_ids: tuple[str, ...] | None = None  # of a preset
    schema_version: int | None = None
    extra: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """How much of a product there was, in whatever unit the laboratory uses."""

    product_id: str
    value: float


@dataclass(frozen=True, slots=True)
class FeedbackInput:
    """Feedback as a person gives it."""

    score: float | None = None
    pros: str = ""
    cons: str = ""
    other: str = ""
    products: tuple[Measurement, ...] = ()
    schema_version: int = SCHEMA_VERSION
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Share:
    """One measured product of a feedback."""

    id: str
    product_id: str
    product_name: str
    product_status: Shelved
    value: float
    fraction: float


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person said about a run; there is one at most."""

    id: str
    run_id: str
    score: float | None
    pros: str
    cons: str
    other: str
    products: tuple[Share, ...]
    created_ms: int
    updated_ms: int
    schema_version: int
    extra: dict[str, Any]


def fractions(values: Sequence[float]) -> list[float]:
    """The part of the whole that each value is; all 0 where the whole is 0. Values are finite and not negative."""
    whole = math.fsum(values)
    return [value / whole if whole > 0 else 0.0 for value in values]
