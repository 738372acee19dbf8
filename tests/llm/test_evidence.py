"""Files that were read or changed: known from what tools did, in every agent's spelling."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.kernel.llm.evidence import Files, files, files_of_call, files_of_command
from codexmem.kernel.llm.patch import files_of
from codexmem.kernel.llm.paths import folder_of, relative
from tests.llm.events import CWD, bash, edit, read, tool

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def f():
-    return 1
+    return 2
*** Add File: docs/新.md
+# 标题
*** Update File: src/old.py
*** Move to: src/new.py
@@
-x
+y
*** Delete File: gone.py
*** End Patch"""
DIFF = (
    "--- a/x.py\t2026\n+++ b/x.py\n@@ -1 +1 @@\n-1\n+2\n--- /dev/null\n+++ b/n.py\n+1\n--- a/d.py\n+++ /dev/null\n-1\n"
)
HEREDOC = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.py\n*** End Patch\nEOF"


@pytest.mark.parametrize(
    "name, given, response",
    [
        ("Edit", {"file_path": f"{CWD}/src/a.py"}, {"filePath": f"{CWD}/src/a.py"}),
        ("MultiEdit", {"file_path": f"{CWD}/src/a.py", "edits": []}, "ok"),
        ("Write", {"file_path": f"{CWD}/src/a.py", "content": ""}, {"type": "create"}),
        ("NotebookEdit", {"notebook_path": f"{CWD}/src/a.py"}, "ok"),
        ("write_file", {"file_path": "src/a.py", "content": "x"}, {"llmContent": "ok", "error": None}),
        ("replace", {"file_path": "./src/a.py"}, {"returnDisplay": {"fileDiff": "..."}}),
        ("edit", {"filePath": f"{CWD}/src/../src/a.py", "oldString": "", "newString": "x"}, {"title": "x"}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: src/a.py\n*** End Patch"}, "Success"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: src/a.py\n+x\n*** End Patch"}, {"success": True}),
        ("apply_patch", "*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch", ""),
        ("str_replace_editor", {"command": "create", "path": f"{CWD}/src/a.py", "file_text": "x"}, "ok"),
        ("Bash", {"command": "sed -i 's/a/b/' src/a.py"}, {"stdout": ""}),
        ("shell", {"command": ["bash", "-lc", "echo x > src/a.py"]}, '{"output": "", "metadata": {"exit_code": 0}}'),
        ("exec_command", {"cmd": "cat > src/a.py <<'EOF'\nx\nEOF"}, "ok"),
        ("Bash", {"command": HEREDOC}, ""),
    ],
)  # fmt: skip
def test_changes_in_every_spelling(name: str, given: Any, response: Any) -> None:
    assert files_of_call(tool(1, name, given, response)) == Files(modified=("src/a.py",))


@pytest.mark.parametrize(
    "name, given, response",
    [
        ("Read", {"file_path": f"{CWD}/src/a.py"}, {"file": {"content": "x"}}),
        ("read_file", {"absolute_path": f"{CWD}/src/a.py"}, {"llmContent": "x"}),
        ("read", {"filePath": "src/a.py"}, "x"),
        ("read_many_files", {"paths": ["src/a.py", "src/**/*.md"]}, "x"),
        ("str_replace_editor", {"command": "view", "path": "src/a.py"}, "x"),
        ("Bash", {"command": "sed -n '1,80p' src/a.py"}, "x"),
        ("Bash", {"command": "cd src && head -n 5 a.py | tail -2"}, "x"),
        ("Grep", {"pattern": "x"}, {"mode": "files_with_matches", "filenames": [f"{CWD}/src/a.py"]}),
        ("Grep", {"pattern": "x", "output_mode": "content"}, {"mode": "content", "content": "src/a.py:3:x = 1\n"}),
        ("Glob", {"pattern": "**/*.py"}, {"filenames": ["src/a.py"], "numFiles": 1}),
        ("search_file_content", {"pattern": "x"}, {"llmContent": "Found 1 match\nFile: src/a.py\nL3: x = 1"}),
        ("grep", {"pattern": "x"}, "src/a.py\n"),
    ],
)
def test_reads_in_every_spelling(name: str, given: Any, response: Any) -> None:
    assert files_of_call(tool(1, name, given, response)) == Files(read=("src/a.py",))


