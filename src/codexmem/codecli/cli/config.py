"""`mem-codecli config`: what is configured, where it comes from, and which project files are trusted."""

from pathlib import Path
from typing import Any

import click

from codexmem.codecli import config_files, surroundings
from codexmem.codecli.cli.configured import configured, said
from codexmem.codecli.config_table import BY_NAME, KEYS, Key, value_of
from codexmem.codecli.configuration import Config
from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.kernel.model.errors import Conflict, NotFound, Unauthorized


@click.group("config", cls=Group, key="codecli.config", no_args_is_help=True)
def config() -> None:
    """What is configured."""


@config.command("list", cls=Command, key="codecli.config.list")
@option("--show-origin", is_flag=True, key="codecli.config.show_origin")
def show(show_origin: bool) -> None:
    """Print every key."""
    loaded = configured()
    document = {
        key.name: {"value": _plain(key, loaded.config), "origin": loaded.origins[key.name], "env": _variable(key)}
        for key in KEYS
    }
    rows = [
        [key.name, _shown(key, loaded.config), *([_origin(loaded.origins[key.name])] if show_origin else [])]
        for key in KEYS
    ]
    warnings = [said(notice) for notice in loaded.warnings]
    current().result({"config": document, "warnings": warnings}, table(rows))


@config.command("get", cls=Command, key="codecli.config.get")
@click.argument("name", metavar="KEY")
def get(name: str) -> None:
    """Print one key."""
    if name not in BY_NAME:
        import difflib

        near = difflib.get_close_matches(name, BY_NAME, n=1)
        raise NotFound(
            f"there is no key {name[:40]!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
            hint="mem-codecli config list shows every key",
            details={"reason": "codecli_no_key", "name": name[:40]},
        )
    loaded = configured()
    key = BY_NAME[name]
    document = {"name": name, "value": _plain(key, loaded.config), "origin": loaded.origins[name]}
    current().result(document, _shown(key, loaded.config))


@config.command("path", cls=Command, key="codecli.config.path")
def path() -> None:
    """Print the places where configuration and state are."""
    here = Path(surroundings.cwd())
    user, project, state = config_files.user_file(), config_files.project_file(here), Path(surroundings.state_dir())
    trusted = project is not None and config_files.is_trusted(project, config_files.content_of(project), state)
    rows = [
        [say("codecli.config.user_file"), str(user), _there(user.is_file())],
        [
            say("codecli.config.project_file"),
            str(project or here / config_files.PROJECT_FILE),
            _there(project is not None) + (f", {_trust(trusted)}" if project else ""),
        ],
        [say("codecli.config.state_dir"), str(state), _there(state.is_dir())],
    ]
    document = {
        "user_file": str(user), "project_file": str(project) if project else None, "trusted": trusted,
        "state_dir": str(state),
    }  # fmt: skip
    current().result(document, table(rows))


@config.command("trust", cls=Command, key="codecli.config.trust")
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
def trusting(file: Path | None) -> None:
    """Trust the project's file as it is now."""
    _require_a_person()
    found = _project_file(file)
    content = config_files.content_of(found)
    config_files.trust(found, content, Path(surroundings.state_dir()))
    loaded = config_files.load({}, found.parent)
    names = [name for name, origin in loaded.origins.items() if str(found) in origin]
    document = {"path": str(found), "sha256": config_files.digest(content), "keys": names}
    current().result(document, say("codecli.config.trusted_now", path=str(found)))
    current().note(say("codecli.config.counts", names=", ".join(names) or "-"))
    current().note(say("codecli.config.until_changed"))


@config.command("untrust", cls=Command, key="codecli.config.untrust")
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
def untrusting(file: Path | None) -> None:
    """Trust the project's file no longer."""
    # It may be gone already, and is to be trusted no more if it comes back.
    found = file.absolute() if file else _project_file(None)
    was = config_files.untrust(found, Path(surroundings.state_dir()))
    key = "codecli.config.untrusted_now" if was else "codecli.config.was_not_trusted"
    current().result({"path": str(found), "was_trusted": was}, say(key, path=str(found)))


@config.command("init", cls=Command, key="codecli.config.init")
@option("--project", "for_project", is_flag=True, key="codecli.config.init_project")
@option("--project-id", "project_id", metavar="ID", key="codecli.option.project_id")
def init(for_project: bool, project_id: str | None) -> None:
    """Write a file to start from; one that is there stays."""
    from codexmem.codecli import config_table

    if for_project:
        from codexmem.codecli.project_context import project

        here = Path(surroundings.cwd())
        target = _checkout(here) / config_files.PROJECT_FILE
        text = config_table.of_project(project_id or project(Config(), str(here))[0])
    else:
        target = config_files.user_file()
        text = config_table.of_user(project_id or "")
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise Conflict(
            f"{target} already exists", hint="edit it, or move it away first",
            details={"reason": "target_exists", "path": str(target)},
        ) from error  # fmt: skip
    if not for_project:
        target.chmod(0o600)  # a key may be put into it
    current().result({"path": str(target)}, say("codecli.config.written", path=str(target)))
    current().note(say("codecli.config.next"))


def _require_a_person() -> None:
    """An agent that runs a command under us is not to trust files for its person; it would have to hide to do so."""
    from codexmem.codecli.run import RUN_ID

    if surroundings.variable(RUN_ID):
        raise Unauthorized(
            "an agent cannot trust a file on behalf of its user", hint="run it yourself: mem-codecli config trust",
            details={"reason": "codecli_trust_in_run"},
        )  # fmt: skip


def _project_file(given: Path | None) -> Path:
    found = given.absolute() if given else config_files.project_file(Path(surroundings.cwd()))
    if found is None or not found.is_file():
        raise NotFound(
            f"there is no {given or config_files.PROJECT_FILE} here",
            hint="go to the project, or create one: mem-codecli config init --project",
            details={"reason": "codecli_no_project_file", "name": str(given or config_files.PROJECT_FILE)},
        )
    return found


def _checkout(here: Path) -> Path:
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _plain(key: Key, config: Config) -> Any:
    value = value_of(config, key.name)
    if key.secret:
        return "set" if value else ""
    return list(value) if isinstance(value, tuple) else value


def _shown(key: Key, config: Config) -> str:
    value = value_of(config, key.name)
    if key.secret:
        return say("codecli.config.set") if value else "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    if key.name == "codecli.command":
        import shlex

        return shlex.join(value)
    if isinstance(value, tuple | dict):
        import json

        return json.dumps(value, ensure_ascii=False) if value else "-"
    return str(value) or "-"


def _variable(key: Key) -> str:
    return key.variables[0] if key.variables else key.env


def _there(exists: bool) -> str:
    return say("config.exists") if exists else say("config.absent")


def _trust(trusted: bool) -> str:
    return say("codecli.config.trusted") if trusted else say("codecli.config.untrusted")


def _origin(origin: str) -> str:
    return say("config.default") if origin == "default" else origin
