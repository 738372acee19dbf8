"""Products, presets and feedback as contract 002 §4 spells them."""

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.kernel.wire import Figure, WireAnswer
from codexmem.lab.model import (
    MAX_MEASURED,
    MAX_NAME,
    MAX_SCORE,
    MAX_VALUE,
    MAX_WORDS,
    SCHEMA_VERSION,
    CatalogEntry,
    Feedback,
    FeedbackInput,
    Measurement,
    Preset,
    Product,
    Share,
    Shelved,
)
from codexmem.lab.wire.bank import LearningQueued
from codexmem.lab.wire.fields import Document, EpochSeconds, Extra, SchemaVersion, seconds

if TYPE_CHECKING:
    from codexmem.lab.service.feedback import SavedFeedback

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

    def to_entry(self) -> CatalogEntry:
        """What is to be kept."""
        return CatalogEntry(self.name, self.status, None, self.schema_version, self.extra)


class ProductEdit(BaseModel):
    """`PUT /products/{product_id}`: what is left out stays as it is."""

    model_config = ConfigDict(frozen=True)

    name: _Name | None = None
    status: Shelved | None = None
    schema_version: SchemaVersion | None = None
    extra: Extra | None = None

    def to_entry(self) -> CatalogEntry:
        """What changes."""
        return CatalogEntry(self.name, self.status, None, self.schema_version, self.extra)


class PresetRequest(ProductRequest):
    """`POST /product_presets`."""

    product_ids: _Ids = []

    def to_entry(self) -> CatalogEntry:
        """What is to be kept."""
        return CatalogEntry(self.name, self.status, tuple(self.product_ids), self.schema_version, self.extra)


class PresetEdit(ProductEdit):
    """`PUT /product_presets/{preset_id}`: likewise; a list of products replaces the one before."""

    product_ids: _Ids | None = None

    def to_entry(self) -> CatalogEntry:
        """What changes."""
        listed = None if self.product_ids is None else tuple(self.product_ids)
        return CatalogEntry(self.name, self.status, listed, self.schema_version, self.extra)


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

    def to_opinion(self) -> FeedbackInput:
        """What somebody says."""
        measured = tuple(Measurement(each.product_id, each.value) for each in self.products)
        return FeedbackInput(self.score, self.pros, self.cons, self.other, measured, self.schema_version, self.extra)


class LabProduct(WireAnswer):
    """Something that an experiment can yield."""

    product_id: str
    created_at: EpochSeconds
    updated_at: EpochSeconds
    name: str
    status: Shelved
    schema_version: int
    extra: Document

    @classmethod
    def of(cls, product: Product) -> Self:
        """This one."""
        return cls(
            product_id=product.id,
            created_at=seconds(product.created_ms),
            updated_at=seconds(product.updated_ms),
            name=product.name,
            status=product.status,
            schema_version=product.schema_version,
            extra=product.extra,
        )


class OneProduct(WireAnswer):
    """A product, by itself."""

    product: LabProduct


class LabPreset(WireAnswer):
    """Products that are measured together."""

    preset_id: str
    created_at: EpochSeconds
    updated_at: EpochSeconds
    name: str
    status: Shelved
    schema_version: int
    extra: Document
    product_ids: tuple[str, ...]

    @classmethod
    def of(cls, preset: Preset) -> Self:
        """This one."""
        return cls(
            preset_id=preset.id,
            created_at=seconds(preset.created_ms),
            updated_at=seconds(preset.updated_ms),
            name=preset.name,
            status=preset.status,
            schema_version=preset.schema_version,
            extra=preset.extra,
            product_ids=preset.product_ids,
        )


class OnePreset(WireAnswer):
    """A preset, by itself."""

    preset: LabPreset


class ProductShare(WireAnswer):
    """One measured product of a feedback."""

    feedback_product_id: str
    product_id: str
    product_name: str
    product_status: Shelved
    value: Figure
    fraction: Figure

    @classmethod
    def of(cls, share: Share) -> Self:
        """This one."""
        return cls(
            feedback_product_id=share.id,
            product_id=share.product_id,
            product_name=share.product_name,
            product_status=share.product_status,
            value=share.value,
            fraction=share.fraction,
        )


class RunFeedback(WireAnswer):
    """What was said about a run."""

    feedback_id: str
    run_id: str
    score: Figure | None
    pros: str
    cons: str
    other: str
    products: tuple[ProductShare, ...]
    created_at: EpochSeconds
    updated_at: EpochSeconds
    schema_version: int
    extra: Document

    @classmethod
    def of(cls, feedback: Feedback) -> Self:
        """This."""
        return cls(
            feedback_id=feedback.id,
            run_id=feedback.run_id,
            score=feedback.score,
            pros=feedback.pros,
            cons=feedback.cons,
            other=feedback.other,
            products=tuple(ProductShare.of(each) for each in feedback.products),
            created_at=seconds(feedback.created_ms),
            updated_at=seconds(feedback.updated_ms),
            schema_version=feedback.schema_version,
            extra=feedback.extra,
        )


class OneFeedback(WireAnswer):
    """`GET /runs/{run_id}/feedback`."""

    feedback: RunFeedback


class FeedbackSaved(WireAnswer):
    """The answer to feedback."""

    feedback: RunFeedback
    learning: LearningQueued | None  # the job that was queued for it, if one was

    @classmethod
    def of(cls, saved: "SavedFeedback") -> Self:
        """What was saved."""
        learning = LearningQueued.of(saved.learning) if saved.learning is not None else None
        return cls(feedback=RunFeedback.of(saved.feedback), learning=learning)
