"""What the project weighs, beside its budget and its goal, both in `budget.toml`; `just house` prints the table.

Lines of the package are those that the formatter would write without its `# fmt: skip` marks. A budget is what there is
at most; `--lower` writes what there is now wherever that is less, and nothing raises one but a person who names the
reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

ROOT = Path(__file__).parents[2]
BUDGET = ROOT / "budget.toml"
OPENAPI = ROOT / "docs" / "openapi" / "codexmem.json"  # which `just generated` keeps true
SKIP = re.compile(r"[ \t]*# fmt: (?:skip|off|on)$", re.MULTILINE)
GENERATED = ("docs/openapi/", "docs/reference/", "share/man/")
Weights = dict[str, dict[str, int]]  # by part of the project, then by what is counted


def measure() -> Weights:
    """Count everything that has a budget."""
    return {**rooms(ROOT / "src"), "outside": _outside(), "around": _around()}


def rooms(source: Path) -> Weights:
    """Count lines, files, classes, declared fields and functions of each room of the package, and of all of it."""
    found: Weights = {}
    for path, text in _formatted(source):
        room = path.parts[1] if len(path.parts) > 2 else "root"
        nodes = list(ast.walk(ast.parse(text)))
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        counts = {
            "lines": text.count("\n"),
            "files": 1,
            "classes": len(classes),
            "fields": sum(isinstance(each, ast.AnnAssign) for node in classes for each in node.body),
            "functions": sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes),
        }
        for name in ("all", room):
            sums = found.setdefault(name, dict.fromkeys(counts, 0))
            for what, count in counts.items():
                sums[what] += count
    return dict(sorted(found.items(), key=lambda each: (each[0] != "all", each[0])))


def _formatted(source: Path) -> Iterator[tuple[Path, str]]:
    """Each file below `source`, as the formatter would have it."""
    with tempfile.TemporaryDirectory() as folder:
        paths = sorted(path.relative_to(source) for path in source.rglob("*.py"))
        for path in paths:
            copy = Path(folder, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(SKIP.sub("", (source / path).read_text(encoding="utf-8")), encoding="utf-8")
        ruff = [
            sys.executable,
            "-m",
            "ruff",
            "format",
            "--quiet",
            "--no-cache",
            "--config",
            str(ROOT / "pyproject.toml"),
        ]
        subprocess.run([*ruff, folder], check=True)
        for path in paths:
            yield path, Path(folder, path).read_text(encoding="utf-8")


def _outside() -> dict[str, int]:
    """Count what users and clients meet."""
    from codexmem.app.mcp import TOOLSETS
    from codexmem.cli.root import cli
    from codexmem.codecli.cli.root import cli as codecli
    from codexmem.console.command import _common
    from codexmem.settings.table import SETTINGS
    from tests.docs.reference.commands import walk

    commands = [
        each for program in (cli, codecli) for _, each in walk(program, "") if not isinstance(each, click.Group)
    ]
    common = {option.name for option in _common()}
    options = [each for command in commands for each in command.params if isinstance(each, click.Option)]
    return {
        "commands": len(commands),
        "options": sum(option.name not in common for option in options),
        "settings": len(SETTINGS),
        "routes": sum(len(path) for path in json.loads(OPENAPI.read_text(encoding="utf-8"))["paths"].values()),
        "tools": len({tool.name for toolset in TOOLSETS.values() for tool in toolset.tools}),
    }


def _around() -> dict[str, int]:
    """Count what stands around the package: lines, documents, marks that stop the formatter, generated lines."""
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()

    def lines(*beginnings: str, ending: tuple[str, ...] = ("",)) -> int:
        named = [name for name in files if name.startswith(beginnings) and name.endswith(ending)]
        return sum((ROOT / name).read_bytes().count(b"\n") for name in named if (ROOT / name).is_file())

    return {
        "tests": lines("tests/", ending=(".py",)),
        "bench": lines("bench/", ending=(".py",)),
        "web": lines("web/src/", ending=(".ts", ".tsx", ".css", ".json")),
        "documents": sum(name.endswith(".md") for name in files),
        "generated": lines(*GENERATED),
        "skips": sum(
            len(SKIP.findall((ROOT / name).read_text(encoding="utf-8")))
            for name in files
            if name.endswith(".py") and (ROOT / name).is_file()
        ),
    }


def read(path: Path = BUDGET) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
    """Read the budgets and goals."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def over(weights: Weights, budget: Mapping[str, Mapping[str, int]]) -> list[str]:
    """List what weighs more than its budget, and what has none."""
    return [
        f"{part}: {count:,} {what}, the budget is {budget.get(part, {}).get(what, 0):,}"
        for part, counts in weights.items()
        for what, count in counts.items()
        if count > budget.get(part, {}).get(what, 0)
    ]


def table(weights: Weights, known: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Render what there is now, with the budget where it is another and the goal where there is one."""
    lines: list[str] = []
    heading: tuple[str, ...] = ()
    for part, counts in weights.items():
        if tuple(counts) != heading:
            heading = tuple(counts)
            lines += ["", _row("", *heading)]
        lines.append(_row(part, *(f"{count:,}" for count in counts.values())))
        for sort in ("budget", "goal"):
            beside = known[sort].get(part, {})
            if any(beside.get(what, count) != count for what, count in counts.items()):
                lines.append(_row(f"  {sort}", *(f"{beside[what]:,}" if what in beside else "" for what in counts)))
    return "\n".join([*lines[1:], ""])


def _row(name: str, *cells: str) -> str:
    return f"{name:12}" + "".join(f"{cell:>11}" for cell in cells).rstrip()


def lowered(weights: Weights, known: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Render the file with each budget at what there is now, where that is less or has no budget yet."""
    sections = {
        **{
            f"budget.{part}": {
                what: min(count, known["budget"].get(part, {}).get(what, count)) for what, count in counts.items()
            }
            for part, counts in weights.items()
        },
        **{f"goal.{part}": counts for part, counts in known["goal"].items()},
    }
    opening = BUDGET.read_text(encoding="utf-8").partition("[")[0]
    return opening + "\n".join(
        "".join([f"[{name}]\n", *(f"{what} = {count}\n" for what, count in counts.items())])
        for name, counts in sections.items()
    )


def main() -> None:
    """Print the table, or lower the budgets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lower", action="store_true", help="write what there is now where that is below the budget")
    weights, known = measure(), read()
    if parser.parse_args().lower:
        BUDGET.write_text(lowered(weights, known), encoding="utf-8")
        known = read()
    sys.stdout.write(table(weights, known))


if __name__ == "__main__":
    main()
