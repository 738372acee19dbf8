"""What programs that cannot load the settings take from the machine: the environment, the time, fresh ids, and where
the server is.

The hook has no time for the settings, and the client, the bridges and the wrapper follow it. The few values they need
are read here by the same rules: the environment, then the user's file, then the default. A test compares the folders
with those of the server.

The server is at the address that somebody gives; else at the port that is given for this call; else where it says
itself, in `server.json`; else at the usual port. The key is `CODEXMEM_TOKEN` or `CODEXMEM_API_KEY`, else the token in
the data directory, which never leaves the machine.
"""

from __future__ import annotations

import errno
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PORT = 37877
BUDGET_MS = 1_500
SPOOL_BYTES = 256 << 20
_OFF = frozenset(("0", "off", "false", "no"))
PROJECT_FILE = ".codexmem.toml"  # of a checkout; a test compares it with the settings' own
_REFUSAL = "rules_only"
_LARGEST_FILE = 1 << 16
# Names of variables whose values are secrets wherever they turn up.
_SECRET_NAMES = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_ACCESS_KEY", "_SECRET_KEY", "_PASSWD", "_PWD")


class Surroundings:
    """Everything the hook knows about where it runs."""

    def __init__(self, environ: Mapping[str, str], data_dir: str, base: str, token: str, *, ours: bool,
                 may_start: bool) -> None:  # fmt: skip
        self.environ = environ
        self.data_dir = data_dir
        self.base = base  # the server's address, without a slash at the end
        self.token = token  # to be sent there
        self.key = ""  # that somebody gave, whether or not it goes to this server
        self.ours = ours  # whether that is the server of our own data directory
        self.may_start = may_start
        self.credentials: list[str] = []  # our own, whether or not they go to this server
        self.warning = ""  # what a person should know about how we were set up
        self.budget_ms = _number(environ.get("CODEXMEM_HOOK_BUDGET_MS"), BUDGET_MS, 50, 60_000)
        self.spool_bytes = _number(environ.get("CODEXMEM_SPOOL_BYTES"), SPOOL_BYTES, 1 << 16, 1 << 40)
        self.prompt_context = environ.get("CODEXMEM_PROMPT_CONTEXT", "").strip().lower() not in _OFF

    @property
    def chinese(self) -> bool:
        """Whether the user reads Chinese, by the rule of the commands."""
        named = ("CODEXMEM_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
        said = [self.environ[name] for name in named if self.environ.get(name, "auto") != "auto"]
        return bool(said) and said[0].lower().startswith("zh")

    @property
    def secrets(self) -> list[str]:
        """Our own credentials, and values of variables that are named like secrets and look like some."""
        return self.credentials + [
            value for name, value in self.environ.items()
            if name.endswith(_SECRET_NAMES) and len(value) >= 12 and not value.startswith("/") and not value.isalpha()
        ]  # fmt: skip


def look(environ: Mapping[str, str] | None = None) -> Surroundings:
    """Look around."""
    environ = os.environ if environ is None else environ
    file = _user_file(environ)
    data_dir = _given("data_dir", environ, file)
    data_dir = os.path.abspath(os.path.expanduser(data_dir)) if data_dir else user_folder("data", environ)
    key = environ.get("CODEXMEM_TOKEN", "").strip() or _given("api_key", environ, file)
    stored, url = stored_token(data_dir), _given("url", environ, file).rstrip("/")
    base = told(data_dir, url, _number(environ.get("CODEXMEM_PORT"), 0, 0, 65535))
    base = base or f"http://127.0.0.1:{_number(_given('port', environ, file), PORT, 1, 65535)}"
    may_start = not url and _given("autostart", environ, file).lower() not in _OFF
    around = Surroundings(environ, data_dir, base, key_for(url, key, stored), ours=not url, may_start=may_start)
    around.key = key
    if key and not around.token:
        from codexmem.kernel.model.key_transport import refusal

        around.warning = "; ".join(refusal(url))
    around.credentials = [each for each in (key, stored) if each]
    return around


def told(data_dir: str | os.PathLike[str], url: str, port: int) -> str:
    """Where somebody said that the server is: a person, by an address or a port, or else the server itself.

    Empty if nobody did; port 0 leaves it to the server.
    """
    if url:
        return url.rstrip("/")
    return f"http://127.0.0.1:{port}" if port else announcement(data_dir)[0]


def key_for(url: str, key: str, stored: str) -> str:
    """The key to bring to the given address, or without one to our own server, whose token is stored.

    That one is on this machine, wherever it listens. None is brought where others could read it on its way.
    """
    if not url:
        return key or stored
    from codexmem.kernel.model.key_transport import may_carry_key

    return key if may_carry_key(url) else ""


def stored_token(data_dir: str | os.PathLike[str]) -> str:
    """What the server of this data directory asks for, read anew each time: it may only now have made it."""
    token = (text_of(os.path.join(data_dir, "token")) or "").strip()
    return token if token.isascii() else ""


def announcement(data_dir: str | os.PathLike[str]) -> tuple[str, int]:
    """Where the server of this data directory says it listens, and its process; empty and 0 if none says so."""
    text = text_of(os.path.join(data_dir, "server.json"))
    if not text:
        return "", 0
    from codexmem.kernel.model import quick_json

    try:
        said = quick_json.loads(text)
        url, pid = said["url"], said.get("pid", 0)
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", 0
    if not isinstance(url, str) or not url.startswith("http"):
        return "", 0
    # Listening everywhere is no address to speak to.
    url = url.rstrip("/").replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:")
    return url, pid if isinstance(pid, int) else 0


def environment() -> Mapping[str, str]:
    """What this process was given, for one that it starts."""
    return os.environ


def traceparent(environ: Mapping[str, str] | None = None) -> str:
    """The trace that whoever started us is recording, as W3C writes it; empty if none, or not written so."""
    environ = os.environ if environ is None else environ
    given = environ.get("TRACEPARENT", "").strip().lower()
    shaped = len(given) == 55 and [len(part) for part in given.split("-")] == [2, 32, 16, 2]
    return given if shaped and not given.strip("0123456789abcdef-") else ""


def is_internal(environ: Mapping[str, str] | None = None) -> bool:
    """Whether we were started by our own work, which must not be remembered.

    So it is below an agent that writes memories for us (`CODEXMEM_AUTHOR`).
    """
    environ = os.environ if environ is None else environ
    return any(environ.get(name, "") not in {"", "0"} for name in ("CODEXMEM_AUTHOR", "CODEXMEM_INTERNAL"))


def now_ns() -> int:
    """Nanoseconds since the epoch."""
    return time.time_ns()


def monotonic() -> float:
    """Seconds on a clock that never goes back."""
    return time.monotonic()


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def fresh_id() -> str:
    """An id that nobody else makes."""
    return os.urandom(16).hex()


def text_of(path: str, most: int = 1 << 16) -> str | None:
    """The text of a small file; None if there is none."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    try:
        return os.read(file, most).decode("utf-8", "replace")
    except OSError:  # a folder, for example
        return None
    finally:
        os.close(file)


def working_directory() -> str:
    """Where this process works; empty if that has been removed under it."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def refusing_file(folder: str) -> str:
    """The file by which a checkout says that nobody but rules reads what is done in it; empty if there is none.

    It may lie in the folder or in any above it, and can only refuse: none that says `rules_only = false` takes the
    refusal of another back. One that speaks of it and cannot be understood refuses. Costs one look per level.
    """
    if not folder.strip() or "\0" in folder:
        return ""
    for start in dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))):
        place, below = start, ""
        while place != below:
            path = os.path.join(place, PROJECT_FILE)
            if _refuses(path):
                return path
            place, below = os.path.dirname(place), place
    return ""