@pytest.mark.parametrize(
    "response",
    [{"is_error": True}, {"isError": True}, {"error": "no such file"}, {"success": False}, {"interrupted": True}],
)
def test_what_failed_changed_nothing(response: Any) -> None:
    assert files_of_call(tool(1, "Edit", {"file_path": "a.py"}, response)) == Files()
    assert files_of_call(tool(1, "Bash", {"command": "rm a.py"}, response)) == Files()


@pytest.mark.parametrize(
    "line, read_, modified",
    [
        ("cat a.py b.txt", ("a.py", "b.txt"), ()),
        ("mv a b; git mv c d; rm -rf e", (), ("a", "b", "c", "d", "e")),
        ("cp a.txt b.txt", ("a.txt",), ("b.txt",)),
        ("make | tee -a log.txt", (), ("log.txt",)),
        ("echo x >> notes.md 2>/dev/null", (), ("notes.md",)),
        ("cd deep/er && touch x && cd .. && rm y", (), ("deep/er/x", "deep/y")),
        ("cd $SOMEWHERE && rm x; rm /tmp/z", (), ("/tmp/z",)),
        ("rm *.pyc $X ~/y build/", (), ()),
        ("python - <<'EOF'\nopen('x', 'w')\nEOF", (), ()),
        ("grep foo a.py; curl -o x http://y; git checkout -- a.py", (), ()),
        ("echo 'cat a.py > b.py'", (), ()),
        ("cat 中文.md", ("中文.md",), ()),
    ],
)
def test_commands_that_plainly_read_or_write(line: str, read_: tuple[str, ...], modified: tuple[str, ...]) -> None:
    assert files_of_command(line, CWD, failed=False) == Files(read_, modified)
    assert files_of_command(line, CWD, failed=True) == Files(read_, ())


def test_a_patch_tells_what_becomes_of_each_file() -> None:
    assert [(each.path, each.verb, each.to) for each in files_of(PATCH)] == [
        ("src/a.py", "edited", ""), ("docs/新.md", "created", ""), ("src/old.py", "moved", "src/new.py"),
        ("gone.py", "deleted", ""),
    ]  # fmt: skip
    assert [(each.path, each.verb) for each in files_of(DIFF)] == [
        ("x.py", "edited"), ("n.py", "created"), ("d.py", "deleted"),
    ]  # fmt: skip
    assert files_of("hello") == []
    found = files_of_call(tool(1, "apply_patch", {"command": PATCH}, "Success")).modified
    assert found == ("src/a.py", "docs/新.md", "src/old.py", "src/new.py", "gone.py")


def test_several_calls_together_name_each_file_once() -> None:
    events = [read(1, "a.py"), edit(2, "a.py", "x", "y"), edit(3, "a.py", "y", "z"), bash(4, "cat a.py b.py")]
    assert files(events) == Files(("a.py", "b.py"), ("a.py",))
    many = [read(n, f"f{n}.py") for n in range(100)]
    assert len(files(many).read) == 20


@pytest.mark.parametrize(
    "path, cwd, expected",
    [
        ("/w/app/src/a.py", "/w/app", "src/a.py"), ("src/a.py", "/w/app", "src/a.py"), ("./a", "/w/", "a"),
        ("/w/application/a.py", "/w/app", "/w/application/a.py"), ("../b/a.py", "/w/app", "/w/b/a.py"),
        ("/w/app", "/w/app", None), ("", "/w", None), ("a\nb", "/w", None), ("x" * 500, "/w", None),
        ("C:\\w\\app\\src\\a.py", "C:\\w\\app", "src/a.py"), ("c:/w/app/a.py", "C:\\w\\app", "a.py"),
        ("src/a.py", "", "src/a.py"), ("file:///w/a.py", "/w", "a.py"), (".", "/w", None),
    ],
)  # fmt: skip
def test_paths_are_relative_where_they_are_inside(path: str, cwd: str, expected: str | None) -> None:
    assert relative(path, cwd) == expected


def test_the_folder_of_several_files() -> None:
    assert folder_of(["src/a/x.py", "src/a/y.py", "src/a/b/z.py"]) == "src/a"
    assert folder_of(["src/a.py", "docs/b.md"]) == ""
    assert folder_of(["a.py"]) == ""
