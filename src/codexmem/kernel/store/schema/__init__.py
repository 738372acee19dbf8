"""The tables, as both engines have them.

Tenant leads every key, so that a row can be found, fenced and moved by tenant alone. Migrations create what is declared
here, and a test compares the two.
"""

from codexmem.kernel.store.schema.capture import captured_events, sessions, tallies
from codexmem.kernel.store.schema.columns import Json, encoded, metadata
from codexmem.kernel.store.schema.lab import (
    batches,
    feedback,
    feedback_products,
    preset_products,
    presets,
    products,
    run_evidence,
    run_steps,
    runs,
)
from codexmem.kernel.store.schema.memories import (
    memories,
    memory_facets,
    memory_findings,
    memory_links,
    memory_tellings,
    memory_terms,
    memory_texts,
    memory_uris,
    memory_vectors,
    memory_versions,
    memory_visibility,
    qa_beliefs,
    qa_signals,
    text_changes,
    text_counts,
    vector_debts,
    vector_targets,
)
from codexmem.kernel.store.schema.people import grants, group_members, groups, member_subjects, members
from codexmem.kernel.store.schema.system import api_keys, counters, deltas, events, jobs, receipts

# Tables whose rows are numbered, and the column that holds the number.
NUMBERED = {"memories": "seq", "jobs": "id", "events": "seq", "sessions": "id", "captured_events": "seq"}

__all__ = [
    "NUMBERED",
    "Json",
    "api_keys",
    "batches",
    "captured_events",
    "counters",
    "deltas",
    "encoded",
    "events",
    "feedback",
    "feedback_products",
    "grants",
    "group_members",
    "groups",
    "jobs",
    "member_subjects",
    "members",
    "memories",
    "memory_facets",
    "memory_findings",
    "memory_links",
    "memory_tellings",
    "memory_terms",
    "memory_texts",
    "memory_uris",
    "memory_vectors",
    "memory_versions",
    "memory_visibility",
    "metadata",
    "preset_products",
    "presets",
    "products",
    "qa_beliefs",
    "qa_signals",
    "receipts",
    "run_evidence",
    "run_steps",
    "runs",
    "sessions",
    "tallies",
    "text_changes",
    "text_counts",
    "vector_debts",
    "vector_targets",
]
