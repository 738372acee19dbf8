"""Everything that `codexmem doctor` can find: what, why and how to fix it, in both languages."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.console import messages
from codexmem.operations.cli.doctor import finding
from codexmem.operations.cli.doctor.fixes import FIXES

CLI = Path(finding.__file__).parent
TEXTS = {language: messages.texts(language) for language in ("en", "zh")}


def findings() -> Iterator[tuple[str, str, str]]:
    """Every state with every key that a `Finding` is made of in the source, and where."""
    for path in sorted(CLI.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding":
                where = f"{path.name}:{node.lineno}"
                for state in constants(node.args[1], where):
                    for key in constants(node.args[2], where):
                        yield state, key, where


def constants(node: ast.expr, where: str) -> list[str]:
    """What is written there; a finding whose key is only known when it runs could lack its texts."""
    if isinstance(node, ast.IfExp):
        return constants(node.body, where) + constants(node.orelse, where)
    assert isinstance(node, ast.Constant), f"{where}: the state and the key of a finding stand where it is made"
    return [str(node.value)]


ALL = sorted(set(findings()))


def test_there_are_findings_of_every_state() -> None:
    assert {state for state, _, _ in ALL} == {"ok", "notice", "warning", "failure", "skipped"}
    assert len({key for state, key, _ in ALL if state != "ok"}) > 30


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_says_what_and_unless_well_also_why_and_how(language: str) -> None:
    texts = TEXTS[language]
    lacking = [
        f"{where}: {key}{part}"
        for state, key, where in ALL
        for part in (("",) if state == "ok" else ("", ".why", ".how"))
        if len(texts.get(key + part, "").strip()) < 3
    ]
    assert lacking == []
    same = [key for state, key, _ in ALL if state != "ok" and texts[f"{key}.why"] == texts[f"{key}.how"]]
    assert same == []


def test_a_remedy_names_only_what_its_finding_knows() -> None:
    """Every placeholder of the reason and the remedy is a value that some finding of that key carries."""
    carried = carried_values()
    for language, texts in TEXTS.items():
        for key in {key for state, key, _ in ALL if state != "ok" and key in carried}:
            for part in ("", ".why", ".how"):
                named = {name for _, name, _, _ in string.Formatter().parse(texts[key + part]) if name}
                assert named <= carried[key], f"{language} {key}{part}"


def carried_values() -> dict[str, set[str]]:
    """The values of findings that write them out where they are made."""
    carried: dict[str, set[str]] = {}
    for path in CLI.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding":
                given = node.args[3] if len(node.args) > 3 else ast.Dict(keys=[], values=[])
                if isinstance(given, ast.Dict):
                    names = {str(key.value) for key in given.keys if isinstance(key, ast.Constant)}
                    for key in constants(node.args[2], path.name):
                        carried[key] = carried.get(key, set()) | names
    return carried


def test_every_fix_is_of_a_finding_and_has_its_texts() -> None:
    assert FIXES.keys() <= {key for _, key, _ in ALL}
    for fix in FIXES.values():
        for texts in TEXTS.values():
            assert {fix.key, f"{fix.key}.would"} <= texts.keys()


def test_what_was_skipped_for_one_reason_says_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    from codexmem.cli.root import cli
    from codexmem.console.command import Command, run

    skipped = [
        finding.Finding(f"canary:{name}", "skipped", "doctor.interface_skipped", {"interface": name}) for name in "ab"
    ]
    warned = finding.Finding("backup", "warning", "doctor.backup_none")
    command = Command("told", key="version", callback=lambda: finding.tell([*skipped, warned, *skipped], strict=False))
    cli.commands["told"] = command
    try:
        assert run(cli, ["told"]) == 0
    finally:
        del cli.commands["told"]
    out = capsys.readouterr().out
    assert out.count("why: no server is running for this store") == 2
    assert out.count("[skip]") == 4
    assert messages.say("doctor.backup_none.how") in out
