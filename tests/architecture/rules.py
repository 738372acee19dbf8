"""The shape rules of the source tree, as one function over a source root.

`check` parses every file and returns what breaks a rule, so that the same code judges our tree and the small wrong
trees that prove each rule. Every message begins with file, line and rule.
"""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.architecture.tree import PACKAGE, Module, Violation, docstrings, load, words

MAX_LINES = 600
# A file below this that one neighbour alone imports is a part of that neighbour.
SLIVER_LINES = 60

ROOMS = ("capture", "recall", "notes", "qa", "knowledge", "audit", "operations", "lab", "sync")
# An import goes from a higher rank to a lower one; equal ranks are siblings and may not import each other.
RANKS: Mapping[str, int] = {
    "kernel": 0,
    # What is known of each agent, which the hook reads.
    "agents": 1,
    "hook": 2,
    **dict.fromkeys(("http", "client"), 3),
    # Measuring calls the kernel's services, as a room does, and is no room.
    **dict.fromkeys(ROOMS, 5),
    # The list of rooms, which help reads without loading any.
    **dict.fromkeys(("codecli", "features"), 6),
    "app": 7,
    "console": 8,
    **dict.fromkeys(("cli", "__main__"), 11),
}
# How this copy was installed, which hints of every layer name; it imports nothing of ours.
INSTALLATION = "installation"
# What changes the files of agents uses the client and the hook; what runs them as models is the server's, with a rank
# above the hook's for the environment; what reads their transcripts is loaded by no hook either.
INSTALLING = 4
AGENT_WORK = (["agents", "install"], ["agents", "authors"], ["agents", "transcripts"])
AUTHORS = ["agents", "authors"]
# A room's commands stand above the application: they open it in process, or ask a server.
COMMANDS = 9
COMMAND_RANKS = {COMMANDS, COMMANDS + 1}  # the wrapper's use those of rooms
ENTRY_POINTS = {"app", "console", "cli", "__main__"}
# Inside the kernel, in the same way.
KERNEL_RANKS: Mapping[str, int] = {
    **dict.fromkeys(("model", "feature", "wire"), 0),
    **dict.fromkeys(("store", "llm", "embed"), 1),
    "events": 2,
    **dict.fromkeys(("search", "jobs"), 3),
    "services": 4,
    "opened": 5,
}
# Inside a room. What is named otherwise is the room's service.
ROOM_RANKS: Mapping[str, int] = {
    "model": 0,
    "store": 1,
    "service": 2,
    "wire": 3,
    **dict.fromkeys(("http", "mcp", "rpc", "tools"), 4),
    "feature": 5,
    "cli": 6,
}
# The hook and the wrapper live for milliseconds and cannot load settings and ids; one module each stands for both.
SURROUNDINGS = {"hook.surroundings", "codecli.surroundings"}
# They run in other processes than the server and know the kernel's values and rules alone.
OUTSIDE = {"hook", "client", "agents", "codecli", "settings"}
# What the client reads is what routes answer, so it knows the rooms' models of both.
WIRE = (["wire"], ["model"])

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
    found += [*cycles(modules), *slivers(modules), *incomplete_surfaces(modules, source, tests)]
    return sorted(set(found))


def rank_of(parts: Sequence[str]) -> int | None:
    """The rank of a module, None where its folder is unknown."""
    if parts[1:2] == ["cli"] and parts[0] in {*ROOMS, "codecli"}:
        return COMMANDS if parts[0] in ROOMS else COMMANDS + 1
    if parts[:2] in AGENT_WORK:
        return INSTALLING
    return RANKS.get(parts[0])


def directions(module: Module) -> Iterator[Violation]:
    """Imports run downward; rooms do not know each other; settings are read where a program begins."""
    own = module.parts
    if module.name in {"", INSTALLATION}:
        for each, rest in module.own_imports():
            if rest:
                yield module.breaks(each.line, "direction", f"{PACKAGE} imports {rest[0]}; it stays cheap to import")
        return
    rank = rank_of(own)
    if rank is None and own[0] != "settings":
        yield module.breaks(1, "direction", f"{own[0]!r} is no known folder: give it a rank")
        return
    for each, rest in module.own_imports():
        if not rest or rest[0] in {own[0], INSTALLATION}:
            continue
        target = rank_of(rest)
        if own[0] == "client" and rest[0] in {*ROOMS, "kernel"} and rest[1:2] in WIRE:
            continue
        if rest[0] == "settings":
            if own[0] not in ENTRY_POINTS and rank not in COMMAND_RANKS and not _builds(own):
                yield module.breaks(each.line, "settings", f"{own[0]} reads settings; receive values instead")
        elif own[0] in OUTSIDE and rank not in COMMAND_RANKS and rest[0] == "kernel":
            if rest[1:2] != ["model"] and (own[:2] != AUTHORS or rest[1:2] != ["llm"]):
                yield module.breaks(each.line, "outside", f"{own[0]} imports {'.'.join(rest)}, not kernel.model alone")
        elif own[0] == "settings":
            yield module.breaks(each.line, "settings", f"settings imports {rest[0]}; it may import kernel.model only")
        elif rank is not None and target is not None and target >= rank:
            kind = "its sibling" if target == rank else "upward to"
            yield module.breaks(each.line, "direction", f"{own[0]} imports {kind} {rest[0]}")