def _refuses(path: str) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # it is there, or may be
        return error.errno != errno.ENAMETOOLONG
    try:
        text = os.read(file, _LARGEST_FILE).decode("utf-8", "replace")
    except OSError:  # a folder, for example
        return False
    finally:
        os.close(file)
    if _REFUSAL not in text:
        return False
    import tomllib

    try:
        said = tomllib.loads(text).get(_REFUSAL, False)
    except ValueError:
        return True
    return str(said).strip().lower() not in _OFF


def user_folder(what: str, environ: Mapping[str, str], system: str = sys.platform) -> str:
    """Our folder for data or config, where the platform wants it."""
    if system == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(environ.get("USERPROFILE", "~"), "AppData", "Local")
        return os.path.join(base, "codexmem")
    base = environ.get(f"XDG_{what.upper()}_HOME", "")
    if not base.startswith("/"):
        base = _home(environ) + (
            "/Library/Application Support" if system == "darwin" else "/.local/share" if what == "data" else "/.config"
        )
    return f"{base.rstrip('/')}/codexmem"


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        import pwd

        home = pwd.getpwuid(os.getuid()).pw_dir
    return home.rstrip("/")


def _user_file(environ: Mapping[str, str]) -> Mapping[str, object]:
    """The user's settings; most people have none, and then nothing is loaded to read them."""
    text = text_of(os.path.join(user_folder("config", environ), "config.toml"))
    if not text:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError:  # the server says so, to people; an agent cannot do anything about it
        return {}


def _given(name: str, environ: Mapping[str, str], file: Mapping[str, object]) -> str:
    return environ.get(f"CODEXMEM_{name.upper()}", "").strip() or str(file.get(name, "")).strip()


def _number(text: str | None, default: int, least: int, most: int) -> int:
    text = (text or "").strip()
    return min(most, max(least, int(text))) if text.isascii() and text.isdigit() and len(text) < 15 else default
