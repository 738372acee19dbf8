"""Builds the web application into the package, unless it is there. Source distributions bring it along, so that whoever
installs from one, or from a wheel, needs no Node.

Nothing is done for an editable install, nor with CODEXMEM_SKIP_WEB=1: the server then serves a plain page that says how
to build. CODEXMEM_FORCE_WEB=1 builds anew what is there.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_NPM_CI = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


class WebBuildHook(BuildHookInterface[Any]):
    """Runs before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make sure that the application is there."""
        if version == "editable" or os.environ.get("CODEXMEM_SKIP_WEB") == "1":
            return
        web = Path(self.root, "web")
        dist = Path(self.root, "src", "codexmem", "http", "web", "dist")
        if (dist / "index.html").exists() and os.environ.get("CODEXMEM_FORCE_WEB") != "1":
            return
        npm = shutil.which("npm")
        if npm is None:
            raise RuntimeError(
                "the web application is not built and npm was not found: install Node 22.12 or newer, "
                "build from a released source distribution, or set CODEXMEM_SKIP_WEB=1 to go without it"
            )
        self.app.display_info("building the web application")
        subprocess.run([npm, *_NPM_CI], cwd=web, check=True)
        subprocess.run([npm, "run", "build"], cwd=web, check=True)
