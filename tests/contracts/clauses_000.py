"""Contract 000, clause by clause: what each demands, and the names in it that a test of the clause must mention."""

from __future__ import annotations

from tests.contracts.clause import Clause

CLAUSES: dict[str, Clause] = {
    "000 §2.1": Clause("MCP tools/list has the five tools", "__IMPORTANT search timeline get_observations save_memory"),
    "000 §2.2": Clause("`__IMPORTANT` ignores its arguments and tells the workflow in three steps", "__IMPORTANT text"),
    "000 §2.3": Clause(
        "MCP `search` takes every parameter, searches with a query and filters without, in text or JSON, and says in "
        "words when vectors are unavailable",
        "query limit offset project type obs_type concepts files dateStart dateEnd orderBy relevance date_desc "
        "date_asc format json observations sessions prompts",
    ),
    "000 §2.4": Clause("MCP `timeline` goes by anchor, else by query", "anchor query depth_before depth_after project"),
    "000 §2.5": Clause(
        "MCP `get_observations` reads by number; a wrong `ids` is an error text, an empty one an empty list",
        "ids orderBy limit project type concepts files is_error",
    ),
    "000 §2.6": Clause("MCP `save_memory` answers number and project", "text title project"),
    "000 §3.1.1": Clause("GET /api/health", "status version initialized mcpReady pid uptime"),
    "000 §3.1.2": Clause("GET /api/readiness: 503 initializing, then 200 ready", "503 initializing 200 ready"),
    "000 §3.1.3": Clause("GET /api/version", "version"),
    "000 §3.2.1": Clause(
        "POST /api/sessions/init", "contentSessionId project prompt sessionDbId promptNumber skipped reason private"
    ),
    "000 §3.2.2": Clause(
        "POST /api/sessions/observations",
        "contentSessionId tool_name tool_input tool_response cwd status queued deduped skipped tool_excluded private",
    ),
    "000 §3.2.3": Clause(
        "POST /api/sessions/summarize", "contentSessionId last_assistant_message queued deduped skipped private"
    ),
    "000 §3.2.4": Clause("POST /api/sessions/complete", "completed sessionDbId skipped not_active"),
    "000 §3.3.1": Clause("GET /api/search: parameters as MCP `search`, answer as MCP forwards it", "content text json"),
    "000 §3.3.2": Clause("GET /api/timeline", "anchor query depth_before depth_after"),
    "000 §3.3.3": Clause(
        "POST /api/observations/batch",
        "ids orderBy limit project 400",
        ("ids must be an array of numbers", "All ids must be integers"),
    ),
    "000 §3.3.4": Clause("GET /api/observation/:id", "404", ("Observation #",)),
    "000 §3.3.5": Clause("GET /api/observations", "/api/observations"),
    "000 §3.3.6": Clause("GET /api/summaries", "/api/summaries"),
    "000 §3.3.7": Clause("GET /api/prompts", "/api/prompts"),
    "000 §3.3.8": Clause("GET /api/projects", "/api/projects"),
    "000 §3.3.9": Clause("GET /api/stats", "/api/stats"),
    "000 §3.3.10": Clause("GET /api/processing-status", "/api/processing-status"),
    "000 §3.4": Clause(
        "POST /api/memory/save",
        "text title project success id message 400",
        ("Memory saved as observation #", "text is required and must be non-empty"),
    ),
    "000 §3.5.1": Clause("GET /api/events streams", "queue.depth session.status queue.failed model.result /api/events"),
    "000 §3.5.2": Clause("GET /viewer", "/viewer"),
    "000 §3.5.3": Clause("GET /api/ops/index-status", "index-status"),
    "000 §3.5.4": Clause(
        "GET /api/ops/agent-metrics",
        "observation summary success parse_fail schema_fail repair_fail fallback_used",
    ),
    "000 §3.5.5": Clause("POST /api/ops/agent-metrics/reset", "reset"),
    "000 §3.5.6": Clause("POST /api/ops/retry-failed", "sessionDbId success retried"),
    "000 §3.5.7": Clause(
        "POST /api/ops/backfill/chroma", "project limit success observations summaries prompts skipped"
    ),
    "000 §3.5.8": Clause("GET /api/ops/search-traces", "limit query project mode lexical-only from to"),
    "000 §3.5.9": Clause(
        "GET /api/ops/session-timings",
        "limit sessionDbId messageType success from to queueWait model index total",
    ),
    "000 §3.5.10": Clause("GET /api/ops/failure-summary", "limit sessionDbId errorClass messageType from to"),
    "000 §3.5.11": Clause("GET /api/ops/search-traces/export", "csv ndjson"),
    "000 §3.5.12": Clause("GET /api/ops/session-timings/export", "csv ndjson"),
    "000 §3.5.13": Clause("GET /api/ops/failure-summary/export", "csv ndjson"),
    "000 §3.5.14": Clause(
        "GET /api/ops/trends",
        "windowSec bucketSec searchCount avgSearchMs queueCount avgQueueTotalMs failureCount",
    ),
    "000 §4.1": Clause("400 for wrong parameters", "400"),
    "000 §4.2": Clause("404 for what is not there", "404"),
    "000 §4.3": Clause("503 while starting", "503"),
    "000 §4.4": Clause("500 for our own errors", "500"),
    "000 §4.5": Clause("a hook succeeds while the server is away"),
    "000 §4.6": Clause("MCP errors become isError with a text", "is_error"),
    "000 §5.1": Clause("hook platforms", "claude-code cursor raw"),
    "000 §5.2": Clause("hook events", "session-init observation summarize session-complete"),
    "000 §5.3": Clause("a hook reads JSON from stdin, calls the server, and exits 0 without one"),
    "000 §6.1": Clause(
        "settings of the model",
        "CODEXMEM_PROVIDER CODEXMEM_OPENAI_MODEL CODEXMEM_OPENAI_BASE_URL OPENAI_API_KEY CODEXMEM_OPENAI_API_KEY",
    ),
    "000 §6.2": Clause(
        "settings of search",
        "CODEXMEM_VECTOR_BACKEND CODEXMEM_CHROMA_URL CODEXMEM_CHROMA_COLLECTION CODEXMEM_OPENAI_EMBEDDING_MODEL "
        "CODEXMEM_OPENAI_EMBEDDING_BASE_URL CODEXMEM_OPENAI_EMBEDDING_API_KEY",
    ),
    "000 §6.3": Clause("without a key, or when a call fails, rules go on"),
    "000 §6.4": Clause("without embeddings search is lexical-only", "lexical-only"),
}
