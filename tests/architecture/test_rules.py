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
    "app/__init__.py": '"""Root."""\nfrom codexmem.settings import load\n'
    "from codexmem.kernel.store.sqlite import engine\nfrom codexmem.qa import feature, http\n",
    "settings.py": '"""Settings."""\nimport os\nimport codexmem.kernel.model.memory\nHOME = os.environ.get("HOME")\n',
    "cli.py": '"""Commands."""\nimport uvicorn\nfrom codexmem import __version__, app\nfrom codexmem.qa import cli\n',
    "console/__init__.py": '"""Frame."""\nfrom codexmem import app, settings\n',
    "hook/__init__.py": '"""The hook."""\nfrom codexmem.kernel.model.memory import at\nimport codexmem.agents.acme\n',
    "hook/surroundings.py": '"""Machine."""\nimport os\nimport time\nX = os.environ, time.time_ns()\n',
    "client/__init__.py": '"""The library."""\nfrom codexmem.kernel.model.memory import at\n',
    "agents/__init__.py": '"""Agents."""\n',
    "agents/acme.py": '"""An agent."""\nfrom codexmem.kernel.model.memory import at\n\n\n'
    "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from pathlib import Path\n\n\n"
    "def targets():\n    import json\n    import codexmem.agents.install.entries\n",
    "agents/install/__init__.py": '"""Its files."""\nimport codexmem.client\nimport codexmem.hook\n',
    "agents/install/entries.py": '"""Entries."""\nimport json\n',
    "codecli/__init__.py": '"""The wrapper."""\nfrom codexmem.qa import model\nimport codexmem.agents\n',
    "codecli/surroundings.py": '"""Machine."""\nimport os\nimport time\nX = os.environ, time.time_ns()\n',
    "codecli/cli.py": '"""Its commands."""\nimport codexmem.qa.cli\nimport codexmem.console\n',
    "kernel/__init__.py": '"""What rooms stand on."""\n',
    "kernel/model/__init__.py": '"""Values."""\n',
    "kernel/model/ids.py": '"""Clock and ids."""\nimport time\nimport uuid\nNOW = time.time_ns()\n',
    "kernel/model/memory.py": '"""Memory."""\nfrom datetime import UTC, datetime\n\n\n'
    "def at(ms: int) -> datetime:\n    return datetime.fromtimestamp(ms / 1000, UTC)\n",
    "kernel/store/__init__.py": '"""Tables."""\n',
    "kernel/store/jobs.py": '"""SELECT seq FROM jobs is prose."""\nimport sqlalchemy\nQ = "SELECT seq FROM jobs"\n',
    "kernel/store/sqlite/__init__.py": '"""SQLite."""\n',
    "kernel/store/sqlite/engine.py": '"""Engine."""\nimport pysqlite3\n',
    "kernel/llm/__init__.py": '"""Models."""\n',
    "kernel/events/__init__.py": '"""Log."""\nfrom codexmem.kernel.store import jobs\n',
    "kernel/search/__init__.py": '"""Search."""\nimport time\nT = time.monotonic()\n',
    "kernel/jobs/__init__.py": '"""Queue."""\nimport codexmem.kernel.events\n',
    "kernel/services/__init__.py": '"""Verbs."""\nHINT = "select a project from the list"\n',
    "kernel/services/memories.py": '"""Writes."""\nfrom codexmem.kernel.jobs import queue\n',
    "http/__init__.py": '"""HTTP."""\nimport fastapi\nfrom codexmem.kernel.services import memories\n',
    "qa/__init__.py": '"""A room."""\n',
    "qa/model.py": '"""Its values."""\nfrom codexmem.kernel.model import memory\n',
    "qa/store.py": '"""Its SQL."""\nimport sqlalchemy\nfrom codexmem.qa import model\n',
    "qa/service.py": '"""Its verbs."""\nfrom codexmem.qa import store\nfrom codexmem.kernel.services import memories\n',
    "qa/wire.py": '"""Its spelling."""\nfrom codexmem.qa import service\n',
    "qa/http.py": '"""Its routes."""\nimport fastapi\nfrom codexmem.qa import service, wire\n'
    'SURFACE = dict(name="qa", kinds=(1,))\n',
    "qa/feature.py": '"""The room."""\nfrom codexmem.qa import http\nfrom codexmem.settings import Settings\n',
    "qa/cli.py": '"""Its commands."""\nfrom codexmem import app, console\nfrom codexmem.qa import model\n',
    "notes/__init__.py": '"""Another room."""\nSURFACE: object = dict(name="notes", kinds=())\n',
}
CONTRACT_TESTS = ("qa", "notes")

