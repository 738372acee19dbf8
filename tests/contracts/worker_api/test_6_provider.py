"""Contract 000 §6: a real server that extracts through a real HTTP server with OpenAI's interface, and without it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from codexmem.app import embedder_of
from codexmem.kernel.embed.openai import OpenAIEmbedder
from codexmem.kernel.model.errors import CodexmemError
from codexmem.settings import load
from tests._support import warm
from tests._support.model_server import ModelServer, refused
from tests._support.server import Server, environment
from tests._support.waiting import eventually

pytestmark = pytest.mark.sqlite

COUNTS = ("success", "parse_fail", "schema_fail", "repair_fail", "fallback_used")


def captured(server: Server, project: str, *, model: bool = True) -> list[dict[str, Any]]:
    """One tool event, and the observations that come of it: that of the rules, and then that of a model."""
    server.post("/api/sessions/init", {"contentSessionId": project, "project": project, "prompt": "find the port"})
    server.post("/api/sessions/observations", {
        "contentSessionId": project, "tool_name": "Read", "tool_input": {"file_path": "/r/src/server.py"},
        "tool_response": "PORT = 8123", "cwd": "/r",
    })  # fmt: skip
    server.post("/api/sessions/complete", {"contentSessionId": project})

    def extracted() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = server.request("GET", f"/api/observations?project={project}").json["items"]
        return rows if len(rows) >= 1 + model else []

    return eventually(extracted)


def asked_in_vain(server: Server, project: str, times: int) -> None:
    """One tool event about which a model is asked that does not answer: the rules' observation stands."""
    (row,) = captured(server, project, model=False)
    assert "server.py" in row["title"]
    eventually(lambda: failures(server)[1] >= times)


def failures(server: Server) -> tuple[dict[str, int], int]:
    """Failures by class, and how many the trends count."""
    classes: dict[str, int] = server.request("GET", "/api/ops/failure-summary").json["byErrorClass"]
    trends = server.request("GET", "/api/ops/trends?windowSec=3600&bucketSec=3600").json["buckets"]
    return classes, sum(bucket["failureCount"] for bucket in trends)


def doctor(data_dir: Path) -> dict[str, Any]:
    """What `doctor` says about who writes, in a shell that knows nothing of the server's settings."""
    command = [warm.program("codexmem"), "doctor", "--json"]
    env = environment(data_dir, CODEXMEM_EMBEDDER="none")
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    checks = json.loads(done.stdout)["checks"]
    found: dict[str, Any] = next(check for check in checks if check["check"] == "writer")
    return found


def metrics(server: Server) -> dict[str, int]:
    counts: dict[str, int] = server.request("GET", "/api/ops/agent-metrics").json["observation"]
    return counts


@pytest.mark.clause("000 §6.1", "openai is the default provider; model, address and key come from the settings named")
@pytest.mark.parametrize("key", ["OPENAI_API_KEY", "CODEXMEM_OPENAI_API_KEY"])
def test_6_1_the_model_that_is_configured_is_asked(tmp_path: Path, key: str) -> None:
    with ModelServer() as model:
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_MODEL": "small-one", key: "sk-test-1"}
        with Server(tmp_path, settings=settings) as server:
            rules, model_s = sorted(captured(server, "demo"), key=lambda row: row["id"])
    assert "server.py" in rules["title"]
    assert (model_s["title"], model_s["files_read"]) == ("read /r/src/server.py", ["src/server.py"])
    assert model.asked[0].body["model"] == "small-one"
    assert model.asked[0].headers["authorization"] == "Bearer sk-test-1"


