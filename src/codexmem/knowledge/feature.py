"""The knowledge base and task workspaces, as a room."""

from codexmem.kernel.feature import Feature

FEATURE = Feature(
    "knowledge",
    build="codexmem.knowledge.service:build",
    surfaces=("codexmem.knowledge.rpc:SURFACE",),
    toolsets=("codexmem.knowledge.tools:KNOWLEDGE",),
    commands={"group.notes": {"kb": "codexmem.knowledge.cli:kb", "workspace": "codexmem.knowledge.cli:workspace"}},
)
