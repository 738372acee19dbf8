"""The composition root: what stands on an open store (`core`), the server around it (`server`), and a store that is
only looked at (`reading`).
"""

from codexmem.app.core import Core, embedder_of, handlers, open_core
from codexmem.app.reading import Reading, open_reading
from codexmem.app.server import GRACE_S, SURFACES, App, open_app
from codexmem.app.services import Services

__all__ = [
    "GRACE_S",
    "SURFACES",
    "App",
    "Core",
    "Reading",
    "Services",
    "embedder_of",
    "handlers",
    "open_app",
    "open_core",
    "open_reading",
]
