"""Journeys are counted as they say they are, and the tables of the architecture page are those of this tree."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench import journeys
from bench.journeys import BEGIN, END, Counter, Figures, Journey

pytestmark = pytest.mark.sqlite

# Journeys are counted on a running server, and an edit of any module moves them a little.
TOLERANCE = 0.05
AGAIN = "run `just journeys --write`"
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


def test_figures_of_a_package(tmp_path: Path) -> None:
    package = plant(
        tmp_path,
        {
            "a.py": "class Place:\n    class Inner: ...\nclass _Own: ...\nclass Once: ...\n",
            "b/c.py": "class Place: ...\nclass _Own: ...\nclass Inner: ...\nx: dict[str, Any] | Mapping[str, Any]\n",
            "b/d.py": "y: dict[str, int]\nz: MutableMapping[str, Any]\n",
            "b/d.json": "dict[str, Any]",
        },
    )
    assert journeys.figures(package) == Figures(lines=10, files=3, repeated_class_names=1, loose_dicts=3)


def test_tables_are_written_and_read_again(tmp_path: Path) -> None:
    counted = {name: Journey(0, 1_000 + at, 20, 3) for at, name in enumerate(journeys.ENGLISH.journeys)}
    size = Figures(87_000, 800, 0, 12)
    for words in (journeys.ENGLISH, journeys.CHINESE):
        (tmp_path / words.page).write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    journeys.write(counted, size, tmp_path)
    for words in (journeys.ENGLISH, journeys.CHINESE):
        text = (tmp_path / words.page).read_text()
        assert text.startswith(f"above\n{BEGIN}\n| ")
        assert text.endswith(f" |\n{END}\nbelow\n")
        assert journeys.written(words, tmp_path) == (counted, size)
    (tmp_path / "architecture.md").write_text("no marks")
    with pytest.raises(ValueError, match="has no marks"):
        journeys.write(counted, size, tmp_path)


def test_the_page_tells_the_size_of_the_package() -> None:
    size = journeys.figures()
    english, chinese = (journeys.written(words)[1] for words in (journeys.ENGLISH, journeys.CHINESE))
    assert english == chinese, AGAIN
    # A line more or less is no news; a hundredth of them is.
    assert english.lines == pytest.approx(size.lines, rel=0.01), AGAIN
    assert replace(english, lines=size.lines) == size, AGAIN


@pytest.mark.timeout(600)
def test_the_page_tells_the_journeys() -> None:
    # On a busy machine upkeep of the server falls into both counts of a journey; it does not fall into all of eight.
    if wrong := differences(repeats=2):
        wrong = differences(repeats=8)
    assert not wrong, f"{'; '.join(wrong)}: {AGAIN}"


def differences(repeats: int) -> list[str]:
    """Where the page tells something else than is counted."""
    # In a process of its own, as the page was written: nothing of pytest is profiled with it.
    command = [sys.executable, "-m", "bench.journeys", "--json", "--repeats", str(repeats)]
    root = Path(journeys.__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)["journeys"]
    wrong: list[str] = []
    for words in (journeys.ENGLISH, journeys.CHINESE):
        told, _ = journeys.written(words)
        assert counted.keys() == told.keys()
        for name, found in counted.items():
            for what in ("files", "functions", "moves"):
                was = getattr(told[name], what)
                if abs(found[what] - was) > max(2, round(was * TOLERANCE)):
                    wrong.append(f"{name}: {found[what]} {what}, not {was}")
    return wrong
