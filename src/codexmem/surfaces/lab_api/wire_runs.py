"""Batches, runs and events as contract 002 spells them."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from codexmem.domain.event import Event
from codexmem.domain.lab import (
    LIBRARY_EMPTY,
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
from codexmem.services.lab.runs import DEFAULT_REASON, Verdict
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


def batch(given: Batch, running: int = 0) -> dict[str, Any]:
    """One batch, of which so many runs are being executed."""
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
        # Beyond the contract: where all its runs stand.
        "runs_by_status": {
            "queued": max(0, given.n_runs - given.ended_runs - running),
            "running": running,
            "completed": given.completed_runs,
            "failed": given.failed_runs,
            "canceled": given.canceled_runs,
        },
        "schema_version": given.schema_version,
        "extra": given.extra,
    }


def run(given: Run, verdict: Verdict | None = None) -> dict[str, Any]:
    """One run; `feedback` is null until somebody judges it."""
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
        "library_empty": given.extra.get(LIBRARY_EMPTY, False),
        "feedback": {"score": verdict.score, "updated_at": seconds(verdict.updated_ms)} if verdict else None,
        "schema_version": given.schema_version,
        "extra": {name: value for name, value in given.extra.items() if name != LIBRARY_EMPTY},
    }


def event(given: Event, run_id: str) -> dict[str, Any]:
    """One event; `payload` is null where it was not asked for."""
    return {
        "event_id": given.id,
        "run_id": run_id,
        "created_at": seconds(given.at_ms),
        "event_type": given.type,
        "payload": given.payload,
        **_placed(given),
    }


def _placed(given: Event) -> dict[str, Any]:
    """Where an event stands in its run, and how long it took; null where that means nothing or is not known."""
    told, took_us = given.outline or {}, given.took_us
    task = told.get("task")
    return {
        "started_at": seconds(given.at_ms - (took_us or 0) // 1_000),
        "duration_ms": took_us / 1_000 if took_us is not None else None,
        "depth": told.get("depth"),
        "task": task,
        # A task is named by the call that asked for it: task, reply, call.
        "parent_task": task.rsplit(".", 2)[0] if task is not None and task.count(".") >= 2 else None,
        "agent": told.get("agent"),
        "label": told.get("label"),
        "failed": told.get("failed", False),
    }
