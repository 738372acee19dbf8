"""The lab (contract 002): batches, runs, traces, evidence, feedback and the ReasoningBank."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.errors import ENVELOPE
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.lab_api.routes import routes
from codexmem.surfaces.lab_api.services import Services

SURFACE: Surface[Services] = Surface(
    name="lab_api",
    prefixes=("/api/v1", "/healthz"),
    kinds=frozenset({Kind.LESSON, Kind.CHUNK}),
    routes=routes,
    errors=ENVELOPE,
)
