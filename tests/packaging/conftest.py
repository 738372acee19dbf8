"""What is built and installed once for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging import building
from tests.packaging.building import ROOT
from tests.packaging.fresh import Fresh, from_here
from tests.web.building import DIST


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Wheel and source distribution of this tree, with the web application as it was built last."""
    if not (DIST / "index.html").exists():
        raise FileNotFoundError("the web application is not built; run: just web")
    return building.build(ROOT, tmp_path_factory.mktemp("dist"), web=False)


@pytest.fixture(scope="session")
def fresh(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    """The wheel in an environment with nothing else."""
    return from_here(tmp_path_factory.mktemp("fresh") / "environment", built["wheel"])
