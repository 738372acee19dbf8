"""Where the configuration comes from, and which source wins.

A flag beats the environment, which beats the project's file, the user's file and the default, in that order; lists of
rules add up instead. A key that nobody knows is a warning, since a newer version may know it; a value that cannot be
meant is an error, since to go on without it could mean to go on without a rule.

A project's file comes with a checkout, and a checkout may come from anybody. Until a person trusts exactly this content
at this place, keys that could run a program, send memories elsewhere or let an agent do more are not even read.

Which project files a person has looked at and trusts: by path and by content, so that a changed file asks anew.

Each trusted file has a small file of its own in the state directory. Writing one is a rename, so two commands at once
cannot lose each other's, and forgetting one touches no other.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codexmem.codecli import surroundings
from codexmem.codecli.config_table import BY_NAME, KEYS, PREFIX, CheckoutAccess, Key, value_of
from codexmem.codecli.configuration import Config
from codexmem.kernel.model.errors import InvalidArgument


def digest(content: bytes) -> str:
    """What a file's content is known by."""
    return hashlib.sha256(content).hexdigest()


def is_trusted(path: Path, content: bytes, state_dir: Path) -> bool:
    """Whether exactly this content at this place is trusted."""
    try:
        known = json.loads(_mark(path, state_dir).read_bytes())
        return bool(known["path"] == _whole(path) and known["sha256"] == digest(content))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def trust(path: Path, content: bytes, state_dir: Path) -> None:
    """Trust this content at this place from now on, and no other."""
    mark = _mark(path, state_dir)
    mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    note = {"path": _whole(path), "sha256": digest(content), "trusted_ms": surroundings.now_ms()}
    fresh = mark.with_suffix(f".{surroundings.fresh_id()}")
    file = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(file, json.dumps(note, ensure_ascii=False).encode())
    finally:
        os.close(file)
    fresh.replace(mark)


def untrust(path: Path, state_dir: Path) -> bool:
    """Trust this place no longer; False if it was not trusted."""
    try:
        _mark(path, state_dir).unlink()
    except FileNotFoundError:
        return False
    return True


def _whole(path: Path) -> str:
    return os.path.realpath(path)


def _mark(path: Path, state_dir: Path) -> Path:
    return state_dir / "trusted" / f"{digest(os.fsencode(_whole(path)))[:40]}.json"


PROJECT_FILE = ".mem-codecli.toml"
USER_FILE = "config.toml"
MOST_BYTES = 1 << 20


class Notice(str):
    """A warning in English; `reason` and `values` let it be said in another language."""

    reason: str
    values: Mapping[str, str]

    @classmethod
    def of(cls, reason: str, text: str, **values: str) -> Notice:
        """The text with the values in it."""
        made = cls(text.format(**values))
        made.reason, made.values = reason, values
        return made


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The project's file that was found, and what of it does not count."""

    path: Path
    trusted: bool
    ignored: tuple[str, ...] = ()  # keys that need trust


@dataclass(frozen=True, slots=True)
class Loaded:
    """The configuration, and how it came about."""

    config: Config
    origins: Mapping[str, str]  # of every key: flag, environment NAME, project file PATH, user file PATH or default
    warnings: tuple[Notice, ...] = ()
    # Of each list that sources add to, what each of them gave.
    parts: Mapping[str, tuple[tuple[str, tuple[object, ...]], ...]] = field(default_factory=dict)
    user_file: Path = Path()
    project_file: ProjectFile | None = None


def load(flags: Mapping[str, object], cwd: Path, environ: Mapping[str, str] | None = None) -> Loaded:
    """Read every source and decide. Flags are keyed like the table; one that is None was not given."""
    environ = surroundings.environ() if environ is None else environ
    reading = _Reading()
    user = user_file(environ)
    if user.is_file():
        origin = f"user file {user}"
        for key, value in reading.known(_parsed(user, _content(user)), origin):
            reading.take(key, value, origin)
        reading.look_at_mode(user)
    found = project_file(cwd)
    project = reading.take_project(found, Path(surroundings.state_dir(environ))) if found else None
    for key in KEYS:
        variable = next((each for each in (*key.variables, key.env) if environ.get(each)), "")
        if variable:
            reading.take(key, environ[variable], f"environment {variable}")
    reading.look_at_variables(environ)
    for name, value in flags.items():
        if value is not None:
            reading.take(BY_NAME[name], value, "flag")
    origins = {key.name: reading.origins.get(key.name, "default") for key in KEYS}
    parts = {name: tuple(given) for name, given in reading.parts.items()}
    return Loaded(_config(reading.values), origins, tuple(reading.warnings), parts, user, project)


def user_file(environ: Mapping[str, str] | None = None) -> Path:
    """The user's file, which need not exist."""
    return Path(surroundings.config_dir(environ)) / USER_FILE


