"""Which project a run belongs to, where its memory is, and which agent it is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from codexmem.client.starting import ServerLocation
from codexmem.codecli import programs, surroundings
from codexmem.codecli.configuration import Config
from codexmem.hook import surroundings as machine
from codexmem.kernel.model import project as projects
from codexmem.kernel.model.errors import InvalidArgument, NotFound


def project(config: Config, cwd: str) -> tuple[str, bool]:
    """The project, and whether it was only derived: from the checkout, as the hooks do it."""
    if config.project_id:
        return config.project_id, False
    return projects.identity(cwd, machine.text_of), True


def given_project(config: Config) -> str:
    """The project that somebody named; by hand nothing is written to a project that was guessed."""
    if config.project_id:
        return config.project_id
    raise InvalidArgument(
        "no project is named",
        hint="give --project-id, set CODEXMEM_PROJECT_ID, or put project_id into .mem-codecli.toml",
        details={"reason": "codecli_no_project"},
    )


def place(config: Config, environ: Mapping[str, str] | None = None) -> ServerLocation:
    """Where the memory is: as configured, else the codexmem server of this machine. None is ever started."""
    around = machine.look(environ if environ is not None else surroundings.environ())
    folder = Path(around.data_dir)
    if config.memory.base_url:
        return ServerLocation(folder, machine.PORT, config.memory.base_url, config.memory.api_key, may_start=False)
    port = urlsplit(around.base).port or machine.PORT
    key = config.memory.api_key
    if around.ours:
        return ServerLocation(folder, port, key=key, may_start=False)
    return ServerLocation(folder, port, around.base, key or around.token, may_start=False)


def agent(config: Config, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The command that is wrapped; NotFound if neither it nor, in place of the default, any agent is there."""
    wanted = config.codecli.command
    found = programs.command(wanted, environ if environ is not None else surroundings.environ())
    if found:
        return found
    raise NotFound(
        f"{wanted[0]} is not on the PATH" + (", nor is any agent we know" if wanted == programs.DEFAULT else ""),
        hint='install the agent, or name its program in the configuration: command = ["codex"] in [codecli]',
        details={"reason": "codecli_no_agent", "name": wanted[0]},
    )
