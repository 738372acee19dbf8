"""`doctor --bundle`: what somebody who helps needs to know, in one zip file, without secrets and without memories.

Every part passes through `scrub`, also those that should hold nothing to take out.

What a support bundle must not hold, and how it is taken out: secrets, who and where somebody is, what was said.

Secrets that we know by value are masked wherever they stand, the others by the rules that guard the memory. The home
folder becomes `~`. Of a log only lines of a known form are kept, and of them nothing that was quoted.
"""

from __future__ import annotations

import io
import json
import os
import platform
import pwd
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from codexmem import __version__
from codexmem.console.messages import say
from codexmem.hook import surroundings
from codexmem.installation import DISTRIBUTION
from codexmem.kernel.model import json_text, redaction
from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument
from codexmem.settings import SETTINGS, masked

if TYPE_CHECKING:
    from codexmem.settings import Settings


USER, HOST, LEFT_OUT = "<user>", "<host>", "[… lines of another form were left out]"
_LEAST = 3  # shorter names are parts of ordinary words
_NOBODY = frozenset(("root", "home", "user", "users", "localhost", "nobody"))
_LONGEST = 300  # characters of a message
_RECORD = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ +[\w.]+: )(.*)")
_FRAME = re.compile(r'[\s|]*(File "[^"]+", line \d+, in [\w<>.]+)')
_RAISED = re.compile(r"[\s|]*([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Timeout|Warning|Refused))\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|«[^»]*»|“[^”]*”|「[^」]*」")
_OF_RECORD = ("at", "level", "logger", "method", "route", "status", "ms")


class Scrub:
    """Takes out what one person's bundle must not hold."""

    def __init__(self, known: Sequence[str], home: Path, names: Sequence[str], hosts: Sequence[str]) -> None:
        self._known = sorted({each for each in known if len(each) > _LEAST}, key=len, reverse=True)
        self._homes = sorted({str(home), str(home.resolve())} - {"/"}, key=len, reverse=True)
        self._names = [(_word(name), sign) for some, sign in ((names, USER), (hosts, HOST)) for name in some]

    def text(self, text: str) -> str:
        """A text without what must not be in it."""
        return redaction.redact(self._placed(text), level="strict")

    def value(self, value: Any) -> Any:
        """A JSON value likewise; what a telling key holds is masked as a whole."""
        return redaction.redact_value(self._walked(value), level="strict")

    def log(self, text: str) -> str:
        """A log: its events without what they quote, and of a traceback where it happened and what was raised."""
        kept: list[str] = []
        for line in text.splitlines():
            said = _kept(line)
            if said is not None:
                kept.append(self.text(said))
            elif kept[-1:] != [LEFT_OUT]:
                kept.append(LEFT_OUT)
        return "".join(f"{line}\n" for line in kept)

    def _placed(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, redaction.masked("known"))
        for home in self._homes:
            text = text.replace(home, "~")
        for name, sign in self._names:
            text = name.sub(sign, text)
        return text

    def _walked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._placed(value)
        if isinstance(value, dict):
            return {self._placed(str(key)): self._walked(each) for key, each in value.items()}
        return [self._walked(each) for each in value] if isinstance(value, list | tuple) else value


def scrub_for(settings: Settings) -> Scrub:
    """What is known of this person and these settings."""
    home = Path.home()
    secrets = [str(getattr(settings, each.name)) for each in SETTINGS if each.secret]
    inside = [part for each in SETTINGS for part in _secrets_in(str(getattr(settings, each.name) or ""))]
    known = [*(each for each in secrets if "://" not in each), *inside, surroundings.stored_token(settings.data_dir)]
    names = {home.name}
    with suppress(KeyError):  # a number without a name, as in containers
        names.add(pwd.getpwuid(os.geteuid()).pw_name)
    return Scrub(
        [*known, *surroundings.look().secrets], home, [name for name in names if _tells(name)],
        [name for name in {platform.node(), platform.node().partition(".")[0]} if _tells(name)],
    )  # fmt: skip


