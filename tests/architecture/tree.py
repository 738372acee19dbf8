"""The source tree as the rules see it: modules, their imports and the names they use.

Imports count wherever they are written, also inside functions and for type checking: a layer that is crossed late is
crossed all the same. What a name is bound to at run time is not followed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PACKAGE = "codexmem"


@dataclass(frozen=True, order=True)
class Violation:
    path: Path
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.rule}: {self.message}"


@dataclass(frozen=True)
class Import:
    line: int
    target: str  # dotted, as far as it names a module of ours, else as written


@dataclass(frozen=True)
class Module:
    """One source file and what the rules ask of it."""

    path: Path
    name: str  # dotted, without the package itself: "store.jobs", "" for the package
    lines: int
    tree: ast.Module
    known: set[str] = field(default_factory=set)  # every module's name, with the package

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The whole tree, walked once for all rules."""
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> list[Import]:
        """In the order of `nodes`."""
        return list(_imports(self.nodes, self.known))

    @cached_property
    def names_used(self) -> list[tuple[int, str]]:
        """Dotted names as imported (`from os import environ`) and as written (`os.environ`, through any alias)."""
        return list(_names_used(self.nodes))

    @property
    def layer(self) -> str:
        return self.name.split(".")[0]

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")

    def own_imports(self) -> Iterator[tuple[Import, list[str]]]:
        """Imports from our package, with the parts below it: [] for the package itself."""
        for each in self.imports:
            head, *rest = each.target.split(".")
            if head == PACKAGE:
                yield each, rest

    def foreign_imports(self) -> Iterator[tuple[Import, str]]:
        """Other imports, with their top-level name."""
        for each in self.imports:
            head = each.target.split(".")[0]
            if head != PACKAGE:
                yield each, head

    def breaks(self, line: int, rule: str, message: str) -> Violation:
        return Violation(self.path, line, rule, message)


def load(source: Path) -> list[Module]:
    """Parse every file of the package."""
    root = source / PACKAGE
    modules: list[Module] = []
    known: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        modules.append(Module(path, name, len(text.splitlines()), ast.parse(text, str(path)), known))
        known.add(f"{PACKAGE}.{name}".rstrip("."))
    return modules


def _imports(nodes: list[ast.AST], known: set[str]) -> Iterator[Import]:
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (Import(node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(source), names=names, level=0):
                for alias in names:
                    whole = f"{source}.{alias.name}"
                    foreign = source.split(".")[0] != PACKAGE
                    yield Import(node.lineno, whole if foreign or whole in known else source)
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"), args=[first, *_]):
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield Import(node.lineno, first.value)


def _names_used(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    aliases: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                aliases[alias.asname or first] = alias.name if alias.asname else first
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield node.lineno, f"{node.module}.{alias.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute):
            written = ast.unparse(node) if _is_dotted(node) else ""
            head, _, rest = written.partition(".")
            if head in aliases:
                yield node.lineno, f"{aliases[head]}.{rest}"


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def docstrings(module: Module) -> set[ast.AST]:
    """String statements: prose about code, whatever they look like."""
    return {node.value for node in module.nodes if isinstance(node, ast.Expr)}


def words(name: str) -> list[str]:
    """The words of a CamelCase or snake_case name, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
