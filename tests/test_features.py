"""Every room names parts that exist, under headings that help shows, and the list of rooms is cheap to read."""

from __future__ import annotations

import json
import subprocess
import sys
from types import FunctionType

import click
import pytest

from codexmem.app import SURFACES
from codexmem.cli.root import cli
from codexmem.features import FEATURES
from codexmem.http.surface import Surface
from codexmem.http.tool import Toolset
from codexmem.kernel.feature import Feature, load

SERVER = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "mcp", "numpy"}
HEAVY = {"fastapi", "starlette", "sqlalchemy", "pydantic", "mcp", "click"}


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_room_has_the_parts_it_names(feature: Feature) -> None:
    assert load(feature.build, FunctionType).__annotations__["return"] is not None
    assert all(load(place, Surface) in SURFACES for place in feature.surfaces)
    assert all(load(place, Toolset).tools for place in feature.toolsets)
    for commands in feature.commands.values():
        for name, place in commands.items():
            assert cli.get_command(click.Context(cli), name) is load(place, click.Command)


def test_rooms_have_names_and_services_of_their_own() -> None:
    assert len({feature.name for feature in FEATURES}) == len(FEATURES)
    built = [load(feature.build, FunctionType).__annotations__["return"] for feature in FEATURES]
    assert len(set(built)) == len(built)


def test_a_part_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match=r"codexmem\.features:FEATURES is no Surface"):
        load("codexmem.features:FEATURES", Surface)


def test_listing_the_rooms_loads_none_of_them() -> None:
    program = "import json, sys, codexmem.features; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert HEAVY & {each.split(".")[0] for each in loaded} == set()


@pytest.mark.parametrize("feature", [each for each in FEATURES if each.commands], ids=lambda feature: feature.name)
def test_commands_of_a_room_load_nothing_of_a_server(feature: Feature) -> None:
    modules = {place.partition(":")[0] for commands in feature.commands.values() for place in commands.values()}
    program = f"import json, sys, {', '.join(sorted(modules))}; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert SERVER & {each.split(".")[0] for each in loaded} == set()
