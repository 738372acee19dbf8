"""What `just bench` measures: each wait of a person or an agent, and what it is held against.

A measure returns the ratio of each of its rounds. Within a round ours and the reference take turns. Programs are
started as installed ones are, servers are real, durable stores lie on a real disk.
"""

from __future__ import annotations

import http.client
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

from bench import capture, drafts, hook_time, replay, report, search_latency
from bench import writes as writing
from bench.corpus import Corpus
from bench.hook_calls import Hooks, timed
from bench.stores import Stores, folder, stores
from bench.victim import Victim
from codexmem.app.core import Core, open_core
from codexmem.kernel.embed import choice
from codexmem.kernel.embed.choice import EmbedderChoice
from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.import_row import ForeignMemory
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import sqlite_path
from codexmem.settings import Settings

Ratios = Mapping[str, Sequence[float]]
_FEW = 5  # rounds of what takes seconds
_SAVED = 200  # memories beside which commands and the bridge are measured
_SEARCHED, _QUESTIONS = 10_000, 60
_IMPORTED, _BATCH = 2_000, 500
_TURN_S = 1.0
_EMBEDDED = 64
_BY = WriteContext("bench")


@dataclass(frozen=True, slots=True)
class Wait:
    """One row of the page."""

    key: str
    group: str  # the measure that yields it
    what: str
    chinese: str
    reference: str
    reference_chinese: str
    goal: float
    is_rate: bool = False  # more is better

    def name(self, language: str) -> str:
        """What is waited for."""
        return self.chinese if language == "zh" else self.what

    def reference_in(self, language: str) -> str:
        """What it is held against."""
        return self.reference_chinese if language == "zh" else self.reference


WAITS = (
    Wait("hook_up", "hook", "hook, server up", "钩子,服务器在运行", "`python -c pass`", "`python -c pass`", 1.5),
    Wait("hook_down", "hook", "hook, server down", "钩子,服务器未运行", "`python -c pass`", "`python -c pass`", 1.3),
    Wait("hook_prompt", "hook", "hook at a prompt", "提交提示词时的钩子", "`python -c pass`", "`python -c pass`", 2.5),
    Wait("hook_context", "hook", "hook at a session's start", "会话开始时的钩子", "`python -c pass`",
         "`python -c pass`", 2.2),
    Wait("command_search", "commands", "`codexmem search`", "`codexmem search`", "`codexmem --help`",
         "`codexmem --help`", 2.0),
    Wait("command_why", "commands", "`codexmem why`", "`codexmem why`", "`codexmem --help`", "`codexmem --help`", 2.0),
    Wait("command_recent", "commands", "`codexmem recent`", "`codexmem recent`", "`codexmem --help`",
         "`codexmem --help`", 2.0),
    Wait("bridge", "bridge", "MCP over stdio: first tool answer", "stdio 上的 MCP:第一次工具应答",
         "`import mcp` and one search", "`import mcp` 加一次搜索", 1.3),
    Wait("first_search", "first-search", "first search after the server's start", "服务器启动后的第一次搜索",
         "a later one", "之后的一次", 3.0),
    Wait("search_project", "search", "search in a project of 200, p95", "在 200 条记忆的项目中搜索,p95",
         "its statements bare", "同样的语句", 1.5),
    Wait("search_all", "search", "search over 10,000, p95", "在 10,000 条记忆中搜索,p95", "its statements bare",
         "同样的语句", 1.5),
    Wait("capture", "captures", "16 sessions that are captured", "16 个会话被捕获",
         "the same rows and index entries, bare, 16 in a commit", "同样的行和索引条目,裸写入,每次提交 16 个", 0.6,
         is_rate=True),
    Wait("save", "saves", "16 writers that save memories", "16 个写入者保存记忆",
         "the same rows and index entries, bare, 16 in a commit", "同样的行和索引条目,裸写入,每次提交 16 个", 0.6,
         is_rate=True),
    Wait("import", "import", "import in batches of 500", "每批 500 条导入", "the same rows and index entries, bare",
         "同样的行和索引条目,裸写入", 0.5, is_rate=True),
    Wait("vectors", "vectors", "catch-up of vectors", "补算向量", "encoder alone", "仅编码器", 0.85, is_rate=True),
)  # fmt: skip


def hook(rounds: int, seed: int) -> Ratios:
    """As `just bench-hook`."""
    with stores("sqlite", durable=True) as made, folder(durable=True) as home:
        found = hook_time.measure(rounds, seed, home, made.fresh())
    names = {
        "hook_up": "codexmem-hook, server up",
        "hook_down": "codexmem-hook, server down",
        "hook_prompt": "codexmem-hook, a prompt",
        "hook_context": "codexmem-hook, context",
    }
    bare = found[hook_time.PASS]
    return {key: [ours / base for ours, base in zip(found[name], bare, strict=True)] for key, name in names.items()}


