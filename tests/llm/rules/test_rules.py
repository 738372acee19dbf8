"""Observations by rules: few, about one matter each, bounded, and none for what is not worth it."""

from __future__ import annotations

import string
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem.kernel.llm import rules
from codexmem.kernel.llm.material import CONCEPTS, TYPES, ExtractedObservation
from codexmem.kernel.llm.rules import testruns as runs
from codexmem.kernel.llm.rules.compose import wanted
from codexmem.kernel.llm.rules.failures import telling
from codexmem.kernel.llm.rules.wording import table
from codexmem.kernel.llm.shell import commands
from codexmem.kernel.llm.tools import response_of
from codexmem.kernel.model.capture import Capture, CapturedEvent
from tests.llm.events import CWD, bash, edit, material, read, tool


def titles(*events: CapturedEvent, prompt: str = "Go on") -> list[str]:
    return [each.title for each in rules.observations(material(*events, prompt=prompt))]


@pytest.mark.parametrize(
    "command",
    ["ls -la", "cd src", "pwd", "echo hi", "git status", "git diff | head", "which python", "git add -A", "true",
     "mkdir -p x", "wc -l a.py", "cd x && ls && pwd", "python --version", "git log --oneline -5", "sleep 1; date", ""],
)  # fmt: skip
def test_trivial_commands_are_nothing_to_remember(command: str) -> None:
    assert titles(bash(1, command, "some output")) == []


def test_a_prompt_or_a_stop_is_no_tool() -> None:
    prompt = CapturedEvent(1, 1, 1, Capture.PROMPT, 1)
    stop = CapturedEvent(2, 1, 1, Capture.STOP, 2, message="Done.")
    assert titles(prompt, stop) == []


