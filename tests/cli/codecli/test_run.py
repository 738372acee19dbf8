"""`mem-codecli run` as a person starts it: the real program, the real server, agents of the test's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests._support.model_server import SILENCE
from tests._support.qa_endpoint import QaEndpoint
from tests._support.server import Server
from tests._support.waiting import eventually
from tests._support.wrapping import Place, screen
from tests.cli.conftest import Call

QUESTION = "How large is the connection pool of the billing worker?"
ANSWER = "Set pool_size to 20 and max_overflow to 5 in config/db.yaml, then restart the billing worker."


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("codecli-run")) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, {"CODEXMEM_DATA_DIR": str(tmp_path / "none"), "CODEXMEM_PORT": "9"})


def run(place: Place, *words: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "codexmem.codecli.cli", "run", *words], env=place.environ,
                          cwd=place.home / "work", input=given, stdin=None if given is not None else subprocess.DEVNULL,
                          capture_output=True, timeout=30, check=False)  # fmt: skip


def asked(server: Server, project: str, query: str = QUESTION) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.post("/v1/qa/search", {"project_id": project, "query": query}).json["items"]
    return found


@pytest.mark.clause(
    "001 §2.2", "with --memory-on: /v1/qa/search, the agent, /v1/qa/hit, /v1/qa/candidates, on a real server"
)
@pytest.mark.clause(
    "001 §3.2.6", "--gatekeeper hard writes what keeps the rules; off and soft without strong_signal do not"
)
def test_a_run_learns_and_the_next_one_knows(server: Server, place: Place) -> None:
    place.more |= {"CODEXMEM_DATA_DIR": str(server.data_dir), "CODEXMEM_PROJECT_ID": "billing"}
    told = {"project_id": "billing", "question": QUESTION, "answer": ANSWER}
    qa_id = server.post("/v1/qa/candidates", told).json["qa_id"]
    place.program("""
        import sys
        print("SAW", sys.argv[1])
        print("Set pool_size to 20 and max_overflow to 5 in config/db.yaml and restart the worker.")
    """)
    done = run(place, "--memory-on", "--gatekeeper", "off", "--trace-json", str(place.home / "trace"), QUESTION)
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"[QA_REF {qa_id}]".encode() in done.stdout
    assert b"UNPROVEN" in done.stdout
    (item,) = asked(server, "billing")  # and no other: off writes nothing
    assert (item["hits"]["shown"], item["hits"]["used"]) == (1, 1)
    spans = {line["name"]: line for line in map(json.loads, (place.home / "trace").read_text().splitlines())}
    assert spans["memory.hit"]["attributes"]["used"] == {qa_id: "overlap"}

    place.program("""
        print('''To rotate the signing key of the gateway:

        1. Create a key with `gatewayctl keys create --use signing`.
        2. Add its id to `config/gateway.yaml` under `signing_keys`, before the old one.
        3. Reload with `gatewayctl reload`; do not restart, since that drops open connections.
        4. Remove the old id once no token signed by it is valid any more.

        Note: if a client caches the key set, wait until its cache has ended.''')
    """)
    other = "How do I rotate the signing key of the gateway?"
    kept = {}
    for mode in ("soft", "hard"):
        assert run(place, "--memory-on", "--gatekeeper", mode, other).returncode == 0
        kept[mode] = [item["source"] for item in asked(server, "billing", other) if "gatewayctl" in item["answer"]]
    assert kept == {"soft": [], "hard": ["mem-codecli"]}


@pytest.mark.clause("001 §3.2.2", "--memory-url says where the memory is")
@pytest.mark.clause("001 §3.2.1", "--project-id, CODEXMEM_PROJECT_ID or project_id in a file; the flag wins")
def test_flags_say_project_and_address(place: Place) -> None:
    place.shell("exit 0")
    place.more["CODEXMEM_PROJECT_ID"] = "from-environment"
    with QaEndpoint({"search": {"items": []}}) as endpoint:
        run(place, "--memory-on", "--memory-url", endpoint.base, "--project-id", "from-flag", "question one")
        run(place, "--memory-on", "--memory-url", endpoint.base, "question two")
        assert [asked.body["project_id"] for asked in endpoint.asked] == ["from-flag", "from-environment"]


@pytest.mark.clause("001 §3.2.3", "--memory-on and --memory-off overrule the configuration")
def test_memory_is_switched_by_flag_over_file(place: Place) -> None:
    place.shell("exit 0")
    folder = place.home / ".config" / "mem-codecli"
    folder.mkdir(parents=True)
    with QaEndpoint({"search": {"items": []}}) as endpoint:
        (folder / "config.toml").write_text(f"[memory]\non = true\nbase_url = '{endpoint.base}'\n")
        run(place, "a question")
        run(place, "--memory-off", "a question")
        run(place, "--memory-off", "--trace-json", "/dev/null", "a question")
        assert endpoint.count == 1
        (folder / "config.toml").write_text(f"[memory]\nbase_url = '{endpoint.base}'\n")
        run(place, "a question")
        assert endpoint.count == 1
        run(place, "--memory-on", "a question")
        assert endpoint.count == 2


@pytest.mark.clause("001 §6.3", "--trace-json writes a structured trace")
def test_a_trace_of_a_run(place: Place) -> None:
    place.shell('echo "$1"; exit 4')
    done = run(place, "--trace-json", str(place.home / "trace"), "hello there")
    assert (done.returncode, done.stdout) == (4, b"hello there\n")
    lines = [json.loads(line) for line in (place.home / "trace").read_text().splitlines()]
    assert [line["name"] for line in lines] == ["agent", "run"]
    assert lines[0]["attributes"]["code"] == 4
    assert {"run_id", "start_ms", "end_ms", "duration_ms", "status"} < lines[0].keys()


def test_explain_shows_everything_and_runs_nothing(server: Server, place: Place) -> None:
    place.more |= {"CODEXMEM_DATA_DIR": str(server.data_dir), "CODEXMEM_PROJECT_ID": "explained"}
    place.shell('touch "$HOME/ran"')
    server.post("/v1/qa/candidates", {"project_id": "explained", "question": QUESTION, "answer": ANSWER})
    done = run(place, "--memory-on", "--explain", "--json", "--audit", "auto", QUESTION)
    said = json.loads(done.stdout)
    assert done.returncode == 0
    assert said["command"] == ["codecli", QUESTION]
    assert QUESTION in said["memory"]["query"]
    assert said["memory"]["items"][0]["answer"] == ANSWER
    assert ANSWER in said["injection"]["system"]
    assert [rule["name"] for rule in said["gatekeeper"]["rules"]] == ["missing", "reusable", "form", "safe"]
    assert said["policy"]["audit"] == "auto"
    text = run(place, "--memory-on", "--explain", "--lang", "zh", QUESTION).stdout.decode()
    assert "没有运行智能体" in text
    assert QUESTION in text
    assert asked(server, "explained")[0]["hits"]["shown"] == 0
    assert not (place.home / "ran").exists()


def test_a_slip_is_asked_about_and_dashes_pass_it_on(place: Place) -> None:
    place.shell('echo "$@"')
    done = run(place, "--memory-onn", "x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--memory-on" in done.stderr
    assert run(place, "--", "--memory-onn", "x").stdout == b"--memory-onn x\n"
    assert run(place, "-q", "--memory-off", "--print", "x").stdout == b"--print x\n"


@pytest.mark.clause(
    "001 §3.2.4", "--stream is no option of ours any more: it is the agent's; --stream-format and --tui are"
)
def test_the_old_option_is_the_agents(place: Place) -> None:
    place.shell('echo "$@"')
    assert run(place, "--", "--stream", "x").stdout == b"--stream x\n"
    done = run(place, "--tui", "--stream-format", "text", "hello there")
    assert (done.stdout, done.returncode) == (b"hello there\n", 0)
    assert b"--tui needs a terminal" in done.stderr


def test_no_agent_at_all(place: Place) -> None:
    done = run(place)
    assert done.returncode == 127
    assert b"nor is any agent we know" in done.stderr
    assert b"command = " in done.stderr
    assert run(place, "--trace-json", "-", "x").returncode == 127


def test_an_interrupted_search_starts_nothing(place: Place) -> None:
    place.shell('touch "$HOME/ran"')
    with QaEndpoint({"search": SILENCE}) as endpoint:
        command = [
            sys.executable,
            "-m",
            "codexmem.codecli.cli",
            "run",
            "--memory-on",
            "--memory-url",
            endpoint.base,
            "x y",
        ]
        place.more["MEM_CODECLI_MEMORY_TIMEOUT_MS"] = "20000"
        process = subprocess.Popen(command, env=place.environ, cwd=place.home / "work", stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)  # fmt: skip
        eventually(lambda: endpoint.count)
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert not (place.home / "ran").exists()


def test_the_line_under_the_output(place: Place) -> None:
    place.shell("echo one; sleep 0.6; echo two")
    place.more["CODEXMEM_PROJECT_ID"] = "shop"
    command = [sys.executable, "-m", "codexmem.codecli.cli", "run", "--tui", "--", "hello there"]
    place.command = lambda *_: command  # type: ignore[method-assign]
    with screen(place, "") as shown:
        assert shown.wait() == 0
        assert b"mem-codecli shop | memory off" in shown.seen
        assert shown.settings == shown.before


def test_help_in_both_languages(call: Call) -> None:
    for language, word in (("en", "--inject-mode"), ("zh", "退出码")):
        said = call("run", "--lang", language, "--help")
        assert said.code == 0
        assert word in said.out
        for name in ("--project-id", "--memory-url", "--memory-on", "--gatekeeper", "--audit", "--redact",
                     "--stream-format", "--tui", "--trace-json", "--record", "--explain"):  # fmt: skip
            assert name in said.out
