"""`codexmem preset`: products that are measured together.

`codexmem product`: what experiments can yield.
"""

from collections.abc import Sequence
from typing import Unpack

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.store import StoreFlags, store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import lab_api
from codexmem.lab.cli.batch import LIMIT
from codexmem.lab.cli.run import product_id_of
from codexmem.lab.wire.feedback import LabPreset, LabProduct, OnePreset, OneProduct
from codexmem.lab.wire.fields import LabPage

SHELVED = click.Choice(["active", "archived"])


@click.group("product", cls=Group, key="product", no_args_is_help=True, also={"list": "ls", "new": "add"})
def product() -> None:
    """Products."""


@product.command("ls", cls=Command, key="product.ls")
@option("--status", type=SHELVED, metavar="STATUS", key="product.status")
@option("--limit", type=LIMIT, default=100, metavar="N", key="lab.limit")
@tenant_option
@store_options
def list_products(status: str | None, limit: int, **where: Unpack[StoreFlags]) -> None:
    """List products, the newest first."""
    with lab_api(**where) as api:
        found = api.items(LabPage[LabProduct], "products", limit=limit, status=status)
    rows = [[each.product_id, each.status, one_line(each.name)] for each in found.items]
    lab_text.tell_page(found, lab_text.listed(rows), "product.none")


@product.command("add", cls=Command, key="product.add")
@click.argument("name", metavar="NAME")
@tenant_option
@store_options
def add_product(name: str, **where: Unpack[StoreFlags]) -> None:
    """Add a product."""
    with lab_api(create=True, **where) as api:
        _product_written(api.send(OneProduct, "POST", "products", name=name), "product.added")


@product.command("edit", cls=Command, key="product.edit")
@click.argument("product_id", metavar="ID")
@option("--name", metavar="NAME", key="product.name")
@option("--status", type=SHELVED, metavar="STATUS", key="product.new_status")
@tenant_option
@store_options
def edit_product(product_id: str, name: str | None, status: str | None, **where: Unpack[StoreFlags]) -> None:
    """Rename a product, archive it or bring it back."""
    with lab_api(**where) as api:
        _product_written(
            api.send(OneProduct, "PUT", "products", product_id, name=name, status=status), "product.edited"
        )


def _product_written(told: OneProduct, key: str) -> None:
    output = current()
    output.result(told.document(), told.product.product_id)
    output.note(say(key, name=one_line(told.product.name), status=told.product.status), good=True)


@click.group("preset", cls=Group, key="preset", no_args_is_help=True, also={"list": "ls", "new": "add"})
def preset() -> None:
    """Presets of products."""


@preset.command("ls", cls=Command, key="preset.ls")
@option("--status", type=SHELVED, metavar="STATUS", key="product.status")
@option("--limit", type=LIMIT, default=100, metavar="N", key="lab.limit")
@tenant_option
@store_options
def ls(status: str | None, limit: int, **where: Unpack[StoreFlags]) -> None:
    """List presets, the newest first."""
    with lab_api(**where) as api:
        found = api.items(LabPage[LabPreset], "product_presets", limit=limit, status=status)
    rows = [
        [each.preset_id, each.status, one_line(each.name), say("preset.count", count=len(each.product_ids))]
        for each in found.items
    ]
    lab_text.tell_page(found, lab_text.listed(rows), "preset.none")


@preset.command("add", cls=Command, key="preset.add")
@click.argument("name", metavar="NAME")
@click.argument("products", nargs=-1, metavar="[PRODUCT...]")
@tenant_option
@store_options
def add(name: str, products: Sequence[str], **where: Unpack[StoreFlags]) -> None:
    """Add a preset of these products."""
    with lab_api(create=True, **where) as api:
        listed = [product_id_of(api, each) for each in products]
        _written(api.send(OnePreset, "POST", "product_presets", name=name, product_ids=listed), "preset.added")


@preset.command("edit", cls=Command, key="preset.edit")
@click.argument("preset_id", metavar="ID")
@click.argument("products", nargs=-1, metavar="[PRODUCT...]")
@option("--name", metavar="NAME", key="product.name")
@option("--status", type=SHELVED, metavar="STATUS", key="product.new_status")
@tenant_option
@store_options
def edit(
    preset_id: str, products: Sequence[str], name: str | None, status: str | None, **where: Unpack[StoreFlags]
) -> None:
    """Change a preset; products that are given replace those before."""
    with lab_api(**where) as api:
        listed = [product_id_of(api, each) for each in products] or None
        told = api.send(OnePreset, "PUT", "product_presets", preset_id, name=name, status=status, product_ids=listed)
    _written(told, "preset.edited")


def _written(told: OnePreset, key: str) -> None:
    output = current()
    output.result(told.document(), told.preset.preset_id)
    output.note(say(key, name=one_line(told.preset.name), count=len(told.preset.product_ids)), good=True)