def shown(settings: Settings, name: str) -> str:
    """A setting as a stranger may see it: no passwords, and of lists of names only how long they are."""
    value = getattr(settings, name)
    if isinstance(value, tuple):
        return f"({len(value)})"
    said = settings.shown(name)
    return masked(said) if "://" in said else said


def _secrets_in(url: str) -> Iterator[str]:
    """The passwords of an address, as they stand there and as they are meant."""
    if "://" not in url:
        return
    parts = urlsplit(url)
    said = parts.netloc.rpartition("@")[0].partition(":")[2]
    yield from (said, unquote(said))
    for _, given in parse_qsl(parts.query):
        yield given


def _kept(line: str) -> str | None:
    if line.startswith("{"):
        return _of_json(line)
    if record := _RECORD.fullmatch(line):
        return record[1] + _unquoted(record[2])
    if frame := _FRAME.match(line):
        return f"    | {frame[1]}"
    raised = _RAISED.match(line)
    return f"    | {raised[1]}" if raised else None


def _of_json(line: str) -> str | None:
    try:
        said = json_text.loads(line)
    except ValueError:
        return None
    kept = {name: said[name] for name in _OF_RECORD if name in said}
    kept["message"] = _unquoted(str(said.get("message", "")))
    trace = [known for each in str(said.get("traceback", "")).splitlines() if (known := _kept(each))]
    return json.dumps(kept | ({"traceback": trace} if trace else {}), ensure_ascii=False)


def _unquoted(message: str) -> str:
    bare = _QUOTED.sub("'…'", message)
    return bare if len(bare) <= _LONGEST else f"{bare[:_LONGEST]}…"


def _tells(name: str) -> bool:
    return len(name) >= _LEAST and name.lower() not in _NOBODY


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


LOG_BYTES = 256 << 10
_MOST = 1 << 20  # bytes of an answer
_ANSWERS_WITHIN_S = 5.0
_LISTED = 200  # entries of the data directory
_REQUIRED = re.compile(r"[A-Za-z0-9_.-]+")
_ABOUT = """codexmem support bundle

about.json     versions of codexmem, Python, SQLite, the system and the packages
doctor.json    what codexmem doctor found
settings.json  the settings and where each comes from; passwords and keys are masked, lists are counted
store.json     schema, rows per table, files of the data directory with sizes; no content
agents.json    which files of which agents codexmem install has changed; no content
server.json    what the running server says of its health; nulls if none runs
metrics.txt    its measurements; empty if none runs
server.log     the end of its log; what was quoted in it is left out

Your home folder is ~, your name <user>, this machine <host>. Please look before you pass it on.
"""


class _Taken(Conflict):
    """The file exists; its text comes from the catalogue."""

    spoken = True


class _Unwritable(InvalidArgument):
    """The file cannot be written; its text comes from the catalogue."""

    spoken = True


def require_free(path: Path, *, overwrite: bool) -> None:
    """Refuse a name that is taken before anything is done."""
    if path.exists() and not overwrite:
        raise _Taken(say("doctor.bundle_exists", path=path), hint=say("doctor.bundle_exists_hint"))


def write(path: Path, settings: Settings, report: Mapping[str, object], *, overwrite: bool) -> list[str]:
    """Write the bundle for its owner's eyes only; returns the names of what is in it."""
    packed = io.BytesIO()
    names = []
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in _parts(settings, report, scrub_for(settings)):
            bundle.writestr(name, text)
            names.append(name)
    try:
        _store(path, packed.getvalue(), overwrite=overwrite)
    except FileExistsError:
        raise _Taken(say("doctor.bundle_exists", path=path), hint=say("doctor.bundle_exists_hint")) from None
    except OSError as error:
        problem = say("doctor.bundle_unwritable", path=path, problem=error.strerror)
        raise _Unwritable(problem, hint=say("doctor.bundle_unwritable_hint")) from None
    return names


