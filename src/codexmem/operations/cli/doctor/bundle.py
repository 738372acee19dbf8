"""`doctor --bundle`: what somebody who helps needs to know, in one zip file, without secrets and without memories.

Every part passes through `scrub`, also those that should hold nothing to take out.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codexmem import __version__
from codexmem.console.messages import say
from codexmem.kernel.model import json_text
from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument
from codexmem.operations.cli.doctor.scrub import scrub_for, shown
from codexmem.settings import SETTINGS

if TYPE_CHECKING:
    from codexmem.operations.cli.doctor.scrub import Scrub
    from codexmem.settings import Settings

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


def write(path: Path, settings: Settings, report: Mapping[str, Any], *, overwrite: bool) -> list[str]:
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


def _parts(settings: Settings, report: Mapping[str, Any], scrub: Scrub) -> Iterator[tuple[str, str]]:
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


def _about() -> dict[str, Any]:
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
        for line in metadata.requires("codexmem") or []:
            name = _REQUIRED.match(line)
            if name is None:
                continue
            found[name[0]] = None
            with suppress(metadata.PackageNotFoundError):
                found[name[0]] = metadata.version(name[0])
    return dict(sorted(found.items()))


def _of_store(settings: Settings) -> dict[str, Any]:
    from codexmem.kernel.store import inspection

    said: dict[str, Any] = {
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


def _files(folder: Path) -> Iterator[dict[str, Any]]:
    """What lies in the data directory itself; deeper down are names that people chose."""
    entries = sorted(folder.iterdir())[:_LISTED] if folder.is_dir() else []
    for path in entries:
        found = path.lstat()
        yield {"name": path.name, "bytes": found.st_size, "mode": f"{found.st_mode:o}"}


def _agents(settings: Settings) -> list[dict[str, Any]]:
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
