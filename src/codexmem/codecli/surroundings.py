"""What the wrapper takes from the machine: the environment, the time, fresh ids, folders and terminals.

Everything else in `clients.codecli` receives values or asks here. Folders are texts: the path library alone would cost
a transparent run a good part of the time that it may take.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = "mem-codecli"


def environ() -> Mapping[str, str]:
    """The process's environment, as it is now."""
    return os.environ


def variable(name: str) -> str:
    """One variable, trimmed; empty if it is not set."""
    return os.environ.get(name, "").strip()


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def monotonic() -> float:
    """Seconds on a clock that never goes back."""
    return time.monotonic()


def fresh_id() -> str:
    """A random UUID; made by hand, because the library for it takes longer to load than we have."""
    number = bytearray(os.urandom(16))
    number[6] = number[6] & 0x0F | 0x40  # version 4
    number[8] = number[8] & 0x3F | 0x80  # the variant of RFC 9562
    text = number.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def cwd() -> str:
    """The working directory; the root if it has been removed under us."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def home(environ: Mapping[str, str] | None = None) -> str:
    """The user's home folder."""
    environ = os.environ if environ is None else environ
    found = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    if os.path.isabs(found):
        return found.rstrip("/\\") or os.sep
    return os.path.expanduser("~")


def config_dir(environ: Mapping[str, str] | None = None, system: str = sys.platform) -> str:
    """Where the user's `config.toml` is; it need not exist. Contract 001 §6.1 names the place, on macOS too."""
    environ = os.environ if environ is None else environ
    if system == "win32":
        return os.path.join(environ.get("APPDATA") or os.path.join(home(environ), "AppData", "Roaming"), PROGRAM)
    return f"{_xdg('XDG_CONFIG_HOME', environ) or home(environ) + '/.config'}/{PROGRAM}"


def state_dir(environ: Mapping[str, str] | None = None, system: str = sys.platform) -> str:
    """Where the audit log, the list of trusted files and what else outlives a run are kept; it need not exist."""
    environ = os.environ if environ is None else environ
    if system == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or os.path.join(home(environ), "AppData", "Local"), PROGRAM)
    found = _xdg("XDG_STATE_HOME", environ)
    if not found:
        found = home(environ) + ("/Library/Application Support" if system == "darwin" else "/.local/state")
    return f"{found}/{PROGRAM}"


def is_terminal(descriptor: int) -> bool:
    """Whether a person's terminal is at the other end of this file descriptor."""
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def _xdg(name: str, environ: Mapping[str, str]) -> str:
    found = environ.get(name, "")
    return found.rstrip("/") if found.startswith("/") else ""  # a relative one is to be ignored
