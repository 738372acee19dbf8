"""A build as small as one can be."""

from __future__ import annotations

import os
from pathlib import Path

from starlette.testclient import TestClient

from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.http.surface import Surface
from codexmem.http.web.built import Builds
from codexmem.http.web.routes import routes
from codexmem.kernel.store.database import acting_as

PAGE = """<!doctype html>
<html lang="en"><head><meta property="csp-nonce" nonce="{{nonce}}">
<script type="module" src="/ui/assets/main-1.js" nonce="{{nonce}}"></script></head></html>
"""


def make(folder: Path, *, page: str = PAGE, assets: dict[str, bytes] | None = None, moment: int = 1) -> Path:
    """Write a build; `moment` stands for the time it was made."""
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    for name, content in (assets or {"main-1.js": b"export const it = 1;\n" * 100, "mark-1.svg": b"<svg/>"}).items():
        (folder / "assets" / name).write_bytes(content)
    (folder / "index.html").write_text(page, encoding="utf-8")
    os.utime(folder / "index.html", ns=(moment, moment))
    return folder


def endpoint(folder: Path) -> TestClient:
    """Who asks the endpoint of this build; redirects are looked at, not followed."""
    surface: Surface[None] = Surface("web", ("/",), frozenset(), lambda services: routes(services, Builds(folder)))
    app = build_asgi([surface], None, GuardSettings(None, acting_as), version="test")
    return TestClient(app, base_url="http://127.0.0.1:37877", follow_redirects=False)
