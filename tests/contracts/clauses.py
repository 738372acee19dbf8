"""Which tests show which clause of which contract: read from the markers in the test files, without running them.

Every `clauses_NNN.py` beside this file is one contract and has a table in `docs/contracts/`, which `just generated`
makes; it refuses a clause without a test, and one whose tests never mention a name of it.
"""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.contracts.clause import Clause

ROOT = Path(__file__).parents[2]
CONTRACTS: dict[str, dict[str, Clause]] = {
    path.stem[-3:]: import_module(f"tests.contracts.{path.stem}").CLAUSES
    for path in sorted(Path(__file__).parent.glob("clauses_[0-9][0-9][0-9].py"))
}
_HEAD = """# Contract {contract}: every clause and the tests that show it

Made by `just generated` from the markers of the tests. `just contracts` runs the tests on SQLite and PostgreSQL.

| clause | demand | shown by | statement |
|---|---|---|---|
"""


@dataclass(frozen=True, order=True)
class Shown:
    """One statement that a test makes about a clause."""

    clause: str
    test: str  # path::name
    statement: str
    source: str


@functools.cache
def shown(tests: Path = ROOT / "tests") -> tuple[Shown, ...]:
    """Every marker `clause` below the folder, in order."""
    return tuple(sorted(each for path in sorted(tests.rglob("test_*.py")) for each in _of_file(path)))


def _of_file(path: Path) -> Iterator[Shown]:
    text = path.read_text()
    if "mark.clause" not in text:
        return
    name = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.clause":
                    clause, statement = (ast.literal_eval(argument) for argument in decorator.args)
                    yield Shown(clause, f"{name}::{node.name}", statement, text)


def objections(found: Sequence[Shown]) -> list[str]:
    """Clauses that nothing shows, clauses whose tests never mention a name of theirs, and markers of no clause."""
    known = {clause: of_clause for contract in CONTRACTS.values() for clause, of_clause in contract.items()}
    wrong = [f"{each.test} shows {each.clause}, which no contract has" for each in found if each.clause not in known]
    for clause, of_clause in known.items():
        sources = {each.source for each in found if each.clause == clause}
        names = (*of_clause.names.split(), *of_clause.messages) if sources else ()
        missing = [name for name in names if not any(name in source for source in sources)]
        if not sources:
            wrong.append(f"{clause} has no test: {of_clause.demand}")
        elif missing:
            wrong.append(f"the tests of {clause} never mention {', '.join(missing)}")
    return wrong


def documents() -> dict[Path, str]:
    """The table of every contract."""
    if wrong := objections(shown()):
        raise SystemExit("\n".join(wrong))
    return {ROOT / "docs" / "contracts" / f"{contract}.md": _table(contract) for contract in CONTRACTS}


def _table(contract: str) -> str:
    by_clause: dict[str, list[Shown]] = defaultdict(list)
    for each in shown():
        by_clause[each.clause].append(each)
    lines = []
    for clause, (demand, *_) in CONTRACTS[contract].items():
        for position, each in enumerate(by_clause[clause]):
            first = (clause, demand) if position == 0 else ("", "")
            lines.append(" | ".join(("", *first, f"`{each.test}`", each.statement, "")).strip())
    return _HEAD.format(contract=contract) + "\n".join(lines) + "\n"
