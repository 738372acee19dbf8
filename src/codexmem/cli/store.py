"""Which store a command is about: the flags that say so, and the services that work without a server."""

from collections.abc import Callable
from typing import Any

from codexmem import __version__
from codexmem.cli.frame import setting_option
from codexmem.settings import Settings, load


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--data-dir` and `--database-url`."""
    for decorate in (setting_option("database_url", metavar="URL"), setting_option("data_dir", metavar="DIR")):
        command = decorate(command)
    return command


def chosen(**flags: object) -> Settings:
    """The settings with these flags in force; files that a command makes are for this user alone."""
    import os

    os.umask(0o077)
    return load(flags)


def transfer_of(settings: Settings) -> Any:
    """Backup and restore for the store."""
    from codexmem.domain.ids import SystemClock
    from codexmem.services.transfer import Transfer
    from codexmem.store.backup import Target

    target = Target(settings.database_url, settings.pg_bin_dir)
    return Transfer(target, settings.data_dir, SystemClock(), version=__version__)
