"""Every setting, where its value may come from, and which one wins.

A flag beats the environment, which beats the project's file, the user's file and the default, in that order. This is
the only module that reads the environment; everything else receives values. A key that nobody knows is an error,
because a mistyped setting that is silently ignored is worse than none. A project file may not say where memories live
or who may read them: it comes with a checkout, and a checkout may come from anybody.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from codexmem.domain.errors import CodexmemError, InvalidArgument

PROJECT_FILE = ".codexmem.toml"
PREFIX = "CODEXMEM_"
_EMBEDDERS = ("auto", "none", "local", "local-better", "openai")
_RERANKERS = ("none", "api")
_LEVELS = ("debug", "info", "warning", "error")

Parse = Callable[[object], Any]


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("text")
    return value.strip()


def _path(value: object) -> Path:
    text = _text(value)
    if not text:
        raise ValueError("a path")
    return Path(text).expanduser().absolute()


def _integer(low: int, high: int) -> Parse:
    def parse(value: object) -> int:
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
            value = int(value[:20])
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return parse


def _choice(*allowed: str) -> Parse:
    def parse(value: object) -> str:
        text = _text(value).lower() if isinstance(value, str) else None
        if text not in allowed:
            raise ValueError("one of " + ", ".join(repr(each) for each in allowed))
        return text

    return parse


def _names(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("names separated by commas, or a list of names")
    return tuple(part.strip() for part in parts if part.strip())


def _web_url(value: object) -> str:
    text = _text(value)
    if text and (urlsplit(text).scheme not in {"http", "https"} or not urlsplit(text).hostname):
        raise ValueError("http://… or https://…")
    return text.rstrip("/")


def _collection(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", text):
        raise ValueError("1 to 63 of letters, digits, '.', '_' and '-'")
    return text


def _model(*allowed: str) -> Parse:
    """One of these, or a model of fastembed."""

    def parse(value: object) -> str:
        text = _text(value)
        if text.lower() in allowed:
            return text.lower()
        if not text.startswith("fastembed:") or not text.removeprefix("fastembed:"):
            raise ValueError("one of " + ", ".join(map(repr, allowed)) + " or 'fastembed:<name or path>'")
        return text

    return parse


def _database_url(value: object) -> str:
    text = _text(value)
    if text and not text.startswith(("sqlite:///", "postgresql://", "postgres://")):
        raise ValueError("sqlite:///path or postgresql://user@host/database")
    return text


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as documentation, `config` and the parser see it."""

    name: str
    parse: Parse
    default: str  # as people read it; the values themselves are the fields' defaults
    help: str
    in_project: bool = True  # whether a project file may set it
    secret: bool = False  # shown with what must not be seen masked
    aliases: tuple[str, ...] = ()  # further environment variables, which a contract or custom spells out

    @property
    def env(self) -> str:
        """The environment variable."""
        return PREFIX + self.name.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("host", _text, "127.0.0.1", "Address to listen on; beyond loopback it needs authentication.",
            in_project=False),
    Setting("port", _integer(0, 65535), "37877", "Port to listen on; 0 picks a free one."),
    Setting("data_dir", _path, "the platform's user-data folder", "Folder of the store, backups, token, server.json.",
            in_project=False),
    Setting("database_url", _database_url, "SQLite in the data directory", "postgresql://… for a team.",
            in_project=False, secret=True),
    Setting("auth", _choice("", "token"), "off", "'token' asks also on loopback for the token in the data directory.",
            in_project=False),
    Setting("allowed_hosts", _names, "none", "Further Host names under which the server may be addressed.",
            in_project=False),
    Setting("worker_threads", _integer(1, 64), "4", "Jobs that one worker runs at a time."),
    Setting("pool_size", _integer(2, 500), "20", "Connections to PostgreSQL per process."),
    Setting("log_level", _choice(*_LEVELS), "info", "How much to log: debug, info, warning or error."),
    Setting("log_format", _choice("text", "json"), "text", "Log lines for people (text) or for machines (json)."),
    Setting("max_body_bytes", _integer(1024, 1 << 30), "4194304", "Largest request body that is accepted."),
    Setting("lang", _choice("auto", "en", "zh"), "auto", "Language of messages: en, zh, or auto for the locale's."),
    Setting("pg_bin_dir", _path, "found on PATH", "Folder of pg_dump, pg_restore and psql, for backups.",
            in_project=False),
    # None of these is for a checkout: they say where texts are sent, and which model file is loaded.
    Setting("embedder", _model(*_EMBEDDERS), "auto", "What turns text into vectors: auto, none, local, "
            "local-better, openai or fastembed:<name or path>.", in_project=False),
    Setting("embedder_threads", _integer(1, 64), "1", "Threads of a local embedder or reranker.", in_project=False),
    Setting("openai_base_url", _web_url, "https://api.openai.com/v1", "Server with OpenAI's interface.",
            in_project=False, secret=True),
    Setting("openai_api_key", _text, "none", "Its key; OPENAI_API_KEY is read too.", in_project=False, secret=True,
            aliases=("OPENAI_API_KEY",)),
    Setting("openai_embedding_model", _text, "none", "Its model for vectors; with auto, naming one chooses it.",
            in_project=False),
    Setting("openai_embedding_base_url", _web_url, "openai_base_url", "Server for vectors, if another.",
            in_project=False, secret=True),
    Setting("openai_embedding_api_key", _text, "openai_api_key", "Key of that server, if another.", in_project=False,
            secret=True),
    Setting("vector_backend", _choice("sqlite", "chroma", "hybrid"), "sqlite",
            "Where vectors are: sqlite (in the store, whatever its engine), chroma, or hybrid for both.",
            in_project=False),
    Setting("chroma_url", _web_url, "none", "Chroma server, e.g. http://127.0.0.1:8000.", in_project=False,
            secret=True),
    Setting("chroma_collection", _collection, "codexmem", "What names of Chroma collections begin with.",
            in_project=False),
    Setting("reranker", _model(*_RERANKERS), "none", "What looks at the best results a second time: none, api or "
            "fastembed:<name or path>.", in_project=False),
    Setting("rerank_url", _web_url, "none", "Server of the api reranker; /rerank is added.", in_project=False,
            secret=True),
    Setting("rerank_model", _text, "the server's", "Its model.", in_project=False),
    Setting("rerank_api_key", _text, "none", "Its key.", in_project=False, secret=True),
    Setting("rerank_depth", _integer(2, 200), "30", "How many of the best results a reranker looks at.",
            in_project=False),
)  # fmt: skip
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """The values, and where each came from."""

    data_dir: Path
    database_url: str
    host: str = "127.0.0.1"
    port: int = 37877
    auth: str = ""
    allowed_hosts: tuple[str, ...] = ()
    worker_threads: int = 4
    pool_size: int = 20
    log_level: str = "info"
    log_format: str = "text"
    max_body_bytes: int = 4 * 1024 * 1024
    lang: str = "auto"
    pg_bin_dir: Path | None = None
    embedder: str = "auto"
    embedder_threads: int = 1
    openai_base_url: str = ""
    openai_api_key: str = ""
    openai_embedding_model: str = ""
    openai_embedding_base_url: str = ""
    openai_embedding_api_key: str = ""
    vector_backend: str = "sqlite"
    chroma_url: str = ""
    chroma_collection: str = "codexmem"
    reranker: str = "none"
    rerank_url: str = ""
    rerank_model: str = ""
    rerank_api_key: str = ""
    rerank_depth: int = 30
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def on_postgres(self) -> bool:
        """Whether the store is a team's server rather than a file of one developer."""
        return not self.database_url.startswith("sqlite:")

    def shown(self, name: str) -> str:
        """A value as it may be printed: never a password."""
        value = getattr(self, name)
        if BY_NAME[name].secret:
            return masked(str(value))
        return ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)

    def __repr__(self) -> str:
        shown = (f"{setting.name}={self.shown(setting.name)!r}" for setting in SETTINGS)
        return f"Settings({', '.join(shown)})"


