"""`codexmem serve`: the server, or several behind one port, in the foreground."""

import logging
import os
from collections.abc import Mapping

import click

from codexmem import __version__
from codexmem.console.command import Command, current, option, setting_option
from codexmem.console.messages import say
from codexmem.console.store import chosen, store_options
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.settings import Settings

MEMBER = "codexmem.app.member"


@click.command("serve", cls=Command, key="serve")
@setting_option("host", metavar="ADDRESS")
@setting_option("port", metavar="PORT")
@store_options
@option("--no-worker", is_flag=True, key="serve.no_worker")
@option("--processes", metavar="N", type=click.IntRange(1, 256), default=1, key="serve.processes")
def serve(
    host: str | None, port: str | None, data_dir: str | None, database_url: str | None, no_worker: bool, processes: int
) -> None:
    """Serve until a signal says stop."""
    flags = {"host": host, "port": port, "data_dir": data_dir, "database_url": database_url}
    settings = chosen(**flags)
    from codexmem.http import logs

    logs.configure(settings.log_level, settings.log_format == "json")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    if processes > 1:
        _serve_several(settings, flags, processes, work=not no_worker)
        return
    from codexmem.app import open_app

    output = current()

    def on_bound(url: str) -> None:
        store = settings.shown("database_url")
        output.result({"url": url, "pid": os.getpid(), "version": __version__, "store": store})
        output.note(say("serve.listening", url=url, store=store))
        output.note(say("serve.stop_with"))

    open_app(settings, work=not no_worker).run(on_bound=on_bound)
    output.note(say("serve.stopped"))


def _serve_several(settings: Settings, flags: Mapping[str, str | None], processes: int, *, work: bool) -> None:
    """Listen, and let so many processes answer."""
    if not settings.on_postgres:
        raise InvalidArgument(
            "a SQLite store has one owner, so one process serves it",
            hint="leave out --processes, or use a PostgreSQL store (CODEXMEM_DATABASE_URL)",
            details={"reason": "processes_on_sqlite"},
        )
    from codexmem.http.bind import require_safe_bind
    from codexmem.http.group import ServerGroup
    from codexmem.http.serving import Bound, ServingLimits, listen
    from codexmem.operations.announcement import Announcement

    # A server on PostgreSQL always asks for a key.
    sockets = listen(require_safe_bind(settings.host, True), settings.port, ServingLimits().backlog)
    where = Bound(*sockets[0].getsockname()[:2])
    output, announcement = current(), Announcement(settings.data_dir)
    store = settings.shown("database_url")
    output.result(
        {"url": where.url, "pid": os.getpid(), "version": __version__, "store": store, "processes": processes}
    )
    output.note(say("serve.listening", url=where.url, store=store))
    output.note(say("serve.several", processes=processes, pid=os.getpid()))
    try:
        ServerGroup(
            MEMBER, processes, sockets, {"flags": flags, "work": work},
            on_ready=lambda: announcement.tell(url=where.url, host=where.host, port=where.port, version=__version__),
        ).run()  # fmt: skip
    finally:
        announcement.withdraw()
        for each in sockets:
            each.close()
    output.note(say("serve.stopped"))
