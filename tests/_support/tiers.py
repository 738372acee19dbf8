"""What a test starts, told by what its code can reach; and a guard that refuses the rest.

A test is marked with each thing that it starts: `postgresql`, `process` (a program, or a server on a port), `browser`,
`agent`, `build`. One that starts nothing is `unit`. The marks come from what its functions and fixtures name, through
every function and class of `tests` that those name in turn. What only the package itself would start cannot be seen
that way: the guard stops a `unit` test which does, and such a test says `@pytest.mark.process` itself.

A test is `prepared` besides if it needs more than pip installs: programs of npm or apt, or the built web application.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

TIERS = ("postgresql", "process", "browser", "agent", "build")
STARTING = frozenset(
    {"subprocess", "multiprocessing", "pty", "socketserver", "http.server", "uvicorn", "concurrent.futures.process"}
)
PREPARED = frozenset({"prepared"})
# What using a module of ours means.
MEANS = {
    "tests._support.postgres": frozenset({"postgresql"}),
    "tests._support.pgbouncer": PREPARED,
    "tests._support.patroni": PREPARED,
    "tests._support.npm_packages": PREPARED,
    "tests.web.building": PREPARED,
    "tests.issuer.provider": PREPARED | {"process"},
    "tests.client.frameworks": PREPARED | {"process"},
    "tests.agents.installation": PREPARED | {"agent"},
    "tests.packaging.building": PREPARED | {"build"},
    "tests.docs.building": frozenset({"build"}),
    "playwright.sync_api": PREPARED | {"browser"},
}
MEASURES = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "sleep", "getrusage"})
TIME_MODULES = frozenset({"time", "asyncio", "anyio", "resource"})
ALWAYS_MEASURE = frozenset({"wait_for_timeout", "tracemalloc"})
MEASURING = frozenset({"tests._support.cpu"})  # the support modules that measure for a test, and not to wait
_REFUSED = frozenset(
    {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "socket.bind"}
)


class StartedError(RuntimeError):
    """A test that says it starts nothing did."""


class _Guard:
    """One audit hook for the process, because Python cannot take one away; it refuses while a `unit` test runs."""

    def __init__(self) -> None:
        self.watching = False
        self.installed = False
        self.started: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.watching and event in _REFUSED:
            self.started.append(f"{event}: {arguments[-1 if event == 'socket.bind' else 0]!r}")
            raise StartedError(f"a unit test starts nothing, but: {self.started[-1]}")


_guard = _Guard()


@contextmanager
def nothing_starts() -> Iterator[None]:
    """Refuse programs and listening sockets; one that was swallowed fails at the end all the same."""
    if not _guard.installed:
        sys.addaudithook(_guard)
        _guard.installed = True
    before, _guard.watching, _guard.started = (_guard.watching, _guard.started), True, []
    try:
        yield
    finally:
        started = _guard.started
        _guard.watching, _guard.started = before
    if started:
        raise StartedError(f"a unit test starts nothing, but: {'; '.join(started)}")


def of(item: pytest.Item) -> set[str]:
    """What the test starts; empty where that is nothing."""
    found = {mark.name for mark in item.iter_markers()}.intersection(TIERS)
    if isinstance(item, pytest.Function):
        for thing in (item.obj, *_given(item).values()):
            found |= reach(thing)
        # The same for every case of a test, and for most tests of a file.
        asked = item.parent, tuple(item.fixturenames), _given(item).get("engine_name", "")
        if asked not in _by_fixtures:
            _by_fixtures[asked] = frozenset().union(*map(reach, _fixtures(item)))
        found |= _by_fixtures[asked]
    return found


_by_fixtures: dict[tuple[object, ...], frozenset[str]] = {}


def _given(item: pytest.Function) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _fixtures(item: pytest.Function) -> Iterator[Callable[..., Any]]:
    """Every fixture that runs for the test; also one asked for by a name that is put together with the engine's."""
    engine = _given(item).get("engine_name", "")
    known = item.session._fixturemanager
    # The address of a server leads through PgBouncer only where `just contracts --pooler` asks for that.
    waiting, seen = list(item.fixturenames), {"address"}
    while waiting:
        name = waiting.pop()
        found = () if name in seen else known.getfixturedefs(name, item) or ()
        seen.add(name)
        for fixture in found[-1:]:
            yield fixture.func
            waiting += fixture.argnames
            code = getattr(inspect.unwrap(fixture.func), "__code__", None)
            if code is not None and "getfixturevalue" in code.co_names:
                waiting += [f"{engine}{each}" for each in code.co_consts if isinstance(each, str)]