@dataclass(frozen=True, slots=True)
class Served:
    """A server with some memories, and the environment of programs that use it."""

    victim: Victim
    home: Path
    env: dict[str, str]

    def run(self, *arguments: str) -> float:
        """Milliseconds of a Python program from start to end."""
        called = timed([sys.executable, *arguments], self.env, b"", self.home)
        if called.code != 0:
            raise RuntimeError(f"{' '.join(arguments)} ended with {called.code}: {called.output}")
        return called.ms

    def search(self, text: str) -> float:
        """Milliseconds of one search over HTTP, on a connection of its own."""
        connection = self.victim.connect(60.0)
        began = time.perf_counter()
        connection.request("GET", f"/api/search?limit=5&query={quote(text)}", headers=self.victim.headers())
        reply = connection.getresponse()
        reply.read()
        took = (time.perf_counter() - began) * 1000
        connection.close()
        if reply.status != 200:
            raise RuntimeError(f"search answered {reply.status}")
        return took


@contextmanager
def served(**environ: str) -> Iterator[Served]:
    """A real server on a store on disk, filled by its own endpoint."""
    with stores("sqlite", durable=True) as made, folder(durable=True) as home:
        victim = Victim(home, made.fresh(), environment=environ)
        victim.start()
        try:
            chance = random.Random(_SAVED)
            connection = victim.connect(60.0)
            for _ in range(_SAVED):
                _saved(victim, connection, drafts.text(chance, 200))
            connection.close()
            env = Hooks(home, home / "data").env | {"CODEXMEM_URL": f"http://127.0.0.1:{victim.port}"}
            yield Served(victim, home, env)
        finally:
            victim.stop()


def _saved(victim: Victim, connection: http.client.HTTPConnection, text: str) -> None:
    status, _ = victim.post(connection, "/api/memory/save", {"text": text, "project": "bench"})
    if status != 200:
        raise RuntimeError(f"saving answered {status}")


def commands(rounds: int, seed: int) -> Ratios:
    """Beside the same program's help, which needs no server."""
    chance = random.Random(seed)
    asked = {
        "command_search": ("search", "--project", "bench", "token buffer"),
        "command_why": ("why", "1", "--all-projects"),
        "command_recent": ("recent", "--project", "bench"),
    }
    found: dict[str, list[float]] = {key: [] for key in asked}
    with served() as here:
        for number in range(-1, rounds):  # the first fills caches
            took = dict.fromkeys(("help", *asked), 0.0)
            for key in chance.sample(list(took), len(took)):
                took[key] = here.run("-m", "codexmem.cli", *asked.get(key, ("--help",)))
            if number >= 0:
                for key in asked:
                    found[key].append(took[key] / took["help"])
    return found


def bridge(rounds: int, seed: int) -> Ratios:
    """From the start of `codexmem mcp` to the answer of its first search."""
    chance = random.Random(seed)
    found = []
    with served() as here:
        for number in range(-1, rounds):
            took = {}
            for name in chance.sample(("ours", "bare"), 2):
                if name == "ours":
                    took[name] = _first_answer(here)
                else:
                    took[name] = here.run("-c", "import mcp") + here.search("token buffer")
            if number >= 0:
                found.append(took["ours"] / took["bare"])
    return {"bridge": found}


def _first_answer(here: Served) -> float:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    search = {"name": "search", "arguments": {"query": "token buffer"}}
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "codexmem.cli", "mcp"], env=here.env, cwd=here.home,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:  # fmt: skip
        given = program.stdin
        assert given is not None
        assert program.stdout is not None

        def tell(said: Mapping[str, Any]) -> None:
            given.write(json.dumps({"jsonrpc": "2.0", **said}).encode() + b"\n")
            given.flush()

        tell({"id": 1, "method": "initialize", "params": hello})
        program.stdout.readline()
        tell({"method": "notifications/initialized"})
        tell({"id": 2, "method": "tools/call", "params": search})
        answer = json.loads(program.stdout.readline())
        took = (time.perf_counter() - began) * 1000
        given.close()
    if answer.get("id") != 2 or answer.get("result", {}).get("isError", True):
        raise RuntimeError(f"the bridge answered {answer}")
    return took


def first_search(rounds: int, seed: int) -> Ratios:
    """With the shipped encoder: the server is ready, and somebody searches at once."""
    chance, found = random.Random(seed), []
    with served(CODEXMEM_EMBEDDER="local") as here:
        for _ in range(min(rounds, _FEW)):
            here.victim.stop()
            here.victim.start()
            first = here.search(drafts.text(chance, 30))
            found.append(first / statistics.median(here.search(drafts.text(chance, 30)) for _ in range(9)))
    return {"first_search": found}


def searches(rounds: int, seed: int) -> Ratios:
    """As `just bench-search`, on SQLite."""
    progress = report.Progress("search")
    found: dict[str, list[float]] = {"search_project": [], "search_all": []}
    times = min(rounds, _FEW)
    with acting_as(LOCAL), stores("sqlite", durable=False) as made:
        corpus = Corpus(seed)
        url, questions = search_latency.filled(made, corpus, _SEARCHED, _QUESTIONS * times, progress)
        with search_latency.opened(url, corpus, _SEARCHED) as (product, bare):
            for number in range(times):
                asked = questions[number * _QUESTIONS : (number + 1) * _QUESTIONS]
                for scope in search_latency.SCOPES:
                    row = search_latency.measure(product, bare, asked, scope, progress)
                    found[f"search_{scope}"].append(row["ratio_p95"])
    progress.close()
    return found