@pytest.mark.clause(
    "000 §6.1", "one observation and a summarize are put to the model; agent-metrics and timings show it"
)
def test_6_1_a_short_turn_waits_for_no_other(tmp_path: Path) -> None:
    with ModelServer() as model:
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k", "CODEXMEM_BATCH_WAIT_S": "2"}
        with Server(tmp_path, settings=settings) as server:
            server.post("/api/sessions/observations", {
                "contentSessionId": "open", "tool_name": "Read", "tool_input": {"file_path": "/r/server.py"},
                "tool_response": "PORT = 8123", "cwd": "/r",
            })  # fmt: skip
            server.post(
                "/api/sessions/summarize", {"contentSessionId": "open", "last_assistant_message": "It is 8123."}
            )
            eventually(lambda: model.asked)
            eventually(lambda: metrics(server)["success"] == 1)
            assert server.request("GET", "/api/ops/agent-metrics").json["summary"]["success"] == 1
            timings = server.request("GET", "/api/ops/session-timings?messageType=observation").json["timings"]
    assert "8123" in model.asked[0].prompt
    assert [row["modelMs"] > 0 for row in timings] == [True, False]


@pytest.mark.clause("000 §6.1", "CODEXMEM_PROVIDER chooses who extracts: with rules nobody is asked")
def test_6_1_rules_ask_nobody(tmp_path: Path) -> None:
    with ModelServer() as model:
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k", "CODEXMEM_PROVIDER": "rules"}
        with Server(tmp_path, settings=settings) as server:
            (row,) = captured(server, "demo", model=False)
            assert "server.py" in row["title"]
            assert set(metrics(server).values()) == {0}  # who chose rules falls back to nothing
    assert model.asked == []


@pytest.mark.clause("000 §6.3", "without a key rules go on, and the queue with them")
def test_6_3_without_a_key(tmp_path: Path) -> None:
    with Server(tmp_path, settings={"OPENAI_API_KEY": "", "CODEXMEM_OPENAI_API_KEY": ""}) as server:
        (row,) = captured(server, "demo", model=False)
        assert "server.py" in row["title"]
        # What the provider was to do is done by rules, which is counted; no call has failed.
        assert metrics(server) == dict.fromkeys(COUNTS, 0) | {"fallback_used": 1}
        assert failures(server) == ({}, 0)
        server.post("/api/sessions/summarize", {"contentSessionId": "demo", "last_assistant_message": "It is 8123."})
        eventually(lambda: server.request("GET", "/api/ops/agent-metrics").json["summary"]["fallback_used"] == 1)
        assert server.request("GET", "/api/ops/system").json["model"]["failing"] is None


@pytest.mark.clause("000 §3.5.10", "a model that refuses its key is a failure that is seen: summary, trends, system, "
                    "doctor and the next session's context")  # fmt: skip
def test_6_3_a_key_that_is_refused_is_seen(tmp_path: Path) -> None:
    with ModelServer(script=lambda _: refused(401, "no such key")) as model:
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "sk-wrong", "CODEXMEM_EMBEDDER": "none",
                    "CODEXMEM_OPENAI_MODEL": "small-one"}  # fmt: skip
        with Server(tmp_path, settings=settings) as server:
            asked_in_vain(server, "demo", 1)
            classes, count = failures(server)
            assert (set(classes), count) == ({"auth_invalid"}, sum(classes.values()))
            newest = server.request("GET", "/api/ops/failure-summary").json["failures"][0]
            assert (newest["messageType"], newest["fallback"], newest["sessionDbId"]) == ("observation", "rules", 1)
            assert "refuses the API key" in newest["error"]
            exported = server.request("GET", "/api/ops/failure-summary/export?format=ndjson").body.decode()
            assert "auth_invalid" in exported
            told = server.request("GET", "/api/ops/system").json["model"]
            assert (told["writer"]["provider"], told["writer"]["model"]) == ("openai", "small-one")
            assert (told["failing"]["errorClass"], told["failing"]["count"] >= 1) == ("auth_invalid", True)
            context = server.request("GET", "/api/context?project=demo&session=next").body.decode()
            assert "the model small-one at 127.0.0.1 fails (it refuses the key" in context
            found = doctor(tmp_path)
            assert found["state"] == "warning"
            assert "CODEXMEM_OPENAI_API_KEY" in found["how"]
            model.script = lambda _: None
        # The key was changed: the first answer that is used ends the trouble.
        with Server(tmp_path, settings=settings) as server:
            captured(server, "again")
            assert server.request("GET", "/api/ops/system").json["model"]["failing"] is None
            context = server.request("GET", "/api/context?project=demo&session=later").body.decode()
            assert "fails" not in context
            assert doctor(tmp_path)["state"] == "ok"


