"""Which tests show which clause of which contract: read from the markers in the test files, without running them.

Every `clauses_NNN.py` beside this file is one contract. `python -m tests.contracts.clauses [NNN …]` runs the marked
tests of these contracts, all of them if none is named, and writes one table each with the results to `docs/contracts/`.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
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

Made by `just contract-table`, which runs the tests of every clause on SQLite and PostgreSQL; a test in the gate fails
if a clause has no test, or if this table and the tests disagree. {passed:,} of {total:,} cases passed.

| clause | demand | shown by | statement | cases | result |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True, order=True)
class Shown:
    """One statement that a test makes about a clause."""

    clause: str
    test: str  # path::name
    statement: str
    source: str

    @property
    def contract(self) -> str:
        """The number that the clause begins with."""
        return self.clause.partition(" ")[0]


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


def path_of(contract: str) -> Path:
    """Where the contract's table is published."""
    return ROOT / "docs" / "contracts" / f"{contract}.md"


def table(contract: str, results: dict[str, list[bool]]) -> str:
    """The contract's table; `results` has for each test whether each of its cases passed."""
    of_contract = [each for each in shown() if each.contract == contract]
    by_clause: dict[str, list[Shown]] = defaultdict(list)
    for each in of_contract:
        by_clause[each.clause].append(each)
    lines = []
    for clause, (demand, *_) in CONTRACTS[contract].items():
        for position, each in enumerate(by_clause[clause]):
            cases = results.get(each.test, [])
            result = "passed" if cases and all(cases) else "FAILED" if cases else "not run"
            first = (clause, demand) if position == 0 else ("", "")
            lines.append(
                " | ".join(("", *first, f"`{each.test}`", each.statement, str(len(cases)), result, "")).strip()
            )
    cases = [case for test in {each.test for each in of_contract} for case in results.get(test, [])]
    return _HEAD.format(contract=contract, passed=sum(cases), total=len(cases)) + "\n".join(lines) + "\n"


def main(contracts: list[str]) -> int:
    """Run the tests of all clauses of these contracts and write their tables."""
    tests = sorted({each.test for each in shown() if each.contract in contracts})
    report = ROOT / f".contract-results-{'-'.join(contracts)}.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", f"--junitxml={report}", *tests]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    results: dict[str, list[bool]] = defaultdict(list)
    for case in ET.parse(report).iter("testcase"):
        path = case.get("classname", "").replace(".", "/") + ".py"
        bad = any(child.tag in ("failure", "error", "skipped") for child in case)
        results[f"{path}::{case.get('name', '').partition('[')[0]}"].append(not bad)
    report.unlink()
    for contract in contracts:
        path_of(contract).parent.mkdir(exist_ok=True)
        path_of(contract).write_text(table(contract, results))
        sys.stdout.write(f"{path_of(contract).relative_to(ROOT)}: {len(CONTRACTS[contract])} clauses\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(CONTRACTS)))
