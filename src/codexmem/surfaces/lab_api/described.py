"""What this door's answers look like, for the interface description: fields that are always there, and their types.

The description is for readers and for tests that hold the answers against it; the routes build answers by `wire` alone.
Fields may be added to an answer without being named here, as the contract allows.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_YES: Schema = {"type": "boolean"}
_ANY: Schema = {"type": "object"}
_SECONDS: Schema = {"type": "number", "description": "epoch seconds"}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _said(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _map(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _object(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _page(item: Schema, **more: Schema) -> Schema:
    return _object(items=_list(item), next_cursor=_maybe(_TEXT), has_more=_YES, **more)


_SLOTS = {"schema_version": _WHOLE, "extra": _ANY}
_MADE = {"created_at": _SECONDS, "updated_at": _SECONDS}
_SPAN = {"created_at": _SECONDS, "started_at": _maybe(_SECONDS), "ended_at": _maybe(_SECONDS)}
_STATUS = _one_of("queued", "running", "completed", "failed", "canceled")
_SHELVED = _one_of("active", "archived")
_DONE = _one_of("add", "update", "archive", "restore", "remove")

ERROR = _object(error=_object(code=_TEXT, message=_TEXT, details=_ANY))
BATCH = _object(
    batch_id=_TEXT, **_SPAN, status=_STATUS, user_request=_TEXT, n_runs=_WHOLE, recipes_per_run=_WHOLE,
    temperature=_NUMBER, dry_run=_YES, config_snapshot=_ANY, error=_maybe(_TEXT), cancel_id=_maybe(_TEXT),
    cancel_reason=_maybe(_TEXT), ended_runs=_object(completed=_WHOLE, failed=_WHOLE, canceled=_WHOLE),
    runs_by_status=_object(queued=_WHOLE, running=_WHOLE, completed=_WHOLE, failed=_WHOLE, canceled=_WHOLE), **_SLOTS,
)  # fmt: skip
RUN = _object(
    run_id=_TEXT, batch_id=_TEXT, run_index=_WHOLE, status=_STATUS, **_SPAN, error=_maybe(_TEXT),
    final_output_event_id=_maybe(_TEXT), cancel_id=_maybe(_TEXT), cancel_reason=_maybe(_TEXT),
    library_empty=_said(_YES, "it ended without a document to search, so it cites none"),
    feedback=_maybe(_object(score=_maybe(_NUMBER), updated_at=_SECONDS)), **_SLOTS,
)  # fmt: skip
EVENT = _object(
    event_id=_TEXT, run_id=_TEXT, created_at=_SECONDS, event_type=_TEXT, payload=_maybe(_ANY),
    started_at=_said(_SECONDS, "when it began; as created_at where it does not say how long it took"),
    duration_ms=_maybe(_NUMBER), depth=_said(_maybe(_WHOLE), "0: the run's own task; null: part of no task"),
    task=_said(_maybe(_TEXT), "0: the run's own; 0.2.1: asked for by call 1 of reply 2 of task 0"),
    parent_task=_maybe(_TEXT), agent=_maybe(_TEXT), label=_said(_maybe(_TEXT), "what it is about, in a line"),
    failed=_said(_YES, "it tells of an error"),
)  # fmt: skip
EVIDENCE = _object(
    alias=_TEXT, ref=_TEXT, source=_TEXT, content=_said(_maybe(_TEXT), "null where it was not asked for"),
    kb_namespace=_TEXT, lightrag_chunk_id=_TEXT, created_at=_SECONDS,
)  # fmt: skip
PRODUCT = _object(product_id=_TEXT, **_MADE, name=_TEXT, status=_SHELVED, **_SLOTS)
PRESET = _object(preset_id=_TEXT, **_MADE, name=_TEXT, status=_SHELVED, product_ids=_list(_TEXT), **_SLOTS)
SHARE = _object(
    feedback_product_id=_TEXT, product_id=_TEXT, product_name=_TEXT, product_status=_SHELVED, value=_NUMBER,
    fraction=_NUMBER,
)  # fmt: skip
FEEDBACK = _object(
    feedback_id=_TEXT, run_id=_TEXT, score=_maybe(_NUMBER), pros=_TEXT, cons=_TEXT, other=_TEXT, products=_list(SHARE),
    **_MADE, **_SLOTS,
)  # fmt: skip
_LESSON = {
    "status": _TEXT, "role": _TEXT, "type": _TEXT, "title": _TEXT, "content": _TEXT, "confidence": _NUMBER,
    "run_ids": _list(_TEXT), "edited_by_hand": _YES,
}  # fmt: skip
MEMORY = _object(mem_id=_TEXT, **_LESSON, source_run_id=_maybe(_TEXT), **_MADE, version=_WHOLE, **_SLOTS)
VERSION = _object(
    version=_WHOLE, op=_TEXT, actor=_TEXT, created_at=_SECONDS, delta_id=_maybe(_TEXT), source_run_id=_maybe(_TEXT),
    note=_TEXT, **_LESSON,
)  # fmt: skip
QUEUED = _object(run_id=_TEXT, job_id=_TEXT, status=_TEXT)
JOB = _object(
    rb_job_id=_TEXT, run_id=_TEXT, kind=_TEXT, **_SPAN, status=_STATUS, error=_maybe(_TEXT), delta_id=_maybe(_TEXT),
    n_ops=_maybe(_WHOLE),
    reason=_said(_maybe(_one_of("dry_run")), "why nothing was learned: a dry run teaches nothing"), attempts=_WHOLE,
    **_SLOTS,
)  # fmt: skip
# A lesson's whole state, as the store keeps it.
_STATE = _object(content=_TEXT, title=_TEXT, type=_TEXT, status=_TEXT, attrs=_ANY)
_CHANGE = {"op": _DONE, "mem_id": _TEXT, "before": _maybe(_STATE), "after": _STATE}
_DELTA = {
    "delta_id": _TEXT, "run_id": _TEXT, "created_at": _SECONDS, "cause": _TEXT,
    "status": _one_of("applied", "reverted"), "reverts": _maybe(_TEXT),
}  # fmt: skip
DELTA = _object(**_DELTA, ops=_list(_object(**_CHANGE)), **_SLOTS)
_OUTLINED = {
    **_DELTA, "actor": _TEXT, "n_ops": _WHOLE,
    "counts": _object(add=_WHOLE, update=_WHOLE, archive=_WHOLE, restore=_WHOLE, remove=_WHOLE), **_SLOTS,
}  # fmt: skip
DELTA_OUTLINE = _object(**_OUTLINED)
_LATER = {"version": _WHOLE, "actor": _TEXT, "created_at": _SECONDS, "delta_id": _maybe(_TEXT)}
DELTA_WHOLE = _object(
    **_OUTLINED,
    ops=_list(_object(
        **_CHANGE, version=_WHOLE, edited_since=_list(_object(**_LATER, op=_DONE, by_hand=_YES)), more_since=_YES
    )),
)  # fmt: skip
PREVIEW = _object(
    run_id=_TEXT, delta_id=_TEXT, status=_TEXT, mode=_one_of("strict", "safe"),
    changes=_list(_object(
        op=_one_of("keep", "remove", "restore"), mem_id=_TEXT, now=_STATE, then=_STATE,
        written_since=_list(_object(**_LATER)),
    )),
    overwritten_mem_ids=_list(_TEXT), later_delta_ids=_list(_TEXT),
)  # fmt: skip
TAKEN_BACK = _object(
    run_id=_TEXT, delta_id=_TEXT, status=_TEXT, rollback_delta_id=_maybe(_TEXT), restored_mem_ids=_list(_TEXT),
    left_mem_ids=_list(_TEXT), learning=_maybe(QUEUED),
)  # fmt: skip
PASSAGE = _object(
    ref=_TEXT, kb_namespace=_TEXT, lightrag_chunk_id=_TEXT, document=_TEXT, place=_WHOLE, source=_TEXT, title=_TEXT,
    content=_TEXT, score=_NUMBER,
)  # fmt: skip
DOCUMENT = _object(
    kb_namespace=_TEXT, folder=_TEXT, document=_TEXT, title=_TEXT, source=_TEXT, pieces=_WHOLE, digest=_TEXT,
    updated_at=_SECONDS,
)  # fmt: skip
HOLDING = _object(kb_namespace=_TEXT, documents=_WHOLE, pieces=_WHOLE)
CANCELING = _object(cancel_id=_TEXT, status=_one_of("requested"))
HEALTH = _object(status=_one_of("ok"), version=_TEXT, initialized=_YES)

_V1, _RUN_PATH = "/api/v1", "/api/v1/runs/{run_id}"
_BANK = f"{_RUN_PATH}/reasoningbank"
ANSWERS: Mapping[tuple[str, str], Schema] = {
    ("GET", "/healthz"): HEALTH,
    ("GET", f"{_V1}/healthz"): HEALTH,
    ("POST", f"{_V1}/batches"): _object(batch=BATCH, runs=_list(RUN)),
    ("GET", f"{_V1}/batches"): _page(BATCH),
    ("GET", f"{_V1}/batches/{{batch_id}}"): _object(batch=BATCH),
    ("POST", f"{_V1}/batches/{{batch_id}}/cancel"): CANCELING,
    ("GET", f"{_V1}/runs"): _page(RUN),
    ("GET", _RUN_PATH): _object(run=RUN),
    ("POST", f"{_RUN_PATH}/cancel"): CANCELING,
    ("GET", f"{_RUN_PATH}/output"): _object(recipes_json=_ANY, citations=_map(_TEXT), memory_ids=_list(_TEXT)),
    ("GET", f"{_RUN_PATH}/events"): _page(EVENT, tail_cursor=_maybe(_TEXT)),
    ("GET", f"{_RUN_PATH}/events/{{event_id}}"): EVENT,
    ("GET", f"{_RUN_PATH}/evidence"): _page(EVIDENCE),
    ("GET", f"{_RUN_PATH}/evidence/{{alias}}"): EVIDENCE,
    ("GET", f"{_RUN_PATH}/feedback"): _object(feedback=FEEDBACK),
    ("PUT", f"{_RUN_PATH}/feedback"): _object(feedback=FEEDBACK, learning=_maybe(QUEUED)),
    ("GET", f"{_V1}/products"): _page(PRODUCT),
    ("POST", f"{_V1}/products"): _object(product=PRODUCT),
    ("GET", f"{_V1}/products/{{product_id}}"): _object(product=PRODUCT),
    ("PUT", f"{_V1}/products/{{product_id}}"): _object(product=PRODUCT),
    ("GET", f"{_V1}/product_presets"): _page(PRESET),
    ("POST", f"{_V1}/product_presets"): _object(preset=PRESET),
    ("GET", f"{_V1}/product_presets/{{preset_id}}"): _object(preset=PRESET),
    ("PUT", f"{_V1}/product_presets/{{preset_id}}"): _object(preset=PRESET),
    ("GET", f"{_V1}/memories"): _page(MEMORY),
    ("POST", f"{_V1}/memories"): _object(memory=MEMORY),
    ("GET", f"{_V1}/memories/{{mem_id}}"): _object(memory=MEMORY),
    ("PATCH", f"{_V1}/memories/{{mem_id}}"): _object(memory=MEMORY),
    ("GET", f"{_V1}/memories/{{mem_id}}/versions"): _page(VERSION),
    ("POST", f"{_V1}/memories/{{mem_id}}/archive"): _object(memory=MEMORY),
    ("POST", f"{_BANK}/learn"): QUEUED,
    ("GET", f"{_BANK}/jobs"): _object(run_id=_TEXT, jobs=_list(JOB)),
    ("GET", f"{_BANK}/deltas"): _page(DELTA, run_id=_TEXT),
    ("GET", f"{_BANK}/rollback/preview"): PREVIEW,
    ("POST", f"{_BANK}/rollback/preview"): PREVIEW,
    ("POST", f"{_BANK}/rollback"): TAKEN_BACK,
    ("GET", f"{_V1}/reasoningbank/roles"): _object(roles=_list(_TEXT)),
    ("GET", f"{_V1}/reasoningbank/jobs"): _page(JOB),
    ("GET", f"{_V1}/reasoningbank/deltas"): _page(DELTA_OUTLINE),
    ("GET", f"{_V1}/reasoningbank/deltas/{{delta_id}}"): _object(delta=DELTA_WHOLE),
    ("GET", f"{_V1}/kb"): _page(HOLDING),
    ("GET", f"{_V1}/kb/search"): _page(PASSAGE),
    ("GET", f"{_V1}/kb/pieces/{{ref}}"): PASSAGE,
    ("GET", f"{_V1}/kb/documents"): _page(DOCUMENT),
    ("PUT", f"{_V1}/kb/documents"): _object(delta=_TEXT),
    ("POST", f"{_V1}/kb/documents/remove"): _object(delta=_maybe(_TEXT), pieces=_WHOLE),
    ("GET", f"{_V1}/system/worker"): _object(
        ts=_SECONDS, worker=_object(enabled=_YES, running=_YES, poll_interval_s=_NUMBER),
        queue=_object(
            runs_by_status=_map(_WHOLE), batches_by_status=_map(_WHOLE), rb_jobs_by_status=_map(_WHOLE)
        ),
        startup=_object(reconciled_running_runs=_WHOLE),
    ),
}  # fmt: skip


def describe(door: APIRouter) -> APIRouter:
    """The same routes, each saying what it answers; every error is the envelope."""
    for route in door.routes:
        if isinstance(route, APIRoute):
            method = next(iter(route.methods or ()), "")
            answer = ANSWERS.get((method, route.path), _ANY)
            route.responses |= {
                200: {"content": {"application/json": {"schema": answer}}},
                "default": {"description": "An error", "content": {"application/json": {"schema": ERROR}}},
            }
    return door
