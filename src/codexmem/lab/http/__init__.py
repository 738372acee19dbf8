"""The lab (contract 002): batches, runs, traces, evidence, feedback and the ReasoningBank."""

from codexmem.http.errors import ENVELOPE
from codexmem.http.surface import Surface
from codexmem.kernel.model.memory import Kind
from codexmem.lab.http.pages import LabRouteServices
from codexmem.lab.http.routes import routes

SURFACE: Surface[LabRouteServices] = Surface(
    name="lab_api",
    prefixes=("/api/v1", "/healthz"),
    kinds=frozenset({Kind.LESSON, Kind.CHUNK}),
    routes=routes,
    errors=ENVELOPE,
)
