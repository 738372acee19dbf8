"""The audit door (contract 001 §5.4): wrappers send what agents asked for and what was decided; people look it up."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.audit_api.routes import Services, routes

# No memory is ever shown here.
SURFACE: Surface[Services] = Surface(
    name="audit_api",
    prefixes=("/v1/audit",),
    kinds=frozenset[Kind](),
    routes=routes,
)
