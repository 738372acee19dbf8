"""Contract 002 §4: products, presets and feedback."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests._support.lab import SECRET
from tests._support.lab_endpoint import LabEndpoint
from tests._support.server import Reply
from tests.contracts.lab_api.test_1_conventions import error_of

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Make = Callable[..., dict[str, Any]]


@pytest.fixture
def product(lab: LabEndpoint) -> Make:
    """Adds a product of a name that nobody else has."""

    def make(name: str = "C2H4", **fields: Any) -> dict[str, Any]:
        reply = lab.post("/api/v1/products", {"name": f"{name} {time.monotonic_ns()}", **fields})
        assert reply.status == 200, reply.body
        made: dict[str, Any] = reply.json["product"]
        return made

    return make


@pytest.fixture
def run_id(lab: LabEndpoint) -> str:
    """A run that has completed."""
    made = lab.batch()
    lab.ended(made["batch"]["batch_id"])
    found: str = made["runs"][0]["run_id"]
    return found


def put(lab: LabEndpoint, run_id: str, **fields: Any) -> Reply:
    return lab.request("PUT", f"/api/v1/runs/{run_id}/feedback", fields)


def refused(reply: Reply, status: int, code: str) -> str:
    assert (reply.status, error_of(reply)["code"]) == (status, code)
    return str(error_of(reply)["message"])


@pytest.mark.clause("002 §4.1", "a product is added, shown, changed and archived; its id is a UUID")
def test_products(lab: LabEndpoint, product: Make) -> None:
    made = product("乙烯 C2H4", schema_version=2, extra={"CAS": "74-85-1"})
    assert UUID.fullmatch(made["product_id"])
    assert set(made) == {
        "product_id", "created_at", "updated_at", "name", "status", "schema_version", "extra"
    }  # fmt: skip
    assert (made["status"], made["schema_version"], made["extra"]) == ("active", 2, {"CAS": "74-85-1"})
    path = f"/api/v1/products/{made['product_id']}"
    assert lab.request("GET", path).json == {"product": made}
    after = lab.request("PUT", path, {"status": "archived"}).json["product"]
    assert after == made | {"status": "archived", "updated_at": after["updated_at"]}
    assert after["updated_at"] >= made["updated_at"]
    renamed = lab.request("PUT", path, {"name": f"  {made['name']}  renamed ", "extra": {}}).json["product"]
    assert (renamed["name"], renamed["extra"], renamed["status"]) == (f"{made['name']} renamed", {}, "archived")


@pytest.mark.clause("002 §4.1", "two active products never share a name, whatever its case; an archived one frees it")
def test_names_of_products(lab: LabEndpoint, product: Make) -> None:
    first = product("Éthylène")
    again = lab.post("/api/v1/products", {"name": first["name"].upper()})
    refused(again, 409, "conflict")
    assert error_of(again)["details"]["product_id"] == first["product_id"]
    lab.request("PUT", f"/api/v1/products/{first['product_id']}", {"status": "archived"})
    assert lab.post("/api/v1/products", {"name": first["name"]}).status == 200
    back = lab.request("PUT", f"/api/v1/products/{first['product_id']}", {"status": "active"})
    refused(back, 409, "conflict")


@pytest.mark.clause("002 §4.1", "of those who add one name at once, one wins and the others get a conflict")
def test_one_name_at_once(lab: LabEndpoint) -> None:
    body = {"name": f"CO {time.monotonic_ns()}"}
    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(lambda _: lab.post("/api/v1/products", body).status, range(6)))
    assert sorted(replies) == [200, 409, 409, 409, 409, 409]


@pytest.mark.clause("002 §4.1", "products are listed newest first by limit, cursor and status, which may be repeated")
def test_lists_of_products(lab: LabEndpoint, product: Make) -> None:
    made = [product(f"产物 {n}", status="archived" if n % 2 else "active")["product_id"] for n in range(6)]

    def listed(query: str, limit: int) -> list[str]:
        found = [each["product_id"] for page in lab.pages(f"/products?{query}", limit=limit) for each in page]
        return [each for each in found if each in made]

    assert listed("", 2) == made[::-1]
    assert listed("status=active&status=archived", 4) == made[::-1]
    assert listed("status=active", 1) == made[::-1][1::2]
    assert listed("status=archived", 50) == made[::-1][::2]
    first = lab.get("/products?limit=1").json
    new = product("later")["product_id"]
    assert new not in [each["product_id"] for each in lab.get(f"/products?cursor={first['next_cursor']}").json["items"]]
    refused(lab.get(f"/product_presets?cursor={first['next_cursor']}"), 400, "invalid_argument")
    refused(lab.get("/products?status=gone"), 400, "invalid_argument")


@pytest.mark.clause("002 §4.2", "a preset is products in an order, added, shown, changed and archived")
def test_presets(lab: LabEndpoint, product: Make) -> None:
    one, two, three = (product(name)["product_id"] for name in ("CO", "CH4", "乙醇"))
    body = {"name": "Default gas products", "product_ids": [two, one], "extra": {"组": 1}}
    made = lab.post("/api/v1/product_presets", body).json["preset"]
    assert UUID.fullmatch(made["preset_id"])
    assert set(made) == {
        "preset_id", "created_at", "updated_at", "name", "status", "product_ids", "schema_version", "extra"
    }  # fmt: skip
    assert (made["name"], made["product_ids"], made["extra"]) == (body["name"], [two, one], {"组": 1})
    path = f"/api/v1/product_presets/{made['preset_id']}"
    assert lab.request("GET", path).json == {"preset": made}
    changed = lab.request("PUT", path, {"product_ids": [one, three, two]}).json["preset"]
    assert changed["product_ids"] == [one, three, two]
    assert changed["name"] == made["name"]
    archived = lab.request("PUT", path, {"status": "archived"}).json["preset"]
    assert archived["product_ids"] == [one, three, two]
    listed = [each for page in lab.pages("/product_presets?status=archived", limit=2) for each in page]
    assert archived in listed
    assert archived not in lab.get("/product_presets?status=active&limit=200").json["items"]


@pytest.mark.clause("002 §4.2", "a preset names products that exist, none twice")
def test_products_of_presets(lab: LabEndpoint, product: Make) -> None:
    known = product()["product_id"]
    for wrong in ([known, known], ["00000000-0000-4000-8000-000000000000"], ["C2H4"]):
        message = refused(
            lab.post("/api/v1/product_presets", {"name": "x", "product_ids": wrong}), 400, "invalid_argument"
        )
        assert "product_ids" in message
    made = lab.post("/api/v1/product_presets", {"name": "empty"}).json["preset"]
    reply = lab.request("PUT", f"/api/v1/product_presets/{made['preset_id']}", {"product_ids": ["unknown"]})
    refused(reply, 400, "invalid_argument")
    assert lab.request("GET", f"/api/v1/product_presets/{made['preset_id']}").json["preset"]["product_ids"] == []


@pytest.mark.clause("002 §4.3", "feedback with its products: fraction = value / sum, worked out here and kept")
def test_feedback(lab: LabEndpoint, product: Make, run_id: str) -> None:
    ethylene, methane = product("C2H4"), product("甲烷")
    measured = [
        {"product_id": ethylene["product_id"], "value": 12.3, "fraction": 0.5},
        {"product_id": methane["product_id"], "value": 4.5},
    ]
    reply = put(lab, run_id, score=7.5, pros="选择性好", cons="slow", other="", products=measured, schema_version=3,
                extra={"谱图": "GC-7"})  # fmt: skip
    assert reply.status == 200, reply.body
    said = reply.json["feedback"]
    assert set(said) == {
        "feedback_id", "run_id", "score", "pros", "cons", "other", "products", "created_at", "updated_at",
        "schema_version", "extra",
    }  # fmt: skip
    assert re.fullmatch(r"feedback_[0-9a-f]{32}", said["feedback_id"])
    assert (said["run_id"], said["score"], said["pros"], said["cons"], said["other"]) == (
        run_id, 7.5, "选择性好", "slow", ""
    )  # fmt: skip
    assert (said["schema_version"], said["extra"]) == (3, {"谱图": "GC-7"})
    first, second = said["products"]
    assert set(first) == {
        "feedback_product_id", "product_id", "product_name", "product_status", "value", "fraction"
    }  # fmt: skip
    assert re.fullmatch(r"fbp_[0-9a-f]{32}", first["feedback_product_id"])
    assert (first["product_name"], first["product_status"]) == (ethylene["name"], "active")
    assert (first["value"], first["fraction"]) == (12.3, 12.3 / 16.8)
    assert math.isclose(first["fraction"] + second["fraction"], 1.0)
    assert lab.get(f"/runs/{run_id}/feedback").json == {"feedback": said}


@pytest.mark.clause("002 §4.3", "PUT again replaces what was said; feedback_id and created_at stay, one per run")
def test_upsert(lab: LabEndpoint, product: Make, run_id: str) -> None:
    one, two = product("CO")["product_id"], product("CH4")["product_id"]
    first = put(lab, run_id, score=1, products=[{"product_id": one, "value": 1}]).json["feedback"]
    body = {
        "score": None,
        "cons": "不稳定",
        "products": [{"product_id": two, "value": 3}, {"product_id": one, "value": 1}],
    }
    second = put(lab, run_id, **body).json["feedback"]
    assert (second["feedback_id"], second["created_at"]) == (first["feedback_id"], first["created_at"])
    assert second["updated_at"] >= first["updated_at"]
    assert (second["score"], second["pros"], second["cons"]) == (None, "", "不稳定")
    assert [(each["product_id"], each["fraction"]) for each in second["products"]] == [(two, 0.75), (one, 0.25)]
    assert second["products"][1]["feedback_product_id"] == first["products"][0]["feedback_product_id"]
    assert put(lab, run_id).json["feedback"]["products"] == []


@pytest.mark.clause("002 §4.3", "of several who save at once each is answered, and one feedback stands")
def test_saved_at_once(lab: LabEndpoint, product: Make, run_id: str) -> None:
    products = [product(f"p{n}")["product_id"] for n in range(6)]

    def save(n: int) -> Reply:
        return put(lab, run_id, score=n, products=[{"product_id": each, "value": n + 1} for each in products[: n + 1]])

    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(save, range(6)))
    assert {reply.status for reply in replies} == {200}
    assert len({reply.json["feedback"]["feedback_id"] for reply in replies}) == 1
    stands = lab.get(f"/runs/{run_id}/feedback").json["feedback"]
    assert stands in [reply.json["feedback"] for reply in replies]
    assert len(stands["products"]) == int(stands["score"]) + 1


@pytest.mark.clause("002 §4.3", "a sum of 0 makes every fraction 0")
def test_nothing_was_made(lab: LabEndpoint, product: Make, run_id: str) -> None:
    measured = [{"product_id": product(name)["product_id"], "value": 0} for name in ("CO", "CH4")]
    said = put(lab, run_id, products=measured).json["feedback"]
    assert [each["fraction"] for each in said["products"]] == [0.0, 0.0]


@pytest.mark.clause("002 §4.3", "products[].product_id must exist and not repeat; values are finite and not negative")
def test_wrong_feedback(lab: LabEndpoint, product: Make, run_id: str) -> None:
    known = product()["product_id"]
    wrong: list[dict[str, Any]] = [
        {"products": [{"product_id": "C2H4", "value": 1}]},
        {"products": [{"product_id": known, "value": 1}, {"product_id": known, "value": 2}]},
        {"products": [{"product_id": known, "value": -0.1}]},
        {"products": [{"product_id": known, "value": "1"}]},
        {"products": [{"product_id": known, "value": None}]},
        {"products": [{"product_id": known}]},
        {"products": [{"product_id": known, "value": 1e301}]},
        {"products": {known: 1}},
        {"score": "good"},
        {"score": 1e7},
        {"pros": "x" * 20_001},
        {"schema_version": 0},
        {"extra": []},
    ]
    for body in wrong:
        refused(put(lab, run_id, **body), 400, "invalid_argument")
    path = f"/api/v1/runs/{run_id}/feedback"
    for raw in (
        b'{"score": NaN}',
        b'{"score": Infinity}',
        b'{"products": [{"product_id": "x", "value": 1e999}]}',
        b"[]",
    ):
        refused(lab.request("PUT", path, raw), 400, "invalid_argument")
    message = refused(lab.get(f"/runs/{run_id}/feedback"), 404, "not_found")
    assert "no feedback" in message
    refused(lab.get("/runs/run_x/feedback"), 404, "not_found")
    refused(put(lab, "run_x"), 404, "not_found")
    for path in ("/products/x", "/product_presets/x"):
        refused(lab.get(path), 404, "not_found")
        refused(lab.request("PUT", f"/api/v1{path}", {}), 404, "not_found")


@pytest.mark.clause("002 §4.3", "an archived product stays in feedback, with its present name and product_status")
def test_archived_products(lab: LabEndpoint, product: Make, run_id: str) -> None:
    made = product("丙酮")
    put(lab, run_id, products=[{"product_id": made["product_id"], "value": 2}])
    lab.request("PUT", f"/api/v1/products/{made['product_id']}", {"status": "archived", "name": f"{made['name']} old"})
    (shown,) = lab.get(f"/runs/{run_id}/feedback").json["feedback"]["products"]
    assert (shown["product_name"], shown["product_status"]) == (f"{made['name']} old", "archived")
    assert put(lab, run_id, score=2, products=[{"product_id": made["product_id"], "value": 3}]).status == 200


@pytest.mark.clause("002 §1.5", "PUT …/feedback and POST /products repeat their answer for the same Idempotency-Key")
def test_idempotency_of_feedback(lab: LabEndpoint, run_id: str) -> None:
    key = {"Idempotency-Key": f"feedback-{time.monotonic_ns()}"}
    path = f"/api/v1/runs/{run_id}/feedback"
    first = lab.request("PUT", path, {"score": 5}, key)
    put(lab, run_id, score=6)
    assert lab.request("PUT", path, {"score": 5}, key).json == first.json
    assert lab.get(f"/runs/{run_id}/feedback").json["feedback"]["score"] == 6
    refused(lab.request("PUT", path, {"score": 7}, key), 409, "conflict")
    body = {"name": f"once {time.monotonic_ns()}"}
    made = [lab.post("/api/v1/products", body, key) for _ in range(2)]
    assert made[0].json == made[1].json


@pytest.mark.clause("002 §5.2", "saved feedback queues learning by itself, in one go with the feedback")
def test_learning_follows(lab: LabEndpoint, run_id: str) -> None:
    said = put(lab, run_id, score=8, pros="Cu 有利于 C–C 偶联").json
    assert said["learning"]["run_id"] == run_id
    assert re.fullmatch(r"rbjob_[0-9]+", said["learning"]["job_id"])
    assert said["learning"]["status"] == "queued"
    jobs = lab.get(f"/runs/{run_id}/reasoningbank/jobs").json["jobs"]
    assert said["learning"]["job_id"] in [each["rb_job_id"] for each in jobs]


def test_feedback_waits_for_the_end_of_the_run(lab: LabEndpoint) -> None:
    made = lab.batch(30)
    waiting = made["runs"][-1]["run_id"]
    reply = put(lab, waiting, score=1)
    lab.post(f"/api/v1/batches/{made['batch']['batch_id']}/cancel", {})
    lab.ended(made["batch"]["batch_id"])
    message = refused(reply, 409, "conflict")
    assert "has not ended" in message
    assert put(lab, waiting, score=1, cons="canceled 取消").status == 200


def test_nothing_private_or_secret_is_kept(lab: LabEndpoint, run_id: str) -> None:
    said = put(lab, run_id, pros=f"key {SECRET}", cons="a<private>wife's name</private>b",
               extra={"k": SECRET, "p": "<private>x</private>"}).json["feedback"]  # fmt: skip
    assert SECRET not in str(said)
    assert (said["cons"], said["extra"]["p"]) == ("ab", "")
    assert SECRET not in str(lab.post("/api/v1/products", {"name": f"n{time.monotonic_ns()} {SECRET}"}).json)
