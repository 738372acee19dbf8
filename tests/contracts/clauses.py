"""Which tests show which clause: read from the markers in the test files, without running them.

`python -m tests.contracts.clauses` runs the marked tests and writes the table with their results to `docs/contracts/`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.contracts.clauses_000 import CLAUSES

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "contracts" / "000.md"
_HEAD = """# Contract 000: every clause and the tests that show it

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


def shown(tests: Path = ROOT / "tests") -> list[Shown]:
    """Every marker `clause` below the folder, in order."""
    return sorted(each for path in sorted(tests.rglob("test_*.py")) for each in _of_file(path))


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


def table(results: dict[str, list[bool]]) -> str:
    """The table; `results` has for each test whether each of its cases passed."""
    by_clause: dict[str, list[Shown]] = defaultdict(list)
    for each in shown():
        by_clause[each.clause].append(each)
    lines = []
    for clause, (demand, *_) in CLAUSES.items():
        for position, each in enumerate(by_clause[clause]):
            cases = results.get(each.test, [])
            result = "passed" if cases and all(cases) else "FAILED" if cases else "not run"
            first = (clause, demand) if position == 0 else ("", "")
            lines.append(
                " | ".join(("", *first, f"`{each.test}`", each.statement, str(len(cases)), result, "")).strip()
            )
    cases = [case for test in {each.test for each in shown()} for case in results.get(test, [])]
    return _HEAD.format(passed=sum(cases), total=len(cases)) + "\n".join(lines) + "\n"


def main() -> int:
    """Run the tests of all clauses and write the table."""
    tests = sorted({each.test for each in shown()})
    report = ROOT / ".contract-results.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", f"--junitxml={report}", *tests]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    results: dict[str, list[bool]] = defaultdict(list)
    for case in ET.parse(report).iter("testcase"):
        path = case.get("classname", "").replace(".", "/") + ".py"
        bad = any(child.tag in ("failure", "error", "skipped") for child in case)
        results[f"{path}::{case.get('name', '').partition('[')[0]}"].append(not bad)
    report.unlink()
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(table(results))
    sys.stdout.write(f"{TABLE.relative_to(ROOT)}: {len(CLAUSES)} clauses, {len(tests)} tests\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
