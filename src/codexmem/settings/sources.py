"""Where values come from, and which one wins.

A flag beats the environment, which beats the project's file, the user's file and the default, in that order.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.settings.table import BY_NAME, SETTINGS, Setting
from codexmem.settings.values import PROJECT_ORIGIN, Settings

PROJECT_FILE = ".codexmem.toml"


def load(flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None,
         cwd: Path | None = None) -> Settings:  # fmt: skip
    """Read every source and decide; flags that are None were not given."""
    environ = os.environ if environ is None else environ
    layers: list[tuple[str, Mapping[str, object], bool]] = [
        ("flag", {name: value for name, value in (flags or {}).items() if value is not None}, False),
        ("environment", _from_environment(environ), False),
    ]
    project = project_file(cwd or _working_directory())
    if project is not None:
        layers.append((f"{PROJECT_ORIGIN} {project}", _read(project), True))
    user = user_file(environ)
    if user.is_file():
        layers.append((f"user file {user}", _read(user), False))
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, given, from_project in reversed(layers):
        for name, value in given.items():
            setting = _known(name, origin)
            if from_project and not setting.in_project:
                raise InvalidArgument(
                    f"{origin}: {name} may not be set there",
                    hint=f"set {setting.env}, or {name} in {user}: a checkout must not decide where memories live",
                    details={"reason": "setting_not_in_project", "name": name, "origin": origin, "env": setting.env},
                )
            parsed = _parsed(setting, value, origin)
            if from_project and setting.only_on and not parsed:
                continue
            values[name] = parsed
            origins[name] = f"environment {_variable(setting, environ)}" if origin == "environment" else origin
    values.setdefault("data_dir", _user_folder("data", environ))
    if not values.get("database_url"):
        values["database_url"] = f"sqlite:///{values['data_dir'] / 'codexmem.db'}"
        origins.pop("database_url", None)
    for name in ("database_direct_url", "database_replica_url"):
        if _layer(origins.get(name)) != _layer(origins.get("database_url")):
            # Another layer's is about another database, which an upgrade would strike or a search would read.
            values.pop(name, None)
            origins.pop(name, None)
    return Settings(**values, origins={s.name: origins.get(s.name, "default") for s in SETTINGS})


def _layer(origin: str | None) -> str | None:
    return "environment" if origin is not None and origin.startswith("environment ") else origin


def _variable(setting: Setting, environ: Mapping[str, str]) -> str:
    """The environment variable that speaks for the setting: our own before one that a contract shares with others."""
    return next((name for name in (setting.env, *setting.aliases) if environ.get(name)), setting.env)


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    named = {setting.name: environ.get(_variable(setting, environ)) for setting in SETTINGS}
    return {name: value for name, value in named.items() if value}


def _known(name: str, origin: str) -> Setting:
    if name in BY_NAME:
        return BY_NAME[name]
    import difflib

    near = difflib.get_close_matches(name, BY_NAME, n=1)
    raise InvalidArgument(
        f"{origin}: unknown setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
        hint="codexmem config list shows every setting",
        details={"reason": "unknown_setting", "name": name, "origin": origin, "near": near[0] if near else ""},
    )


def _parsed(setting: Setting, value: object, origin: str) -> object:
    try:
        return setting.parse(value)
    except ValueError as error:
        # The value of a secret stays out of the message.
        given = "" if setting.secret else f", not {str(value)[:80]!r}"
        raise InvalidArgument(
            f"{origin}: {setting.name} must be {error}{given}",
            hint="codexmem config list --show-origin shows where each value comes from",
            details={"reason": "bad_setting", "name": setting.name, "origin": origin, "expected": str(error)},
        ) from None


def _read(path: Path) -> Mapping[str, object]:
    import tomllib  # most people have no file, and every command starts here

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # both a broken encoding and broken TOML are ValueErrors
        raise InvalidArgument(
            f"{path} cannot be read: {error}",
            hint="fix the file, or move it away",
            details={"reason": "bad_settings_file", "path": str(path), "problem": str(error)},
        ) from error


def project_file(cwd: Path) -> Path | None:
    """The project's file: in the working directory, else in the root of its git checkout."""
    for folder in (cwd, *cwd.parents):
        at_root = (folder / ".git").exists()
        if (folder == cwd or at_root) and (folder / PROJECT_FILE).is_file():
            return folder / PROJECT_FILE
        if at_root:
            return None
    return None


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it has been removed under us
        return Path("/")


def user_file(environ: Mapping[str, str] | None = None) -> Path:
    """The user's file, which need not exist."""
    return _user_folder("config", os.environ if environ is None else environ) / "config.toml"


def _user_folder(what: str, environ: Mapping[str, str]) -> Path:
    # platformdirs reads the process's environment; a test that brings its own is honoured here.
    base = environ.get(f"XDG_{what.upper()}_HOME", "").strip()
    if environ is not os.environ and base:
        return Path(base) / "codexmem"
    import platformdirs

    found = platformdirs.user_data_dir if what == "data" else platformdirs.user_config_dir
    return Path(found("codexmem", appauthor=False))
