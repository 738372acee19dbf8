"""Journeys are counted as they say they are."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import journeys
from bench.journeys import Counter

pytestmark = pytest.mark.sqlite

# One folder calls the other: directly, through the standard library, by a generator that goes on twice, in a thread.
TREE = {
    "__init__.py": "",
    "low/__init__.py": "",
    "low/values.py": """
def double(n):
    return n * 2

def each(n):
    yield from range(n)
""",
    "high/__init__.py": "",
    "high/work.py": """
import functools, threading
from planted.low.values import double, each

class Work:
    limit = 2

def one_call():
    return double(1)

def through_a_library():
    return functools.reduce(lambda sum, n: sum + double(n), [1], 0)

def going_on():
    return list(each(2))

def apart():
    return 7

def in_a_thread():
    thread = threading.Thread(target=apart)
    thread.start()
    thread.join()
""",
}


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / "planted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "planted"


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield plant(tmp_path, TREE)
    for name in [name for name in sys.modules if name.partition(".")[0] == "planted"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "act, calls, files, functions, moves",
    [
        ("one_call", 2, 2, 2, 1),
        ("through_a_library", 3, 2, 3, 1),
        ("going_on", 4, 2, 2, 3),  # once for each of two numbers, and for the end
        ("in_a_thread", 2, 1, 2, 0),  # nobody of the package is below a thread's first function
    ],
)
def test_what_is_counted(planted: Path, act: str, calls: int, files: int, functions: int, moves: int) -> None:
    work = importlib.import_module("planted.high.work")
    counter = Counter(planted)
    with counter.installed():
        trip = counter.count(getattr(work, act), lambda: True)
    assert (len(trip.files), len(trip.functions)) == (files, functions)
    assert (trip.calls, trip.moves) == (calls, moves)


def test_waiting_is_not_counted(planted: Path) -> None:
    work = importlib.import_module("planted.high.work")
    counter = Counter(planted)
    with counter.installed():
        trip = counter.count(lambda: None, lambda: work.one_call() == 2)
    assert trip.calls == 0


def test_a_journey_that_never_arrives_is_told(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journeys, "_LIMIT_S", 0.1)
    monkeypatch.setattr(journeys, "_IDLE_S", 0.0)
    with pytest.raises(TimeoutError):
        Counter(planted).count(lambda: None, lambda: False)
