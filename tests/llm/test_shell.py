"""Command lines: what is plain is read, what depends on the shell's state proves nothing."""

from __future__ import annotations

import random
import time

import pytest

from codexmem.kernel.llm import shell


def words(line: str) -> list[list[str]]:
    return [command.texts for command in shell.commands(line)]


@pytest.mark.parametrize(
    "line, expected",
    [
        ("ls", [["ls"]]),
        ("a b && c || d; e | f & g", [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("echo 'a  b' \"c d\" e\\ f", [["echo", "a  b", "c d", "e f"]]),
        ("echo 'a && b; c > d'", [["echo", "a && b; c > d"]]),
        ("FOO=1 BAR='x y' make -j2", [["make", "-j2"]]),
        ("sudo env X=1 timeout -k 5 60 nice pytest", [["pytest"]]),
        ("bash -lc 'cd src && pytest -q'", [["cd", "src"], ["pytest", "-q"]]),
        ("/bin/bash -c \"git commit -m 'x y'\"", [["git", "commit", "-m", "x y"]]),
        ("if true; then make; fi", [["true"], ["make"]]),
        ("ls # a comment; rm x\npwd", [["ls"], ["pwd"]]),
        ("make \\\n  all", [["make", "all"]]),
        ("cat <<'EOF'\nrm -rf /\nEOF\nls", [["cat"], ["ls"]]),
        ("echo '运行 测试'", [["echo", "运行 测试"]]),
        ("", []), ("   ", []), ("# nothing", []),
        ("echo 'unfinished", []), ('echo "unfinished', []), ("echo $(unfinished", []), ("echo >", []),
    ],
)  # fmt: skip
def test_simple_commands(line: str, expected: list[list[str]]) -> None:
    assert words(line) == expected


def test_redirections_are_files_that_are_written() -> None:
    (command,) = shell.commands("make >out.txt 2>>err.txt 2>&1 </dev/null &>all.txt")
    assert command.texts == ["make"]
    assert [word.text for word in command.writes] == ["out.txt", "err.txt", "all.txt"]


def test_a_text_in_place_is_kept_with_its_command() -> None:
    writing, running = shell.commands("cat > a.py <<'EOF'\nprint('ä')\nEOF\npython a.py")
    assert (writing.heredoc, running.heredoc) == ("print('ä')", "")


@pytest.mark.parametrize("text", ["$HOME", "*.py", "a?", "~/x", "`pwd`", "$(pwd)", '"$X"', "{a,b}"])
def test_what_the_shell_would_fill_in_is_not_literal(text: str) -> None:
    (command,) = shell.commands(f"rm {text}")
    assert not command.words[1].literal


def test_what_is_quoted_is_literal() -> None:
    (command,) = shell.commands("rm '*.py' \"a b\"")
    assert all(word.literal for word in command.words)


def test_a_pipe_feeds_the_next() -> None:
    assert [command.fed for command in shell.commands("cat a | grep b; ls")] == [False, True, False]


ODD = ("(" * 100_000, "$(" * 50_000, "<<a\n" * 30_000, "'" * 99_999, "a\\" * 50_000, "bash -c 'x' " * 9_000)


def test_no_line_raises() -> None:
    chance = random.Random(7)
    pieces = ["'", '"', "\\", "$(", ")", "<<", "<<<", "EOF", "\n", "|", "&&", ">", "2>", "a", " ", "修", "#", "`", ";"]
    for _ in range(3_000):
        shell.commands("".join(chance.choice(pieces) for _ in range(chance.randrange(60))))
    for odd in ODD:
        shell.commands(odd[:1_000])


def test_no_line_takes_long() -> None:
    began = time.monotonic()
    for odd in ODD:
        shell.commands(odd)
    assert time.monotonic() - began < 5.0
