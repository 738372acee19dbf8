"""`codexmem rpc`: the knowledge base over stdio, one JSON document a line.

Standard output belongs to the protocol. Whatever else in this process writes there is sent to the error output.
"""

import os
import sys

import click

from codexmem.console.command import Command, setting_option
from codexmem.console.store import chosen, place_of


@click.command("rpc", cls=Command, key="rpc")
@setting_option("url", metavar="URL")
@setting_option("port", metavar="PORT")
@setting_option("data_dir", metavar="DIR")
def rpc(url: str | None, port: str | None, data_dir: str | None) -> None:
    """Pass messages between stdio and the server until the input ends."""
    settings = chosen(url=url, port=port, data_dir=data_dir)
    from codexmem.client.rpc import RpcBridge

    place = place_of(settings)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as target:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        RpcBridge(place).run(sys.stdin.buffer, target)
