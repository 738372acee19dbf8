"""Our tree keeps its shape, and each rule is shown to fail on a tree that breaks it in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rules import MAX_LINES, MODULE_RULES, check
from tests.architecture.tree import load

ROOT = Path(__file__).parents[2]

# A small tree that keeps every rule; each planted violation changes or adds one file.
SOUND = {
    "__init__.py": '"""The package."""\n\n__version__ = "0"\n',
    "app.py": '"""Root."""\nfrom codexmem.settings import load\nfrom codexmem.store.sqlite import engine\n'
    "from codexmem.surfaces.door import SURFACE\n",
    "settings.py": '"""Settings."""\nimport os\nimport codexmem.domain.memory\nHOME = os.environ.get("HOME")\n',
    "cli/__init__.py": '"""Commands."""\nimport uvicorn\nfrom codexmem import __version__, app\n',
    "clients/__init__.py": '"""Programs apart."""\nimport os\nfrom codexmem.domain.memory import Memory\n',
    "clients/hook/__init__.py": '"""The hook."""\n',
    "clients/hook/surroundings.py": '"""Machine."""\nimport os\nimport time\nX = os.environ, time.time_ns()\n',
    "client/__init__.py": '"""The library."""\nfrom codexmem.domain.memory import Memory\n',
    "client/surroundings.py": '"""Machine."""\nimport os\nX = os.environ\n',
    "clients/codecli/__init__.py": '"""The wrapper."""\n',
    "clients/codecli/surroundings.py": '"""Machine."""\nimport os\nimport time\nX = os.environ, time.time_ns()\n',
    "domain/__init__.py": '"""Values."""\n',
    "domain/ids.py": '"""Clock and ids."""\nimport time\nimport uuid\nNOW = time.time_ns()\n',
    "domain/memory.py": '"""Memory."""\nfrom dataclasses import dataclass\nfrom datetime import UTC, datetime\n\n\n'
    "def at(ms: int) -> datetime:\n    return datetime.fromtimestamp(ms / 1000, UTC)\n",
    "store/__init__.py": '"""Tables."""\n',
    "store/jobs.py": '"""SELECT seq FROM jobs is prose here."""\nimport sqlalchemy\nSQL = "SELECT seq FROM jobs"\n',
    "store/sqlite/__init__.py": '"""SQLite."""\n',
    "store/sqlite/engine.py": '"""Engine."""\nimport pysqlite3\n',
    "llm/__init__.py": '"""Models."""\n',
    "events/__init__.py": '"""Log."""\nfrom codexmem.store import jobs\n',
    "search/__init__.py": '"""Search."""\nimport time\nT = time.monotonic()\n',
    "jobs/__init__.py": '"""Queue."""\nimport codexmem.events\n',
    "services/__init__.py": '"""Verbs."""\n',
    "services/memories.py": '"""Writes."""\nfrom codexmem.jobs import queue\n',
    "services/recall.py": '"""Reads."""\nimport codexmem.services.memories\nHINT = "select a project from the list"\n',
    "services/lab/__init__.py": '"""Lab."""\n',
    "services/lab/runs.py": '"""Runs."""\nfrom codexmem.services import lab\n',
    "measure/__init__.py": '"""Measuring."""\nfrom codexmem.services import recall\n',
    "surfaces/__init__.py": '"""Doors."""\n',
    "surfaces/_kit/__init__.py": '"""Kit."""\nimport fastapi\n',
    "surfaces/door/__init__.py": '"""A door."""\nfrom codexmem.surfaces.door.routes import SURFACE\n',
    "surfaces/door/routes.py": '"""Routes."""\nfrom codexmem.services import recall\n'
    "from codexmem.surfaces import _kit\nSURFACE = _kit.Surface(kinds=(1,))\n",
    "surfaces/window/__init__.py": '"""Another."""\nSURFACE: object = dict(kinds=())\n',
}
CONTRACT_TESTS = ("door", "window")

# rule, file, its text; the line that breaks the rule is the last one unless the rule is about the whole file.
PLANTED = {
    "upward import": ("layer", "store/a.py", '"""A."""\nfrom codexmem.services import memories\n'),
    "upward import inside a function": ("layer", "domain/a.py", '"""A."""\n\n\ndef f():\n    import codexmem.store\n'),
    "upward import by name": (
        "layer",
        "events/a.py",
        '"""A."""\nfrom importlib import import_module\nimport_module("codexmem.jobs")\n',
    ),
    "sibling layers": ("layer", "search/a.py", '"""A."""\nfrom codexmem.jobs import queue\n'),
    "sibling layers at the bottom": ("layer", "llm/a.py", '"""A."""\nimport codexmem.store.jobs\n'),
    "measuring goes through a door": ("layer", "measure/a.py", '"""A."""\nimport codexmem.surfaces.door\n'),
    "app imports cli": ("layer", "app.py", '"""A."""\nimport codexmem.cli.serve\n'),
    "package imports a layer": ("layer", "__init__.py", '"""A."""\nfrom codexmem.store import jobs\n'),
    "unknown layer": ("layer", "misc/__init__.py", '"""A."""\n'),
    "a layer imports clients": ("layer", "services/a.py", '"""A."""\nimport codexmem.clients\n'),
    "service reads settings": ("settings", "services/a.py", '"""A."""\nfrom codexmem import settings\n'),
    "settings imports store": ("settings", "settings.py", '"""A."""\nimport codexmem.store\n'),
    "a layer imports the library": ("layer", "services/a.py", '"""A."""\nimport codexmem.client\n'),
    "library imports the tools' clients": ("client", "client/a.py", '"""A."""\nimport codexmem.clients.hook\n'),
    "client imports service": ("clients", "clients/a.py", '"""A."""\nfrom codexmem.services import recall\n'),
    "surface imports surface": ("surface", "surfaces/door/a.py", '"""A."""\nimport codexmem.surfaces.window\n'),
    "kit imports surface": ("surface", "surfaces/_kit/a.py", '"""A."""\nfrom codexmem.surfaces import window\n'),
    "surface imports store": ("surface", "surfaces/door/a.py", '"""A."""\nfrom codexmem.store import jobs\n'),
    "surface without SURFACE": ("surface", "surfaces/window/__init__.py", '"""A."""\n'),
    "surface without kinds": ("surface", "surfaces/window/__init__.py", '"""A."""\nSURFACE = dict()\n'),
    "surface without contract tests": ("surface", "surfaces/hatch/__init__.py", '"""A."""\nSURFACE = dict(kinds=())\n'),
    "service imports service": ("services", "services/a.py", '"""A."""\nfrom codexmem.services.recall import x\n'),
    "service names an engine": ("engine", "services/a.py", '"""A."""\nfrom codexmem.store.sqlite import engine\n'),
    "domain uses a library": ("domain", "domain/a.py", '"""A."""\nimport pydantic\n'),
    "domain does input or output": ("domain", "domain/a.py", '"""A."""\nfrom pathlib import Path\n'),
    "relative import": ("absolute", "store/a.py", '"""A."""\nfrom . import jobs\n'),
    "two-way import": ("cycle", "store/a.py", '"""A."""\nfrom codexmem.store import b\n'),
    "SQL library outside store": ("sql", "jobs/a.py", '"""A."""\nfrom sqlalchemy import select\n'),
    "SQL text outside store": ("sql", "services/a.py", '"""A."""\nQ = f"DELETE FROM {1}"\n'),
    "lower-case SQL text": ("sql", "services/a.py", '"""A."""\nQ = "select seq, id from memories where seq = 1"\n'),
    "web framework below surfaces": ("web", "services/a.py", '"""A."""\nfrom starlette.requests import Request\n'),
    "environment": ("environment", "app.py", '"""A."""\nimport os\nX = os.environ["X"]\n'),
    "environment by import": ("environment", "store/a.py", '"""A."""\nfrom os import getenv as g\n'),
    "environment by option": (
        "environment",
        "cli/a.py",
        '"""A."""\nimport click\nO = click.option("--x", envvar="X")\n',
    ),
    "environment in the hook": ("environment", "clients/hook/a.py", '"""A."""\nimport os\nX = os.environ["X"]\n'),
    "environment in the wrapper": ("environment", "clients/codecli/a.py", '"""A."""\nfrom os import environ\n'),
    "clock in the wrapper": ("clock", "clients/codecli/a.py", '"""A."""\nimport time\nX = time.time()\n'),
    "clock in the hook": ("clock", "clients/hook/a.py", '"""A."""\nfrom time import time_ns\n'),
    "clock": ("clock", "store/a.py", '"""A."""\nimport time as t\nX = t.time()\n'),
    "clock by import": ("clock", "jobs/a.py", '"""A."""\nfrom time import time_ns\n'),
    "wall clock": ("clock", "domain/a.py", '"""A."""\nimport datetime as dt\nX = dt.datetime.now(dt.UTC)\n'),
    "ids": ("clock", "services/a.py", '"""A."""\nfrom uuid import uuid4\n'),
    "secrets": ("clock", "surfaces/_kit/a.py", '"""A."""\nimport secrets\n'),
    "long file": ("size", "store/a.py", '"""A."""\n' + "X = 1\n" * MAX_LINES),
    "no docstring": ("docstring", "store/a.py", "X = 1\n"),
    "empty module": ("docstring", "store/a.py", ""),
    "vague module": ("name", "store/utils.py", '"""A."""\n'),
    "vague class": ("name", "store/a.py", '"""A."""\n\n\nclass JobManager: ...\n'),
    "handler class": ("name", "jobs/a.py", '"""A."""\n\n\nclass EventHandler: ...\n'),
    "base class": ("name", "store/a.py", '"""A."""\n\n\nclass BaseStore: ...\n'),
    "vague ending": ("name", "store/a.py", '"""A."""\n\n\nclass SessionInfo: ...\n'),
    "vague function": ("name", "store/a.py", '"""A."""\n\n\ndef load_data(): ...\n'),
}
WHOLE_FILE = {"unknown layer", "surface without kinds", "surface without contract tests"}


def plant(root: Path, files: dict[str, str]) -> tuple[Path, Path]:
    source, tests = root / "src", root / "tests"
    for name, text in files.items():
        path = source / "codexmem" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in CONTRACT_TESTS:
        folder = tests / "contracts" / name
        folder.mkdir(parents=True)
        (folder / "test_routes.py").write_text("")
    return source, tests


def test_our_tree_keeps_every_rule() -> None:
    violations = check(ROOT / "src", ROOT / "tests")
    assert not violations, "\n" + "\n".join(map(str, violations))


def test_the_sound_tree_keeps_every_rule(tmp_path: Path) -> None:
    assert [str(found) for found in check(*plant(tmp_path, SOUND))] == []


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_violation_is_found(case: str, tmp_path: Path) -> None:
    rule, name, text = PLANTED[case]
    source, tests = plant(tmp_path, {**SOUND, name: text, **_other_half(case)})
    found = check(source, tests)
    assert {violation.rule for violation in found} == {rule}, [str(violation) for violation in found]
    first = found[0]
    assert first.path == source / "codexmem" / name
    line = 1 if case in WHOLE_FILE else max(1, len(text.splitlines()))
    assert str(first).startswith(f"{first.path}:{line} {rule}: ")


def test_every_rule_has_a_planted_violation(tmp_path: Path) -> None:
    proven = set()
    for number, (case, (_, name, text)) in enumerate(PLANTED.items()):
        source, _ = plant(tmp_path / str(number), {name: text, **_other_half(case)})
        modules = load(source)
        proven |= {rule for rule in MODULE_RULES for module in modules if any(rule(module))}
    assert proven == set(MODULE_RULES), "plant a violation for each new rule"


def _other_half(case: str) -> dict[str, str]:
    return {"store/b.py": '"""B."""\nimport codexmem.store.a\n'} if case == "two-way import" else {}
