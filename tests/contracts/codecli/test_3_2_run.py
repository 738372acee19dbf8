"""Contract 001 §3.1 and §3.2: `mem-codecli run` with each of its flags, as a program with an agent behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.codecli.recording import RecordedBytes, read
from tests._support.qa_endpoint import ITEM, QaEndpoint
from tests._support.wrapping import Place

# Says what it was given, then answers; the answer cites the memory if there is one.
AGENT = """
    import json, sys
    said = " ".join(sys.argv[1:])
    print(json.dumps(sys.argv[1:]), file=sys.stderr)
    print("Deploy in steps. [QA_REF qa-01]" if "QA_REF" in said else "No memory.")
    sys.exit(5)
"""
FAR = ITEM | {"score": 0.05}  # too far off to be an answer already
ANSWERS: dict[str, Any] = {
    "search": {"items": [ITEM], "count": 1},
    "hit": {"accepted": 1, "unknown": [], "deduped": 0},
    "candidates": {"qa_id": "qa-09", "status": "candidate", "created": True, "merged_into": None, "contradicts": []},
    "validate": {"qa_id": "qa-01", "status": "validated", "confidence": 0.8},
}
PROMPT = "如何部署商店？"
GOOD = (
    "To deploy the shop, follow these steps:\\n1. Run `just check` and wait until it passes.\\n2. Tag the commit with "
    "`git tag`.\\n3. Push the tag with `git push --tags`.\\nNote: never tag while a check fails, or the release breaks."
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.program(AGENT)
    return made


@pytest.fixture
def server(place: Place) -> Iterator[QaEndpoint]:
    with QaEndpoint(dict(ANSWERS)) as server:
        place.more = {"MEM_CODECLI_MEMORY_BASE_URL": server.base, "CODEXMEM_PROJECT_ID": "商店"}
        yield server


def run(place: Place, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "codexmem.codecli.cli", "run", *arguments], env=place.environ,
        cwd=place.home / "work", input=given, capture_output=True, timeout=30, check=False,
    )  # fmt: skip


def arguments_of(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """What the agent was given."""
    given: list[str] = json.loads(next(line for line in done.stderr.splitlines() if line.startswith(b"[")))
    return given


def verbs(server: QaEndpoint) -> list[str]:
    return [asked.path for asked in server.asked]


@pytest.mark.clause("001 §3.1.1", "`run -- ARGS`: all after -- goes to the agent to the letter; its exit code is ours")
def test_arguments_pass_to_the_letter(place: Place) -> None:
    done = run(place, "--", "exec", "--json", "--memory-on", "--", "最后 一个", "")
    assert (done.returncode, done.stdout) == (5, b"No memory.\n")
    assert arguments_of(done) == ["exec", "--json", "--memory-on", "--", "最后 一个", ""]
    assert arguments_of(run(place, "exec", "--json")) == ["exec", "--json"]


@pytest.mark.clause("001 §3.2.3", "--memory-on searches and injects; --memory-off does not, whatever is configured")
def test_memory_is_switched(place: Place, server: QaEndpoint) -> None:
    assert run(place, "--", PROMPT).returncode == 5
    assert verbs(server) == []
    done = run(place, "--memory-on", "--inject-mode", "user", "--", PROMPT)
    assert (done.returncode, verbs(server)[0]) == (5, "/v1/qa/search")
    assert "[QA_REF qa-01]" in arguments_of(done)[0]
    server.asked.clear()
    place.more["MEM_CODECLI_MEMORY_ON"] = "1"
    done = run(place, "--memory-off", "--", PROMPT)
    assert (done.stdout, verbs(server)) == (b"No memory.\n", [])


@pytest.mark.clause("001 §2.2", "one run: /v1/qa/search, the agent with what was found, /v1/qa/hit, /v1/qa/candidates")
@pytest.mark.clause("001 §3.2.1", "--project-id is the project_id of every request, before CODEXMEM_PROJECT_ID")
@pytest.mark.clause("001 §3.2.2", "--memory-url is where every request goes, before the configured address")
def test_one_run_searches_tells_and_offers(place: Place, server: QaEndpoint) -> None:
    place.more["MEM_CODECLI_MEMORY_BASE_URL"] = "http://127.0.0.1:9"
    place.program(f'print("""{GOOD}""")')
    server.answers = ANSWERS | {"search": {"items": [FAR], "count": 1}}
    done = run(place, "--memory-on", "--memory-url", server.base, "--project-id", "flag", "--gatekeeper", "hard", "--",
               "How do we deploy the shop?")  # fmt: skip
    assert done.returncode == 0
    assert verbs(server) == ["/v1/qa/search", "/v1/qa/hit", "/v1/qa/candidates"], done.stderr.decode()
    assert {asked.body["project_id"] for asked in server.asked} == {"flag"}
    search, hit, candidate = (asked.body for asked in server.asked)
    assert "How do we deploy the shop?" in search["query"]
    assert hit["references"][0]["qa_id"] == "qa-01"
    assert hit["references"][0]["shown"] is True
    assert "deploy the shop" in candidate["question"]


@pytest.mark.clause(
    "001 §4.3", "shown and used tell what the agent saw and cited; message_id is the run's, context how"
)
def test_a_hit_says_what_was_used(place: Place, server: QaEndpoint) -> None:
    run(place, "--memory-on", "--inject-mode", "user", "--", PROMPT)
    (reference,) = next(asked.body["references"] for asked in server.asked if asked.path == "/v1/qa/hit")
    assert (reference["qa_id"], reference["shown"], reference["used"]) == ("qa-01", True, True)
    assert len(reference["message_id"]) == 36
    assert reference["context"].startswith("injected:user")


@pytest.mark.clause(
    "001 §3.2.4", "--stream is no option any more and is the agent's; --stream-format and --tui are ours"
)
def test_stream_is_gone_and_stream_format_is_there(place: Place) -> None:
    assert arguments_of(run(place, "--stream", "x")) == ["--stream", "x"]
    done = run(place, "--stream-format", "jsonl", "--tui", "--", "x")
    assert (done.returncode, arguments_of(done)) == (5, ["x"])
    assert b"--tui needs a terminal" in done.stderr
    assert run(place, "--stream-format", "xml", "--", "x").returncode == 2


@pytest.mark.parametrize("mode", ["system", "user", "both"])
@pytest.mark.clause("001 §3.2.5", "--inject-mode system, user and both say where memories go; --explain shows it")
def test_inject_mode_says_where_memories_go(mode: str, place: Place, server: QaEndpoint) -> None:
    done = run(place, "--memory-on", "--inject-mode", mode, "--explain", "--json", "--", PROMPT)
    assert done.returncode == 0, done.stderr
    injection = json.loads(done.stdout)["injection"]
    assert injection["mode"] == mode
    assert ("[QA_REF qa-01]" in injection["system"]) is (mode in {"system", "both"})
    assert ("[QA_REF qa-01]" in injection["user"]) is (mode in {"user", "both"})
    assert verbs(server) == ["/v1/qa/search"]  # nothing is run, so nothing is told


@pytest.mark.parametrize("mode,offered", [("off", False), ("soft", False), ("hard", True)])
@pytest.mark.clause("001 §3.2.6", "off offers nothing, soft nothing without a strong_signal, hard what keeps the rules")
def test_the_gatekeeper_decides_what_is_offered(mode: str, offered: bool, place: Place, server: QaEndpoint) -> None:
    place.program(f'print("""{GOOD}""")')
    server.answers = ANSWERS | {"search": {"items": [], "count": 0}}
    run(place, "--memory-on", "--gatekeeper", mode, "--", "How do we deploy the shop?")
    assert ("/v1/qa/candidates" in verbs(server)) is offered


@pytest.mark.clause("001 §1.2.3", "an agent that asks for a tool is audited once audit is on, and not while it is off")
@pytest.mark.clause("001 §3.2.7", "--audit off holds nothing back; prompt and auto decide, and deny where no person is")
def test_audit_decides_about_tools(place: Place) -> None:
    place.program("""
        print('TOOL_REQUEST: {"tool": "Bash", "arguments": {"command": "rm -rf build"}}')
    """)
    log = place.home / ".local" / "state" / "mem-codecli" / "audit" / "audit.jsonl"
    run(place, "--audit", "off", "--", "x")
    assert not log.exists()
    for count, mode in enumerate(("prompt", "auto"), start=1):
        assert run(place, "--audit", mode, "--", "x").returncode == 10
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        requests = [row for row in rows if row["kind"] == "request"]
        assert len(requests) == count
        assert requests[-1]["decision"] == "deny"


@pytest.mark.parametrize("level,seen", [("off", True), ("basic", False), ("strict", False)])
@pytest.mark.clause("001 §3.2.8", "--redact off sends all; basic and strict send neither tokens nor e-mail addresses")
def test_redaction_takes_out_of_what_is_sent(level: str, seen: bool, place: Place, server: QaEndpoint) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    run(place, "--memory-on", "--redact", level, "--", f"why is {token} of li.wei@acme-shop.cn refused?")
    query = server.asked[0].body["query"]
    assert (token in query, "li.wei@acme-shop.cn" in query) == (seen, seen)


@pytest.mark.clause("001 §1.2.2", "stdin → agent → stdout and stderr pass as they come, while the run is watched")
def test_each_line_is_answered_before_the_next_is_sent(place: Place, server: QaEndpoint) -> None:
    place.program("""
        import sys
        for line in sys.stdin:
            print("heard", line.strip(), flush=True)
            print("noted", line.strip(), file=sys.stderr, flush=True)
    """)
    target = place.home / "run.jsonl"
    wrapped = subprocess.Popen(
        [sys.executable, "-m", "codexmem.codecli.cli", "run", "--record", str(target), "--", "-"], env=place.environ,
        cwd=place.home / "work", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    with wrapped:
        assert wrapped.stdin is not None
        assert wrapped.stdout is not None
        assert wrapped.stderr is not None
        for number in range(3):
            wrapped.stdin.write(f"第{number}行\n".encode())
            assert wrapped.stdout.readline().decode() == f"heard 第{number}行\n"
            assert wrapped.stderr.readline().decode() == f"noted 第{number}行\n"
        wrapped.stdin.close()
    assert wrapped.returncode == 0
    said = [
        entry.piece for entry in read(target).play() if isinstance(entry, RecordedBytes) and entry.stream == "stdout"
    ]
    assert b"".join(said).decode() == "heard 第0行\nheard 第1行\nheard 第2行\n"


@pytest.mark.clause("001 §6.3", "--trace-json writes JSON lines: spans with names, times and what came of them")
def test_a_trace_is_written(place: Place, server: QaEndpoint) -> None:
    target = place.home / "trace.jsonl"
    assert run(place, "--memory-on", "--trace-json", str(target), "--", PROMPT).returncode == 5
    entries = [json.loads(line) for line in target.read_text().splitlines()]
    names = {entry.get("name") for entry in entries}
    assert {"run", "agent", "memory.hit"} <= names
    assert len({entry["run_id"] for entry in entries}) == 1


@pytest.mark.clause("001 §1.2.5", "--record writes the run down; replay prints it again")
def test_a_run_is_recorded_and_played_again(place: Place) -> None:
    target = place.home / "run.jsonl"
    first = run(place, "--record", str(target), "--", "x")
    assert (first.returncode, first.stdout) == (5, b"No memory.\n")
    again = subprocess.run(
        [sys.executable, "-m", "codexmem.codecli.cli", "replay", str(target)], env=place.environ,
        cwd=place.home / "work", capture_output=True, timeout=30, check=True,
    )  # fmt: skip
    assert (again.stdout, again.stderr) == (first.stdout, first.stderr)
    done = run(place, "--record", str(place.home / "no" / "run.jsonl"), "--", "x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"cannot be written" in done.stderr


def test_a_run_without_a_named_project_says_which_it_uses(place: Place, server: QaEndpoint) -> None:
    del place.more["CODEXMEM_PROJECT_ID"]
    done = run(place, "--memory-on", "--", PROMPT)
    assert "no project is named; using work, after the checkout" in done.stderr.decode()
    assert server.asked[0].body["project_id"] == "work"
    assert b"no project" not in run(place, "-q", "--memory-on", "--", PROMPT).stderr
