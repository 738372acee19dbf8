"""Which store a command is about: the flags that say so, and the services that work without a server."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

import click

from codexmem import __version__
from codexmem.console.command import option, setting_option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.kernel.model.tenant import LOCAL
from codexmem.settings import Settings, load

if TYPE_CHECKING:
    from codexmem.client.starting import ServerLocation


class StoreFlags(TypedDict):
    """The flags of a command that name a store, as `store_options` and `tenant_option` add them."""

    tenant: str | None
    data_dir: str | None
    database_url: str | None


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--data-dir` and `--database-url`."""
    for decorate in (setting_option("database_url", metavar="URL"), setting_option("data_dir", metavar="DIR")):
        command = decorate(command)
    return command


def tenant_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--tenant`, for commands about memories."""
    decorated: Callable[..., Any] = option("--tenant", metavar="TENANT", key="option.tenant")(command)
    return decorated


def tenant_of(settings: Settings, given: str | None) -> str:
    """Whose store it is: on PostgreSQL somebody must say, on SQLite there is one tenant."""
    if given is None and settings.on_postgres:
        command = click.get_current_context().command_path
        raise UsageProblem(say("usage.missing", name="--tenant"), hint=say("usage.see_help", command=command))
    if given not in {None, LOCAL} and not settings.on_postgres:
        raise UsageProblem(say("usage.one_tenant"), hint=say("usage.leave_tenant"))
    return given or LOCAL


def chosen(**flags: object) -> Settings:
    """The settings with these flags in force; files that a command makes are for this user alone."""
    import os

    os.umask(0o077)
    return load(flags)


def place_of(settings: Settings) -> "ServerLocation":
    """Where the server is, and whether it may be started.

    An address or a port wins over what a server says in the data directory, unless a flag names that directory and
    they are only in the environment.
    """
    from codexmem.client.starting import ServerLocation

    def wins(name: str) -> bool:
        return settings.origins["data_dir"] != "flag" or settings.origins[name] == "flag"

    return ServerLocation(
        settings.data_dir, settings.port, url=settings.url if wins("url") else "", key=settings.api_key,
        may_start=settings.autostart, flags=("--port", str(settings.port)),
        port_given=wins("port") and settings.origins["port"].startswith(("flag", "environment")),
    )  # fmt: skip


def transfer_of(settings: Settings) -> Any:
    """Backup and restore for the store."""
    from codexmem.kernel.model.ids import SystemClock
    from codexmem.kernel.store.backup import BackupTarget
    from codexmem.operations.transfer import Transfer

    target = BackupTarget(settings.direct_url, settings.pg_bin_dir)
    return Transfer(target, settings.data_dir, SystemClock(), version=__version__)
