"""`codexmem why`: where a memory came from.

It reads the store without owning it, as `search` does, so it works beside a running server and without one.
"""

from dataclasses import asdict

import click

from codexmem.cli import why_text
from codexmem.cli.frame import Command, current, option
from codexmem.cli.store import chosen, store_options, tenant_of, tenant_option


@click.command("why", cls=Command, key="why")
@click.argument("name", nargs=-1, required=True, metavar="REF")
@option("--versions", type=click.IntRange(1, 50), default=10, metavar="N", key="why.versions")
@option("--events", type=click.IntRange(1, 200), default=20, metavar="N", key="why.events")
@tenant_option
@store_options
def why(name: tuple[str, ...], versions: int, events: int, tenant: str | None, data_dir: str | None,
        database_url: str | None) -> None:  # fmt: skip
    """Say where a memory came from."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    from codexmem.app import open_reading
    from codexmem.store.database import acting_as

    reading = open_reading(settings)
    try:
        with acting_as(whose):
            # A label such as `note project://config` needs no quotes.
            found = reading.why(" ".join(name), versions=versions, events=events)
    finally:
        reading.close()
    current().result(asdict(found), why_text.text(found))
