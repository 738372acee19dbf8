"""The composition root: what stands on an open store (`core`), and the server around it (`server`)."""

from codexmem.app.core import Core, embedder_of, handlers, open_core, open_reading
from codexmem.app.server import GRACE_S, SURFACES, App, open_app
from codexmem.app.services import Services

__all__ = [
    "GRACE_S",
    "SURFACES",
    "App",
    "Core",
    "Services",
    "embedder_of",
    "handlers",
    "open_app",
    "open_core",
    "open_reading",
]
