"""Tests are marked by what they start, which the marks get right; few are tried again, and each says why."""

from __future__ import annotations

import ast
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests._support import tiers
from tests._support.embedding_server import EmbeddingServer
from tests._support.postgres import PostgresServer
from tests._support.server import Server, environment
from tests._support.waiting import eventually

TESTS = Path(__file__).parent
MOST_RETRIED = 0.02
SHORTEST_REASON = 20


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
    "function, tier",
    [
        (starts_a_program, {"process"}),
        (starts_a_server_far_away, {"process"}),
        (starts_a_database, {"postgresql"}),
        (serves_in_a_thread, {"process"}),
        (reads_a_clock, {"timing"}),
        (sleeps_in_a_page, {"timing"}),
        (waits_until_it_holds, set()),
        (starts_nothing, set()),
    ],
)
def test_what_can_be_reached_is_found(function: object, tier: set[str]) -> None:
    assert tiers.reach(function) == tier


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


def retried(source: str) -> Iterator[tuple[str, str | None]]:
    """Every test function of a module, with its reason for another try."""
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            found = [each for each in node.decorator_list if ast.unparse(each).startswith("pytest.mark.retry")]
            reasons = [ast.literal_eval(each.args[0]) for each in found if isinstance(each, ast.Call) and each.args]
            yield node.name, " ".join(reasons) if found else None


def _statements(inside: ast.Module | ast.ClassDef) -> Iterator[ast.stmt]:
    """Those of a module and of its classes: pytest looks for tests nowhere else."""
    for node in inside.body:
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _statements(node)


@pytest.mark.slow
def test_few_tests_are_tried_again_and_each_says_why() -> None:
    functions = [each for path in TESTS.rglob("test_*.py") for each in retried(path.read_text(encoding="utf-8"))]
    reasons = [(name, reason) for name, reason in functions if reason is not None]
    assert reasons
    assert [name for name, reason in reasons if len(reason) < SHORTEST_REASON] == []
    assert len(reasons) < MOST_RETRIED * len(functions), f"{len(reasons)} of {len(functions)}"


@pytest.mark.slow
def test_no_test_is_tried_again_in_another_way() -> None:
    """Not by module or class, where the reason would be no test's own, and not by the plugin's own mark."""
    wrong = []
    for path in {*TESTS.rglob("*.py")} - {Path(__file__)}:
        text = path.read_text(encoding="utf-8")
        if not any(each in text for each in ("flaky", "retry")):
            continue
        for node in ast.walk(ast.parse(text)):
            marked = isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.flaky"
            if isinstance(node, ast.Attribute) and marked and path != TESTS / "conftest.py":
                wrong.append(f"{path}:{node.lineno}")
            if isinstance(node, ast.Assign | ast.ClassDef):
                held = node.value if isinstance(node, ast.Assign) else ast.Tuple(elts=node.decorator_list)
                if "pytest.mark.retry" in ast.unparse(held):
                    wrong.append(f"{path}:{node.lineno}")
    assert wrong == []


def test_an_uncovered_reason_is_seen() -> None:
    source = "@pytest.mark.retry\ndef test_a(): ...\n@pytest.mark.retry('why')\ndef test_b(): ...\ndef test_c(): ...\n"
    assert list(retried(source)) == [("test_a", ""), ("test_b", "why"), ("test_c", None)]
