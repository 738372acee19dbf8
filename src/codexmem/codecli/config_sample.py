"""A configuration file to start from: every key with its default, commented out, and what it is for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from codexmem.codecli.config_table import KEYS, CheckoutAccess, Key

_OF_PROJECT = (CheckoutAccess.FREE, CheckoutAccess.STRICTER)


def of_user(project_id: str = "") -> str:
    """The user's file."""
    lines = ["# mem-codecli: a flag beats the environment, which beats a project's file, which beats this one.", ""]
    return "\n".join([*lines, *_keys(KEYS, project_id)])


def of_project(project_id: str) -> str:
    """A project's file: only what counts without being trusted."""
    lines = [
        "# mem-codecli in this project. What is here counts for everybody who works in it; keys that could run a",
        "# program, send memories elsewhere or let an agent do more count only for those who trust this file:",
        "# mem-codecli config trust",
        "",
    ]
    return "\n".join([*lines, *_keys((key for key in KEYS if key.reach in _OF_PROJECT), project_id)])


def _keys(keys: Iterable[Key], project_id: str) -> Iterable[str]:
    for section, of_section in groupby(keys, lambda key: key.name.rpartition(".")[0]):
        if section:
            yield f"[{section}]"
        for key in of_section:
            name = key.name.rpartition(".")[2]
            yield f"# {key.help}" + (f" Better: {key.variables[0]}." if key.secret else "")
            if key.name == "project_id" and project_id:
                yield f"project_id = {_toml(project_id)}"
            else:
                yield f"# {name} = {_toml(key.default)}"
        yield ""


def _toml(value: Any) -> str:
    # JSON's texts, numbers, switches and lists are TOML's; of tables only the empty one is a default.
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
