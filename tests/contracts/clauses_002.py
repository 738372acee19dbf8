"""Contract 002, clause by clause: the lab's batches, runs, traces, evidence, feedback, lessons and rollback.

Every type of event of §2.7.1 is a clause of its own. §6 (Kubernetes) is a placeholder that asks for what §1.1 and the
settings show: health, and every parameter from outside.
"""

from __future__ import annotations

from tests.contracts.clause import Clause

_EVENTS = {
    "run_started": "mode user_request recipes_per_run temperature",
    "recap_info": "agent recap_state down action_taken up task_name think subtasks result depth steps",
    "kb_query": "kb_namespace query mode top_k results alias ref source content lightrag_chunk_id",
    "kb_get": "alias ref source kb_namespace lightrag_chunk_id",
    "kb_list": "total limit shown_aliases",
    "llm_request": "model temperature messages attempt turn steps recap_state task_name agent",
    "llm_response": "content tool_calls raw",
    "citations_resolved": "aliases resolved",
    "memories_resolved": "mem_ids",
    "final_output": "recipes_json citations memory_ids",
    "mem_search": "query top_k results mem_id role type status source_run_id",
    "mem_get": "mem_id role type status source_run_id",
    "mem_list": "total limit shown_mem_ids",
    "rb_learn_queued": "rb_job_id kind status",
    "rb_job_started": "rb_job_id kind",
    "rb_job_completed": "rb_job_id kind delta_id",
    "rb_job_failed": "rb_job_id kind error missing",
    "rb_learn_completed": "rb_job_id delta_id n_ops dry_run",
    "rb_learn_failed": "rb_job_id error traceback",
    "rb_learn_snapshot": "rb_job_id snapshot trace_cutoff_ts feedback_id feedback_updated_at final_output_event_id "
    "budget policy",
    "rb_source_opened": "rb_job_id source_type source_id mode_requested mode_used returned_chars truncated",
    "rb_rollback_started": "delta_id reason n_ops",
    "rb_rollback_completed": "delta_id status",
    "run_failed": "error",
    "run_canceled": "reason",
}

CLAUSES: dict[str, Clause] = {
    "002 §0": Clause(
        "versioned by prefix, fields only added, schema_version and extra kept, payloads on demand, citations can be "
        "opened",
        "/api/v1 schema_version extra include_payload mem:",
    ),
    "002 §1.1": Clause("everything below /api/v1; healthz with and without it", "/healthz /api/v1/healthz"),
    "002 §1.2": Clause("a key may be asked for; answers keep their shape", "key"),
    "002 §1.3": Clause("times in epoch seconds; ids with their prefixes", "created_at batch run evt cancel UUID"),
    "002 §1.4": Clause(
        "every error is one envelope with a code",
        "error code message details invalid_argument not_found conflict",
    ),
    "002 §1.5": Clause("Idempotency-Key: same key and body, same answer", "Idempotency-Key conflict"),
    "002 §1.6": Clause("pages by cursor, 50 unless said", "limit cursor items next_cursor has_more"),
    "002 §2.1": Clause("what becomes of a batch", "queued running completed failed canceled"),
    "002 §2.2": Clause("what becomes of a run", "queued running completed failed canceled"),
    "002 §2.3": Clause(
        "POST /batches asks for n runs; overrides stand in config_snapshot",
        "user_request n_runs recipes_per_run temperature dry_run overrides kb_principles_dir kb_modulation_dir "
        "llm_model openai_api_base schema_version extra batch_id config_snapshot run_index",
    ),
    "002 §2.4": Clause(
        "lists and single batches and runs, by status, text and batch", "status q batch_id limit cursor"
    ),
    "002 §2.5": Clause("cancel: accepted at once, done soon, traced", "cancel reason cancel_id requested run_canceled"),
    "002 §2.6": Clause(
        "the output: recipes_json, citations, memory_ids",
        "output recipes_json recipes overall_notes citations memory_ids",
    ),
    "002 §2.7": Clause(
        "events: filtered, paged, payloads on demand, one by its id",
        "event_type since until include_payload event_id run_id created_at payload",
    ),
    "002 §2.7.1": Clause("types of events; payloads hold no key", "OPENAI_API_KEY"),
    **{f"002 §2.7.1 {name}": Clause(f"event {name}", f"{name} {fields}") for name, fields in _EVENTS.items()},
    "002 §3": Clause("an alias means one piece, in the trace and in the evidence", "alias kb_query"),
    "002 §3.1": Clause("kb_query events hold all that evidence needs", "kb_query results alias ref source content"),
    "002 §3.2": Clause(
        "evidence of a run by page and by alias",
        "include_content alias ref source content kb_namespace lightrag_chunk_id created_at",
    ),
    "002 §4.1": Clause(
        "products: list, one, POST, PUT",
        "product_id created_at updated_at name status active archived schema_version extra limit cursor",
    ),
    "002 §4.2": Clause(
        "product_presets: list, one, POST, PUT",
        "product_presets preset_id product_ids name created_at updated_at schema_version extra",
    ),
    "002 §4.3": Clause(
        "feedback: one per run, fractions worked out and kept, products from the catalog, none twice",
        "feedback_id run_id score pros cons other products feedback_product_id product_id product_name product_status "
        "value fraction created_at updated_at schema_version extra feedback_ fbp_",
    ),
    "002 §5.1": Clause(
        "memories: list and search, one, POST, PATCH, archive",
        "mem_id status role type content source_run_id created_at updated_at schema_version extra query global "
        "reasoningbank_item manual_note archived",
    ),
    "002 §5.2": Clause(
        "learning: after feedback by itself, and by hand; its jobs",
        "learn job_id rb_job_id status queued kind created_at started_at ended_at error schema_version extra",
    ),
    "002 §5.3": Clause(
        "deltas and strict rollback, over later edits by hand",
        "deltas delta_id ops op add update archive before after rollback",
    ),
    "002 §7": Clause("the same by command", "batch run rb product preset"),
    "002 §7.1": Clause(
        "system/worker: worker, queue and what start-up reconciled",
        "ts worker enabled running poll_interval_s queue runs_by_status batches_by_status rb_jobs_by_status startup "
        "reconciled_running_runs",
    ),
    "002 §7.2": Clause("debug paths are off unless switched on", "_debug C2XC_ENABLE_DEBUG_ENDPOINTS"),
}
