"""`codexmem product`: what experiments can yield."""

from typing import Any

import click

from codexmem.cli.backend import Answer
from codexmem.cli.cells import one_line
from codexmem.cli.frame import Command, Group, current, option
from codexmem.cli.lab import text as lab_text
from codexmem.cli.lab.batch import LIMIT
from codexmem.cli.lab.door import lab_door
from codexmem.cli.messages import say
from codexmem.cli.store import store_options, tenant_option

SHELVED = click.Choice(["active", "archived"])


@click.group("product", cls=Group, key="product", no_args_is_help=True, also={"list": "ls", "new": "add"})
def product() -> None:
    """Products."""


@product.command("ls", cls=Command, key="product.ls")
@option("--status", type=SHELVED, metavar="STATUS", key="product.status")
@option("--limit", type=LIMIT, default=100, metavar="N", key="lab.limit")
@tenant_option
@store_options
def ls(status: str | None, limit: int, **where: Any) -> None:
    """List products, the newest first."""
    with lab_door(**where) as door:
        found, more = door.items("products", limit=limit, status=status)
    rows = [[each["product_id"], each["status"], one_line(each["name"])] for each in found]
    output = current()
    output.result({"items": found, "has_more": more}, lab_text.listed(rows))
    if not found:
        output.note(say("product.none"))
    elif more:
        output.note(say("lab.more"))


@product.command("add", cls=Command, key="product.add")
@click.argument("name", metavar="NAME")
@tenant_option
@store_options
def add(name: str, **where: Any) -> None:
    """Add a product."""
    with lab_door(create=True, **where) as door:
        _written(door.send("POST", "products", name=name), "product.added")


@product.command("edit", cls=Command, key="product.edit")
@click.argument("product_id", metavar="ID")
@option("--name", metavar="NAME", key="product.name")
@option("--status", type=SHELVED, metavar="STATUS", key="product.new_status")
@tenant_option
@store_options
def edit(product_id: str, name: str | None, status: str | None, **where: Any) -> None:
    """Rename a product, archive it or bring it back."""
    with lab_door(**where) as door:
        _written(door.send("PUT", "products", product_id, name=name, status=status), "product.edited")


def _written(told: Answer, key: str) -> None:
    output = current()
    output.result(told, told["product"]["product_id"])
    output.note(say(key, name=one_line(told["product"]["name"]), status=told["product"]["status"]), good=True)
