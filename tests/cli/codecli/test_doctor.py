"""`mem-codecli doctor`: each thing that can be wrong is found, told apart, and comes with a remedy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.codecli import probing, surroundings
from tests._support import certificates
from tests._support.model_server import SILENCE, Asked, Reply
from tests._support.qa_endpoint import ITEM, QaEndpoint
from tests.cli.conftest import Call, Said

pytestmark = pytest.mark.process

GOOD = {"search": {"items": [ITEM], "count": 1}}
SECRET = "cm_verysecret_0123456789"


def finding(said: Said, check: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in said.json["checks"] if each["check"] == check)
    return found


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A codecli on the PATH that says its version."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "codecli"
    program.write_text("#!/bin/sh\necho codecli 7.1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return program


@pytest.fixture
def server() -> Iterator[QaEndpoint]:
    with QaEndpoint(GOOD) as server:
        yield server


@pytest.fixture
def on(home: Path, server: QaEndpoint, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything as it should be."""
    monkeypatch.setenv("MEM_CODECLI_MEMORY_ON", "on")
    monkeypatch.setenv("MEM_CODECLI_MEMORY_BASE_URL", server.base)
    monkeypatch.setenv("CODEXMEM_PROJECT_ID", "商店")


@pytest.mark.usefixtures("on")
@pytest.mark.clause("001 §3.1.5", "a sound installation passes every check, one live round trip among them")
def test_a_sound_installation_passes_every_check(call: Call, server: QaEndpoint) -> None:
    said = call("doctor", "--strict", "--json")
    assert said.code == 0, said.out
    assert said.json["ok"] is True
    assert {each["check"]: each["state"] for each in said.json["checks"]} == dict.fromkeys(
        ("configuration", "project", "state", "redaction", "server", "tls", "authentication", "round_trip", "timeout",
         "agent", "policy", "audit"), "ok",
    )  # fmt: skip
    assert "codecli 7.1" in finding(said, "agent")["what"]
    assert [asked.path for asked in server.asked] == ["/v1/qa/search"]
    assert server.asked[0].body["project_id"] == "商店"
    text = call("doctor", "--lang", "zh")
    assert (text.code, text.err) == (0, "")
    assert "在 商店 中检索一次用时" in text.out


@pytest.mark.clause("001 §3.1.5", "with memory off a server that is away is only a warning")
def test_without_a_server_memory_off_only_warns(call: Call, home: Path, agent: Path) -> None:
    said = call("doctor", "--json")
    assert said.code == 0
    assert finding(said, "server")["state"] == "warning"
    assert "codexmem serve" in finding(said, "server")["how"]
    assert finding(said, "round_trip")["what"] == "round_trip: not checked, see above"
    assert call("doctor", "--strict").code == 1


@pytest.mark.clause("001 §3.1.5", "a server that is named and away is a failure, also with memory off")
def test_without_the_server_that_was_named_it_fails(call: Call, home: Path, agent: Path) -> None:
    said = call("doctor", "--memory-url", "http://127.0.0.1:9", "--json")
    assert (said.code, finding(said, "server")["state"]) == (1, "failure")


