"""Builds the web application into the wheel, unless it is there already: source distributions bring it along.

npm works on a copy outside the tree, which stays as it was. CODEXMEM_WEB=0 leaves the pages out, and so does a machine
without Node, unless CODEXMEM_WEB=1: the server then serves a plain page that says how to get them. An editable install
builds nothing.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_NPM_CI = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
_DIST = "codexmem/http/web/dist"


class WebBuildHook(BuildHookInterface[Any]):
    """Runs before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make sure that the application is packed."""
        wanted = os.environ.get("CODEXMEM_WEB", "")
        if version == "editable" or Path(self.root, "src", _DIST, "index.html").exists():
            return
        npm = shutil.which("npm")
        if npm is None and wanted == "1":
            raise RuntimeError(
                "CODEXMEM_WEB=1 asks for the web pages and npm was not found: install Node 22.12 or newer"
            )
        if npm is None or wanted == "0":
            why = "CODEXMEM_WEB=0" if wanted == "0" else "npm was not found"
            self._say(
                f"codexmem is installed without its web pages ({why}); for them, install it again with Node 22.12"
            )
            return
        self._say("building codexmem's web pages with npm, which takes minutes; CODEXMEM_WEB=0 installs without them")
        work = tempfile.mkdtemp(prefix="codexmem-web-")
        atexit.register(shutil.rmtree, work, ignore_errors=True)
        web = Path(work, "web")
        shutil.copytree(Path(self.root, "web"), web, ignore=shutil.ignore_patterns("node_modules"))
        for words in (_NPM_CI, ("run", "build")):
            if subprocess.run([npm, *words], cwd=web, check=False).returncode:
                raise RuntimeError("npm could not build the web pages; CODEXMEM_WEB=0 installs without them")
        place = f"src/{_DIST}" if self.target_name == "sdist" else _DIST
        build_data["force_include"][f"{work}/src/{_DIST}"] = place

    def _say(self, line: str) -> None:
        """Tell the person: pip keeps what a build prints to itself, so that it goes to the terminal too."""
        self.app.display_info(line)
        with suppress(OSError), Path("/dev/tty").open("w", encoding="utf-8") as terminal:
            if not sys.stdout.isatty():
                terminal.write(f"\n{line}\n")