def _store(path: Path, content: bytes, *, overwrite: bool) -> None:
    if overwrite and path.exists():
        from codexmem.kernel.store.archive import write_private

        write_private(path, content)
        return
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _parts(settings: Settings, report: Mapping[str, object], scrub: Scrub) -> Iterator[tuple[str, str]]:
    from codexmem.client import background

    yield "README.txt", _ABOUT
    documents = {
        "about.json": _about(),
        "doctor.json": report,
        "settings.json": [
            {"name": each.name, "value": shown(settings, each.name), "origin": settings.origins[each.name]}
            for each in SETTINGS
        ],
        "store.json": _of_store(settings),
        "agents.json": _agents(settings),
    }
    for name, document in documents.items():
        yield name, json.dumps(scrub.value(document), ensure_ascii=False, indent=2) + "\n"
    said = {part: _read(_asked(settings, f"/api/{part}")) for part in ("health", "readiness")}
    yield "server.json", json.dumps(scrub.value(said), ensure_ascii=False, indent=2) + "\n"
    yield "metrics.txt", scrub.text(_asked(settings, "/metrics"))
    yield "server.log", scrub.log(_end_of(settings.data_dir / background.LOG))


def _about() -> dict[str, object]:
    from codexmem.kernel.store import inspection

    return {
        "codexmem": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "sqlite": inspection.library()[0],
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "packages": _packages(),
    }


def _packages() -> dict[str, str | None]:
    """The versions of what we depend on; None where it is not installed. What else is installed is nobody's affair."""
    from importlib import metadata

    found: dict[str, str | None] = {}
    with suppress(metadata.PackageNotFoundError):
        for line in metadata.requires(DISTRIBUTION) or []:
            name = _REQUIRED.match(line)
            if name is None:
                continue
            found[name[0]] = None
            with suppress(metadata.PackageNotFoundError):
                found[name[0]] = metadata.version(name[0])
    return dict(sorted(found.items()))


def _of_store(settings: Settings) -> dict[str, object]:
    from codexmem.kernel.store import inspection

    said: dict[str, object] = {
        "engine": "postgresql" if settings.on_postgres else "sqlite",
        "expected_schema": inspection.expected_schema(),
    }
    try:
        said["schema"] = inspection.schema(settings.database_url)
        said["vectors"] = inspection.vectors(settings.database_url)
        said["rows"] = inspection.row_counts(settings.database_url)
        said["rows_counted_up_to"] = inspection.COUNTED
    except (CodexmemError, OSError) as error:
        said["problem"] = type(error).__name__
    return said | {"files": list(_files(settings.data_dir))}


def _files(folder: Path) -> Iterator[dict[str, object]]:
    """What lies in the data directory itself; deeper down are names that people chose."""
    entries = sorted(folder.iterdir())[:_LISTED] if folder.is_dir() else []
    for path in entries:
        found = path.lstat()
        yield {"name": path.name, "bytes": found.st_size, "mode": f"{found.st_mode:o}"}


def _agents(settings: Settings) -> list[dict[str, object]]:
    from codexmem.agents.install.receipts import InstallReceipts
    from codexmem.client import files

    receipts = InstallReceipts(settings.data_dir)
    said = []
    for agent in receipts.agents():
        receipt = receipts.get(agent)
        kept = [
            {"path": str(each.path), "was_there": each.before is not None,
             "as_we_left_it": files.read(each.path) == each.written}
            for each in (receipt.files if receipt else [])
        ]  # fmt: skip
        said.append({"agent": agent, "readable": receipt is not None, "files": kept})
    return said


def _asked(settings: Settings, path: str) -> str:
    """What the running server answers; empty if none does."""
    from codexmem.client import starting, transport
    from codexmem.console.store import place_of

    place = place_of(settings)
    url = starting.told(place)
    if not url:
        return ""
    try:
        key = starting.headers(place)
        reply = transport.ask(url, "GET", path, headers=key, timeout_s=_ANSWERS_WITHIN_S, most=_MOST)
        return reply.body.decode("utf-8", "replace")
    except OSError:
        return ""


def _read(text: str) -> Any:
    try:
        return json_text.loads(text)
    except ValueError:
        return None


def _end_of(log: Path) -> str:
    """The last lines, from the first whole one on."""
    try:
        with log.open("rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - LOG_BYTES)
            file.seek(start)
            tail = file.read(LOG_BYTES)
    except OSError:
        return ""
    return (tail.partition(b"\n")[2] if start else tail).decode("utf-8", "replace")