@contextmanager
def _core(embedder: Embedder | None = None) -> Iterator[Core]:
    """The product's wiring on a store of its own; no worker runs."""
    with stores("sqlite", durable=True) as made, _wired(made, embedder) as core:
        yield core


@contextmanager
def _wired(made: Stores, embedder: Embedder | None = None) -> Iterator[Core]:
    with mock.patch.object(choice, "choose", return_value=embedder):
        core = open_core(Settings(made.home, made.fresh()))
    try:
        with acting_as(LOCAL):
            yield core
    finally:
        core.close()


@contextmanager
def _beside_bare() -> Iterator[tuple[Core, replay.Writes, replay.Bare]]:
    """The product, what it writes, and a copy of its store as it is now."""
    with stores("sqlite", durable=True) as made:
        path = sqlite_path(made.fresh())
        assert path is not None
        bare = replay.Bare(path)
        with replay.noted() as writes, _wired(made) as core:
            writes.taken()
            yield core, writes, bare
        bare.close()


def captures(rounds: int, seed: int) -> Ratios:
    """Sixteen sessions that report their tools' calls at once."""
    chance = random.Random(seed)
    with _beside_bare() as (core, writes, bare):
        sessions = [capture.reporter(core, f"session-{number}", chance) for number in range(writing.WRITERS)]
        return {"capture": _shares(rounds, writing.Contender("capture", sessions), writes, bare)}


def saves(rounds: int, seed: int) -> Ratios:
    """Sixteen threads that remember."""
    material = writing.Material(seed)
    with _beside_bare() as (core, writes, bare), writing.service(core, material) as contender:
        return {"save": _shares(rounds, contender, writes, bare)}


def _shares(rounds: int, contender: writing.Contender, writes: replay.Writes, bare: replay.Bare) -> list[float]:
    found = []
    for number in range(min(rounds, _FEW) + 1):  # the first warms up
        began = time.perf_counter()
        writing.turn(contender, _TURN_S)
        took = time.perf_counter() - began
        alone = bare.write(writes.taken(), writing.WRITERS)
        if number:
            found.append(alone / took)
    return found


def imports(rounds: int, seed: int) -> Ratios:
    """Batches of the product beside transactions that write the same."""
    chance, found, delta = random.Random(seed), [], None
    with _beside_bare() as (core, writes, bare):
        for number in range(min(rounds, _FEW)):
            texts = [drafts.text(chance) for _ in range(_IMPORTED)]
            taken = [_foreign(number * _IMPORTED + at, text) for at, text in enumerate(texts, 1)]
            began = time.perf_counter()
            for start in range(0, _IMPORTED, _BATCH):
                done = core.importing.take_in(f"bench{seed}", taken[start : start + _BATCH], _BY, delta=delta)
                delta = done.delta
            took = time.perf_counter() - began
            found.append(bare.write(writes.taken(), 1) / took)
    return {"import": found}


def _foreign(number: int, text: str) -> ForeignMemory:
    return ForeignMemory(
        Kind.OBSERVATION, number, 1_780_000_000_000 + number, session=f"s{number // 20}", project=f"p{number % 50}",
        text=text, type="change", title=text[:60], facts=(text[:60], text[60:120]), concepts=("pattern", "trade-off"),
        files_read=(drafts.file(number),), files_modified=(drafts.file(number + 1),),
    )  # fmt: skip


@contextmanager
def _timed_passages(embedder: Embedder) -> Iterator[list[float]]:
    """How long the encoder works, call by call."""
    encode, took = embedder.passages, list[float]()

    def timed_encode(texts: Sequence[str]) -> list[bytes]:
        began = time.perf_counter()
        try:
            return encode(texts)
        finally:
            took.append(time.perf_counter() - began)

    with mock.patch.object(embedder, "passages", timed_encode):
        yield took


def vectors(rounds: int, seed: int) -> Ratios:
    """The encoder's share of the time in which memories get their vectors."""
    chance, found = random.Random(seed), []
    embedder = choice.choose(EmbedderChoice("local"))
    assert embedder is not None
    embedder.passages(["loaded"])
    with _core(embedder) as core, _timed_passages(embedder) as took:
        for _ in range(min(rounds, _FEW)):
            for _ in range(_EMBEDDED):
                text = drafts.text(chance, 300)
                core.memories.remember(drafts.observation(chance, content=text), _BY)
            took.clear()
            began = time.perf_counter()
            core.indexer.catch_up(lambda: None)
            found.append(sum(took) / (time.perf_counter() - began))
    return {"vectors": found}


MEASURES: dict[str, Callable[[int, int], Ratios]] = {
    "hook": hook,
    "commands": commands,
    "bridge": bridge,
    "first-search": first_search,
    "search": searches,
    "captures": captures,
    "saves": saves,
    "import": imports,
    "vectors": vectors,
}
