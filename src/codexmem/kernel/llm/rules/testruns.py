"""Test runs: which runner; what they came to is read in `domain.testruns`."""

import re

from codexmem.kernel.llm.shell import ShellCommand
from codexmem.kernel.model.testruns import TestRun, read

__all__ = ["TestRun", "read", "runner_of"]

_LAUNCHERS = frozenset(
    {"npx", "bunx", "uv", "poetry", "pipenv", "hatch", "rye", "pdm", "bundle", "python", "python3", "py"}
)
_SKIPPED = frozenset({"run", "exec", "-m", "--", "x", "dlx"})
_RUNNERS = frozenset({
    "pytest", "py.test", "unittest", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "tox", "nox", "ava", "tap",
    "playwright", "cypress", "nosetests", "behave", "karma",
})  # fmt: skip
_WITH_TEST = frozenset({
    "npm", "yarn", "pnpm", "bun", "go", "cargo", "mvn", "gradle", "gradlew", "./gradlew", "dotnet", "deno", "make",
    "just", "swift", "mix", "sbt", "flutter", "node", "rake", "bazel", "zig",
})  # fmt: skip


def runner_of(command: ShellCommand) -> str:
    """What runs tests in this command, as a person calls it; empty if nothing does."""
    texts = command.texts
    position = 0
    while position < len(texts) and (texts[position].rpartition("/")[2] in _LAUNCHERS or texts[position] in _SKIPPED):
        position += 1
    if position >= len(texts):
        return ""
    name = texts[position].rpartition("/")[2]
    if name in _RUNNERS:
        return "pytest" if name == "py.test" else name
    if name in _WITH_TEST:
        for text in texts[position + 1 : position + 4]:
            if text in {"test", "--test", "nextest"} or re.match(r"test[:_-]\w", text):
                return f"{name} {text}".replace("./", "")
    return ""
