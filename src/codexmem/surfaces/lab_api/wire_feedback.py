"""Products, presets and feedback as contract 002 §4 spells them."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain.feedback import (
    MAX_MEASURED,
    MAX_NAME,
    MAX_SCORE,
    MAX_VALUE,
    MAX_WORDS,
    Feedback,
    Measurement,
    Opinion,
    Preset,
    Product,
    Share,
    Shelved,
)
from codexmem.domain.lab import SCHEMA_VERSION
from codexmem.services.lab.catalog import Entry
from codexmem.services.lab.feedback import Saved
from codexmem.surfaces.lab_api.wire import Extra, SchemaVersion, seconds
from codexmem.surfaces.lab_api.wire_bank import queued

_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Ids = Annotated[list[_Id], Field(max_length=MAX_MEASURED)]
_Words = Annotated[str, Field(max_length=MAX_WORDS)]


class ProductRequest(BaseModel):
    """`POST /products`."""

    model_config = ConfigDict(frozen=True)

    name: _Name
    status: Shelved = Shelved.ACTIVE
    schema_version: SchemaVersion = SCHEMA_VERSION
    extra: Extra = {}

    def to_entry(self) -> Entry:
        """What is to be kept."""
        return Entry(self.name, self.status, None, self.schema_version, self.extra)


class ProductEdit(BaseModel):
    """`PUT /products/{product_id}`: what is left out stays as it is."""

    model_config = ConfigDict(frozen=True)

    name: _Name | None = None
    status: Shelved | None = None
    schema_version: SchemaVersion | None = None
    extra: Extra | None = None

    def to_entry(self) -> Entry:
        """What changes."""
        return Entry(self.name, self.status, None, self.schema_version, self.extra)


class PresetRequest(ProductRequest):
    """`POST /product_presets`."""

    product_ids: _Ids = []

    def to_entry(self) -> Entry:
        """What is to be kept."""
        return Entry(self.name, self.status, tuple(self.product_ids), self.schema_version, self.extra)


class PresetEdit(ProductEdit):
    """`PUT /product_presets/{preset_id}`: likewise; a list of products replaces the one before."""

    product_ids: _Ids | None = None

    def to_entry(self) -> Entry:
        """What changes."""
        listed = None if self.product_ids is None else tuple(self.product_ids)
        return Entry(self.name, self.status, listed, self.schema_version, self.extra)


class MeasuredProduct(BaseModel):
    """One product of a feedback; what fraction it was is worked out here, whatever is sent."""

    model_config = ConfigDict(frozen=True)

    product_id: _Id
    value: Annotated[float, Field(ge=0, le=MAX_VALUE, allow_inf_nan=False, strict=True)]


class FeedbackRequest(BaseModel):
    """`PUT /runs/{run_id}/feedback`."""

    model_config = ConfigDict(frozen=True)

    score: Annotated[float, Field(ge=-MAX_SCORE, le=MAX_SCORE, allow_inf_nan=False, strict=True)] | None = None
    pros: _Words = ""
    cons: _Words = ""
    other: _Words = ""
    products: Annotated[list[MeasuredProduct], Field(max_length=MAX_MEASURED)] = []
    schema_version: SchemaVersion = SCHEMA_VERSION
    extra: Extra = {}

    def to_opinion(self) -> Opinion:
        """What somebody says."""
        measured = tuple(Measurement(each.product_id, each.value) for each in self.products)
        return Opinion(self.score, self.pros, self.cons, self.other, measured, self.schema_version, self.extra)


def product(given: Product) -> dict[str, Any]:
    """One product."""
    return {"product_id": given.id, **_kept(given)}


def preset(given: Preset) -> dict[str, Any]:
    """One preset."""
    return {"preset_id": given.id, **_kept(given), "product_ids": list(given.product_ids)}


def feedback(given: Feedback) -> dict[str, Any]:
    """What was said about a run."""
    return {
        "feedback_id": given.id,
        "run_id": given.run_id,
        "score": given.score,
        "pros": given.pros,
        "cons": given.cons,
        "other": given.other,
        "products": [_share(each) for each in given.products],
        "created_at": seconds(given.created_ms),
        "updated_at": seconds(given.updated_ms),
        "schema_version": given.schema_version,
        "extra": given.extra,
    }


def saved(given: Saved) -> dict[str, Any]:
    """The answer to feedback; `learning` is the job that was queued for it, if one was."""
    return {
        "feedback": feedback(given.feedback),
        "learning": queued(given.learning) if given.learning is not None else None,
    }


def _kept(given: Product | Preset) -> dict[str, Any]:
    return {
        "created_at": seconds(given.created_ms),
        "updated_at": seconds(given.updated_ms),
        "name": given.name,
        "status": given.status.value,
        "schema_version": given.schema_version,
        "extra": given.extra,
    }


def _share(given: Share) -> dict[str, Any]:
    return {
        "feedback_product_id": given.id,
        "product_id": given.product_id,
        "product_name": given.product_name,
        "product_status": given.product_status.value,
        "value": given.value,
        "fraction": given.fraction,
    }
