"""Tests are marked by what they start, which the marks get right; the gate leaves out what its table names."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests._support import gate, tiers
from tests._support.embedding_server import EmbeddingServer
from tests._support.postgres import PostgresServer
from tests._support.server import Server, environment
from tests._support.waiting import eventually

TESTS = Path(__file__).parent


def starts_a_program() -> None:
    subprocess.run(["true"], check=True)


def starts_a_server_far_away() -> None:
    def inside() -> object:
        return Server(Path("x"))

    inside()


def starts_a_database() -> None:
    PostgresServer().start()


def serves_in_a_thread() -> None:
    EmbeddingServer().__enter__()


def reads_a_clock() -> None:
    def inside() -> float:
        return time.monotonic()

    inside()


def sleeps_in_a_page() -> None:
    def inside(page: Any) -> None:
        page.wait_for_timeout(5)

    inside(None)


def waits_until_it_holds() -> None:
    eventually(lambda: True)


def starts_nothing() -> None:
    environment(Path("x"))


@pytest.mark.parametrize(
    "name, marks",
    [
        ("starts_a_program", {"process"}),
        ("starts_a_server_far_away", {"process"}),
        ("starts_a_database", {"postgresql"}),
        ("serves_in_a_thread", {"process"}),
        ("reads_a_clock", {"timing"}),
        ("sleeps_in_a_page", {"timing"}),
        ("waits_until_it_holds", set()),
        ("starts_nothing", set()),
    ],
)
def test_what_can_be_reached_is_found(name: str, marks: set[str]) -> None:
    """By name: a function that is a case's own value would mark this test."""
    assert tiers.reach(globals()[name]) == marks


def test_a_test_of_sqlite_starts_nothing_and_one_of_postgresql_does(
    engine_name: str, request: pytest.FixtureRequest
) -> None:
    marks = {mark.name for mark in request.node.iter_markers()} & {"unit", *tiers.TIERS}
    assert marks == ({"unit"} if engine_name == "sqlite" else {"postgresql"})


def test_a_program_is_refused() -> None:
    with pytest.raises(tiers.StartedError, match=r"os\.system"), tiers.nothing_starts():
        os.system("true")


def swallow() -> None:
    with contextlib.suppress(Exception):
        os.posix_spawn("/bin/true", ["true"], {})


def test_a_refusal_that_is_swallowed_counts() -> None:
    with pytest.raises(tiers.StartedError, match=r"os\.posix_spawn"), tiers.nothing_starts():
        swallow()


def test_a_port_is_refused() -> None:
    with pytest.raises(tiers.StartedError, match=r"socket\.bind"), tiers.nothing_starts(), socket.socket() as endpoint:
        endpoint.bind(("127.0.0.1", 0))


def test_a_unit_test_that_starts_a_program_fails(tmp_path: Path) -> None:
    hooks = "pytest_collection_modifyitems, pytest_runtest_call, pytest_runtest_setup"
    (tmp_path / "conftest.py").write_text(f"from tests.conftest import {hooks}\n")
    (tmp_path / "test_planted.py").write_text(
        "import subprocess, pytest\n"
        "def test_hidden(): subprocess.run(['true'])\n"
        "@pytest.mark.process\ndef test_said(): subprocess.run(['true'])\n"
        "@pytest.fixture\ndef started(): subprocess.run(['true'])\n"
        "def test_by_fixture(started): pass\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  unit\n  process\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS.parent), str(TESTS.parent / "src")))}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    told = {line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR"))}
    assert told == {
        "FAILED test_planted.py::test_hidden",
        "PASSED test_planted.py::test_said",
        "ERROR test_planted.py::test_by_fixture",
    }, done.stdout


class TestGate:
    """What the gate leaves out: the tests of `tests/gate.toml`, and those that read a clock."""

    LEFT = gate.Left(
        ("tests/a/", "tests/b.py::test_x"), "dear", ("tests/c.py",), on="process", but=("tests/a/x.py::test_1",)
    )

    @pytest.mark.parametrize(
        "test, left",
        [
            ("tests/a/x.py::test_2", True),
            ("tests/a/x.py::test_1", False),
            ("tests/a/x.py::test_1[en]", False),
            ("tests/a/x.py::test_10", True),
            ("tests/b.py::test_x[1]", True),
            ("tests/b.py::test_xy", False),
        ],
    )
    def test_an_entry_holds_what_lies_in_it_but_for_exceptions(self, test: str, left: bool) -> None:
        assert self.LEFT.holds(test, {"process"}) is left
        assert not self.LEFT.holds(test, {"unit"})

    def test_what_reads_a_clock_is_left_wherever_it_is(self) -> None:
        assert gate.is_left("tests/nowhere.py::test_x", {"timing"})
        assert not gate.is_left("tests/nowhere.py::test_x", {"unit"})

    @pytest.mark.parametrize("entry", gate.table(), ids=lambda entry: entry.tests[0])
    def test_an_entry_names_tests_that_exist(self, entry: gate.Left) -> None:
        named = [
            *entry.tests,
            *entry.but,
            *(each.split(" ")[0] for each in entry.proved_by if each.startswith("tests/")),
        ]
        assert [each for each in named if "*" not in each and not exists(each)] == []
        assert entry.because
        assert entry.proved_by

    def test_what_failed_in_any_run_is_kept_for_another(self, tmp_path: Path) -> None:
        self.fail_in(tmp_path / "all", "tests/a.py::test_1", "tests/a.py::test_2[x y]")
        self.fail_in(tmp_path / "pages", "tests/web/b.py::test_3")
        failed = ["tests/a.py::test_1", "tests/a.py::test_2[x y]", "tests/web/b.py::test_3"]
        assert gate.again(tmp_path) == failed
        assert list(json.loads((tmp_path / "again" / gate.LAST_FAILED).read_text())) == failed

    def test_too_much_is_not_tried_again(self, tmp_path: Path) -> None:
        self.fail_in(tmp_path / "all", *(f"tests/a.py::test_{number}" for number in range(gate.MOST_AGAIN + 1)))
        assert gate.again(tmp_path) == []

    def fail_in(self, cache: Path, *tests: str) -> None:
        kept = cache / gate.LAST_FAILED
        kept.parent.mkdir(parents=True)
        kept.write_text(json.dumps(dict.fromkeys(tests, True)))


def exists(test: str) -> bool:
    """Whether the folder, file or function is there."""
    path, _, name = test.partition("::")
    found = TESTS.parent / path
    function = name.rpartition("::")[2].split("[")[0]
    return found.exists() and (not name or f"def {function}(" in found.read_text(encoding="utf-8"))
