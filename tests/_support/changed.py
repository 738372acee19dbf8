"""`codexmem` with other constants: a lease of a second instead of fifteen is waited for in a test."""

from __future__ import annotations

import importlib
import json
import os

VARIABLE = "CHANGED_CONSTANTS"


def main() -> None:
    """Put the constants in their places, then run as ever."""
    for name, value in json.loads(os.environ.pop(VARIABLE)).items():
        module, _, constant = name.rpartition(".")
        place = importlib.import_module(module)
        assert hasattr(place, constant), name
        setattr(place, constant, value)
    importlib.import_module("codexmem.cli").main()


if __name__ == "__main__":
    main()
