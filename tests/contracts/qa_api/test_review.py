"""Beyond the contract: looking through items and deciding about them."""

from __future__ import annotations

from tests._support.asking import PROJECT, Endpoint


def test_items_are_paged_and_filtered(endpoint: Endpoint) -> None:
    items = [endpoint.add(f"What is the port of service{number}?", f"It is port {number}.") for number in range(5)]
    endpoint.post(f"/v1/qa/items/{items[0]}/approve", {})
    first = endpoint.get("/v1/qa/items", limit=3, project_id=PROJECT).json
    rest = endpoint.get("/v1/qa/items", limit=3, cursor=first["next_cursor"]).json
    assert [each["qa_id"] for each in (*first["items"], *rest["items"])] == items[::-1]
    assert (first["count"], rest["next_cursor"]) == (3, None)
    proven = endpoint.get("/v1/qa/items", status="validated").json["items"]
    assert [each["qa_id"] for each in proven] == [items[0]]
    assert endpoint.get("/v1/qa/items", project_id="elsewhere").json["items"] == []


def test_pages_that_do_not_fit_are_422(endpoint: Endpoint) -> None:
    queries: list[dict[str, object]] = [{"status": "deleted"}, {"cursor": "x"}, {"limit": 0}, {"limit": 101}]
    assert [endpoint.get("/v1/qa/items", **query).status for query in queries] == [422] * 4


def test_one_item_with_its_company(endpoint: Endpoint) -> None:
    one = endpoint.add("What is the default port of the server?", "It is port 8080.", metadata='{"run": 1}')
    other = endpoint.add("What is the default port of the server?", "It is port 9090.")
    near = endpoint.add("How do I change the port of the server?", "Set the variable PORT and start it again.")
    looked = endpoint.get(f"/v1/qa/items/{one}", project_id=PROJECT).json
    assert [each["qa_id"] for each in looked["contradictions"]] == [other]
    assert {each["qa_id"] for each in looked["similar"]} == {other, near}
    assert (looked["metadata"], looked["alternatives"], looked["merged_into"]) == ({"run": 1}, [], None)
    for path, query in ((f"/v1/qa/items/{one}", {"project_id": "elsewhere"}), ("/v1/qa/items/qa-x", {})):
        assert endpoint.get(path, **query).status == 404


def test_people_approve_reject_and_merge(endpoint: Endpoint) -> None:
    one, other = (
        endpoint.add("What is the default port?", "It is port 8080."),
        endpoint.add("Which port?", "It is 8080."),
    )
    path = f"/v1/qa/items/{one}"
    approved = endpoint.said(f"{path}/approve", {"project_id": PROJECT})
    assert (approved["status"], approved["validations"]) == ("validated", {"success": 1, "failure": 0})
    assert endpoint.said(f"{path}/reject", {})["status"] == "deprecated"
    assert endpoint.post(f"{path}/approve", b"").json["status"] == "validated"
    merged = endpoint.said(f"/v1/qa/items/{other}/merge", {"into": one})
    assert (merged["qa_id"], merged["phrasings"]) == (one, ["Which port?"])
    assert endpoint.get(f"/v1/qa/items/{other}").json["merged_into"] == one
    assert endpoint.post(f"{path}/merge", {"into": one}).status == 422
    assert endpoint.post(f"{path}/merge", {}).status == 422
    assert endpoint.post("/v1/qa/items/qa-x/approve", {}).status == 404
    assert endpoint.post(f"{path}/reject", {"project_id": "elsewhere"}).status == 404


def test_a_decision_sent_again_counts_once(endpoint: Endpoint) -> None:
    one = endpoint.add("What is the default port?", "It is port 8080.")
    replies = {endpoint.post(f"/v1/qa/items/{one}/approve", {}, {"idempotency-key": "k"}).body for _ in range(3)}
    assert len(replies) == 1
    assert endpoint.memory(one).counters.valid == 1
