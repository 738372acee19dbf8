"""The shape rules of the source tree, as one function over a source root.

`check` parses every file and returns what breaks a rule, so that the same code judges our tree and the small wrong
trees that prove each rule. Every message begins with file, line and rule.
"""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from tests.architecture.tree import PACKAGE, Module, Violation, docstrings, load, names_used, words

MAX_LINES = 600

# An import goes from a higher rank to a lower one; equal ranks are siblings and may not import each other.
RANKS: Mapping[str, int] = {
    "domain": 0,
    **dict.fromkeys(("store", "llm", "embed"), 1),
    "events": 2,
    **dict.fromkeys(("search", "jobs"), 3),
    "services": 4,
    # Measuring calls services, as a door does, and is no door.
    **dict.fromkeys(("surfaces", "measure"), 5),
    "app": 6,
    **dict.fromkeys(("cli", "__main__"), 7),
}
ENTRY_POINTS = {"app", "cli", "__main__"}
SHARED_SERVICES = {"memories", "history"}
SURFACE_KIT = "_kit"
# The hook and the wrapper live for milliseconds and cannot load settings and ids, and other people's programs load the
# client; one module each stands for both.
SURROUNDINGS = {"clients.hook.surroundings", "clients.codecli.surroundings", "client.surroundings"}
# Outside the layers: they speak to the server from another process.
OUTSIDE = {"clients", "client"}

