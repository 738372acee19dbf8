"""Which role a route takes. To read takes a reader; whatever else a route does stands here, once, and what does not
stand here takes an administrator.

What depends on more than the route is asked where it is known: which act on memories, which tool, which method.

Whoever has rights to some projects only may make the requests that are by project: there the database leaves out what
is not his. Everything else is about the whole tenant and refused to him, and so is what does not stand here.
"""

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType

from codexmem.kernel.model.tenant import TenantRole

_OF_PROJECTS = {
    TenantRole.READER: """
        GET /api/context
        GET /api/context/block
        GET /api/context/preview
        GET /api/events
        GET /api/lineage
        GET /api/lineage/counts
        GET /api/memories
        GET /api/memories/count
        GET /api/memories/diff
        GET /api/memories/named/{ref}
        GET /api/memories/rollback/preview
        GET /api/memories/stamped
        GET /api/memories/timeline
        GET /api/memories/versions
        GET /api/notes
        GET /api/notes/diff
        GET /api/notes/read
        GET /api/notes/rollback/preview
        GET /api/notes/stats
        GET /api/notes/tree
        GET /api/notes/version
        GET /api/notes/versions
        GET /api/notes/view
        GET /api/observation/{number}
        GET /api/observations
        GET /api/projects
        GET /api/prompt/{number}
        GET /api/prompts
        GET /api/provenance/{ref}
        GET /api/review
        GET /api/search
        GET /api/search/all
        GET /api/session/{number}
        GET /api/sessions
        GET /api/sessions/{number}
        GET /api/sessions/{number}/events/{seq}
        GET /api/sessions/{number}/turns
        GET /api/summaries
        GET /api/timeline
        GET /api/whoami
        GET /stream
        GET /v1/qa/counts
        GET /v1/qa/items
        GET /v1/qa/items/{qa_id}
        GET /v1/qa/items/{qa_id}/similar
        POST /api/memories/search
        POST /api/observations/batch
        POST /api/sign-in/device
        POST /api/sign-in/device/token
        POST /api/sign-in/out
        POST /api/transcripts/known
        POST /v1/qa/search
    """,
    TenantRole.WRITER: """
        POST /api/memories/act
        POST /api/memories/renew
        POST /api/memories/rollback
        POST /api/memory/save
        POST /api/notes
        POST /api/notes/aliases
        POST /api/notes/aliases/remove
        POST /api/notes/delete
        POST /api/notes/restore
        POST /api/notes/rollback
        POST /api/notes/update
        POST /api/sessions/complete
        POST /api/sessions/init
        POST /api/sessions/observations
        POST /api/sessions/summarize
        POST /api/transcripts
        POST /v1/qa/candidates
        POST /v1/qa/hit
        POST /v1/qa/validate
    """,
    TenantRole.REVIEWER: """
        PATCH /v1/qa/items/{qa_id}
        POST /api/review/decide
        POST /v1/qa/items/{qa_id}/approve
        POST /v1/qa/items/{qa_id}/merge
        POST /v1/qa/items/{qa_id}/reject
    """,
}
_OF_THE_TENANT = {
    TenantRole.READER: """
        GET /api/brief/cost
        GET /api/brief/days
        GET /api/brief/digest
        GET /api/brief/facets
        GET /api/brief/health
        GET /api/import/agent-files
        GET /api/ops/agent-metrics
        GET /api/ops/backups
        GET /api/ops/failure-summary
        GET /api/ops/failure-summary/export
        GET /api/ops/index-status
        GET /api/ops/search-traces
        GET /api/ops/search-traces/export
        GET /api/ops/search-traces/{trace_id}
        GET /api/ops/session-timings
        GET /api/ops/session-timings/export
        GET /api/ops/system
        GET /api/ops/trends
        GET /api/processing-status
        GET /api/stats
        GET /api/sync/memories
        GET /api/transcripts/found
        GET /api/undo/preview
        GET /api/undo/trail
        GET /v1/audit
        POST /api/v1/runs/{run_id}/reasoningbank/rollback/preview
        POST /rpc
    """,
    TenantRole.WRITER: """
        POST /api/import/agent-file
        POST /api/sampling/answer
        POST /api/sampling/next
        POST /api/sync/files
        POST /api/v1/batches
        POST /api/v1/batches/{batch_id}/cancel
        POST /api/v1/kb/documents/remove
        POST /api/v1/product_presets
        POST /api/v1/products
        POST /api/v1/runs/{run_id}/cancel
        POST /v1/audit
        PUT /api/v1/kb/documents
        PUT /api/v1/product_presets/{preset_id}
        PUT /api/v1/products/{product_id}
        PUT /api/v1/runs/{run_id}/feedback
    """,
    TenantRole.REVIEWER: """
        PATCH /api/v1/memories/{mem_id}
        POST /api/review/scan
        POST /api/undo
        POST /api/undo/follow
        POST /api/v1/memories
        POST /api/v1/memories/{mem_id}/archive
        POST /api/v1/runs/{run_id}/reasoningbank/learn
        POST /api/v1/runs/{run_id}/reasoningbank/rollback
        POST /v1/qa/expire
        POST /v1/qa/items/{qa_id}/undo
    """,
    TenantRole.ADMIN: """
        GET /metrics
        POST /api/forget
        POST /api/import/batch
        POST /api/ops/agent-metrics/reset
        POST /api/ops/backfill/chroma
        POST /api/ops/backups
        POST /api/ops/backups/{name}/verify
        POST /api/ops/retry-failed
    """,
}
# Everything of the lab is about the whole tenant, too; what it lists for readers need not stand above.
_LAB = "/api/v1/"


def _rules(lists: Mapping[TenantRole, str]) -> dict[str, TenantRole]:
    return {line.strip(): role for role, lines in lists.items() for line in lines.splitlines() if line.strip()}


RULES: Mapping[str, TenantRole] = MappingProxyType(_rules(_OF_PROJECTS) | _rules(_OF_THE_TENANT))
BY_PROJECT = frozenset(_rules(_OF_PROJECTS))
ABOUT_THE_TENANT = frozenset(_rules(_OF_THE_TENANT))
# Tools of the knowledge base, of export and of import are about the whole tenant, and so is forgetting.
TOOLS_BY_PROJECT = frozenset({
    "__IMPORTANT", "search", "timeline", "get_observations", "save_memory", "change_memory", "read_memory",
    "create_memory", "update_memory", "delete_memory", "search_memory", "preload_memory", "save_session",
    "list_memories", "get_memory_stats", "add_alias", "get_memory_versions", "rollback_memory", "diff_versions",
    "list_rollbacks",
})  # fmt: skip


def has_rule(method: str, path: str) -> bool:
    """Whether it is said of a route if it is by project."""
    return path.startswith(_LAB) or _spelled(method, path) in RULES


def is_by_project(method: str, path: str) -> bool:
    """Whether whoever has rights to some projects only may make this request."""
    return _spelled(method, path) in BY_PROJECT


@functools.cache
def _spelled(method: str, path: str) -> str:
    """As the lists spell it: a parameter without its form, and HEAD as GET."""
    return f"{'GET' if method == 'HEAD' else method} {re.sub(r':[a-z]+}', '}', path)}"


def needed(method: str, path: str) -> TenantRole:
    """The role that this method of a route takes; the path is spelled as the route spells it."""
    return RULES.get(_spelled(method, path), TenantRole.READER if method in {"GET", "HEAD"} else TenantRole.ADMIN)
