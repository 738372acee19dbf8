"""Which agent a command line starts, and where its options, values and prompt stand."""

from __future__ import annotations

import pytest

from codexmem.codecli.agents.command_line import Grammar, fits, merged, program_of, scan

GRAMMAR = Grammar("cm", frozenset({"--config", "--model"}), frozenset({"-i", "--image"}))


@pytest.mark.parametrize("argv, name, words", [
    ("codex exec hi", "codex", 1),
    ("/opt/bin/codex.exe", "codex", 1),
    ("node /x/node_modules/@openai/codex/bin/codex.js exec", "codex", 2),
    ("node --no-warnings /x/node_modules/@qwen-code/qwen-code/cli.js --acp", "qwen", 3),
    ("npx @openai/codex@0.166.0 exec", "codex", 2),
    ("npx -y @google/gemini-cli", "gemini", 3),
    ("claude -p hi", "claude", 1),
    ("/home/codex/bin/mytool run", "mytool", 1),
    ("mytool", "mytool", 1),
    ("node", "node", 1),
    ("node server.js", "server", 2),
])  # fmt: skip
def test_the_agent_is_known_however_it_is_started(argv: str, name: str, words: int) -> None:
    found = program_of(argv.split())
    assert (found.name, found.words) == (name, words)


def test_nothing_starts_nothing() -> None:
    assert program_of([]).words == 0


def test_options_values_and_words() -> None:
    words = [
        "a",
        "-c",
        "k=v",
        "-ck2=v2",
        "--config=k3=v3",
        "--flag",
        "-i",
        "1.png",
        "2.png",
        "-m",
        "x",
        "b",
        "--",
        "-c",
    ]
    found = scan(words, GRAMMAR)
    assert [words[at] for at in found.positions] == ["a", "b", "-c"]
    assert [value for name, value, _ in found.options if name in {"-c", "--config"}] == ["k=v", "k2=v2", "k3=v3"]
    assert (found.has("--flag"), found.has("-m"), found.value("-m"), found.value("-x")) == (True, True, "x", None)
    assert words[found.end] == "--"


def test_a_dash_is_a_word() -> None:
    assert scan(["-"], GRAMMAR).positions == [0]


def test_a_value_that_is_missing_is_empty() -> None:
    assert scan(["-c"], GRAMMAR).options == [("-c", "", 0)]


def test_long_words_do_not_fit() -> None:
    assert fits(["好" * 40_000])
    assert not fits(["好" * 40_001])


def test_two_texts_are_one() -> None:
    assert [merged("a\n", "b"), merged("", "b"), merged("a", "")] == ["a\n\nb", "b", "a"]