SQL_LIBRARIES = {"sqlalchemy", "alembic", "psycopg", "psycopg_pool", "pysqlite3", "sqlite3"}
WEB_LIBRARIES = {"fastapi", "starlette", "uvicorn"}
# What reaches outside the process. The domain decides; it neither reads, writes, waits nor logs.
IO_LIBRARIES = {
    *("asyncio", "concurrent", "ftplib", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib", "select"),
    *("selectors", "shutil", "signal", "smtplib", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading"),
}
CLOCK_AND_IDS = {"time.time", "time.time_ns", "time.localtime", "time.gmtime", "uuid", "secrets", "random.SystemRandom"}
WALL_CLOCK = re.compile(r"^(datetime\.)?(datetime|date)\.(now|utcnow|today)$")
ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv"}

SQL_TEXT = re.compile(
    r"""^\s*(
        SELECT\s.+\sFROM\s | INSERT\s+(OR\s+\w+\s+)?INTO\s | UPDATE\s+\S+\s+SET\s | DELETE\s+FROM\s
      | (CREATE|ALTER|DROP)\s+(UNIQUE\s+|VIRTUAL\s+|TEMP\s+)?(TABLE|INDEX|VIEW|TRIGGER|ROLE|POLICY|DATABASE|EXTENSION)\b
      | WITH\s+(RECURSIVE\s+)?\w+\s+AS\s*\( | PRAGMA\s+\w | VACUUM\b | SET\s+LOCAL\s | BEGIN\s+IMMEDIATE\b
      | select\s+(\*|\w+(\s*,\s*\w+)*)\s+from\s+\w+\s*(;|where|order|limit|$)
      | insert\s+into\s+\S+\s*(\(|values) | update\s+\w+\s+set\s+\w+\s*= | delete\s+from\s+\w+\s*(;|where|$)
      | (create|alter|drop)\s+(table|index|view)\s
    )""",
    re.VERBOSE | re.DOTALL,
)

# Words that say nothing about what a thing owns. Handlers are functions; a class of that name hides which noun it is.
VAGUE = {"manager", "util", "utils", "helper", "helpers", "processor", "repository", "controller", "dao", "dto", "impl"}
VAGUE_IN_CLASSES = VAGUE | {"handler"}
VAGUE_LAST = {"data", "info"}
VAGUE_FIRST_IN_CLASSES = {"base", "abstract"}


def check(source: Path, tests: Path) -> list[Violation]:
    """Everything below `source` (the folder that holds the package) that breaks a rule; `tests` is the test root."""
    modules = load(source)
    found = [violation for module in modules for rule in MODULE_RULES for violation in rule(module)]
    found += [*cycles(modules), *incomplete_surfaces(modules, source, tests)]
    return sorted(set(found))


def layers(module: Module) -> Iterator[Violation]:
    """Imports run downward; settings and clients stand apart."""
    layer = module.layer
    if layer and layer not in {*RANKS, *OUTSIDE, "settings"}:
        yield module.breaks(1, "layer", f"{layer!r} is no known layer: give it a rank")
        return
    for each, rest in module.own_imports():
        if not rest or rest[0] == layer:
            continue
        target = rest[0]
        if target == "settings":
            if layer not in ENTRY_POINTS:
                yield module.breaks(each.line, "settings", f"{layer or PACKAGE} reads settings; receive values instead")
        elif layer in {*OUTSIDE, "settings"}:
            if target != "domain":
                yield module.breaks(each.line, layer, f"{layer} imports {target}; it may import domain only")
        elif target in OUTSIDE:
            if layer not in ENTRY_POINTS:
                yield module.breaks(each.line, "layer", f"{layer or PACKAGE} imports {target}, which stands apart")
        elif not layer:
            yield module.breaks(each.line, "layer", f"{PACKAGE} itself imports {target}: it must stay cheap to import")
        elif target in RANKS and RANKS[target] >= RANKS[layer]:
            kind = "its sibling" if RANKS[target] == RANKS[layer] else "upward to"
            yield module.breaks(each.line, "layer", f"{layer} imports {kind} {target}")


def surfaces_apart(module: Module) -> Iterator[Violation]:
    """A surface imports services, domain and the kit, never another surface and never what is below services."""
    if module.layer != "surfaces":
        return
    own = module.parts[1:2]
    for each, rest in module.own_imports():
        if not rest or rest[0] in {"services", "domain"}:
            continue
        if rest[0] != "surfaces":
            if RANKS.get(rest[0], -1) < RANKS["surfaces"] and rest[0] in RANKS:
                yield module.breaks(each.line, "surface", f"a surface imports {rest[0]}; call a service instead")
        elif rest[1:2] not in (own, [SURFACE_KIT], []):
            yield module.breaks(each.line, "surface", f"{'.'.join(module.parts[1:])} imports the surface {rest[1]}")


def services_apart(module: Module) -> Iterator[Violation]:
    """Services share the two writers and nothing else."""
    if module.layer != "services":
        return
    own = module.parts[1:2]
    for each, rest in module.own_imports():
        if rest[:1] == ["services"] and rest[1:2] != own and rest[1:2] and rest[1] not in SHARED_SERVICES:
            shared = " and ".join(sorted(SHARED_SERVICES))
            yield module.breaks(each.line, "services", f"imports the service {rest[1]}; siblings share {shared} only")


def engines_hidden(module: Module) -> Iterator[Violation]:
    """Only the store and the composition root name a concrete engine."""
    if module.layer in {"store", "app"}:
        return
    for each, rest in module.own_imports():
        if rest[:1] == ["store"] and rest[1:2] in (["sqlite"], ["postgres"]):
            yield module.breaks(each.line, "engine", f"names the engine {rest[1]}; only store and app do")


def domain_pure(module: Module) -> Iterator[Violation]:
    """The domain is values and rules on the standard library, without input or output."""
    if module.layer != "domain":
        return
    for each, head in module.foreign_imports():
        if head not in sys.stdlib_module_names:
            yield module.breaks(each.line, "domain", f"imports {head}; the domain uses the standard library only")
        elif head in IO_LIBRARIES:
            yield module.breaks(each.line, "domain", f"imports {head}; the domain does no input or output")


def absolute_imports(module: Module) -> Iterator[Violation]:
    """Imports are absolute, because that is how the layers are read."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield module.breaks(node.lineno, "absolute", "relative import; write the whole name")


def sql_in_store(module: Module) -> Iterator[Violation]:
    """No SQL outside the store: neither its libraries nor its text."""
    if module.layer == "store":
        return
    for each, head in module.foreign_imports():
        if head in SQL_LIBRARIES:
            yield module.breaks(each.line, "sql", f"imports {head}; SQL belongs to store")
    prose = docstrings(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            if SQL_TEXT.match(node.value):
                yield module.breaks(node.lineno, "sql", f"{node.value.strip()[:40]!r} looks like SQL, which is store's")


def web_at_the_edge(module: Module) -> Iterator[Violation]:
    """The web framework is touched by surfaces and by the command that serves."""
    if module.layer in {"surfaces", "cli"}:
        return
    for each, head in module.foreign_imports():
        if head in WEB_LIBRARIES:
            yield module.breaks(each.line, "web", f"imports {head}; only surfaces and cli may")


def environment_in_settings(module: Module) -> Iterator[Violation]:
    """The environment is read in one place."""
    if module.layer == "settings" or module.name in SURROUNDINGS:
        return
    for line, name in names_used(module):
        if name in ENVIRONMENT:
            yield module.breaks(line, "environment", f"uses {name}; settings reads the environment, others get values")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.keyword) and node.arg in {"envvar", "auto_envvar_prefix", "show_envvar"}:
            yield module.breaks(node.lineno, "environment", f"{node.arg}= reads the environment; settings does that")


def clock_in_ids(module: Module) -> Iterator[Violation]:
    """Time and identity come from one place."""
    if module.name in {"domain.ids", *SURROUNDINGS}:
        return
    for line, name in names_used(module):
        if name in CLOCK_AND_IDS or name.split(".")[0] in CLOCK_AND_IDS or WALL_CLOCK.match(name):
            yield module.breaks(line, "clock", f"uses {name}; time and ids come from domain.ids")


def short_files(module: Module) -> Iterator[Violation]:
    """A file past the limit is two ideas."""
    if module.lines > MAX_LINES:
        yield module.breaks(MAX_LINES + 1, "size", f"{module.lines} lines, at most {MAX_LINES}: split it by idea")


def introduced(module: Module) -> Iterator[Violation]:
    """Every module says what it owns."""
    if not (ast.get_docstring(module.tree) or "").strip():
        yield module.breaks(1, "docstring", "no docstring; say what the module owns, keeps and leaves out")


def plain_names(module: Module) -> Iterator[Violation]:
    """Names say what a thing owns."""
    for word in words(module.parts[-1]):
        if word in VAGUE:
            yield module.breaks(1, "name", f"module {module.parts[-1]!r} is named {word!r}; name what it owns")
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        parts = words(node.name)
        is_class = isinstance(node, ast.ClassDef)
        vague = [word for word in parts if word in (VAGUE_IN_CLASSES if is_class else VAGUE)]
        vague += [word for word in parts[-1:] if word in VAGUE_LAST]
        vague += [word for word in parts[:1] if is_class and word in VAGUE_FIRST_IN_CLASSES]
        if vague:
            yield module.breaks(node.lineno, "name", f"{node.name}: {vague[0]!r} says nothing; name what it owns")


MODULE_RULES: tuple[Callable[[Module], Iterable[Violation]], ...] = (
    layers,
    surfaces_apart,
    services_apart,
    engines_hidden,
    domain_pure,
    absolute_imports,
    sql_in_store,
    web_at_the_edge,
    environment_in_settings,
    clock_in_ids,
    short_files,
    introduced,
    plain_names,
)


def cycles(modules: list[Module]) -> Iterator[Violation]:
    """No two modules import each other, directly or through others; reports one cycle at a time."""
    by_name = {f"{PACKAGE}.{module.name}".rstrip("."): module for module in modules}
    graph = {
        name: {each.target for each in module.imports if each.target in by_name and each.target != name}
        for name, module in by_name.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        ring: list[str] = error.args[1][::-1]  # given from imported to importer
        line = next(each.line for each in by_name[ring[0]].imports if each.target == ring[1])
        yield by_name[ring[0]].breaks(line, "cycle", " imports ".join(ring))


def incomplete_surfaces(modules: list[Module], source: Path, tests: Path) -> Iterator[Violation]:
    """Every surface exports SURFACE, names the kinds it can see and has contract tests."""
    by_name = {module.name: module for module in modules}
    root = source / PACKAGE / "surfaces"
    for folder in sorted(path for path in root.glob("*") if path.is_dir() and not path.name.startswith(("_", "."))):
        package = by_name.get(f"surfaces.{folder.name}")
        if package is None:
            if any(folder.rglob("*.py")):
                yield Violation(folder, 1, "surface", "has no __init__.py")
            continue
        if not _binds(package.tree, "SURFACE"):
            yield package.breaks(1, "surface", "does not export SURFACE")
        inside = [module for module in modules if f"{module.name}.".startswith(f"surfaces.{folder.name}.")]
        if not any(_names_kinds(module.tree) for module in inside):
            yield package.breaks(1, "surface", "SURFACE does not name the kinds it can see (kinds=…)")
        if not any((tests / "contracts" / folder.name).rglob("test_*.py")):
            yield package.breaks(1, "surface", f"no tests in tests/contracts/{folder.name}")


def _binds(tree: ast.Module, name: str) -> bool:
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets) if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                return True
            case ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr()) if bound == name:
                return True
            case ast.ImportFrom(names=names) if any((alias.asname or alias.name) == name for alias in names):
                return True
    return False


def _names_kinds(tree: ast.Module) -> bool:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="SURFACE")], value=ast.Call(keywords=keywords)):
                return any(keyword.arg == "kinds" for keyword in keywords)
            case ast.AnnAssign(target=ast.Name(id="SURFACE"), value=ast.Call(keywords=keywords)):
                return any(keyword.arg == "kinds" for keyword in keywords)
    return False
