"""The web application's door: the built pages under `/viewer` and `/ui`, or a plain page where none were built."""

from codexmem.domain.memory import Kind
from codexmem.surfaces._kit.surface import Surface
from codexmem.surfaces.web.routes import routes

# Files only: what the application shows it asks of the other doors.
SURFACE: Surface[object] = Surface(
    name="web",
    prefixes=("/", "/viewer", "/ui"),
    kinds=frozenset[Kind](),
    routes=routes,
)
