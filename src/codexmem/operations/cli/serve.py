"""`codexmem serve`: the server, in the foreground."""

import logging
import os

import click

from codexmem import __version__
from codexmem.console.command import Command, current, option, setting_option
from codexmem.console.messages import say
from codexmem.console.store import chosen, store_options


@click.command("serve", cls=Command, key="serve")
@setting_option("host", metavar="ADDRESS")
@setting_option("port", metavar="PORT")
@store_options
@option("--no-worker", is_flag=True, key="serve.no_worker")
def serve(host: str | None, port: str | None, data_dir: str | None, database_url: str | None, no_worker: bool) -> None:
    """Serve until a signal says stop."""
    settings = chosen(host=host, port=port, data_dir=data_dir, database_url=database_url)
    from codexmem.app import open_app
    from codexmem.http import logs

    logs.configure(settings.log_level, settings.log_format == "json")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    output = current()

    def on_bound(url: str) -> None:
        store = settings.shown("database_url")
        output.result({"url": url, "pid": os.getpid(), "version": __version__, "store": store})
        output.note(say("serve.listening", url=url, store=store))
        output.note(say("serve.stop_with"))

    open_app(settings, work=not no_worker).run(on_bound=on_bound)
    output.note(say("serve.stopped"))