@pytest.mark.clause(
    "001 §3.1.5", "with memory on a server that is away is a failure, and the check that says so says how"
)
def test_without_a_server_memory_on_fails(call: Call, home: Path, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM_CODECLI_MEMORY_ON", "1")
    said = call("doctor", "--memory-url", "http://127.0.0.1:9")
    assert said.code == 1
    assert "the memory server at http://127.0.0.1:9 is not reachable: Connection refused" in said.out
    assert finding(call("doctor", "--memory-url", "http://no.such.invalid", "--json"), "server")["what"].endswith(
        "the name no.such.invalid is not known"
    )


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize(
    "status,key,what",
    [
        (401, "", "the server requires a key, and none is set (401)"),
        (401, SECRET, "the server rejects the key (401)"),
        (403, SECRET, "the key is valid but lacks permission (403)"),
    ],
)
@pytest.mark.clause("001 §3.1.5", "authentication: no key, an unknown one and a forbidden one are told apart")
def test_authentication_failures_are_told_apart(
    status: int, key: str, what: str, call: Call, server: QaEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = {"search": Reply(status, {"error": {"code": "unauthorized", "message": "no"}})}
    if key:
        monkeypatch.setenv("MEMORY_API_KEY", key)
    said = call("doctor", "--json")
    assert said.code == 1
    assert finding(said, "authentication")["what"] == what
    assert finding(said, "round_trip")["state"] == "ok"
    assert server.asked[0].key == (f"Bearer {key}" if key else "")
    assert key not in said.out or not key


@pytest.mark.usefixtures("on")
def test_a_key_that_is_taken_is_told_and_never_shown(
    call: Call, server: QaEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_API_KEY", SECRET)
    said = call("doctor", "--json")
    assert finding(said, "authentication")["what"] == "the server accepts the key"
    assert SECRET not in said.out


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize(
    "reply,what",
    [
        (Reply(404, {}), "the server has no /v1/qa/search (404)"),
        (Reply(500, {}), "a search failed (status 500)"),
        (Reply(200, b"<html>"), "its answer has no items"),
        (Reply(200, {"items": "none"}), "its answer has no items"),
    ],
)
def test_what_is_no_memory_server_is_found(reply: Reply, what: str, call: Call, server: QaEndpoint) -> None:
    server.answers = {"search": reply}
    said = call("doctor", "--json")
    assert said.code == 1
    assert what in finding(said, "round_trip")["what"]


@pytest.mark.usefixtures("on")
@pytest.mark.clause("001 §3.1.5", "time-outs: a search is measured against memory.timeout_ms")
def test_a_slow_server_is_measured_against_the_timeout(
    call: Call, server: QaEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0

    def slowly(verb: str, asked: Asked) -> object:
        nonlocal now_s
        now_s += 0.15
        return GOOD[verb]

    monkeypatch.setattr(surroundings, "monotonic", lambda: now_s)
    server.answers = slowly
    monkeypatch.setenv("MEM_CODECLI_MEMORY_TIMEOUT_MS", "100")
    said = call("doctor", "--json")
    assert said.code == 1
    assert "is more than memory.timeout_ms (100 ms)" in finding(said, "timeout")["what"]
    monkeypatch.setenv("MEM_CODECLI_MEMORY_TIMEOUT_MS", "250")
    assert "is close to memory.timeout_ms (250 ms)" in finding(call("doctor", "--json"), "timeout")["what"]


@pytest.mark.usefixtures("on")
def test_a_silent_server_ends_the_check_in_time(
    call: Call, server: QaEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "STEP_S", 0.3)
    server.answers = {"search": SILENCE}
    said = call("doctor", "--json")
    assert "a search got no answer: no answer within 0.3 s" in finding(said, "round_trip")["what"]


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize(
    "name,days,trusted,state,what",
    [
        ("localhost", 90, True, "ok", "the certificate is valid for 90 more days"),
        ("localhost", 5, True, "warning", "the certificate expires in 5 days"),
        ("localhost", -10, True, "failure", "is not valid today"),
        ("other.example", 90, True, "failure", "the certificate is not for https://localhost"),
        ("localhost", 90, False, "failure", "is not signed by a trusted authority"),
    ],
)
@pytest.mark.clause("001 §3.1.5", "tls: validity, host name and issuer of the certificate")
def test_certificates_are_looked_at(
    name: str, days: int, trusted: bool, state: str, what: str, call: Call, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    path = certificates.made(tmp_path / "certificate.pem", name=name, days=days)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with QaEndpoint(GOOD, tls=certificates.served(path)) as secure:
        said = call("doctor", "--memory-url", secure.base, "--json")
        asked = len(secure.asked)
    found = finding(said, "tls")
    assert (found["state"], what in found["what"]) == (state, True), found
    assert asked == (0 if state == "failure" else 1)  # nothing is said to a stranger
    assert said.code == (1 if state == "failure" else 0)


@pytest.mark.usefixtures("on")
def test_https_to_what_speaks_plain_http_is_told(call: Call, server: QaEndpoint) -> None:
    said = call("doctor", "--memory-url", server.base.replace("http://", "https://"), "--json")
    assert said.code == 1
    assert "TLS with https://127.0.0.1" in finding(said, "tls")["what"]


def test_a_key_over_plain_http_to_another_machine_is_warned_about(
    call: Call, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "reach", lambda url: probing.Reached(1, "not tried"))
    assert finding(call("doctor", "--memory-url", "http://memory.example", "--json"), "tls")["what"] == (
        "the connection to http://memory.example has no TLS"
    )
    monkeypatch.setenv("MEMORY_API_KEY", SECRET)
    found = finding(call("doctor", "--memory-url", "http://memory.example", "--json"), "tls")
    assert found["state"] == "warning"
    assert found["what"] == "the connection to http://memory.example has no TLS, so the key is not sent"


@pytest.mark.clause("001 §3.1.5", "a configuration that cannot be used is the one finding, with the key and an example")
def test_a_broken_configuration_is_the_only_finding(call: Call, home: Path) -> None:
    path = home / ".config" / "mem-codecli" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[memory]\ntimeout_ms = 'soon'\n")
    said = call("doctor", "--json")
    assert said.code == 1
    (only,) = said.json["checks"]
    assert only["check"] == "configuration"
    assert "memory.timeout_ms must be a whole number from 50 to 60000" in only["what"]
    assert only["how"] == "for example, in [memory]: timeout_ms = 1500"
    assert "memory.timeout_ms 的值有误" in call("doctor", "--lang", "zh").out


def test_warnings_of_the_configuration_are_findings(call: Call, work: Path, agent: Path) -> None:
    (work / ".mem-codecli.toml").write_text('projekt_id = "x"\n[codecli]\ncommand = ["other"]\n')
    said = call("doctor", "--json")
    warned = [each["what"] for each in said.json["checks"] if each["check"] == "configuration"][1:]
    assert any("did you mean project_id?" in each for each in warned)
    assert any("is not trusted; ignored: codecli.command" in each for each in warned)


def test_no_agent_another_agent_and_a_mute_one(
    call: Call, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    said = call("doctor", "--json")
    assert said.code == 1
    assert finding(said, "agent")["what"] == "codecli is not on the PATH"
    qwen = folder / "qwen"
    qwen.write_text("#!/bin/sh\necho 0.1.2 >&2\n")
    qwen.chmod(0o755)
    said = call("doctor", "--json")
    assert finding(said, "agent")["what"] == f"qwen is run instead of codecli: {qwen}, 0.1.2"
    qwen.write_text("#!/bin/sh\nexit 1\n")
    assert finding(call("doctor", "--json"), "agent")["state"] == "warning"


def test_an_agent_that_hangs_is_given_up(call: Call, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from codexmem.codecli.cli import checks

    monkeypatch.setattr(checks, "VERSION_S", 0.3)
    agent.write_text("#!/bin/sh\nexec sleep 600\n")
    assert finding(call("doctor", "--json"), "agent")["state"] == "warning"


def test_rules_patterns_and_folders_that_cannot_be_used_are_found(
    call: Call, home: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_CODECLI_POLICY_DENYLIST", '[{"tol": "Bash"}]')
    monkeypatch.setenv("MEM_CODECLI_REDACT_PATTERNS", '["(unclosed"]')
    said = call("doctor", "--json")
    assert said.code == 1
    assert finding(said, "policy")["state"] == "failure"
    assert finding(said, "policy")["how"]
    assert finding(said, "redaction")["state"] == "failure"
    monkeypatch.delenv("MEM_CODECLI_REDACT_PATTERNS")
    monkeypatch.setenv("MEM_CODECLI_REDACT_LEVEL", "off")
    assert finding(call("doctor", "--json"), "redaction")["state"] == "warning"
    state = home / ".local" / "state" / "mem-codecli"
    state.mkdir(parents=True)
    state.chmod(0o755)
    assert finding(call("doctor", "--json"), "state")["how"] == f"chmod 700 {state}"


def test_an_audit_log_that_was_changed_is_found(call: Call, home: Path, agent: Path) -> None:
    from codexmem.codecli.audit_log import AuditLog

    assert finding(call("doctor", "--json"), "audit")["what"] == "there is no audit log yet"
    log = AuditLog(home / ".local" / "state" / "mem-codecli" / "audit")
    for number in range(3):
        log.append({"kind": "request", "tool": f"Bash {number}"})
    os.chmod(home / ".local" / "state" / "mem-codecli", 0o700)  # noqa: PTH101
    assert finding(call("doctor", "--json"), "audit")["what"] == "the audit log is intact: 3 entries"
    log.path.write_bytes(log.path.read_bytes().replace(b"Bash 1", b"Bash 9"))
    said = call("doctor", "--json")
    assert said.code == 1
    assert finding(said, "audit")["state"] == "failure"
    assert finding(said, "audit")["how"] == "to see where: mem-codecli audit verify"
