"""Contract 001 §5.2: a tool that is denied does not run, also where the agent cannot be told of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests._support import warm
from tests._support.wrapping import Place, Screen

# Prints what it wants, and does it a moment later, unless something ends it.
DOES_IT = """
    import sys, time
    from pathlib import Path
    print({asks!r}, flush=True)
    time.sleep(1.5)
    Path("done").touch()
"""
TEXT = 'TOOL_REQUEST: {"tool": "Bash", "arguments": {"command": "rm -rf build"}}'
LINE = '{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "rm -rf build"}}'
MESSAGE = '{"type": "assistant", "message": {"content": [' + LINE + "]}}"
FORMS = {"text": TEXT, "jsonl": LINE, "sse": f"data: {LINE}\n"}
DENIES = {"MEM_CODECLI_POLICY_DENYLIST": '["command:rm -rf"]', "MEM_CODECLI_POLICY_ALLOWLIST": '["Bash"]'}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, dict(DENIES))


def run(place: Place, way: str, *options: str) -> tuple[int, str]:
    """Run the agent with its prompt as an argument, by a pipe or at a terminal; its code, and what was said."""
    arguments = ["run", "--audit", "auto", *options, "--", *(() if way == "pipe" else ("please tidy up",))]
    cwd = place.home / "work"
    if way == "terminal":
        screen = Screen([sys.executable, "-m", "codexmem.codecli.cli", *arguments], place.environ, cwd)
        try:
            return screen.wait(), screen.seen.decode()
        finally:
            screen.close()
    given = b"please tidy up" if way == "pipe" else b""
    done = subprocess.run([warm.program("mem-codecli"), *arguments], env=place.environ, cwd=cwd, input=given,
                          capture_output=True, timeout=60, check=False)  # fmt: skip
    return done.returncode, done.stderr.decode()


def rows(place: Place) -> list[dict[str, Any]]:
    log = place.home / ".local" / "state" / "mem-codecli" / "audit" / "audit.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.clause("001 §5.2", "deny: what is denied does not run; an agent that cannot be told is stopped")
@pytest.mark.clause("001 §5.4", "the denied request has a row with its result and duration")
@pytest.mark.parametrize(
    "way,form", [("argument", "text"), ("pipe", "text"), ("terminal", "text"), ("argument", "jsonl"), ("pipe", "sse")]
)
def test_what_is_denied_does_not_run(way: str, form: str, place: Place) -> None:
    place.program(DOES_IT.format(asks=FORMS[form]))
    code, said = run(place, way, "--stream-format", form)
    assert code == 10, said
    assert not (place.home / "work" / "done").exists()
    assert "the agent was stopped" in said
    assert "rm -rf build" in said
    assert "deny[0]" in said
    request, result = rows(place)
    assert (request["kind"], request["decision"], request["tool"]) == ("request", "deny", "Bash")
    assert (result["kind"], result["result"], result["tool"]) == ("result", "failure", "Bash")
    assert isinstance(result["duration_ms"], int)


@pytest.mark.clause("001 §5.2", "ask without a terminal is a denial, and stops an agent that cannot be told")
def test_what_nobody_can_be_asked_about_does_not_run(place: Place) -> None:
    place.more = {}
    place.program(DOES_IT.format(asks=TEXT))
    code, said = run(place, "argument", "--audit", "prompt")
    assert (code, (place.home / "work" / "done").exists()) == (10, False), said
    assert rows(place)[0]["by"] == "no-terminal"


@pytest.mark.clause("001 §5.2", "what the agent has started for a denied tool ends with it")
def test_the_process_group_ends_with_the_agent(place: Place) -> None:
    place.shell("sleep 30 & echo $! > child; echo '" + TEXT + "'; wait")
    code, said = run(place, "argument")
    assert code == 10, said
    child = int((place.home / "work" / "child").read_text())
    status = Path(f"/proc/{child}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.clause("001 §5.2", "an agent of which our hook cannot be a part is stopped as well")
def test_a_stream_without_a_hook_is_held_to_policy(place: Place) -> None:
    place.program(DOES_IT.format(asks=MESSAGE), "claude")
    place.more["MEM_CODECLI_COMMAND"] = "claude"
    streams = ("--settings", "missing.json", "--output-format", "stream-json")
    arguments = ["run", "--audit", "auto", "--", *streams, "please tidy up"]
    done = subprocess.run([warm.program("mem-codecli"), *arguments], env=place.environ, cwd=place.home / "work",
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)  # fmt: skip
    assert (done.returncode, (place.home / "work" / "done").exists()) == (10, False), done.stderr.decode()


@pytest.mark.clause("001 §5.2", "audit.untold = note: the agent goes on, the person is told")
def test_an_agent_that_is_only_noted_goes_on(place: Place) -> None:
    place.more["MEM_CODECLI_AUDIT_UNTOLD"] = "note"
    place.program(DOES_IT.format(asks=TEXT).replace("1.5", "0"))
    code, said = run(place, "argument")
    assert (code, (place.home / "work" / "done").exists()) == (0, True), said
    assert "could not be told why" in said
    assert rows(place)[0]["decision"] == "deny"


@pytest.mark.clause("001 §5.2", "an allowed tool runs, and the agent goes on")
def test_what_is_allowed_runs(place: Place) -> None:
    place.program(DOES_IT.format(asks=LINE.replace("rm -rf build", "ls build")).replace("1.5", "0"))
    code, said = run(place, "argument", "--stream-format", "jsonl")
    assert (code, (place.home / "work" / "done").exists()) == (0, True), said