def _builds(parts: Sequence[str]) -> bool:
    """Whether a module puts a room together, from settings and the kernel's parts."""
    return parts[0] in ROOMS and parts[-1].split("_")[-1] == "feature"


def inside_kernel(module: Module) -> Iterator[Violation]:
    """Inside the kernel imports run downward too."""
    if module.layer != "kernel" or len(module.parts) < 2:
        return
    own = module.parts[1]
    if own not in KERNEL_RANKS:
        yield module.breaks(1, "kernel", f"{own!r} is no known folder of the kernel: give it a rank")
        return
    for each, rest in module.own_imports():
        if rest[:1] == ["kernel"] and len(rest) > 1 and rest[1] != own and KERNEL_RANKS[rest[1]] >= KERNEL_RANKS[own]:
            kind = "its sibling" if KERNEL_RANKS[rest[1]] == KERNEL_RANKS[own] else "upward to"
            yield module.breaks(each.line, "kernel", f"{own} imports {kind} {rest[1]}")


def inside_room(module: Module) -> Iterator[Violation]:
    """Inside a room: model, store, service, wire, then what speaks to the outside, and last what puts it together."""
    if module.layer not in ROOMS:
        return
    own = _room_rank(module.parts)
    for each, rest in module.own_imports():
        if rest[:1] == [module.layer] and len(rest) > 1 and _room_rank(rest) > own:
            yield module.breaks(
                each.line, "room", f"{'.'.join(module.parts[1:])} imports upward to {'.'.join(rest[1:])}"
            )


def _room_rank(parts: Sequence[str]) -> int:
    # session_store is a store, mcp_text belongs to the MCP tools.
    first, last = parts[1].split("_")[0] if len(parts) > 1 else "", parts[1].split("_")[-1] if len(parts) > 1 else ""
    return ROOM_RANKS.get(last, ROOM_RANKS.get(first, ROOM_RANKS["service"]))


def speakers_call_services(module: Module) -> Iterator[Violation]:
    """What speaks to the outside calls services; it never reaches below them."""
    speaks = module.layer in ROOMS and _room_rank(module.parts) in {ROOM_RANKS["wire"], ROOM_RANKS["http"]}
    if not speaks and module.layer != "http":
        return
    for each, rest in module.own_imports():
        if rest[:1] == ["kernel"] and rest[1:2] not in ([], ["model"], ["services"], ["feature"], ["wire"]):
            yield module.breaks(each.line, "surface", f"imports kernel.{rest[1]}; call a service instead")
        elif rest[:1] == [module.layer] and module.layer in ROOMS and _room_rank(rest) == ROOM_RANKS["store"]:
            yield module.breaks(each.line, "surface", f"imports {'.'.join(rest)}; call a service instead")


def engines_hidden(module: Module) -> Iterator[Violation]:
    """Only the store and the composition root name a concrete engine."""
    if module.layer == "app" or _in_store(module):
        return
    for each, rest in module.own_imports():
        if rest[:2] == ["kernel", "store"] and rest[2:3] in (["sqlite"], ["postgres"]):
            yield module.breaks(each.line, "engine", f"names the engine {rest[2]}; only stores and app do")


def _in_store(module: Module) -> bool:
    """Whether SQL may stand here: the kernel's store, the store modules of rooms, the reader of OpenCode's database."""
    if module.parts[:2] == ["kernel", "store"] or module.name == "agents.transcripts.opencode_store":
        return True
    return module.layer in ROOMS and _room_rank(module.parts) == ROOM_RANKS["store"]


def model_pure(module: Module) -> Iterator[Violation]:
    """The kernel's model is values and rules on the standard library, without input or output."""
    if module.parts[:2] != ["kernel", "model"]:
        return
    for each, head in module.foreign_imports():
        if head not in sys.stdlib_module_names:
            yield module.breaks(each.line, "model", f"imports {head}; the model uses the standard library only")
        elif head in IO_LIBRARIES:
            yield module.breaks(each.line, "model", f"imports {head}; the model does no input or output")


def agents_light(module: Module) -> Iterator[Violation]:
    """The hook loads an agent in milliseconds: what changes files, and every library, is loaded by methods alone."""
    if module.layer != "agents" or module.parts[:2] in AGENT_WORK:
        return
    at_once = set(_lines_at_once(module.tree))
    for each in module.imports:
        head, *rest = each.target.split(".")
        if each.line not in at_once or head == "__future__":
            continue
        if head != PACKAGE:
            yield module.breaks(each.line, "agent", f"imports {head} at once; the hook would load it")
        elif rest[:2] in AGENT_WORK:
            yield module.breaks(each.line, "agent", f"imports {'.'.join(rest)} at once; import it in the method")


