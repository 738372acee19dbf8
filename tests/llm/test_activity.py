"""What a turn did: commands as they were typed, files, and the first line of each error."""

from __future__ import annotations

import time

import pytest

from codexmem.kernel.llm import shell
from codexmem.kernel.llm.activity import activity, command_name, error_line
from tests.llm.events import bash, edit, read, tool


@pytest.mark.parametrize(
    "line, commands",
    [
        ("cd web && FOO=1 BAR='a b' npm run test -- --x | tail -5", ["cd web", "FOO=1 BAR='a b' npm run test -- --x",
                                                                     "tail -5"]),
        ("pytest -q tests/a.py 2>&1 > out.txt", ["pytest -q tests/a.py"]),
        ("cat <<'END' > x\nhello; make world\nEND\nmake", ["cat", "make"]),
        ('git commit -m "a && b"; go test ./...', ['git commit -m "a && b"', "go test ./..."]),
        ("make # then; sleep", ["make"]),
        ("echo 'never closed", []),
        ("", []),
    ],
)  # fmt: skip
def test_commands_as_they_were_typed(line: str, commands: list[str]) -> None:
    assert shell.typed(line) == commands


@pytest.mark.parametrize(
    "typed, name",
    [
        ("FOO=1 npm run test -- --x", "npm run test"),
        ("env A=1 B='2 3' pytest -q", "pytest"),
        ("timeout 60 npx vitest run src/a.test.ts --watch", "npx vitest run src/a.test.ts"),
        ("python -m app.main --port 3", "python -m app.main"),
        ("gh pr view 183 --json title", "gh pr view"),
        ("ls -la", ""),
        ("git status", ""),
        ("npm --version", ""),
        ('python3 -c "print(1)"', ""),
        ("SRC=$(pwd)", ""),
        ("}", ""),
    ],
)
def test_what_tells_commands_apart(typed: str, name: str) -> None:
    assert command_name(typed) == name


@pytest.mark.parametrize(
    "typed, name",
    [("npm run time travel", "npm run time travel"), ("make A=1 all", "make A=1 all"), ("sudo A=1 time make", "make")],
)
def test_only_what_stands_before_a_command_is_not_its_name(typed: str, name: str) -> None:
    assert command_name(typed) == name


@pytest.mark.parametrize(
    "typed",
    ["A=" + '"a"' * 30, "A=" + "'a'" * 30 + "b", "A=1 " * 5_000, "A=" + "\"'" * 5_000, "time " * 5_000,
     "timeout" + " -k" * 5_000],
)  # fmt: skip
def test_a_hostile_command_is_named_soon(typed: str) -> None:
    start = time.process_time()
    command_name(typed)
    assert time.process_time() - start < 1


def test_a_turn() -> None:
    done = activity([
        bash(1, "cd api && pytest -q", "E   ValueError: no such tenant in the test store\n1 failed", 1),
        read(2, "src/auth.py"),
        read(3, "src/other.py"),
        tool(4, "Grep", {"pattern": "x"}, {"filenames": ["/home/ana/shop/src/found.py"]}),
        edit(5, "src/auth.py", "a", "b"),
        bash(6, "cd api && TENANT=demo pytest -q", "11 passed"),
        bash(7, "npm run lint", "npm ERR! Missing script: lint", 1),
    ])  # fmt: skip
    assert done.files_modified == ("src/auth.py",)
    assert done.files_read == ("src/other.py",)
    assert done.commands == ("TENANT=demo pytest -q",)
    assert done.failed_commands == ("npm run lint",)
    assert done.errors == ("ValueError: no such tenant in the test store", "npm ERR! Missing script: lint")


def test_a_failure_is_seen_without_an_exit_code() -> None:
    done = activity([
        bash(1, "pytest -q", "FAILED tests/test_a.py::test_b - AssertionError: no\n1 failed, 11 passed in 0.2s", None),
        bash(2, "makee", "bash: makee: command not found", None),
    ])  # fmt: skip
    assert done.commands == ()
    assert done.failed_commands == ("pytest -q", "makee")


@pytest.mark.parametrize(
    "output, line",
    [
        ("ok\n\x1b[31mTypeError: fetch failed for host\x1b[0m\nmore", "TypeError: fetch failed for host"),
        ("src/a.ts(3,1): error TS7006: Parameter 'p' has an any type.", "error TS7006: Parameter 'p' has an any type."),
        ("错误：找不到配置文件 config.toml", "错误：找不到配置文件 config.toml"),
        ("0 errors\nall fine", ""),
    ],
)
def test_the_line_of_an_error(output: str, line: str) -> None:
    assert error_line(output) == line


def test_variables_that_no_command_tells() -> None:
    done = activity([
        bash(1, "cat > .env <<'EOF'\nVITE_API_URL=http://localhost:8000\nEOF", ""),
        bash(2, "export GCP_REGION=asia-east1 && echo \"NODE_ENV=test\" >> .env", ""),
        bash(3, "DB_URL=sqlite:///x pytest -q", "3 passed"),
    ])  # fmt: skip
    assert done.variables == ("VITE_API_URL=http://localhost:8000", "NODE_ENV=test")
    assert list(done.lines("en"))[-1] == "Set: VITE_API_URL=http://localhost:8000 NODE_ENV=test"
    assert list(done.lines("zh"))[-1].startswith("变量")
