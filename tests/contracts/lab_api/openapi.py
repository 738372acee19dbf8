"""The interface description of `/api/v1`, published as `docs/openapi/lab.json` by `just generated`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from fastapi.openapi.utils import get_openapi

from codexmem.http.surface import LateRoute
from codexmem.lab.http.pages import LabRouteServices
from codexmem.lab.http.routes import routes

PATH = Path(__file__).parents[3] / "docs" / "openapi" / "lab.json"


def description() -> dict[str, Any]:
    """As the routes say it; nothing is called, so no services are needed."""
    built = [route.built for route in routes(cast(LabRouteServices, None)).routes if isinstance(route, LateRoute)]
    return get_openapi(title="codexmem lab", version="1", summary="Contract 002 and beyond", routes=built)


def text() -> str:
    """As it is published."""
    return json.dumps(description(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
