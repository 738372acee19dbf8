"""Contract 002 §3: evidence of runs, over HTTP, with the configured agent and the sample documents; and the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import codexmem.lab.service
from tests._support import encoder
from tests._support.documents import written
from tests._support.lab_endpoint import LabEndpoint, lab_endpoint
from tests._support.postgres import PostgresServer
from tests._support.server import Reply, create_key
from tests.contracts.lab_api.test_1_conventions import error_of

SAMPLE = Path(codexmem.lab.service.__file__).parent / "sample_kb"
FIELDS = {"alias", "ref", "source", "content", "kb_namespace", "lightrag_chunk_id", "created_at"}


@pytest.fixture(scope="session")
def sqlite_reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabEndpoint]:
    """A lab with the agent and the documents that come with us."""
    home = tmp_path_factory.mktemp("reading-lab")
    written(home / "roots" / "own", own="# Own\n\n自己的文献 on copper and CO2.")
    with lab_endpoint(home, None, embedder=encoder.setting("sqlite"), **settings_of(home)) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def postgresql_reading(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer, address: Callable[[str], str]
) -> Iterator[LabEndpoint]:
    """The same as a team runs it."""
    home = tmp_path_factory.mktemp("reading-team")
    written(home / "roots" / "own", own="# Own\n\n自己的文献 on copper and CO2.")
    postgres_server.create_store("codexmem_lab_reading")
    url = address("codexmem_lab_reading")
    key = create_key(home, url, "lab")
    settings = {"embedder": encoder.setting("postgresql"), **settings_of(home)}
    with lab_endpoint(home, None, key=key, database_url=url, **settings) as endpoint:
        yield endpoint


def settings_of(home: Path) -> dict[str, Any]:
    return {
        "kb_principles_dir": str(SAMPLE / "principles"), "kb_modulation_dir": str(SAMPLE / "modulation"),
        "kb_roots": str(home / "roots"),
    }  # fmt: skip


@pytest.fixture
def reading(engine_name: str, request: pytest.FixtureRequest) -> LabEndpoint:
    """Who calls the running lab of this engine."""
    endpoint: LabEndpoint = request.getfixturevalue(f"{engine_name}_reading")
    return endpoint


def refused(reply: Reply) -> tuple[int, str]:
    return reply.status, error_of(reply)["code"]


def ended_run(lab: LabEndpoint, **order: Any) -> str:
    made = lab.batch(1, "乙烯 selectivity on copper", dry_run=True, **order)
    lab.ended(made["batch"]["batch_id"])
    run = lab.get(f"/runs/{made['runs'][0]['run_id']}").json["run"]
    assert (run["status"], run["error"]) == ("completed", None)
    return str(run["run_id"])


@pytest.mark.clause("002 §3.2", "GET /runs/{run_id}/evidence limit cursor include_content: alias ref source content "
                    "kb_namespace lightrag_chunk_id created_at; content only if it is asked for")  # fmt: skip
@pytest.mark.clause("002 §3.2", "GET /runs/{run_id}/evidence/{alias} gives one item with its content")
def test_the_evidence_of_a_run(reading: LabEndpoint) -> None:
    run_id = ended_run(reading)
    bare = reading.get(f"/runs/{run_id}/evidence").json
    assert (bare["has_more"], bare["next_cursor"]) == (False, None)
    aliases = [each["alias"] for each in bare["items"]]
    assert aliases == [f"C{number}" for number in range(1, len(aliases) + 1)]
    assert len(aliases) >= 2
    assert all(set(each) == FIELDS and each["content"] is None for each in bare["items"])
    whole = reading.get(f"/runs/{run_id}/evidence?include_content=true").json["items"]
    assert [{**each, "content": None} for each in whole] == bare["items"]
    pages = list(reading.pages(f"/runs/{run_id}/evidence?include_content=true", limit=1))
    assert [each for page in pages for each in page] == whole
    for each in whole:
        assert each["ref"] == f"kb:{each['kb_namespace']}__{each['lightrag_chunk_id']}"
        assert each["kb_namespace"] in {"kb_principles", "kb_modulation"}
        assert each["source"].startswith(("codexmem sample text", "codexmem 示例文本"))
        assert (len(each["content"]) > 100, 1e9 < each["created_at"] < 1e11) == (True, True)
        assert reading.get(f"/runs/{run_id}/evidence/{each['alias']}").json == each


@pytest.mark.clause("002 §2.6", "citations name evidence of the run: each alias leads to its ref and text")
@pytest.mark.clause("002 §3", "what kb_query events show under an alias is what the evidence shows under it")
@pytest.mark.clause("002 §3.1", "results of kb_query events hold alias ref source content kb_namespace "
                    "lightrag_chunk_id, enough to gather the evidence from the trace")  # fmt: skip
def test_citations_and_events_agree_with_the_evidence(reading: LabEndpoint) -> None:
    run_id = ended_run(reading)
    items = reading.get(f"/runs/{run_id}/evidence?include_content=true").json["items"]
    evidence = {each["alias"]: each for each in items}
    output = reading.get(f"/runs/{run_id}/output").json
    assert output["citations"]
    assert output["citations"] == {alias: evidence[alias]["ref"] for alias in output["citations"]}
    events = reading.get(f"/runs/{run_id}/events?event_type=kb_query&include_payload=true").json["items"]
    shown = [result for event in events for result in event["payload"]["results"]]
    assert {result["alias"] for result in shown} == set(evidence)
    for result in shown:
        assert {name: result[name] for name in FIELDS - {"created_at"}} == {
            name: evidence[result["alias"]][name] for name in FIELDS - {"created_at"}
        }


@pytest.mark.clause("002 §3.2", "unknown runs and aliases are not_found, another list's cursor is invalid_argument")
def test_what_is_not_there(reading: LabEndpoint) -> None:
    run_id, other = ended_run(reading), ended_run(reading)
    for path in (f"/runs/{run_id}/evidence/C999", f"/runs/{run_id}/evidence/c1", "/runs/run_x/evidence",
                 "/runs/run_x/evidence/C1", f"/runs/{run_id}/evidence/{quote('../x', safe='')}"):  # fmt: skip
        assert refused(reading.get(path)) == (404, "not_found")
    cursor = reading.get(f"/runs/{other}/evidence?limit=1").json["next_cursor"]
    for query in (f"cursor={cursor}", "cursor=x", "limit=0", "limit=201", "include_content=maybe"):
        assert refused(reading.get(f"/runs/{run_id}/evidence?{query}")) == (400, "invalid_argument")


@pytest.mark.clause("002 §2.3", "overrides kb_principles_dir kb_modulation_dir: another folder below a configured "
                    "root, recorded in config_snapshot; any other is invalid_argument")  # fmt: skip
def test_a_batch_may_read_elsewhere(reading: LabEndpoint) -> None:
    own = reading.data_dir / "roots" / "own"
    run_id = ended_run(reading, overrides={"kb_principles_dir": str(own)})
    batch_id = reading.get(f"/runs/{run_id}").json["run"]["batch_id"]
    config = reading.get(f"/batches/{batch_id}").json["batch"]["config_snapshot"]
    assert config["kb_principles_dir"] == config["overrides"]["kb_principles_dir"] == str(own.resolve())
    shown = reading.get(f"/runs/{run_id}/evidence?include_content=true").json["items"]
    principles = {each["content"] for each in shown if each["kb_namespace"] == "kb_principles"}
    assert principles == {"# Own\n\n自己的文献 on copper and CO2."}
    for bad in ("/etc", str(reading.data_dir / "roots" / ".." / ".."), str(own / "none")):
        reply = reading.post("/api/v1/batches", {"user_request": "x", "overrides": {"kb_principles_dir": bad}})
        assert refused(reply) == (400, "invalid_argument")
    # What was read for one batch does not come into the others' library.
    found = reading.get("/kb/search?namespace=kb_principles&query=" + quote("自己的文献")).json["items"]
    assert not [each for each in found if "自己的文献" in each["content"]]


def test_the_library_over_http(reading: LabEndpoint) -> None:
    piece = {"chunk_id": "chunk-1", "place": 1, "title": "Own", "content": "Tungsten 钨 holds oxygen."}
    body = {"namespace": "kb_http", "folder": "hand", "document": "w.md", "source": "10.1000/w", "digest": "1",
            "pieces": [piece], "parts": 1}  # fmt: skip
    delta = reading.request("PUT", "/api/v1/kb/documents", body).json["delta"]
    assert delta.startswith("delta_")
    (found,) = reading.get("/kb/search?namespace=kb_http&query=" + quote("钨")).json["items"]
    assert (found["ref"], found["content"]) == ("kb:kb_http__chunk-1", piece["content"])
    assert reading.get(f"/kb/pieces/{quote(found['ref'], safe='')}").json["document"] == "w.md"
    assert {each["kb_namespace"] for each in reading.get("/kb").json["items"]} >= {"kb_http"}
    (shown,) = reading.get("/kb/documents?namespace=kb_http&folder=hand").json["items"]
    assert (shown["document"], shown["pieces"], shown["digest"]) == ("w.md", 1, "1")
    gone = reading.post(
        "/api/v1/kb/documents/remove", {"namespace": "kb_http", "folder": "hand", "documents": ["w.md"]}
    )
    assert gone.json["pieces"] == 1
    assert reading.get("/kb/documents?namespace=kb_http").json["items"] == []
    wrongs: list[dict[str, Any]] = [
        {"namespace": "a__b"}, {"pieces": []}, {"delta": "delta_x"}, {"document": "\0"}, {"parts": 0},
    ]  # fmt: skip
    for wrong in wrongs:
        reply = reading.request("PUT", "/api/v1/kb/documents", body | wrong)
        assert reply.status in {400, 404}, wrong
        assert reply.json["error"]["code"] in {"invalid_argument", "not_found"}