# rule, file, its text; the line that breaks the rule is the last one unless the rule is about the whole file.
PLANTED = {
    "kernel imports a room": ("direction", "kernel/store/a.py", '"""A."""\nfrom codexmem.qa import service\n'),
    "kernel imports http": ("direction", "kernel/services/a.py", '"""A."""\nimport codexmem.http\n'),
    "room imports room": ("direction", "qa/a.py", '"""A."""\nfrom codexmem import notes\n'),
    "room imports room late": (
        "direction",
        "qa/a.py",
        '"""A."""\n\n\ndef f():\n    import codexmem.notes\n',
    ),
    "room imports app": ("direction", "qa/a.py", '"""A."""\nimport codexmem.app\n'),
    "http imports a room": ("direction", "http/a.py", '"""A."""\nfrom codexmem.qa import service\n'),
    "client imports http": ("direction", "client/a.py", '"""A."""\nimport codexmem.http\n'),
    "client imports the hook's user": ("direction", "client/a.py", '"""A."""\nimport codexmem.agents.install\n'),
    "hook imports what installs": ("direction", "hook/a.py", '"""A."""\nimport codexmem.agents.install.entries\n'),
    "agent imports the hook": (
        "direction",
        "agents/a.py",
        '"""A."""\n\n\ndef f():\n    import codexmem.hook.surroundings\n',
    ),
    "agent imports what installs at once": (
        "agent",
        "agents/a.py",
        '"""A."""\nfrom codexmem.agents.install import entries\n',
    ),
    "agent imports a library at once": ("agent", "agents/a.py", '"""A."""\nfrom pathlib import Path\n'),
    "agent imports a library at once, inside": ("agent", "agents/a.py", '"""A."""\n\n\nclass A:\n    import json\n'),
    "app imports cli": ("direction", "app/a.py", '"""A."""\nimport codexmem.cli\n'),
    "room imports its console": ("direction", "qa/a.py", '"""A."""\nimport codexmem.console\n'),
    "package imports a folder": ("direction", "__init__.py", '"""A."""\nfrom codexmem.kernel.store import jobs\n'),
    "unknown folder": ("direction", "misc/__init__.py", '"""A."""\n'),
    "room reads settings": ("settings", "qa/a.py", '"""A."""\nfrom codexmem import settings\n'),
    "settings imports store": ("outside", "settings.py", '"""A."""\nimport codexmem.kernel.store\n'),
    "settings imports a room": ("settings", "settings.py", '"""A."""\nimport codexmem.qa.model\n'),
    "hook imports the store": ("outside", "hook/a.py", '"""A."""\nimport codexmem.kernel.store.jobs\n'),
    "client imports a service": ("outside", "client/a.py", '"""A."""\nfrom codexmem.kernel.services import memories\n'),
    "upward in the kernel": (
        "kernel",
        "kernel/store/a.py",
        '"""A."""\nfrom codexmem.kernel.services import memories\n',
    ),
    "upward in the kernel by name": (
        "kernel",
        "kernel/events/a.py",
        '"""A."""\nfrom importlib import import_module\nimport_module("codexmem.kernel.jobs")\n',
    ),
    "siblings in the kernel": ("kernel", "kernel/search/a.py", '"""A."""\nfrom codexmem.kernel.jobs import queue\n'),
    "unknown folder of the kernel": ("kernel", "kernel/misc/__init__.py", '"""A."""\n'),
    "service imports wire": ("room", "qa/asking.py", '"""A."""\nfrom codexmem.qa import wire\n'),
    "store imports service": ("room", "qa/old_store.py", '"""A."""\nfrom codexmem.qa import service\n'),
    "routes import commands": ("room", "notes/http.py", '"""A."""\nfrom codexmem.notes import cli\n'),
    "routes import the store": ("surface", "qa/http.py", '"""A."""\nfrom codexmem.qa import store\n'),
    "routes import the kernel's store": ("surface", "qa/http.py", '"""A."""\nfrom codexmem.kernel.store import jobs\n'),
    "surface without kinds": ("surface", "notes/__init__.py", '"""A."""\nSURFACE = dict(name="notes")\n'),
    "surface without contract tests": (
        "surface",
        "notes/__init__.py",
        '"""A."""\nSURFACE = dict(name="x", kinds=())\n',
    ),
    "room names an engine": ("engine", "qa/a.py", '"""A."""\nfrom codexmem.kernel.store.sqlite import engine\n'),
    "model uses a library": ("model", "kernel/model/a.py", '"""A."""\nimport pydantic\n'),
    "model does input or output": ("model", "kernel/model/a.py", '"""A."""\nfrom pathlib import Path\n'),
    "relative import": ("absolute", "kernel/store/a.py", '"""A."""\nfrom . import jobs\n'),
    "two-way import": ("cycle", "kernel/store/a.py", '"""A."""\nfrom codexmem.kernel.store import b\n'),
    "SQL library outside stores": ("sql", "kernel/jobs/a.py", '"""A."""\nfrom sqlalchemy import select\n'),
    "SQL text outside stores": ("sql", "qa/a.py", '"""A."""\nQ = f"DELETE FROM {1}"\n'),
    "lower-case SQL text": ("sql", "qa/a.py", '"""A."""\nQ = "select seq, id from memories where seq = 1"\n'),
    "web framework in a service": ("web", "qa/service.py", '"""A."""\nfrom starlette.requests import Request\n'),
    "environment": ("environment", "app/a.py", '"""A."""\nimport os\nX = os.environ["X"]\n'),
    "environment by import": ("environment", "kernel/store/a.py", '"""A."""\nfrom os import getenv as g\n'),
    "environment by option": (
        "environment",
        "qa/cli.py",
        '"""A."""\nimport click\nO = click.option("--x", envvar="X")\n',
    ),
    "environment in the hook": ("environment", "hook/a.py", '"""A."""\nimport os\nX = os.environ["X"]\n'),
    "environment in the client": ("environment", "client/a.py", '"""A."""\nfrom os import environ\n'),
    "environment in the wrapper": ("environment", "codecli/a.py", '"""A."""\nfrom os import environ\n'),
    "clock in the wrapper": ("clock", "codecli/a.py", '"""A."""\nimport time\nX = time.time()\n'),
    "clock in the hook": ("clock", "hook/a.py", '"""A."""\nfrom time import time_ns\n'),
    "clock": ("clock", "kernel/store/a.py", '"""A."""\nimport time as t\nX = t.time()\n'),
    "clock by import": ("clock", "kernel/jobs/a.py", '"""A."""\nfrom time import time_ns\n'),
    "wall clock": ("clock", "kernel/model/a.py", '"""A."""\nimport datetime as dt\nX = dt.datetime.now(dt.UTC)\n'),
    "ids": ("clock", "qa/a.py", '"""A."""\nfrom uuid import uuid4\n'),
    "secrets": ("clock", "http/a.py", '"""A."""\nimport secrets\n'),
    "long file": ("size", "qa/a.py", '"""A."""\n' + "X = 1\n" * MAX_LINES),
    "short file of one neighbour": ("sliver", "qa/a.py", '"""A."""\n'),
    "no docstring": ("docstring", "qa/a.py", "X = 1\n"),
    "empty module": ("docstring", "qa/a.py", ""),
    "vague module": ("name", "qa/utils.py", '"""A."""\n'),
    "vague class": ("name", "qa/a.py", '"""A."""\n\n\nclass JobManager: ...\n'),
    "handler class": ("name", "qa/a.py", '"""A."""\n\n\nclass EventHandler: ...\n'),
    "base class": ("name", "qa/a.py", '"""A."""\n\n\nclass BaseStore: ...\n'),
    "vague ending": ("name", "qa/a.py", '"""A."""\n\n\nclass SessionInfo: ...\n'),
    "vague function": ("name", "qa/a.py", '"""A."""\n\n\ndef load_data(): ...\n'),
}
WHOLE_FILE = {"unknown folder", "unknown folder of the kernel"}


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


@pytest.mark.slow
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
    if case == "short file of one neighbour":
        return {"qa/b.py": '"""B."""\nfrom codexmem.qa import a\n'}
    if case == "routes import commands":
        return {"notes/cli.py": '"""Commands."""\n'}
    return {"kernel/store/b.py": '"""B."""\nimport codexmem.kernel.store.a\n'} if case == "two-way import" else {}
