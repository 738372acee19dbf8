"""Other memories side by side with ours: the same texts, questions and encoder on one machine, one after the other.

    python -m bench.others --environments ~/others --data DIR
    python -m bench.others --environments ~/others --data DIR --systems codexmem chroma --texts 500

`--environments` holds one virtual environment for each of the others, by its name: `chroma` (chromadb), `langgraph`
(langgraph-checkpoint-sqlite), `mem0` (mem0ai, openai, qdrant-client), `mempalace` (mempalace) and `basic-memory`
(basic-memory, on Python 3.12 or newer). What is not there is left out, and said. Texts are messages of coding sessions
in English and Chinese, at most 500 characters of each, and each is saved by itself; questions are those whose answer is
known to stand in certain messages. *Found*: one of these is among the first ten that come back.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench import report, worlds
from bench.others import encoder, inside
from bench.others.tools import ToolServer
from tests._support.server import Server, environment

COUNT = 10
SUITES = ("coding", "coding-zh")
PROJECT = "shop"
_NUMBER = re.compile(r"#(\d+)")
_PLACE = re.compile(r"\bm(\d+)\b")
_EVERY_S = 0.2

Figures = dict[str, Any]
Job = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--environments", type=Path, required=True, help="the folder with the others' environments")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the public sets")
    parser.add_argument("--texts", type=int, default=10_000, help="at most")
    parser.add_argument("--systems", nargs="+", choices=RUNS, default=list(RUNS))
    options = parser.parse_args(argv)
    texts, asked = texts_of(options.data, options.texts)
    figures: dict[str, Figures | str] = {}
    with encoder.served() as (address, dimension):
        job = {"texts": texts, "questions": list(asked), "count": COUNT,
               "encoder": address, "dimension": dimension}  # fmt: skip
        for name in options.systems:
            python = options.environments / name.partition(" ")[0] / "bin" / "python"
            if not name.startswith("codexmem") and not python.exists():
                figures[name] = f"not run: there is no {python}"
                continue
            with tempfile.TemporaryDirectory() as folder:
                ran = RUNS[name]({**job, "folder": folder}, python)
                ran["disk"] = _size(Path(folder))  # when the program has ended
            figures[name] = figures_of(ran, list(asked.values()))
            print(f"{name}: {figures[name]}", file=sys.stderr, flush=True)
    document = {"texts": len(texts), "questions": len(asked), "systems": figures}
    return report.conclude("others", document, _table(document), kept=True, as_json=options.json)


def texts_of(data: Path, most: int) -> tuple[list[str], dict[str, set[int]]]:
    """What is saved, and the questions with the places of what answers them."""
    texts: list[str] = []
    asked: dict[str, set[int]] = {}
    for world in worlds.read(data):
        if world.suite in SUITES and len(texts) < most:
            asked |= {put.text: {len(texts) + place for place in put.gold} for put in world.questions if put.gold}
            texts += [kept.text for kept in world.memories]
    return texts[:most], {question: gold for question, gold in asked.items() if min(gold) < most}


def figures_of(ran: Figures, gold: Sequence[set[int]]) -> Figures:
    """What one of them did, in the units of the table."""
    saved, asked = ran["saved_s"], ran["asked_s"]
    hits = sum(bool(right & set(found[:COUNT])) for right, found in zip(gold, ran["found"], strict=True))
    return {
        "saved_a_second": round(len(saved) / ran["whole_s"], 1),
        "save_p50_ms": round(1_000 * report.percentile(saved, 0.5), 2),
        "search_p50_ms": round(1_000 * report.percentile(asked, 0.5), 2),
        "search_p95_ms": round(1_000 * report.percentile(asked, 0.95), 2),
        "found": round(hits / len(gold), 3),
        "disk_bytes": round(ran["disk"] / len(saved)),
        "memory_mb": round(ran["memory"] / 1_048_576),
    }


def _table(document: Mapping[str, Any]) -> str:
    lines = [f"{document['texts']} texts, {document['questions']} questions"]
    for name, of in document["systems"].items():
        said = of if isinstance(of, str) else ", ".join(f"{key} {value}" for key, value in of.items())
        lines.append(f"{name}: {said}")
    return "\n".join(lines)


def _library(name: str) -> Callable[[Job, Path], Figures]:
    """A library, in the environment that has it."""

    def run(job: Job, python: Path) -> Figures:
        folder = Path(job["folder"])
        place = folder.with_suffix(".json")
        place.write_text(json.dumps(job), encoding="utf-8")
        environ = {**os.environ, "HOME": str(folder), "MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False"}
        environ.pop("PYTHONPATH", None)
        process = subprocess.Popen([python, inside.__file__, name, str(place)], env=environ, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)  # fmt: skip
        with peak_memory(process.pid) as most:
            out, problem = process.communicate()
        place.unlink()
        if process.returncode:
            raise RuntimeError(f"{name}: {problem[-2_000:]}")
        said: Figures = json.loads(out.splitlines()[-1])
        return {**said, "whole_s": sum(said["saved_s"]), "memory": most[0]}

    return run


def _basic_memory(job: Job, python: Path) -> Figures:
    folder = Path(job["folder"])
    # Its vectors need an interpreter whose SQLite loads extensions; without one it searches by words.
    asked = [str(python), "-c", "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"]
    by_meaning = subprocess.run(asked, check=False, capture_output=True).returncode == 0
    environ = {
        "HOME": str(folder), "PATH": os.environ["PATH"], "BASIC_MEMORY_HOME": str(folder / "notes"),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": str(by_meaning).lower(),
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER": "openai", "BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL": "shared",
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS": str(job["dimension"]),
        "OPENAI_BASE_URL": job["encoder"], "OPENAI_API_KEY": "none",
    }  # fmt: skip
    with ToolServer([python.with_name("basic-memory"), "mcp"], environ, folder) as server:

        def save(place: int, text: str) -> None:
            wish = {"title": f"m{place}", "content": text, "directory": "memories", "project": "main"}
            server.call("write_note", wish)

        def search(question: str, count: int) -> list[int]:
            wish = {"query": question, "page_size": count, "project": "main", "output_format": "json"}
            found = json.loads(server.call("search_notes", wish))
            return [int(number) for each in found["results"] for number in _PLACE.findall(each["title"])[:1]]

        return _driven(job, server.pid, save, search)


def _mempalace(job: Job, python: Path) -> Figures:
    folder = Path(job["folder"])
    settings = {"palace_path": str(folder / "palace"), "embedding_model": "openai-compat",
                "embedding_api_url": job["encoder"], "embedding_api_model": "shared"}  # fmt: skip
    (folder / ".mempalace").mkdir()
    (folder / ".mempalace" / "config.json").write_text(json.dumps(settings))
    environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    with ToolServer([python.with_name("mempalace-mcp")], environ, folder) as server:
        places = {text: place for place, text in reversed(list(enumerate(job["texts"])))}

        def save(place: int, text: str) -> None:
            # The same text once more is kept once there.
            server.call(
                "mempalace_add_drawer", {"wing": PROJECT, "room": "talk", "content": text, "source_file": f"m{place}"}
            )

        def search(question: str, count: int) -> list[int]:
            found = json.loads(server.call("mempalace_search", {"query": question, "limit": count}))
            return [places[each["text"]] for each in found["results"] if each["text"] in places]

        return _driven(job, server.pid, save, search)


def _codexmem_http(job: Job, _: Path) -> Figures:
    with (
        Server(Path(job["folder"]), settings={"CODEXMEM_EMBEDDER": "local"}) as server,
        closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection,
    ):
        numbers: dict[int, int] = {}

        def ask(method: str, path: str, body: Any = None) -> Any:
            said = None if body is None else json.dumps(body)
            connection.request(method, path, said, {"Content-Type": "application/json"})
            return json.loads(connection.getresponse().read())

        def save(place: int, text: str) -> None:
            numbers[ask("POST", "/api/memory/save", {"text": text, "project": PROJECT})["id"]] = place

        def search(question: str, count: int) -> list[int]:
            wish = urlencode({"query": question, "project": PROJECT, "limit": count, "format": "json"})
            return [numbers[each["id"]] for each in ask("GET", f"/api/search?{wish}")["observations"]]

        return _driven(job, server.pid, save, search, lambda: not ask("GET", "/api/ops/index-status")["waiting"])


def _codexmem_mcp(job: Job, _: Path) -> Figures:
    folder = Path(job["folder"])
    with Server(folder, settings={"CODEXMEM_EMBEDDER": "local"}) as server:
        command = [str(Path(sys.executable).with_name("codexmem")), "mcp", "--project", PROJECT]
        with ToolServer(command, environment(folder), folder) as tools:
            numbers: dict[int, int] = {}

            def save(place: int, text: str) -> None:
                said = tools.call("save_memory", {"text": text})
                numbers[int(_NUMBER.findall(said)[0])] = place

            def search(question: str, count: int) -> list[int]:
                said = tools.call("search", {"query": question, "limit": count})
                found = dict.fromkeys(int(number) for number in _NUMBER.findall(said))
                return [numbers[number] for number in found if number in numbers]

            def indexed() -> bool:
                return not server.request("GET", "/api/ops/index-status").json["waiting"]

            return _driven(job, server.pid, save, search, indexed)


RUNS: dict[str, Callable[[Job, Path], Figures]] = {
    "codexmem": _codexmem_http, "codexmem by MCP": _codexmem_mcp, "basic-memory": _basic_memory,
    "mempalace": _mempalace, **{name: _library(name) for name in inside.SYSTEMS},
}  # fmt: skip


def _driven(
    job: Job, pid: int, save: inside.Save, search: inside.Search, ready: Callable[[], bool] = lambda: True
) -> Figures:
    """As `inside` does it, with the time until everything can be found by its meaning."""
    began = time.perf_counter()
    with peak_memory(pid) as most:
        said = inside.drive({**job, "questions": []}, save, search)
        while not ready():
            time.sleep(0.1)
        whole = time.perf_counter() - began
        asked = inside.drive({**job, "texts": []}, save, search)
    return {**said, "asked_s": asked["asked_s"], "found": asked["found"], "whole_s": whole,
            "memory": most[0]}  # fmt: skip


@contextmanager
def peak_memory(pid: int) -> Iterator[list[int]]:
    """The most memory that a process and its children held, their parts of what they share."""
    most, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(_EVERY_S):
            most[0] = max(most[0], sum(map(_held, _tree(pid))))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def _tree(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(place.parent.name))
    found = [pid]
    for each in found:
        found += parents.get(each, [])
    return found


def _held(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _size(folder: Path) -> int:
    """Of what stays on the disk."""
    return sum(each.stat().st_blocks * 512 for each in folder.rglob("*") if each.is_file() and each.suffix != ".log")


if __name__ == "__main__":
    sys.exit(main())
