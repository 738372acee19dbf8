"""The web application's interface: the built pages under `/viewer` and `/ui`, or a plain page where none were built."""

from codexmem.http.surface import Surface
from codexmem.http.web.routes import routes
from codexmem.kernel.model.memory import Kind

# Files only: what the application shows it asks of the other interfaces.
SURFACE: Surface[object] = Surface(
    name="web",
    prefixes=("/", "/viewer", "/ui"),
    kinds=frozenset[Kind](),
    routes=routes,
)
