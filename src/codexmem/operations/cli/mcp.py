"""`codexmem mcp`: the tools over stdio, for agents that start their MCP servers as programs.

Standard output belongs to the protocol. Whatever else in this process writes there is sent to the error output. Below
an agent that writes memories for us there are no tools: it must not read or change what it is writing.

`codexmem rpc`: the knowledge base over stdio, one JSON document a line.

Standard output belongs to the protocol. Whatever else in this process writes there is sent to the error output.
"""

import os
import sys
from collections.abc import Mapping

import click

from codexmem.console.command import Command, option, setting_option
from codexmem.console.own_project import own_folder, own_project
from codexmem.console.store import chosen, place_of
from codexmem.hook import surroundings


@click.command("mcp", cls=Command, key="mcp")
@option("--toolset", type=click.Choice(["recall", "notes", "knowledge", "curate", "forget"]), key="mcp.toolset")
@option("--project", metavar="PROJECT", key="mcp.project")
@setting_option("url", metavar="URL")
@setting_option("port", metavar="PORT")
@setting_option("data_dir", metavar="DIR")
def mcp(toolset: str | None, project: str | None, url: str | None, port: str | None, data_dir: str | None) -> None:
    """Pass messages between stdio and the server until the input ends."""
    if surroundings.is_internal():
        return
    settings = chosen(url=url, port=port, data_dir=data_dir)
    from codexmem.client.bridge import Bridge

    place = place_of(settings)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as target:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        bridge = Bridge(place, toolset=toolset or "", project=project or own_project(), cwd=own_folder(), alone=_alone)
        bridge.run(sys.stdin.buffer, target)


def _alone(path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
    from codexmem.app.mcp import answer_alone  # takes a second, where there is no server

    return answer_alone(path, body, headers)


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
