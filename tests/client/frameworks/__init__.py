"""Vercel's AI SDK, pinned by `package-lock.json`.

`python -m tests.client.frameworks` installs it, as the gate does; with `lock` it is pinned anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests._support import npm_packages

HERE = Path(__file__).parent
HOME = Path(sys.prefix) / "frameworks"
MODULES = HOME / "node_modules"


def install() -> None:
    """Install by the lock, unless that is what is there."""
    npm_packages.install(HERE, HOME)