@pytest.mark.parametrize(
    "event, title",
    [
        (read(1, "README.md"), "Read README.md"),
        (bash(1, "cat src/a.py"), "Read src/a.py"),
        (bash(1, "rg -n --glob '*.py' 'def run' src", "src/a.py:3:def run"), "Searched for “def run”: src/a.py"),
        (bash(1, "grep -rn foo .", "", 1), "Searched for “foo”: nothing found"),
        (bash(1, "find . -name '*.toml'", "./a.toml\n./b.toml"), "Searched for “*.toml”: 2 files"),
        (tool(1, "Glob", {"pattern": "**/*.md"}, {"filenames": ["a.md", "b.md"]}), "Searched for “**/*.md”: 2 files"),
        (bash(1, "mv a.py b.py"), "Moved a.py to b.py"),
        (bash(1, "rm old.py"), "Deleted old.py"),
        (bash(1, "sed -i 's/a/b/' x.py"), "Edited x.py"),
        (bash(1, "cat > n.py <<'EOF'\ndef f():\n    pass\nEOF"), "Wrote n.py: function f"),
        (bash(1, "pip install -U requests httpx"), "Installed requests, httpx with pip"),
        (bash(1, "python -m pip install -r requirements.txt"), "Installed the project's dependencies with pip"),
        (bash(1, "uv add 'pydantic>=2'"), "Installed pydantic>=2 with uv"),
        (bash(1, "npm uninstall left-pad"), "Removed left-pad with npm"),
        (bash(1, "git checkout -b feature/x"), "Created branch feature/x"),
        (bash(1, "git merge develop"), "Merged develop"),
        (bash(1, "foo --bar", "bash: foo: command not found", 127),
         "foo --bar failed (exit 127): “bash: foo: command not found”"),
        (bash(1, "python x.py", "Traceback (most recent call last):\n  x\nKeyError: 'a'", None),
         "python x.py failed: “KeyError: 'a'”"),
        (tool(1, "Bash", {"command": "rm -r build"}, {"output": "", "declined": True}), "rm -r build was not allowed"),
        (tool(1, "apply_patch", {"command": "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"},
              {"output": "apply_patch verification failed: no such lines", "success": False}),
         "Edit of a.py failed: “apply_patch verification failed: no such lines”"),
        (bash(1, "terraform apply", "Apply complete!"), "Ran terraform apply"),
        (bash(1, "echo 'unbalanced", "", 2), "echo 'unbalanced failed (exit 2)"),
        (tool(1, "NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "x = 1"}, "ok"),
         "Edited n.ipynb: added x = 1"),
        (tool(1, "Task", {}, {"content": "ok"}), "A sub-agent reported"),
        (tool(1, "MCP:search_issues", {"query": "login"}, "{}"), "Called search_issues (login)"),
        (tool(1, "WebFetch", {"url": "https://x.org/a"}, {"error": "timeout"}), "Fetched x.org/a failed: “timeout”"),
    ],
)  # fmt: skip
def test_titles_that_a_person_would_write(event: CapturedEvent, title: str) -> None:
    assert titles(event) == [title]


def test_reads_in_a_row_are_one_observation() -> None:
    events = [read(n, f"src/search/{n}.py") for n in range(1, 5)]
    assert titles(*events) == ["Read 4 files in src/search"]
    assert titles(*events, prompt="看一下检索") == ["阅读 src/search 中的 4 个文件"]
    assert titles(read(1, "a.py"), read(2, "docs/b.md")) == ["Read a.py and docs/b.md"]
    assert titles(read(1, "a.py"), read(2, "a.py")) == ["Read a.py"]


def test_what_was_read_before_a_change_belongs_to_it() -> None:
    (found,) = rules.observations(material(read(1, "a.py"), read(2, "b.py"), edit(3, "a.py", "x = 1", "x = 2")))
    assert found.title == "Edited a.py: x 1 → 2"
    assert (found.events, found.files_read, found.files_modified) == ((1, 2, 3), ("b.py",), ("a.py",))


def test_much_reading_beside_a_change_is_told_apart() -> None:
    looks = [read(n, f"src/{n}.py") for n in range(1, 5)]
    assert titles(*looks, edit(9, "a.py", "x = 1", "x = 2")) == ["Read 4 files in src", "Edited a.py: x 1 → 2"]


def test_edits_of_one_file_are_one_observation() -> None:
    found = rules.observations(material(edit(1, "a.py", "x = 1", "x = 2"), edit(2, "a.py", "y = 1", "y = 3")))
    assert [(each.title, each.events) for each in found] == [("Edited a.py: x 1 → 2, y 1 → 3", (1, 2))]


def test_changes_of_many_files_are_one_observation() -> None:
    (found,) = rules.observations(material(*(edit(n, f"src/{n}.py", f"v = {n}", "v = 9") for n in range(1, 4))))
    assert found.title == "Changed 3 files in src"
    assert "Edited src/1.py: v 1 → 9." in found.facts
    assert found.files_modified == ("src/1.py", "src/2.py", "src/3.py")


@pytest.mark.parametrize(
    "old, new, path, detail",
    [
        ("timeout: 30", "timeout: 60", "c.yaml", "timeout 30 → 60"),
        ("def a():\n    pass", "def b():\n    pass", "a.py", "renamed a to b"),
        ("x = 1", "x = 1\n\ndef fresh():\n    pass", "a.py", "added function fresh"),
        ("class Gone:\n    pass\nx = 1", "x = 1", "a.py", "removed class Gone"),
        ("import os\nx = 1", "x = 1", "a.py", "removed import os"),
        ("def f():\n    a\n    b", "def f():\n    c\n    d", "a.py", "in f: +2 −2 lines"),
        ("a\nb\nc", "d\ne\nf", "a.txt", "+3 −3 lines"),
        ("# Old\n", "# Old\n## 安装\n文字", "README.md", "added section “安装”"),
        ("let b = 1", "let b = 1\nexport const a = async (x) => x", "a.ts", "added function a"),
        ("fn old() {}", "fn old() {}\npub fn new_one() {}", "a.rs", "added function new_one"),
    ],
)
def test_what_an_edit_changed(old: str, new: str, path: str, detail: str) -> None:
    assert titles(edit(1, path, old, new)) == [f"Edited {path}: {detail}"]


@pytest.mark.parametrize(
    "command, output, expected",
    [
        ("pytest", "== 2 failed, 38 passed, 1 skipped, 3 warnings in 3.12s ==", ("pytest", 38, 2, 1)),
        ("python -m pytest -q tests", "40 passed in 0.5s", ("pytest", 40, None, 0)),
        ("uv run pytest", "1 passed, 2 errors in 0.1s", ("pytest", 1, 2, 0)),
        ("python3 -m unittest", "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)", ("unittest", 3, 2, 0)),
        ("python3 -m unittest", "Ran 5 tests in 0.001s\n\nOK (skipped=2)", ("unittest", 3, None, 2)),
        ("npx jest", "Tests:       1 failed, 2 skipped, 7 passed, 10 total", ("jest", 7, 1, 2)),
        ("npm test", "Tests:       7 passed, 7 total", ("npm test", 7, None, 0)),
        ("pnpm run test:unit", "      Tests  4 passed (4)", ("pnpm test:unit", 4, None, 0)),
        ("npx vitest run", "      Tests  1 failed | 4 passed (5)", ("vitest", 4, 1, 0)),
        ("cargo test", "test result: FAILED. 3 passed; 1 failed; 2 ignored;", ("cargo test", 3, 1, 2)),
        ("go test ./...", "--- FAIL: TestX (0.00s)\n--- FAIL: TestY (0.00s)\nFAIL", ("go test", None, 2, 0)),
        ("npx mocha", "  5 passing (20ms)\n  1 failing", ("mocha", 5, 1, 0)),
        ("bundle exec rspec", "10 examples, 2 failures", ("rspec", 8, 2, 0)),
        ("./gradlew test", "BUILD SUCCESSFUL", ("gradlew test", None, None, 0)),
        ("mvn test", "[ERROR] Tests run: 8, Failures: 1, Errors: 1, Skipped: 2", ("mvn test", 4, 2, 2)),
        ("./vendor/bin/phpunit", "OK (3 tests, 9 assertions)", ("phpunit", 3, None, 0)),
        ("dotnet test", "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total: 5", ("dotnet test", 4, 1, 0)),
        ("node --test", "# tests 4\n# pass 3\n# fail 1", ("node --test", 3, 1, 0)),
        ("bun test", " 3 pass\n 1 fail\n", ("bun test", 3, 1, 0)),
        ("deno test", "ok | 5 passed | 0 failed (20ms)", ("deno test", 5, 0, 0)),
    ],
)
def test_what_runners_print(command: str, output: str, expected: tuple[str, int | None, int | None, int]) -> None:
    (simple,) = commands(command)
    run = runs.read(runs.runner_of(simple), output)
    assert (run.runner, run.passed, run.failed, run.skipped) == expected


@pytest.mark.parametrize("command", ["ls test", "cat pytest.ini", "npm run build", "git commit -m test", "make"])
def test_what_is_no_test_run(command: str) -> None:
    (simple,) = commands(command)
    assert runs.runner_of(simple) == ""


@pytest.mark.parametrize(
    "output, error",
    [
        ("x\nValueError: bad\n", "ValueError: bad"),
        ("error[E0382]: borrow of moved value: `x`", "error[E0382]: borrow of moved value: `x`"),
        ("a.c:3:5: error: expected ';'", "error: expected ';'"),
        ("fatal: not a git repository", "not a git repository"),
        ("npm ERR! code ELIFECYCLE\nnpm ERR! missing script: build", "missing script: build"),
        ("panic: runtime error: index out of range", "panic: runtime error: index out of range"),
        ("cat: x: No such file or directory", "cat: x: No such file or directory"),
        ("all is well", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_line_that_tells_what_went_wrong(output: str, error: str) -> None:
    assert telling(output) == error


@pytest.mark.parametrize(
    "prompt, kind",
    [("Fix the login", "bugfix"), ("修复登录", "bugfix"), ("refactor this", "refactor"), ("重构一下", "refactor"),
     ("Add a cache", "feature"), ("实现导出", "feature"), ("prefix the address", "change"), ("继续", "change")],
)  # fmt: skip
def test_what_was_wanted_tells_a_fix_from_a_feature(prompt: str, kind: str) -> None:
    assert wanted(prompt) == kind


def test_tests_that_failed_before_and_pass_after_make_a_fix() -> None:
    failed = bash(1, "pytest", "FAILED t.py::a - E: x\n1 failed, 3 passed in 1s", 1)
    passed = bash(3, "pytest", "4 passed in 1s")
    (found,) = rules.observations(material(failed, edit(2, "a.py", "x = 1", "x = 2"), passed, prompt="go on"))
    assert (found.type, found.events) == ("bugfix", (1, 2, 3))
    assert found.concepts == ("problem-solution", "what-changed")
    assert found.facts[-1] == "Afterwards pytest passed: 4 tests."


BARE = [
    ("python3 -m pytest -q", "/usr/bin/python3: No module named pytest", "pytest failed"),
    ("pytest -q", "bash: pytest: command not found", "pytest failed"),
    ("pytest -q", "sh: 1: pytest: not found", "pytest failed"),
    ("pytest -q", "zsh: command not found: pytest", "pytest failed"),
    ("make test", "make: *** No rule to make target 'test'.  Stop.", "make test failed"),
    ("make test", "*** No rule to make target 'test'.  Stop.", "make test failed"),
    ("npm test", 'npm error Missing script: "test"', "npm test failed"),
    ("cargo test", "error[E0425]: cannot find value `x`\nerror: could not compile `a`", "cargo test failed"),
    ("pytest -q", "....", "pytest ran, result unknown"),
    ("pytest -q", "11 passed in 0.2s", "pytest ran, result unknown (it printed 11 passed)"),
    ("pytest -q", "1 failed, 11 passed in 0.2s", "pytest failed: 1 of 12"),
    ("docker compose up -d", "Error response from daemon: port is already allocated", "docker compose up -d failed"),
]  # fmt: skip


@pytest.mark.parametrize("command, output, title", BARE)
def test_nothing_passed_where_nobody_knows_how_it_ended(command: str, output: str, title: str) -> None:
    (found,) = titles(bash(1, command, output, None))
    assert found.startswith(title)
    assert "docker" not in command or found.endswith("“Error response from daemon: port is already allocated”")


@pytest.mark.parametrize(
    "command, output, title",
    [
        ("pytest -q", "11 passed in 0.2s", "pytest passed: 11 tests"),
        ("cd api && pytest -q > /dev/null", "", "pytest passed"),
        ("bash -lc 'pytest -q'", "11 passed in 0.2s", "pytest passed: 11 tests"),
        ("pytest -q && git status | head", "11 passed in 0.2s", "pytest passed: 11 tests"),
        ("(cd api && pytest -q)", "11 passed in 0.2s", "pytest passed: 11 tests"),
        ("pytest -q | tail -3", "11 passed in 0.2s", "pytest ran, result unknown (it printed 11 passed)"),
        ("(cd api && pytest -q) | tail -3", "11 passed in 0.2s", "pytest ran, result unknown (it printed 11 passed)"),
        ("bash -c 'pytest -q | tail'", "", "pytest ran, result unknown"),
        ("bash -c 'pytest -q' | tail", "", "pytest ran, result unknown"),
        ("pytest -q; echo done", "done", "pytest ran, result unknown"),
        ("pytest -q || true", "", "pytest ran, result unknown"),
        ("pytest -q &", "", "pytest ran, result unknown"),
        ("npm test", 'npm error Missing script: "test"', "npm test ran, result unknown"),
        ("rtk bun run test 2>&1 | tail -30", "error: unrecognized subcommand 'bun'", "rtk bun run test failed"),
        ("npm run build 2>&1 | tail", "npm error Missing script: build", "npm run build failed"),
        ("grep -rn 'not found' . | head", "bash: x: command not found", "Searched for “not found”: nothing found"),
        ("jest", "Tests:       0 passed, 0 total", "jest ran, result unknown"),
        ("pytest && mypy", "11 passed in 0.2s\na.py: error: x", "pytest passed: 11 tests"),
    ],
)  # fmt: skip
def test_exit_0_proves_something_of_the_command_that_it_is_of(command: str, output: str, title: str) -> None:
    assert titles(bash(1, command, output))[0].startswith(title)


def test_a_line_that_failed_after_its_tests_says_nothing_of_them() -> None:
    event = bash(1, "pytest && mypy", "11 passed in 0.2s", 1)
    assert titles(event) == ["pytest ran, result unknown (it printed 11 passed)"]


def test_an_exit_code_that_a_command_printed_is_not_its_own() -> None:
    def code(output: str) -> int | None:
        return response_of(bash(1, "x", output, None)).exit_code

    assert code("Exit code 0 of the old run\nmore") == 0  # as Codex begins what it shows the model
    assert code("it says:\nExit code: 0") is None
    assert code("Command: x\nOutput: Exit Code: 1\nExit Code: 0\nSignal: (none)") == 0
    assert response_of(tool(1, "Bash", {}, {"stdout": "", "stderr": "", "interrupted": False})).exit_code == 0
    running = {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b1"}
    assert response_of(tool(1, "Bash", {}, running)).exit_code is None


def test_only_what_is_known_to_have_succeeded_ends_a_failure() -> None:
    failed = bash(1, "make deploy", "make: *** [deploy] Error 1", 2)

    def facts(*after: CapturedEvent) -> list[str]:
        return [fact for each in rules.observations(material(failed, *after)) for fact in each.facts]

    assert "Afterwards make deploy succeeded." in facts(bash(2, "make deploy", "done"))
    assert "Afterwards make deploy succeeded." not in facts(bash(2, "make deploy", "done", None))
    assert "Afterwards make deploy succeeded." not in facts(bash(2, "make deploy | tail", "done"))


@pytest.mark.parametrize(
    "command, output, code, title",
    [
        ("git commit", "[main 99ff] Fix the wrong tax", None, "Committed: Fix the wrong tax"),
        ("git commit -F msg", "[main 99ff] Fix the wrong tax\n 1 file changed", 0, "Committed: Fix the wrong tax"),
        ("git commit --amend", "[detached HEAD 99ff] Fix the wrong tax", 0, "Committed: Fix the wrong tax"),
        ("git commit -F msg", "[main (root-commit) 99ff0a1] Begin", 0, "Committed: Begin"),
        ("git commit -qF msg", "", 0, "Committed with git commit -qF msg"),
        ("git commit -m x", "error: pathspec 'x' did not match", None, "Ran git commit -m x"),
        ("git push origin main | tail", "error: failed to push some refs to 'origin'", 0, "Ran git push origin main"),
        ("git commit -m x && git push 2>&1 | tail", "[main 99ff] x\nerror: failed to push", 0, "Committed: x"),
        ("pip install nothere | tail -1", "ERROR: No matching distribution found for nothere", 0,
         "Ran pip install nothere"),
    ],
)  # fmt: skip
def test_what_the_output_says_of_a_commit(command: str, output: str, code: int | None, title: str) -> None:
    assert titles(bash(1, command, output, code))[0] == title


def test_a_failure_after_a_change_stands_for_itself() -> None:
    failed = bash(2, "pytest", "1 failed, 3 passed in 1s", 1)
    assert titles(edit(1, "a.py", "x = 1", "x = 2"), failed) == ["Edited a.py: x 1 → 2", "pytest failed: 1 of 4"]


def test_both_languages_say_the_same_things() -> None:
    def placeholders(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for key, (english, chinese) in table().items():
        extra = {"total"} if key == "more" else set()
        assert placeholders(english) - {"count"} <= placeholders(chinese) | extra, key
        assert placeholders(chinese) - extra <= placeholders(english), key


def check_bounds(found: tuple[ExtractedObservation, ...], events: set[int]) -> None:
    for each in found:
        assert each.type in TYPES
        assert 0 < len(each.title) <= 140
        assert "\n" not in each.title
        assert len(each.narrative) <= 2_000
        assert len(each.facts) <= 10
        assert all(0 < len(fact) <= 240 for fact in each.facts)
        assert set(each.concepts) <= set(CONCEPTS)
        assert each.events
        assert set(each.events) <= events
        assert all(len(path) <= 400 for path in (*each.files_read, *each.files_modified))
        "".join((each.title, each.narrative, *each.facts)).encode()


NAMES = ["Read", "Edit", "MultiEdit", "Write", "Bash", "shell", "Grep", "Glob", "apply_patch", "WebFetch", "WebSearch",
         "Task", "mcp__a__b", "MCP:x", "str_replace_editor", "unknown", ""]  # fmt: skip
FIELDS = ["file_path", "command", "pattern", "old_string", "new_string", "edits", "content", "url", "query", "error",
          "stdout", "exit_code", "filenames", "paths", "file", "metadata", "is_error", "prompt", "output"]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from([
        "cat a | b > c", "*** Begin Patch\n*** Add File: x\n+y", "{", "git commit -m", "pytest", "a/b.py",
        "1 failed in 1s", "\ud800", "Traceback (most recent call last):", '{"a": 1}',
    ]),
)  # fmt: skip
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(NAMES), JSON, JSON), min_size=1, max_size=6), st.text(max_size=30))
@pytest.mark.slow
def test_no_payload_breaks_the_rules(calls: list[tuple[str, Any, Any]], prompt: str) -> None:
    events = [tool(number, *call) for number, call in enumerate(calls, 1)]
    check_bounds(rules.observations(material(*events, prompt=prompt)), set(range(1, len(events) + 1)))
    rules.summary(material(*events, prompt=prompt), prompt)


HOSTILE = ["\n" * 200_000, " " * 200_000, "a" * 200_000, "a/" * 100_000, "1 passing\n" * 20_000, "error: " * 30_000,
           "=" * 200_000, "FAILED " * 30_000, "Exit code: " * 20_000, "(" * 200_000, "é\u0301" * 100_000,
           "def f" + "(" * 100_000, "- " * 100_000, "`" * 200_000, "*** Add File: \n" * 12_000]  # fmt: skip


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_t11_no_text_is_too_odd(number: int) -> None:
    worked_on(HOSTILE[number][:2_000])


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_t11_no_text_takes_long(number: int) -> None:
    began = time.monotonic()
    worked_on(HOSTILE[number])
    assert time.monotonic() - began < 5.0


def worked_on(text: str) -> None:
    """A turn in which everything holds this text."""
    for name, given_ in (
        ("Bash", {"command": text}), ("Bash", {"command": "pytest"}), ("Bash", {"command": "x"}),
        ("Grep", {"pattern": "x"}), ("Read", {"file_path": f"{CWD}/a.py"}),
        ("Edit", {"file_path": "a.md", "old_string": text, "new_string": text + "x"}),
        ("apply_patch", {"command": "*** Begin Patch\n" + text}),
    ):  # fmt: skip
        rules.observations(material(tool(1, name, given_, {"stdout": text}), prompt=text[:4_000]))
    rules.summary(material(prompt=text[:4_000]), text)