def masked(url: str) -> str:
    """The address without its password and without query values, which may be passwords too; of a key, nothing."""
    if "://" not in url:
        return "***" if url else ""
    parts = urlsplit(url)
    if not parts.netloc and not parts.query:
        return url
    user, at, place = parts.netloc.rpartition("@")
    user = f"{user.partition(':')[0]}:***" if ":" in user else user
    query = "&".join(f"{pair.partition('=')[0]}=***" for pair in parts.query.split("&") if pair)
    return urlunsplit((parts.scheme, user + at + place, parts.path, query, ""))


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
        layers.append((f"project file {project}", _read(project), True))
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
            values[name] = _parsed(setting, value, origin)
            origins[name] = f"environment {_variable(setting, environ)}" if origin == "environment" else origin
    values.setdefault("data_dir", _user_folder("data", environ))
    if not values.get("database_url"):
        values["database_url"] = f"sqlite:///{values['data_dir'] / 'codexmem.db'}"
        origins.pop("database_url", None)
    return Settings(**values, origins={s.name: origins.get(s.name, "default") for s in SETTINGS})


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
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # both a broken encoding and broken TOML are ValueErrors
        raise InvalidArgument(
            f"{path} cannot be read: {error}",
            hint="mend the file, or move it away",
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


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the environment says about the terminal and the person before it."""

    language: str  # en or zh
    no_color: bool
    force_color: bool
    dumb: bool


def terminal(flag: str | None = None, environ: Mapping[str, str] | None = None) -> Terminal:
    """Language and colour. Never fails: a broken settings file is reported by the command, in some language."""
    environ = os.environ if environ is None else environ
    wanted = flag or environ.get(f"{PREFIX}LANG") or "auto"
    if wanted == "auto" and not flag:
        try:
            wanted = load({}, environ).lang
        except (CodexmemError, OSError):
            wanted = "auto"
    if wanted not in {"en", "zh"}:
        locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
        wanted = "zh" if locale.lower().startswith("zh") else "en"
    return Terminal(
        wanted, bool(environ.get("NO_COLOR")), bool(environ.get("FORCE_COLOR")), environ.get("TERM") == "dumb"
    )


def field_names() -> Sequence[str]:
    """The names of the fields that are settings, to compare with the table."""
    return [each.name for each in fields(Settings) if each.name != "origins"]
