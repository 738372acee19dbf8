"""`codexmem bench retrieval` on a real store: what is found, and what is left behind."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Call


@pytest.mark.sqlite
def test_a_tiny_set_is_measured_on_sqlite(call: Call, folder: Path, data_dir: Path) -> None:
    said = call("bench", "retrieval", "--data", str(folder), "--json")
    assert (said.code, said.err) == (0, "")
    assert said.json["engine"] == "sqlite"
    suites = said.json["suites"]
    turn = suites["locomo"]["tasks"]["turn"]["splits"]["held-out"]["categories"]
    assert (turn["temporal"]["any@1"], turn["single-hop"]["mean@10"]) == (1.0, 1.0)
    assert suites["locomo"]["tasks"]["session"]["splits"]["all"]["groups"]["categories 1-5"]["any@5"] > 0.7
    assert suites["beam"]["tasks"]["message"]["splits"]["held-out"]["categories"]["knowledge_update"]["all@10"] == 1.0
    assert suites["longmemeval"]["tasks"]["session"]["splits"]["all"]["groups"]["all"]["any@5"] == 1.0
    assert suites["probe"]["tasks"]["note"]["splits"]["held-out"]["groups"]["all"]["any@5"] == 1.0
    # The user's own store was neither made nor touched.
    assert not data_dir.exists()


@pytest.mark.postgresql
def test_a_tiny_set_is_measured_on_postgresql_and_erased(call: Call, folder: Path, postgres_url: str) -> None:
    before = memories_in(postgres_url)
    said = call(
        "bench", "retrieval", "--suite", "locomo", "--data", str(folder), "--json", "--engine", "postgresql",
        "--database-url", postgres_url,
    )  # fmt: skip
    assert (said.code, said.json["engine"]) == (0, "postgresql")
    turn = said.json["suites"]["locomo"]["tasks"]["turn"]["splits"]["held-out"]["categories"]
    assert (turn["temporal"]["any@1"], turn["single-hop"]["mean@10"]) == (1.0, 1.0)
    assert memories_in(postgres_url) == before


def memories_in(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM memories").fetchone()
    assert row is not None
    return int(row[0])