def _lines_at_once(node: ast.AST) -> Iterator[int]:
    """The lines of imports that run when the module is loaded: not in functions, not for type checking."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import() | ast.ImportFrom():
                yield child.lineno
            case _:
                yield from _lines_at_once(child)


def absolute_imports(module: Module) -> Iterator[Violation]:
    """Imports are absolute, because that is how the layers are read."""
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield module.breaks(node.lineno, "absolute", "relative import; write the whole name")


def sql_in_store(module: Module) -> Iterator[Violation]:
    """No SQL outside stores: neither its libraries nor its text."""
    if _in_store(module):
        return
    for each, head in module.foreign_imports():
        if head in SQL_LIBRARIES:
            yield module.breaks(each.line, "sql", f"imports {head}; SQL belongs to a store")
    prose = docstrings(module)
    for node in module.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            if SQL_TEXT.match(node.value):
                yield module.breaks(node.lineno, "sql", f"{node.value.strip()[:40]!r} looks like SQL, which is store's")


def web_at_the_edge(module: Module) -> Iterator[Violation]:
    """The web framework is touched by what speaks HTTP, and by the commands that serve."""
    rank = rank_of(module.parts)
    speaks = module.layer in ROOMS and _room_rank(module.parts) >= ROOM_RANKS["wire"]
    if speaks or module.layer in {"http", "app", "console", "cli"} or rank in COMMAND_RANKS:
        return
    for each, head in module.foreign_imports():
        if head in WEB_LIBRARIES:
            yield module.breaks(each.line, "web", f"imports {head}; only what speaks HTTP may")


def environment_in_settings(module: Module) -> Iterator[Violation]:
    """The environment is read in one place."""
    if module.layer == "settings" or module.name in SURROUNDINGS:
        return
    for line, name in module.names_used:
        if name in ENVIRONMENT:
            yield module.breaks(line, "environment", f"uses {name}; settings reads the environment, others get values")
    for node in module.nodes:
        if isinstance(node, ast.keyword) and node.arg in {"envvar", "auto_envvar_prefix", "show_envvar"}:
            yield module.breaks(node.lineno, "environment", f"{node.arg}= reads the environment; settings does that")


def clock_in_ids(module: Module) -> Iterator[Violation]:
    """Time and identity come from one place."""
    if module.name in {"kernel.model.ids", *SURROUNDINGS}:
        return
    for line, name in module.names_used:
        if name in CLOCK_AND_IDS or name.split(".")[0] in CLOCK_AND_IDS or WALL_CLOCK.match(name):
            yield module.breaks(line, "clock", f"uses {name}; time and ids come from kernel.model.ids")


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
    for node in module.nodes:
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
    directions,
    inside_kernel,
    inside_room,
    speakers_call_services,
    engines_hidden,
    model_pure,
    agents_light,
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


def slivers(modules: list[Module]) -> Iterator[Violation]:
    """A short file with one importer beside it belongs to its importer; `agents` has a file for each agent."""
    by_name = {f"{PACKAGE}.{module.name}".rstrip("."): module for module in modules}
    importers: dict[str, set[str]] = {name: set() for name in by_name}
    named: set[str] = set()  # as text, where a module is imported when it is needed
    for name, module in by_name.items():
        for each in module.imports:
            if each.target in by_name and each.target != name:
                importers[each.target].add(name)
        texts = (node.value for node in module.nodes if isinstance(node, ast.Constant))
        named.update(text.partition(":")[0] for text in texts if isinstance(text, str) and text.startswith(PACKAGE))
    for name, module in by_name.items():
        if (
            module.lines >= SLIVER_LINES
            or module.path.stem.startswith("__")
            or name in named
            or module.layer == "agents"
        ):
            continue
        if len(importers[name]) != 1:
            continue
        user = by_name[next(iter(importers[name]))]
        beside = user.path.parent == module.path.parent and not user.path.stem.startswith("__")
        layers = module.layer in ROOMS and _room_rank(module.parts) != _room_rank(user.parts)
        if name in importers[f"{PACKAGE}.{user.name}"]:
            continue  # a cycle, which is told as such
        if beside and not layers and user.lines + module.lines <= MAX_LINES:
            yield module.breaks(
                1, "sliver", f"{module.lines} lines that {user.path.name} alone imports: put them there"
            )


def incomplete_surfaces(modules: list[Module], source: Path, tests: Path) -> Iterator[Violation]:
    """Every surface names the kinds it can see and has contract tests under its name."""
    for module in modules:
        for node in module.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="SURFACE")], value=ast.Call(keywords=keywords)):
                    pass
                case ast.AnnAssign(target=ast.Name(id="SURFACE"), value=ast.Call(keywords=keywords)):
                    pass
                case _:
                    continue
            given = {keyword.arg: keyword.value for keyword in keywords}
            if "kinds" not in given:
                yield module.breaks(node.lineno, "surface", "SURFACE does not name the kinds it can see (kinds=…)")
            name = given.get("name")
            if (
                isinstance(name, ast.Constant)
                and isinstance(name.value, str)
                and not any((tests / "contracts" / name.value).rglob("test_*.py"))
            ):
                yield module.breaks(node.lineno, "surface", f"no tests in tests/contracts/{name.value}")
