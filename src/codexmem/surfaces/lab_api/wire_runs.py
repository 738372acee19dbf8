"""Batches, runs and events as contract 002 spells them."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from codexmem.domain.event import Event
from codexmem.domain.lab import (
    MAX_REASON,
    MAX_RECIPES,
    MAX_REQUEST,
    MAX_RUNS,
    MAX_TEMPERATURE,
    Batch,
    Order,
    Overrides,
    Run,
)
from codexmem.services.lab.runs import DEFAULT_REASON
from codexmem.surfaces.lab_api.wire import Extra, SchemaVersion, seconds

_Text = Annotated[str, Field(max_length=1000)]


class OverridesRequest(BaseModel):
    """What a batch sets otherwise than the configuration; an empty text sets nothing."""

    model_config = ConfigDict(frozen=True)

    kb_principles_dir: _Text = ""
    kb_modulation_dir: _Text = ""
    llm_model: _Text = ""
    openai_api_base: _Text = ""


class BatchRequest(BaseModel):
    """`POST /batches`. Fields that are not known are ignored: a newer client may send more."""

    model_config = ConfigDict(frozen=True)

    user_request: Annotated[str, Field(min_length=1, max_length=MAX_REQUEST)]
    n_runs: Annotated[int, Field(ge=1, le=MAX_RUNS)] = 1
    recipes_per_run: Annotated[int, Field(ge=1, le=MAX_RECIPES)] = 3
    temperature: Annotated[float, Field(ge=0, le=MAX_TEMPERATURE, allow_inf_nan=False)] = 0.7
    dry_run: bool = False
    overrides: OverridesRequest = OverridesRequest()
    schema_version: SchemaVersion = 1
    extra: Extra = {}

    @model_validator(mode="after")
    def _not_blank(self) -> Self:
        if not self.user_request.strip():
            raise ValueError("user_request must not be blank")
        return self

    def to_order(self) -> Order:
        """What is asked for."""
        return Order(
            self.user_request, self.n_runs, self.recipes_per_run, self.temperature, self.dry_run,
            Overrides(**self.overrides.model_dump()), self.schema_version, self.extra,
        )  # fmt: skip


class CancelRequest(BaseModel):
    """`POST …/cancel`."""

    model_config = ConfigDict(frozen=True)

    reason: Annotated[str, Field(max_length=MAX_REASON)] = DEFAULT_REASON


def batch(given: Batch) -> dict[str, Any]:
    """One batch."""
    return {
        "batch_id": given.id,
        "created_at": seconds(given.created_ms),
        "started_at": seconds(given.started_ms),
        "ended_at": seconds(given.ended_ms),
        "status": given.status.value,
        "user_request": given.user_request,
        "n_runs": given.n_runs,
        "recipes_per_run": given.recipes_per_run,
        "temperature": given.temperature,
        "dry_run": given.dry_run,
        "config_snapshot": given.config_snapshot,
        "error": given.error,
        "cancel_id": given.cancel_id,
        "cancel_reason": given.cancel_reason,
        "ended_runs": {
            "completed": given.completed_runs,
            "failed": given.failed_runs,
            "canceled": given.canceled_runs,
        },
        "schema_version": given.schema_version,
        "extra": given.extra,
    }


def run(given: Run) -> dict[str, Any]:
    """One run."""
    return {
        "run_id": given.id,
        "batch_id": given.batch_id,
        "run_index": given.run_index,
        "status": given.status.value,
        "created_at": seconds(given.created_ms),
        "started_at": seconds(given.started_ms),
        "ended_at": seconds(given.ended_ms),
        "error": given.error,
        "final_output_event_id": given.final_event_id,
        "cancel_id": given.cancel_id,
        "cancel_reason": given.cancel_reason,
        "schema_version": given.schema_version,
        "extra": given.extra,
    }


def event(given: Event, run_id: str) -> dict[str, Any]:
    """One event; `payload` is null where it was not asked for."""
    return {
        "event_id": given.id,
        "run_id": run_id,
        "created_at": seconds(given.at_ms),
        "event_type": given.type,
        "payload": given.payload,
    }