def test_6_3_one_hiccup_is_no_trouble_and_three_are(tmp_path: Path) -> None:
    with ModelServer(script=lambda _: "no JSON at all") as model:
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_EMBEDDER": "none"}
        with Server(tmp_path, settings=settings) as server:
            asked_in_vain(server, "one", 1)
            assert server.request("GET", "/api/ops/system").json["model"]["failing"] is None
            asked_in_vain(server, "two", 2)
            asked_in_vain(server, "three", 3)
            failing = server.request("GET", "/api/ops/system").json["model"]["failing"]
            assert (failing["errorClass"], failing["count"]) == ("parse_fail", 3)


@pytest.mark.parametrize("lang, said", [
    ("en", "memories are written by rules on this machine; nothing leaves it"),
    ("zh", "记忆由本机上的规则写成，内容不会离开本机"),
])  # fmt: skip
def test_6_1_the_first_session_is_told_who_writes(tmp_path: Path, lang: str, said: str) -> None:
    settings = {"CODEXMEM_PROVIDER": "rules", "CODEXMEM_EMBEDDER": "none", "CODEXMEM_LANG": lang}
    with Server(tmp_path, settings=settings) as server:
        assert said in server.request("GET", "/api/context?project=demo&session=first").body.decode()
        begun = {"contentSessionId": "first", "project": "demo", "prompt": "Why do orders time out?"}
        assert server.post("/api/sessions/init", begun).status == 200
        assert server.request("GET", "/api/context?project=demo&session=second").body.decode() == ""


@pytest.mark.clause("000 §6.3", "when a call fails rules go on, and the failure is counted")
@pytest.mark.parametrize("fault", ["status", "nonsense"])
def test_6_3_when_the_call_fails(tmp_path: Path, fault: str) -> None:
    with ModelServer(script=lambda _: refused(500) if fault == "status" else "no JSON at all") as model:
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k"}
        with Server(tmp_path, settings=settings) as server:
            asked_in_vain(server, "demo", 1)
            counts = metrics(server)
    assert counts["fallback_used"] == 1
    assert counts["success"] == 0
    if fault == "nonsense":
        assert (counts["parse_fail"], counts["repair_fail"]) == (1, 1)


@pytest.mark.clause("000 §6.2", "search is configured by the names of the contract; embeddings inherit address and key")
def test_6_2_the_settings_of_search_have_the_contracts_names(tmp_path: Path) -> None:
    given = {
        "CODEXMEM_VECTOR_BACKEND": "hybrid", "CODEXMEM_CHROMA_URL": "http://127.0.0.1:8000",
        "CODEXMEM_CHROMA_COLLECTION": "mine", "CODEXMEM_OPENAI_EMBEDDING_MODEL": "embed-one",
        "CODEXMEM_OPENAI_EMBEDDING_BASE_URL": "http://127.0.0.1:9/v1", "CODEXMEM_OPENAI_EMBEDDING_API_KEY": "k",
    }  # fmt: skip
    settings = load({}, {**given, "CODEXMEM_DATA_DIR": str(tmp_path)}, tmp_path)
    assert (settings.vector_backend, settings.chroma_url, settings.chroma_collection) == (
        "hybrid", "http://127.0.0.1:8000", "mine",
    )  # fmt: skip
    embedder = embedder_of(settings)
    assert isinstance(embedder, OpenAIEmbedder)
    with ModelServer() as model:
        inherited = load({}, {
            "CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "k2",
            "CODEXMEM_OPENAI_EMBEDDING_MODEL": "embed-one", "CODEXMEM_DATA_DIR": str(tmp_path),
        }, tmp_path)  # fmt: skip
        other = embedder_of(inherited)
        assert isinstance(other, OpenAIEmbedder)
        # This server has no such endpoint: that it was asked, and with which key, is the point.
        with pytest.raises(CodexmemError):
            other.query("port")
    assert (model.asked[0].path, model.asked[0].headers["authorization"]) == ("/v1/embeddings", "Bearer k2")
