"""The interface description of every endpoint, published as `docs/openapi/codexmem.json` by `just generated`."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, cast

from codexmem.app import SURFACES, Services
from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.store.database import acting_as
from tests.surfaces._kit import asgi

PATH = Path(__file__).parents[3] / "docs" / "openapi" / "codexmem.json"


@functools.cache
def description() -> dict[str, Any]:
    """As the application itself tells it; nothing is called, so no services are needed."""
    app = build_asgi(SURFACES, cast(Services, None), GuardSettings(None, acting_as), version="1")
    told: dict[str, Any] = asgi.call(app, "GET", "/openapi.json").json
    return told


def text() -> str:
    """As it is published."""
    return json.dumps(description(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
