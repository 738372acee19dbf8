"""How far a piece of data travels through the package: four journeys, really run and counted.

A server runs in this process on a SQLite store in a temporary folder, without encoder and model, and every thread is
profiled. A journey begins with a request over HTTP and ends when its effect is stored and the server is idle again.

- A **call** is what `sys.setprofile` reports as one: a function, lambda or comprehension of the package that starts, or
  a generator or coroutine of it that goes on. Bodies of modules and classes are none.
- **Files** and **functions** are those with at least one call.
- A **move** is a call whose caller, the nearest frame of the package below it on the same thread's stack, lies in
  another top-level folder of the package than the function called. A call without such a caller is no move.

Every journey is made once to fill caches and then several times. Background threads look at the store every few
seconds, so a file or function counts if every repetition had it, and calls and moves are the fewest of any.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

import codexmem
from bench import report
from codexmem.hook import program as hook
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.model.query import Filter, PageRequest
from tests._support.lab import StepAgent
from tests._support.lab_endpoint import LabEndpoint, lab_endpoint

PACKAGE = Path(codexmem.__file__).parent
REPEATS = 3
_IDLE_S = 0.4  # without a call: the server has nothing more to do for this journey
_LIMIT_S = 60.0


@dataclass(frozen=True)
class Journey:
    """What one journey touched."""

    calls: int
    files: int
    functions: int
    moves: int


@dataclass
class Trip:
    """The calls of one repetition."""

    calls: int = 0
    moves: int = 0
    functions: set[CodeType] = field(default_factory=set)

    @property
    def files(self) -> set[str]:
        return {code.co_filename for code in self.functions}


class Counter:
    """Counts calls on every thread that starts after it, and on its own while an act lasts."""

    def __init__(self, package: Path = PACKAGE) -> None:
        self._package = package
        self._own = threading.get_ident()
        self._trip: Trip | None = None
        self._acting = False
        self._last = 0.0
        self._lock = threading.Lock()
        self._folders: dict[CodeType, str] = {}  # the top-level folder of a function; empty: not counted

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Profile while the block lasts."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def count(self, act: Callable[[], None], arrived: Callable[[], bool]) -> Trip:
        """Do it, wait until it has arrived and all is idle, and return what was called."""
        self._wait(lambda: True)
        trip = self._trip = Trip()
        self._acting = True
        act()
        self._acting = False
        self._wait(arrived)
        self._trip = None
        return trip

    def _wait(self, arrived: Callable[[], bool]) -> None:
        until = time.monotonic() + _LIMIT_S
        while not arrived() or time.monotonic() - self._last < _IDLE_S:
            if time.monotonic() > until:
                raise TimeoutError("the journey did not end")
            time.sleep(0.02)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        folder = self._folder(frame.f_code)
        own = threading.get_ident() == self._own
        if not folder or (own and not self._acting):
            return
        caller = self._caller(frame)
        with self._lock:
            self._last = time.monotonic()
            if self._trip is not None:
                self._trip.calls += 1
                self._trip.moves += caller not in {"", folder}
                self._trip.functions.add(frame.f_code)

    def _caller(self, frame: FrameType) -> str:
        below = frame.f_back
        while below is not None:
            folder = self._folder(below.f_code)
            if folder:
                return folder
            below = below.f_back
        return ""

    def _folder(self, code: CodeType) -> str:
        known = self._folders.get(code)
        if known is None:
            path = Path(code.co_filename)
            is_ours = code.co_flags & CO_OPTIMIZED and path.is_relative_to(self._package)
            known = self._folders[code] = path.relative_to(self._package).parts[0] if is_ours else ""
        return known


def journeys(folder: Path, repeats: int = REPEATS) -> dict[str, Journey]:
    """All four, on a new store in this folder."""
    counter = Counter()
    # A model is configured, so that runs can be learned from, and nothing may be spent on it: rules write.
    settings: dict[str, Any] = {"batch_wait_s": 0, "openai_api_key": "sk-none-0123456789abcdef", "daily_tokens": 1}
    trips: dict[str, list[Trip]] = defaultdict(list)
    with (
        counter.installed(),
        lab_endpoint(folder, StepAgent(steps=2), **settings) as endpoint,
        _hook_environment(folder, endpoint),
    ):
        for number in range(repeats + 1):
            for name, trip in _once(counter, endpoint, folder, number):
                trips[name].append(trip)
    return {name: _common(made[1:]) for name, made in trips.items()}


def _common(trips: Sequence[Trip]) -> Journey:
    return Journey(
        calls=min(trip.calls for trip in trips),
        files=len(set.intersection(*(trip.files for trip in trips))),
        functions=len(set.intersection(*(trip.functions for trip in trips))),
        moves=min(trip.moves for trip in trips),
    )


def _once(counter: Counter, endpoint: LabEndpoint, folder: Path, number: int) -> Iterator[tuple[str, Trip]]:
    core = endpoint.app.services.core
    word = "abcdefghij"[number] * 5  # what differs between repetitions, without a difference in kind

    def active(kind: Kind) -> Sequence[Memory]:
        return core.memories.page(Filter(frozenset({kind})), PageRequest(200)).items

    payload = {
        "session_id": f"session-{word}", "cwd": str(folder), "hook_event_name": "PostToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": str(folder / f"{word}.py"), "old_string": "port = 80", "new_string": "port = 8123"},
        "tool_response": {"filePath": str(folder / f"{word}.py"), "success": True},
    }  # fmt: skip
    said = json.dumps(payload).encode()

    before = len(active(Kind.OBSERVATION))
    yield "hook", counter.count(lambda: _hook(said), lambda: len(active(Kind.OBSERVATION)) == before + 1)

    found: list[str] = []
    call = {"name": "search", "arguments": {"query": f"port {word}"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = {"Accept": "application/json, text/event-stream"}

    def search() -> None:
        found.append(endpoint.post("/mcp", message, accept).json["result"]["content"][0]["text"])

    yield "search", counter.count(search, lambda: word in found[0])

    batch = endpoint.batch(request=f"Cu-Mo 光催化 {word}", dry_run=False)
    endpoint.ended(batch["batch"]["batch_id"])
    run_id = batch["runs"][0]["run_id"]
    feedback = {
        "score": 7.5, "pros": f"450 °C worked for {word}", "cons": f"{word} 在水中分解", "other": "", "products": [],
    }  # fmt: skip

    def lessons() -> int:
        return sum(run_id in str(memory.state.attrs) for memory in active(Kind.LESSON))

    def judge() -> None:
        _require(endpoint.request("PUT", f"/api/v1/runs/{run_id}/feedback", feedback).status)

    yield "learning", counter.count(judge, lambda: lessons() == 2)

    def roll_back() -> None:
        _require(endpoint.post(f"/api/v1/runs/{run_id}/reasoningbank/rollback", {"reason": "wrong"}).status)

    yield "rollback", counter.count(roll_back, lambda: lessons() == 0)


def _hook(said: bytes) -> None:
    hook.run(["claude-code", "observation"], said)


def _require(status: int) -> None:
    if status != 200:
        raise RuntimeError(f"the server answered {status}")


@contextmanager
def _hook_environment(folder: Path, endpoint: LabEndpoint) -> Iterator[None]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CODEXMEM_")}
    ours = {"CODEXMEM_URL": f"http://127.0.0.1:{endpoint.port}", "CODEXMEM_DATA_DIR": str(folder), "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder), "CODEXMEM_HOOK_BUDGET_MS": "60000"}  # fmt: skip
    with mock.patch.dict(os.environ, kept | ours, clear=True):
        yield


JOURNEYS = {
    "hook": "hook event → stored observation",
    "search": "MCP `search` → text",
    "learning": "feedback → learning job → two lessons",
    "rollback": "rollback of that learning",
}


def table(counted: Mapping[str, Journey]) -> str:
    """Render the table."""
    rows = [(JOURNEYS[name], each.files, each.functions, each.moves) for name, each in counted.items()]
    return report.table(("journey", "files", "functions", "moves between top-level folders"), rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="times that each journey is counted")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        counted = journeys(Path(folder).resolve(), chosen.repeats)
    if chosen.json:
        print(json.dumps({name: asdict(each) for name, each in counted.items()}))
    else:
        print(table(counted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
