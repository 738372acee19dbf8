"""`codexmem config`: what each setting is and where its value comes from; the user's own file can be changed."""

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.settings import BY_NAME, SETTINGS, Setting, Settings, load, project_file, user_file

_LONGEST = 1 << 16  # characters of a value


@click.group("config", cls=Group, key="config", no_args_is_help=True)
def config() -> None:
    """Settings."""


@config.command("list", cls=Command, key="config.list")
@option("--show-origin", is_flag=True, key="option.show_origin")
def show(show_origin: bool) -> None:
    """Print every setting."""
    settings = load()
    document = {
        s.name: {"value": _shown(settings, s.name), "origin": settings.origins[s.name], "env": s.env} for s in SETTINGS
    }
    rows = [
        [s.name, _shown(settings, s.name) or "-", *([_origin(settings.origins[s.name])] if show_origin else [])]
        for s in SETTINGS
    ]
    current().result({"settings": document}, table(rows))


@config.command("get", cls=Command, key="config.get")
@click.argument("name", metavar="NAME")
def get(name: str) -> None:
    """Print one setting."""
    wanted = _known(name).name
    settings = load()
    value = _shown(settings, wanted)
    current().result({"name": wanted, "value": value, "origin": settings.origins[wanted]}, value or "-")


@config.command("path", cls=Command, key="config.path")
def path() -> None:
    """Print the places where settings are looked for."""
    from pathlib import Path

    user, project = user_file(), project_file(Path.cwd())
    rows = [
        [say("config.user_file"), str(user), _there(user.is_file())],
        [say("config.project_file"), str(project or Path.cwd() / ".codexmem.toml"), _there(project is not None)],
        [say("config.data_dir"), str(load().data_dir), _there(load().data_dir.is_dir())],
    ]
    document = {"user_file": str(user), "project_file": str(project) if project else None, "data_dir": rows[2][1]}
    current().result(document, table(rows))


@config.command("set", cls=Command, key="config.set")
@click.argument("name", metavar="NAME")
@click.argument("value", metavar="VALUE")
def change(name: str, value: str) -> None:
    """Write a setting into the user's file."""
    setting = _known(name)
    if value == "-":
        import sys

        value = sys.stdin.read(_LONGEST).strip()
    elif setting.name.endswith("_key"):
        raise UsageProblem(say("config.key_in_argument"), hint=say("config.key_by_stdin", name=setting.name))
    try:
        setting.parse(value)
    except ValueError as error:
        given = "" if setting.secret else f", not {value[:80]!r}"
        raise InvalidArgument(
            f"flag: {setting.name} must be {error}{given}",
            hint=f"see: codexmem config get {setting.name}",
            details={"reason": "bad_setting", "name": setting.name, "origin": "flag", "expected": str(error)},
        ) from None
    write_user_file({setting.name: int(value) if value.isascii() and value.isdecimal() else value})
    _told(setting, "config.written")


@config.command("unset", cls=Command, key="config.unset")
@click.argument("name", metavar="NAME")
def unset(name: str) -> None:
    """Take a setting out of the user's file."""
    setting, path = _known(name), user_file()
    if setting.name not in _in_file():
        raise _NotSet(say("config.not_set", name=setting.name, path=path), hint=say("config.not_set_hint"))
    write_user_file({setting.name: None})
    _told(setting, "config.removed")


class _NotSet(NotFound):
    """The user's file does not set it; its text comes from the catalogue."""

    spoken = True


class _Refused(InvalidArgument):
    """The user's file cannot be changed; its text comes from the catalogue."""

    spoken = True


def write_user_file(given: dict[str, object]) -> None:
    """Set these in the user's file, and take out those that are None; all else in it stays as it is."""
    from codexmem.agents.install import formats
    from codexmem.agents.install.entries import Member
    from codexmem.client import files

    path = user_file()
    now = files.read(path)
    text = files.text_of(now)
    entries = [Member((name,), value) for name, value in given.items()]
    try:
        text = formats.stripped("toml", text, [entry for entry in entries if entry.value is None])
        text = formats.edited("toml", text, [entry for entry in entries if entry.value is not None])
    except formats.UneditableFile as error:
        raise _Refused(say("config.file_refused", path=path, problem=str(error)), hint=say("config.by_hand")) from None
    files.replace(path, now, text.encode())


def _in_file() -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(user_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _told(setting: Setting, key: str) -> None:
    settings, path, output = load(), user_file(), current()
    value, origin = settings.shown(setting.name), settings.origins[setting.name]
    output.result({"name": setting.name, "value": value, "origin": origin, "file": str(path)}, value or "-")
    output.note(say(key, name=setting.name, path=path), good=True)
    if key == "config.written" and not origin.startswith("user file"):
        output.note(say("config.outvoted", origin=origin, value=value), good=False)
    output.note(say("config.restart"))


def _known(name: str) -> Setting:
    wanted = name.replace("-", "_")
    if wanted not in BY_NAME:
        raise NotFound(
            f"there is no setting {name[:40]!r}",
            hint="codexmem config list shows every setting",
            details={"reason": "no_setting", "name": name[:40]},
        )
    return BY_NAME[wanted]


def _shown(settings: Settings, name: str) -> str:
    """The value that holds: without key and address rules write memories, whatever `provider` is set to."""
    return settings.writer.provider if name == "provider" else settings.shown(name)


def _there(exists: bool) -> str:
    return say("config.exists") if exists else say("config.absent")


def _origin(origin: str) -> str:
    return say("config.default") if origin == "default" else origin