def project_file(cwd: Path) -> Path | None:
    """The nearest project file from here up to the root of the git checkout; outside of one, only here.

    There nothing above is looked at: `/tmp` and the like belong to everybody.
    """
    folders = [cwd, *cwd.parents]
    root = next((place for place, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return next((folder / PROJECT_FILE for folder in folders[: root + 1] if (folder / PROJECT_FILE).is_file()), None)


def content_of(path: Path) -> bytes:
    """What a project file holds, once it is known to be one: TOML of a reasonable size."""
    content = _content(path)
    _parsed(path, content)
    return content


class _Reading:
    """Values as they come in, the weakest source first."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.parts: dict[str, list[tuple[str, tuple[object, ...]]]] = {key.name: [] for key in KEYS if key.adds}
        self.warnings: list[Notice] = []

    def known(self, given: Mapping[str, object], origin: str) -> Iterator[tuple[Key, object]]:
        """The keys of a file that we know; the others are warned about."""
        sections = {key.name.partition(".")[0] for key in KEYS if "." in key.name}
        for name, value in given.items():
            if name in sections and isinstance(value, dict):
                for inner, each in value.items():
                    if f"{name}.{inner}" in BY_NAME:
                        yield BY_NAME[f"{name}.{inner}"], each
                    else:
                        self._unknown(f"{name}.{inner}", origin)
            elif name in sections:
                raise InvalidArgument(
                    f"{origin}: {name} must be a section, not {str(value)[:80]!r}",
                    hint=f"write it as: [{name}]",
                    details={"reason": "codecli_no_section", "origin": origin, "name": name},
                )
            elif name in BY_NAME:
                yield BY_NAME[name], value
            else:
                self._unknown(name, origin)

    def take(self, key: Key, value: object, origin: str) -> None:
        """This source says so; what is read later wins."""
        self._keep(key, _understood(key, value, origin), origin)

    def take_project(self, path: Path, state_dir: Path) -> ProjectFile:
        """What the project's file says, as far as it may."""
        content = _content(path)
        trusted = is_trusted(path, content, state_dir)
        origin = f"project file {path}"
        ignored = []
        for key, value in self.known(_parsed(path, content), origin):
            if key.reach is CheckoutAccess.NEVER:
                said = "{origin}: {name} is ignored: keys do not belong in a project file"
                self._warn("secret_in_project", said, origin=origin, name=key.name)
            elif trusted or self._may(key, value, origin):
                self.take(key, value, origin)
            else:
                ignored.append(key.name)
        if ignored:
            said = "{path} is not trusted; ignored: {names}. If you trust it: mem-codecli config trust"
            self._warn("untrusted", said, path=str(path), names=", ".join(ignored))
        return ProjectFile(path, trusted, tuple(ignored))

    def look_at_mode(self, user: Path) -> None:
        """A key in a file that others can read is no secret."""
        if self.values.get("memory.api_key") and user.stat().st_mode & 0o077:
            said = "{path} holds a key and can be read by others; run: chmod 600 {path}"
            self._warn("key_readable", said, path=str(user))

    def look_at_variables(self, environ: Mapping[str, str]) -> None:
        """Variables that are nearly ours; others of our prefix belong to our own child processes."""
        ours = [key.env.removeprefix(PREFIX) for key in KEYS]
        known = {variable for key in KEYS for variable in (key.env, *key.variables)}
        for name in environ:
            near = _near(name.removeprefix(PREFIX), ours) if name.startswith(PREFIX) and name not in known else ""
            if near:
                self._unknown(name, "environment", PREFIX + near)

    def _may(self, key: Key, value: object, origin: str) -> bool:
        if key.reach is CheckoutAccess.STRICTER and key.stricter is not None:
            return key.stricter(_understood(key, value, origin), self.values.get(key.name, key.default))
        return key.reach is CheckoutAccess.FREE

    def _keep(self, key: Key, value: Any, origin: str) -> None:
        if key.adds:
            self.parts[key.name].append((origin, value))
        if key.adds and key.name in self.values:
            self.values[key.name] += tuple(each for each in value if each not in self.values[key.name])
            self.origins[key.name] += f" + {origin}"
        else:
            self.values[key.name] = value
            self.origins[key.name] = origin

    def _unknown(self, name: str, origin: str, near: str = "") -> None:
        near = near or _near(name, list(BY_NAME))
        if near:
            said = "{origin}: unknown key {name}; did you mean {near}?"
            self._warn("unknown_key_near", said, origin=origin, name=name[:80], near=near)
        else:
            self._warn("unknown_key", "{origin}: unknown key {name}", origin=origin, name=name[:80])

    def _warn(self, reason: str, text: str, **values: str) -> None:
        self.warnings.append(Notice.of(reason, text, **values))


def _near(name: str, among: list[str]) -> str:
    import difflib

    return next(iter(difflib.get_close_matches(name, among, n=1, cutoff=0.75)), "")


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _broken(path, error.strerror or str(error)) from error
    if len(content) > MOST_BYTES:
        raise _broken(path, f"it has more than {MOST_BYTES} bytes")
    return content


def _parsed(path: Path, content: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _broken(path, str(error)) from error


def _broken(path: Path, problem: str) -> InvalidArgument:
    return InvalidArgument(
        f"{path} cannot be read: {problem}",
        hint="fix the file, or move it away",
        details={"reason": "bad_settings_file", "path": str(path), "problem": problem},
    )


def _understood(key: Key, value: object, origin: str) -> Any:
    try:
        return key.parse(value)
    except ValueError as error:
        given = "" if key.secret else f", not {str(value)[:80]!r}"
        raise InvalidArgument(
            f"{origin}: {key.name} must be {error}{given}",
            hint=f"for example, in [{key.name.partition('.')[0]}]: {key.example}" if "." in key.name else
            f"for example: {key.example}",
            details={
                "reason": "codecli_bad_value", "origin": origin, "name": key.name, "expected": str(error),
                "example": key.example,
            },
        ) from None  # fmt: skip


def _config(values: Mapping[str, Any]) -> Config:
    config = Config()
    for name, value in values.items():
        section, _, key = name.rpartition(".")
        if section:
            config = replace(config, **{section: replace(value_of(config, section), **{key: value})})
        else:
            config = replace(config, **{key: value})
    return config