def reach(thing: object) -> frozenset[str]:
    """What a function or class can start by what it names."""
    return _reach(thing) if _hashable(thing) else frozenset()


@functools.cache
def _reach(thing: Any) -> frozenset[str]:
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [thing]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        starts, named = _look(each) if _hashable(each) else (frozenset[str](), ())
        found |= starts
        waiting += named
    return frozenset(found)


def _hashable(thing: object) -> bool:
    return isinstance(thing, types.FunctionType | types.MethodType | type | functools.partial) or hasattr(
        type(thing), "__wrapped__"
    )


@functools.cache
def _look(thing: Any) -> tuple[frozenset[str], tuple[Any, ...]]:
    """What it starts itself, and what else of `tests` it names."""
    if isinstance(thing, functools.partial):
        return frozenset(), (thing.func,)
    if isinstance(thing, types.MethodType):
        return frozenset(), (thing.__func__,)
    if isinstance(thing, type):
        starts = _of_module(thing.__module__)
        return starts, () if starts else tuple(_members(thing))
    drawn = getattr(thing, "hypothesis", None)  # a property's own body is behind Hypothesis's wrapper
    inner = getattr(drawn, "inner_test", None) or inspect.unwrap(thing)
    if inner is not thing:
        return frozenset(), (inner,)
    if not isinstance(thing, types.FunctionType) or not _ours(thing.__module__):
        return frozenset(), ()
    found: set[str] = {"timing"} if _measures(thing) else set()
    named: list[Any] = [cell.cell_contents for cell in thing.__closure__ or () if _filled(cell)]
    names = set(_names(thing.__code__))
    for name in names & thing.__globals__.keys():
        value = thing.__globals__[name]
        if isinstance(value, types.ModuleType):
            found |= _of_module(value.__name__)
            if _ours(value.__name__):
                named += [vars(value)[part] for part in names & vars(value).keys()]
        else:
            found |= _of_module(getattr(value, "__module__", None) or "")
            named.append(value if isinstance(value, type) or callable(value) else type(value))
    return frozenset(found), tuple(named)


def _measures(function: types.FunctionType) -> bool:
    """Whether it reads a clock, measures memory or sleeps."""
    if function.__module__.startswith("tests._support.") and function.__module__ not in MEASURING:
        return False
    names = set(_names(function.__code__))
    values = (function.__globals__.get(name) for name in names)
    owners = names | {
        getattr(value, "__name__" if isinstance(value, types.ModuleType) else "__module__", "") for value in values
    }
    return bool(names & ALWAYS_MEASURE or (names & MEASURES and owners & TIME_MODULES))


def _members(kind: type) -> Iterator[Callable[..., Any] | type]:
    """Functions of a class of ours and its bases; of another only that it is one."""
    yield from (base for base in kind.__bases__ if base is not object)
    if _ours(kind.__module__):
        for value in vars(kind).values():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType | type):
                yield function


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _of_module(name: str) -> frozenset[str]:
    if name in MEANS:
        return MEANS[name]
    starts = any(name == each or name.startswith(f"{each}.") for each in STARTING)
    return frozenset({"process"}) if starts else frozenset()


def _ours(module: str | None) -> bool:
    return module is not None and module.split(".")[0] in ("tests", "bench", "conftest")


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
