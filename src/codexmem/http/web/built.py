"""The application as the build left it in `dist`: the page, and the files it loads.

Files are read when the build is first seen and looked up by name in what was read, so a request cannot name anything
else. A file's name changes with its content, hence it may be kept for ever; the page names the files, hence it may not.
A new build under a running server is noticed by the page's time; the files of the builds before it are still given out,
because pages that were opened then may ask for them now.
"""

import gzip
import re
from collections import deque
from functools import cached_property
from pathlib import Path
from threading import Lock

DIST = Path(__file__).with_name("dist")
PAGE = "index.html"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_PACKABLE = frozenset({".css", ".js", ".json", ".map", ".svg"})
_LANGUAGE = re.compile(r'<html lang="[a-zA-Z-]*">')
_NONCE = "{{nonce}}"
_NAMED = re.compile(r'"/ui/assets/([^"]+)"')
_REMEMBERED = 3  # builds


class Asset:
    """One file of the application."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        self.media_type = _TYPES[path.suffix]
        self._packable = path.suffix in _PACKABLE

    @cached_property
    def packed(self) -> bytes | None:
        """The same by gzip, where that is worth it; packed when it is first asked for."""
        packed = gzip.compress(self.content, 6, mtime=0) if self._packable else None
        return packed if packed is not None and len(packed) < len(self.content) else None


class Built:
    """One whole build; a folder that lacks files its page names is none (`FileNotFoundError`)."""

    def __init__(self, folder: Path) -> None:
        self._page = (folder / PAGE).read_text(encoding="utf-8")
        files = (path for path in (folder / "assets").iterdir() if path.is_file() and path.suffix in _TYPES)
        self.assets = {path.name: Asset(path) for path in files}
        if missing := set(_NAMED.findall(self._page)) - self.assets.keys():
            raise FileNotFoundError(f"the build lacks {', '.join(sorted(missing))}")

    def page(self, *, language: str, nonce: str) -> bytes:
        """The page, whose style elements may name this nonce."""
        return _LANGUAGE.sub(f'<html lang="{language}">', self._page, count=1).replace(_NONCE, nonce).encode()


class Builds:
    """Whatever build there is now, and the files of the last ones."""

    def __init__(self, folder: Path = DIST) -> None:
        self._folder = folder
        self._lock = Lock()
        self._seen = 0
        self._builds: deque[Built] = deque(maxlen=_REMEMBERED)

    def current(self) -> Built | None:
        """The present build; None where there is none. While one is being written, the one before it stands."""
        with self._lock:
            try:
                changed = (self._folder / PAGE).stat().st_mtime_ns
                if changed != self._seen:
                    self._builds.append(Built(self._folder))
                    self._seen = changed
            except OSError:
                if not self._folder.exists():
                    return None
            return self._builds[-1] if self._builds else None

    def asset(self, name: str) -> Asset | None:
        """The file of that name, of this build or of one of the last; None if there is none."""
        self.current()
        with self._lock:
            return next((found for built in reversed(self._builds) if (found := built.assets.get(name))), None)
