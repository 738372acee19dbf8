"""The short form of `just bench-tenants`: some hundred interleaved transactions on a pool of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import tenants
from bench.stores import stores


@pytest.mark.postgresql
@pytest.mark.timeout(180)
def test_no_row_crosses_between_tenants(tmp_path: Path) -> None:
    with stores("postgresql", durable=False) as made:
        figures = tenants.run(made.fresh(), transactions=250, tenants=20, threads=8, seed=3)
    assert tenants.kept(figures), figures
    assert figures["transactions"] == 250
    assert set(figures["faults"]) == set(tenants.FAULTS)
    assert figures["acknowledged"] > 75
