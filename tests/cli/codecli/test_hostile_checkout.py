"""A checkout that names programs in every place that git looks at: with memory on, none of them runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support.qa_endpoint import ITEM, QaEndpoint
from tests._support.wrapping import Place

# Where git takes a program from; `{evil}` leaves a trace and passes its input on.
CONFIGURATION = {
    "clean filter": "[filter \"evil\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\trequired = true\n",
    "process filter": "[filter \"evil\"]\n\tprocess = {evil}\n",
    "fsmonitor": "[core]\n\tfsmonitor = {evil}\n",
    "textconv": "[diff \"evil\"]\n\ttextconv = {evil}\n\tcommand = {evil}\n[diff]\n\texternal = {evil}\n",
    "include": "[include]\n\tpath = ../included\n",
    "pager and editor": "[core]\n\tpager = {evil}\n\teditor = {evil}\n\tsshCommand = {evil}\n"
    "[pager]\n\tstatus = {evil}\n",
    "hooks path": "[core]\n\thooksPath = {hooks}\n",
    "alias and credentials": "[alias]\n\tstatus = !{evil}\n[credential]\n\thelper = !{evil}\n",
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.program('print("done")')
    return made


@pytest.fixture
def server(place: Place) -> Iterator[QaEndpoint]:
    answers = {"search": {"items": [ITEM], "count": 1}, "hit": {"accepted": 1, "unknown": [], "deduped": 0}}
    with QaEndpoint(answers) as server:
        place.more = {"MEM_CODECLI_MEMORY_BASE_URL": server.base, "CODEXMEM_PROJECT_ID": "shop",
                      "MEM_CODECLI_MEMORY_TIMEOUT_MS": "5000"}  # fmt: skip
        yield server


def git(folder: Path, *words: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always", *words],
                   cwd=folder, check=True, capture_output=True, env=environ)  # fmt: skip


def hostile(place: Place, configuration: str) -> Path:
    """A checkout whose files say that `evil` is to be run for them; returns the trace that it would leave."""
    work, trace = place.home / "work", place.home / "ran"
    evil = work / "evil"
    git(work, "init", "-q")
    (work / "pay.py").write_text("hello")
    inner = place.home / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "x")
    git(work, "submodule", "add", "-q", str(inner), "sub")
    git(work, "add", ".")
    git(work, "commit", "-qm", "x")
    evil.write_text(f"#!/bin/sh\necho ran >> {trace}\nexec cat\n")
    evil.chmod(0o755)
    hooks = work / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        (hooks / name).symlink_to(evil)
    told = configuration.format(evil=evil, hooks=hooks)
    (work / "included").write_text(CONFIGURATION["clean filter"].format(evil=evil))
    for place_of_config in (work / ".git", work / ".git/modules/sub"):
        with (place_of_config / "config").open("a") as file:
            file.write(told)
        (place_of_config / "info").mkdir(exist_ok=True)
        (place_of_config / "info/attributes").write_text("* filter=evil diff=evil\n")
    (work / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (work / "sub/.gitattributes").write_text("* filter=evil\n")
    (work / "pay.py").write_text("hallo")
    later = time.time() + 60  # git asks the filter only where the time of a file differs
    os.utime(work / "pay.py", (later, later))
    return trace


def run(place: Place, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "codexmem.codecli.cli", "run", "--memory-on", *words], env=place.environ,
        cwd=place.home / "work", stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("configuration", CONFIGURATION.values(), ids=CONFIGURATION)
def test_no_program_of_a_checkout_runs(configuration: str, place: Place, server: QaEndpoint) -> None:
    trace = hostile(place, configuration)
    done = run(place, "--", "try that again")
    assert (done.returncode, done.stdout) == (0, b"done\n"), done.stderr
    query = next(asked.body["query"] for asked in server.asked if asked.path == "/v1/qa/search")
    assert "pay.py" in query  # the repository was looked at all the same
    assert not trace.exists()


def test_git_itself_is_not_run(place: Place, server: QaEndpoint) -> None:
    hostile(place, "")
    place.shell(f'echo "$@" >> {place.home}/git-ran', "git")
    for words in (["--", "try that again"], ["--explain", "--", "try that again"], ["--audit", "auto", "--", "again"]):
        assert run(place, *words).returncode == 0
    assert not (place.home / "git-ran").exists()
