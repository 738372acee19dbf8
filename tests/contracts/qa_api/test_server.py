"""A running server: keys tell tenants, the other endpoints know the kind, and moves can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.server import Server, create_key

FULL = {"question": "How do I rotate the signing key?", "answer": "Run gatewayctl rotate.", "tags": ["quokkagate"]}


@pytest.mark.clause("001 §8.2", "an API key is asked for on a team's server, and tells the tenant")
def test_a_key_tells_the_tenant(postgresql_api: Server, postgres_url: str, tmp_path: Path, project: str) -> None:
    rivals = {"Authorization": f"Bearer {create_key(tmp_path, postgres_url, 'qa-rivals')}"}
    body = {"project_id": project, **FULL}
    stored = postgresql_api.post("/v1/qa/candidates", body)
    assert stored.status == 201
    qa_id, query = stored.json["qa_id"], {"project_id": project, "query": "rotate the signing key"}
    assert [item["qa_id"] for item in postgresql_api.post("/v1/qa/search", query).json["items"]] == [qa_id]
    assert postgresql_api.post("/v1/qa/search", query, rivals).json["items"] == []
    assert postgresql_api.request("GET", f"/v1/qa/items/{qa_id}", headers=rivals).status == 404
    hit = {"project_id": project, "references": [{"qa_id": qa_id, "shown": True}]}
    assert postgresql_api.post("/v1/qa/hit", hit, rivals).json == {"accepted": 0, "deduped": 0, "unknown": [qa_id]}
    tried = {"project_id": project, "qa_id": qa_id, "success": False, "strong_signal": True}
    assert postgresql_api.post("/v1/qa/validate", tried, rivals).status == 404
    # The same question is free for somebody else, and what they do changes nothing here.
    assert postgresql_api.post("/v1/qa/candidates", body, rivals).status == 201
    assert postgresql_api.request("GET", f"/v1/qa/items/{qa_id}").json["status"] == "candidate"
    for refused in ({"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}):
        reply = postgresql_api.post("/v1/qa/search", query, refused)
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert "API key" in reply.json["error"]


def test_the_other_endpoints_know_the_kind(api: Server, project: str) -> None:
    qa_id = api.post("/v1/qa/candidates", {"project_id": project, **FULL}).json["qa_id"]
    approved = api.post(f"/v1/qa/items/{qa_id}/approve", {})
    assert approved.json["status"] == "validated"
    found = api.request("GET", f"/api/search/all?query=quokkagate&project={project}").json
    assert qa_id in str(found)
    why = api.request("GET", f"/api/provenance/{qa_id}").json
    assert why["memory"]["kind"] == "qa"
    moved, first = why["versions"]
    assert (moved["note"], first["op"]) == ("candidate to validated: approve", "add")
    (delta,) = why["deltas"]
    undone = api.post("/api/undo", {"delta": delta["id"]})
    assert undone.status == 200
    assert api.request("GET", f"/v1/qa/items/{qa_id}").json["status"] == "candidate"
    seq = why["memory"]["seq"]
    assert api.post("/api/forget", {"ids": [seq]}).json["erased"] == 1
    assert api.request("GET", f"/v1/qa/items/{qa_id}").status == 404
