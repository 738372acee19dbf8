"""`codexmem config`: what each setting is and where its value comes from. It reads; files are edited by hand."""

import click

from codexmem.cli.frame import Command, Group, current, option
from codexmem.cli.messages import say
from codexmem.cli.output import table
from codexmem.domain.errors import NotFound
from codexmem.settings import BY_NAME, SETTINGS, Settings, load, project_file, user_file


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
    wanted = name.replace("-", "_")
    if wanted not in BY_NAME:
        raise NotFound(
            f"there is no setting {name[:40]!r}",
            hint="codexmem config list shows every setting",
            details={"reason": "no_setting", "name": name[:40]},
        )
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


def _shown(settings: Settings, name: str) -> str:
    """The value that holds: without key and address rules write memories, whatever `provider` is set to."""
    return settings.writer.provider if name == "provider" else settings.shown(name)


def _there(exists: bool) -> str:
    return say("config.exists") if exists else say("config.absent")


def _origin(origin: str) -> str:
    return say("config.default") if origin == "default" else origin
