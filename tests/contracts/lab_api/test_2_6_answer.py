"""Contract 002 §2.3 and §2.6 with the configured agent: a request over HTTP, a scripted model over HTTP, an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codexmem.lab.service.profiles import load
from tests._support.chat_server import Cast, results
from tests._support.lab import SECRET
from tests._support.lab_endpoint import LabEndpoint, lab_endpoint
from tests._support.model_server import Asked, ModelServer

BAKERY = Path(__file__).parents[2] / "_support" / "profiles" / "bakery.toml"


def answer(asked: Asked) -> list[tuple[str, Any]]:
    """A recipe that cites the first thing that the run was shown."""
    cited = next(each["cite_as"] for result in results(asked) for each in result.get("pieces", ()))
    recipe = {"M1": "Cu", "M2": "Mo", "atomic_ratio": "1:1", "small_molecule_modifier": "benzoic acid (-COOH)",
              "rationale": f"依据 {cited}"}  # fmt: skip
    return [("submit", {"recipes": [recipe] * 2, "overall_notes": "好"})]


def ended_run(lab: LabEndpoint, **order: Any) -> dict[str, Any]:
    made = lab.batch(1, **order)
    lab.ended(made["batch"]["batch_id"])
    run: dict[str, Any] = lab.get(f"/runs/{made['runs'][0]['run_id']}").json["run"]
    return run


@pytest.mark.clause("002 §2.6", "recipes_json recipes M1 M2 atomic_ratio small_molecule_modifier rationale "
                    "overall_notes, exactly recipes_per_run of them; citations alias → kb ref; memory_ids")  # fmt: skip
@pytest.mark.clause("002 §2.3", "dry_run needs no model; overrides llm_model and temperature reach the model, "
                    "openai_api_base only where it is allowed, and our key goes to our own server alone")  # fmt: skip
def test_a_request_is_answered(tmp_path: Path) -> None:
    lines: dict[str, Any] = {
        "orchestrator": [[("kb_query", {"namespace": "kb_principles", "query": "铜 偶联 copper coupling"})], answer]
    }
    folder = tmp_path / "原理"
    folder.mkdir()
    (folder / "copper.md").write_text("# 铜\n\nCopper lets two CO couple. 铜使两个一氧化碳偶联。\n", encoding="utf-8")
    with ModelServer(script=Cast(load("c2xc"), lines)) as ours, ModelServer(script=ours.script) as other:
        settings = {"openai_base_url": ours.url, "openai_api_key": SECRET, "openai_model": "model-a",
                    "lab_api_bases": other.url, "kb_principles_dir": str(folder)}  # fmt: skip
        with lab_endpoint(tmp_path / "store", None, **settings) as lab:
            run = ended_run(lab, dry_run=False, recipes_per_run=2, temperature=0.4, overrides={"llm_model": "model-b"})
            assert (run["status"], run["error"]) == ("completed", None)
            output = lab.get(f"/runs/{run['run_id']}/output").json
            assert len(output["recipes_json"]["recipes"]) == 2
            assert list(output["citations"]) == ["C1"]
            assert output["citations"]["C1"].startswith("kb:kb_principles__chunk-")
            asked = lab.get(f"/runs/{run['run_id']}/events?event_type=kb_query&include_payload=true").json["items"]
            (shown,) = asked[0]["payload"]["results"]
            assert (shown["alias"], shown["ref"]) == ("C1", output["citations"]["C1"])
            assert "偶联" in shown["content"]
            assert {(asked.body["model"], asked.body["temperature"], asked.key) for asked in ours.asked} == {
                ("model-b", 0.4, f"Bearer {SECRET}")
            }
            before = ours.count
            run = ended_run(lab, dry_run=False, recipes_per_run=2, overrides={"openai_api_base": other.url})
            assert (run["status"], ours.count) == ("completed", before)
            assert {asked.key for asked in other.asked} == {"Bearer none"}
            run = ended_run(lab, dry_run=True, recipes_per_run=3, user_request="copper coupling, 铜 偶联")
            assert (run["status"], ours.count) == ("completed", before)
            batch = lab.get(f"/batches/{run['batch_id']}").json["batch"]
            assert batch["config_snapshot"]["profile"] == "c2xc"
            output = lab.get(f"/runs/{run['run_id']}/output").json
            assert output["citations"] == {"C1": shown["ref"]}
            assert [recipe["M1"] for recipe in output["recipes_json"]["recipes"]] == ["Cu"] * 3


@pytest.mark.clause("002 §1.4", "dependency_unavailable (503) when a batch is made and no model is configured")
def test_without_a_model_a_batch_is_refused(tmp_path: Path) -> None:
    with ModelServer() as other, lab_endpoint(tmp_path, None, lab_api_bases=other.url) as lab:
        refused = lab.post("/api/v1/batches", {"user_request": "Cu for C2H4", "n_runs": 1})
        assert refused.status == 503
        error = refused.json["error"]
        assert (error["code"], error["message"].startswith("no model is configured")) == (
            "dependency_unavailable",
            True,
        )
        assert "OPENAI_API_KEY" in str(error)
        assert lab.get("/batches").json["items"] == []
        # A dry run asks nobody, and a server that the batch names is somebody to ask.
        assert ended_run(lab, dry_run=True)["status"] == "completed"
        named = {"openai_api_base": other.url, "llm_model": "model-b"}
        assert lab.batch(dry_run=False, overrides=named)["batch"]["status"] == "queued"


@pytest.mark.clause("002 §2.4", "a run that had no document to search is marked: library_empty")
def test_a_run_with_an_empty_library_is_marked(tmp_path: Path) -> None:
    with lab_endpoint(tmp_path / "store", None) as lab:
        run = ended_run(lab, dry_run=True)
        assert (run["status"], run["library_empty"], run["extra"]) == ("completed", True, {})
        assert lab.get("/runs").json["items"][0]["library_empty"] is True
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "copper.md").write_text("Copper lets two CO couple.", encoding="utf-8")
    with lab_endpoint(tmp_path / "store", None, kb_principles_dir=str(folder)) as lab:
        assert ended_run(lab, dry_run=True)["library_empty"] is False


def test_another_profile_is_a_setting(tmp_path: Path) -> None:
    with lab_endpoint(tmp_path, None, lab_profile=str(BAKERY)) as lab:
        run = ended_run(lab, dry_run=True, recipes_per_run=2)
        assert (run["status"], run["error"]) == ("completed", None)
        output = lab.get(f"/runs/{run['run_id']}/output").json
        assert [loaf["flour"] for loaf in output["recipes_json"]["loaves"]] == ["rye", "rye"]


def test_a_wrong_profile_stops_the_lab_and_nothing_else(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("format = 7", encoding="utf-8")
    with lab_endpoint(tmp_path / "store", None, lab_profile=str(wrong)) as lab:
        run = ended_run(lab, dry_run=True)
        assert run["status"] == "failed"
        assert "wrong.toml: format: expected 1" in run["error"]
        assert "docs/profiles.md" in run["error"]
