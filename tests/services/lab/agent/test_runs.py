"""Whole runs on both engines: tools, delegation, cancel, and models that mean no good."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from codexmem.kernel.model.event import EventType
from codexmem.lab.model import RunStatus
from tests._support.chat_server import results, streamed, tools
from tests._support.model_server import Asked, Manner, Reply
from tests._support.waiting import eventually
from tests.services.lab.agent.conftest import KEY, LESSON, Make
from tests.services.lab.agent.lines import ANSWER, PLAN, QUERY, SEARCH, submit


@pytest.mark.clause(
    "002 §2.7.1",
    "recap_info agent recap_state down action_taken up task_name think subtasks result depth steps; kb_query "
    "kb_namespace query mode top_k results alias ref source content lightrag_chunk_id; kb_get; kb_list total limit "
    "shown_aliases; llm_request model temperature messages attempt turn steps recap_state task_name agent; "
    "llm_response content tool_calls raw; citations_resolved aliases resolved; memories_resolved mem_ids; "
    "final_output recipes_json citations memory_ids; "
    "mem_search query top_k role status mem_type results mem_id type source_run_id; mem_get; "
    "mem_list total limit shown_mem_ids",
)
@pytest.mark.clause("002 §2.6", "citations are alias → kb ref, memory_ids the lessons that the output cites as mem:")
def test_a_run_with_tools_and_delegation(make: Make) -> None:
    bench = make()
    cast = bench.play(
        orchestrator=[
            [PLAN, QUERY, SEARCH],
            [
                ("kb_get", {"alias": "[C1]"}),
                ("kb_list", {}),
                ("mem_get", {"mem_id": f"mem:{LESSON}"}),
                ("mem_list", {}),
            ],
            [("delegate", {"role": "mof_expert", "task": "这个框架能容纳铜和钼吗？"})],
            [submit()],
        ],
        mof_expert=[
            [("kb_query", {"namespace": "kb_modulation", "query": "苯甲酸 binds"})],
            "可以，苯甲酸与表面结合 [C3]。",
        ],
    )
    run = bench.run(temperature=0.25)
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    assert bench.output(run) == {
        "recipes_json": ANSWER, "citations": {"C1": "kb:kb_principles__chunk-kb_principles-0"}, "memory_ids": [LESSON],
    }  # fmt: skip
    assert cast.asked == ["orchestrator"] * 3 + ["mof_expert"] * 2 + ["orchestrator"]

    types = bench.lab.types(run)
    assert types[0] == "run_started"
    assert types[-3:] == ["citations_resolved", "memories_resolved", "final_output"]
    asked = bench.payloads(run, EventType.LLM_REQUEST)
    assert [(each["agent"], each["recap_state"], each["turn"], each["steps"]) for each in asked] == [
        ("orchestrator", "down", 1, 1), ("orchestrator", "action_taken", 2, 2), ("orchestrator", "action_taken", 3, 3),
        ("mof_expert", "down", 1, 4), ("mof_expert", "action_taken", 2, 5), ("orchestrator", "up", 4, 6),
    ]  # fmt: skip
    assert {(each["model"], each["temperature"], each["attempt"]) for each in asked} == {("scripted", 0.25, 1)}
    assert asked[3]["task_name"] == "这个框架能容纳铜和钼吗？"
    told = [message["content"] for message in asked[3]["messages"]]
    assert "先查资料，再问专家" in told[1]  # the plan above goes down with the task
    recap = bench.payloads(run, EventType.RECAP_INFO)
    assert [(each["agent"], each["recap_state"], each["depth"], each["steps"]) for each in recap] == [
        (each["agent"], each["recap_state"], each["depth"], each["steps"]) for each in asked
    ]
    assert recap[0]["subtasks"] == ["查资料", "问专家", "写配方"]
    assert (recap[0]["think"], recap[0]["result"]) == ("先查资料，再问专家", "")
    assert "苯甲酸与表面结合 [C3]" in recap[-1]["result"]  # and the report comes up
    assert "苯甲酸与表面结合 [C3]" in str(asked[-1]["messages"])
    assert "问专家" in asked[-1]["messages"][-1]["content"]  # with the plan before the model's eyes
    said = bench.payloads(run, EventType.LLM_RESPONSE)
    assert [call["name"] for call in said[0]["tool_calls"]] == ["plan", "kb_query", "mem_search"]
    assert said[4]["content"] == "可以，苯甲酸与表面结合 [C3]。"
    assert said[0]["raw"]["id"] == "chatcmpl-1"

    first, second = bench.payloads(run, EventType.KB_QUERY)
    assert (first["kb_namespace"], first["query"], first["mode"], first["top_k"]) == (
        "kb_principles", "copper CO coupling", "hybrid", 2,
    )  # fmt: skip
    assert first["results"][0] == {
        "alias": "C1", "ref": "kb:kb_principles__chunk-kb_principles-0", "source": "kb_principles-0.md",
        "content": bench.library.texts["kb_principles"][0], "kb_namespace": "kb_principles",
        "lightrag_chunk_id": "chunk-kb_principles-0",
    }  # fmt: skip
    assert (second["agent"], [each["alias"] for each in second["results"]]) == ("mof_expert", ["C3", "C4"])
    (got,) = bench.payloads(run, EventType.KB_GET)
    assert {key: got[key] for key in ("alias", "ref", "source", "kb_namespace", "lightrag_chunk_id")} == {
        key: each for key, each in first["results"][0].items() if key != "content"
    }
    (listed,) = bench.payloads(run, EventType.KB_LIST)
    assert (listed["total"], listed["limit"], listed["shown_aliases"]) == (2, 20, ["C1", "C2"])
    lesson = {"mem_id": LESSON, "role": "mof_expert", "type": "reasoningbank_item", "status": "active",
              "source_run_id": "run_before"}  # fmt: skip
    (searched,) = bench.payloads(run, EventType.MEM_SEARCH)
    assert (searched["query"], searched["top_k"], searched["results"]) == ("铜钼 失活", 5, [lesson])
    (read,) = bench.payloads(run, EventType.MEM_GET)
    assert isinstance(read.pop("took_ms"), int)
    assert read == lesson | {"agent": "orchestrator", "depth": 0, "task_path": "0"}
    (lessons,) = bench.payloads(run, EventType.MEM_LIST)
    assert (lessons["total"], lessons["limit"], lessons["shown_mem_ids"]) == (1, 20, [LESSON])
    (resolved,) = bench.payloads(run, EventType.CITATIONS_RESOLVED)
    assert resolved == {"aliases": ["C1"], "resolved": {"C1": "kb:kb_principles__chunk-kb_principles-0"}}
    assert bench.payloads(run, EventType.MEMORIES_RESOLVED) == [{"mem_ids": [LESSON]}]
    assert bench.payloads(run, EventType.FINAL_OUTPUT) == [bench.output(run)]
    assert KEY not in str(bench.lab.trace(run))
    assert f'"cite_as": "mem:{LESSON}"' in str(asked[1]["messages"]).replace("\\", "")


@pytest.mark.clause("002 §2.6", "another laboratory's profile, other roles and another schema, without code")
def test_another_laboratory_two_levels_deep(make: Make) -> None:
    bench = make("bakery")
    loaf = {"name": "黑麦", "flour": "rye", "hydration_percent": 72.5, "steam": True, "code": "B-007",
            "steps": [{"minutes": 30, "what": "自解"}, {"minutes": 50, "what": "烤"}]}  # fmt: skip
    answer = {"loaves": [loaf, loaf | {"code": "B-008"}], "warnings": ["用模具 [C3]；注意蒸汽 [C1]"]}
    cast = bench.play(
        head_baker=[[("kb_query", {"query": "steam"})], [("delegate", {"role": "dough_maker", "task": "黑麦面团？"})],
                    [("submit", answer)]],
        dough_maker=[[("delegate", {"role": "miller", "task": "黑麦面筋？"})], "先问了磨坊：用模具 [C3]。"],
        miller=[[("kb_query", {"query": "rye gluten"})], "面筋很少 [C3]。"],
    )  # fmt: skip
    run = bench.run("想要黑麦面包", recipes_per_run=2)
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    assert bench.output(run)["recipes_json"] == answer
    assert bench.output(run)["citations"] == {
        "C1": "kb:kb_ovens__chunk-kb_ovens-0", "C3": "kb:kb_flours__chunk-kb_flours-0",
    }  # fmt: skip
    assert cast.asked == ["head_baker"] * 2 + ["dough_maker", "miller", "miller", "dough_maker", "head_baker"]
    asked = bench.payloads(run, EventType.LLM_REQUEST)
    assert [(each["agent"], each["recap_state"], each["depth"]) for each in asked] == [
        ("head_baker", "down", 0), ("head_baker", "action_taken", 0), ("dough_maker", "down", 1), ("miller", "down", 2),
        ("miller", "action_taken", 2), ("dough_maker", "up", 1), ("head_baker", "up", 0),
    ]  # fmt: skip
    # Each role is offered its own tools; the deepest one may not delegate further.
    offered = {role: set(tools(each)) for each, role in zip(bench.server.asked, cast.asked, strict=True)}
    assert offered == {
        "head_baker": {"plan", "kb_query", "kb_list", "mem_search", "delegate", "submit"},
        "dough_maker": {"plan", "kb_query", "kb_get", "delegate"},
        "miller": {"plan", "kb_query", "mem_list", "mem_get"},
    }


@pytest.mark.parametrize("name", ["c2xc", "bakery"])
@pytest.mark.clause("002 §2.3", "dry_run goes through everything a run goes through, without a model server")
def test_a_dry_run_exercises_everything(make: Make, name: str) -> None:
    bench = make(name, configured=False)
    run = bench.run(dry_run=True, recipes_per_run=4)
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    assert bench.server.count == 0
    output = bench.output(run)
    assert len(output["recipes_json"][bench.profile.items]) == 4
    assert output["citations"]
    assert "Dry run" in json.dumps(output)
    if name == "c2xc":
        assert output["memory_ids"] == [LESSON]
        assert {"kb_query", "kb_get", "kb_list", "mem_search", "mem_get", "mem_list"} <= set(bench.lab.types(run))
    agents = {each["agent"] for each in bench.payloads(run, EventType.RECAP_INFO)}
    assert agents == set(bench.profile.roles)
    assert {each["recap_state"] for each in bench.payloads(run, EventType.RECAP_INFO)} == {"down", "action_taken", "up"}
    again = bench.run(dry_run=True, recipes_per_run=4)
    assert bench.output(again) == output


@pytest.mark.clause("002 §2.5", "a cancel in the middle of a streaming answer is traced and stops the model call")
def test_a_cancel_stops_in_the_middle_of_an_answer(make: Make) -> None:
    bench = make()
    bench.server.drip_s = 0.002
    bench.play(orchestrator=[streamed("想" * 20_000, manner=Manner.DRIP)])
    _, (run,) = bench.lab.order(1, "铜", recipes_per_run=1)
    with bench.lab.working():
        eventually(lambda: bench.server.count == 1)
        bench.lab.lab.runs.cancel_run(run.id)
        eventually(lambda: bench.lab.lab.runs.run(run.id).status is RunStatus.CANCELED)
        eventually(lambda: bench.server.left)
    assert bench.lab.types(run)[-2:] == ["llm_request", "run_canceled"]


def test_hostile_replies_do_no_harm(make: Make) -> None:
    bench = make()
    nasty: list[tuple[str, Any]] = [
        ("rm_rf", {"path": "/"}), ("", {}), ("x" * 5_000, {}), ("kb_query", "[]"), ("kb_query", "{" * 50_000),
        ("kb_query", {"namespace": "../../etc", "query": "x"}),
        ("kb_query", {"namespace": "kb_principles", "query": 5}),
        ("kb_query", {"namespace": "kb_principles", "query": "a\u0000b \ud83d", "top_k": -1}),
        ("kb_query", {"namespace": "kb_principles", "query": "a\u0000b \ud83d", "top_k": 1e9}),
        ("kb_get", {"alias": "C1' OR 1=1"}), ("mem_get", {"mem_id": "x" * 10_000}),
        ("delegate", {"role": "root", "task": "x"}),
        ("delegate", {"role": "mof_expert", "task": ""}), ("plan", {"subtasks": 7}), ("mem_list", {"limit": True}),
    ]  # fmt: skip
    garbage = '{"recipes": "' + "x" * 500_000 + '"}'
    bench.play(orchestrator=[nasty, [("submit", garbage)], "half a pair \ud83d", [QUERY], [submit()]])
    run = bench.run()
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    told = results(bench.server.asked[1])
    assert len(told) == len(nasty)
    assert sum("error" in each for each in told) == len(nasty) - 1
    assert bench.library.queries[0] == ("kb_principles", "ab ?")
    assert len(json.dumps(bench.payloads(run, EventType.LLM_REQUEST)[2])) < 200_000


def test_runs_of_a_batch_do_not_mix(make: Make) -> None:
    bench = make()
    gate = threading.Barrier(3, timeout=20)

    def together(asked: Asked) -> Reply:
        gate.wait()
        return streamed("", submit(overall_notes=f"完成 {asked.body['temperature']}"))

    bench.play(orchestrator=[[QUERY], together])
    _, runs = bench.lab.order(3, "铜", recipes_per_run=1)
    bench.finish()
    for run in runs:
        assert bench.lab.lab.runs.run(run.id).status is RunStatus.COMPLETED
        assert bench.lab.types(run).count("llm_response") == 2
        assert [each["results"][0]["alias"] for each in bench.payloads(run, EventType.KB_QUERY)] == ["C1"]


def test_a_flood_of_text_does_not_burst_the_journal(make: Make) -> None:
    bench = make()
    flood = [("submit", '{"recipes": "' + "字" * 1_500_000 + '"}'), ("kb_query", "字" * 700_000), ("kb_list", {})]
    bench.play(orchestrator=[[QUERY], flood, streamed("字" * 900_000, usage=None), [submit()]])
    run = bench.run()
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    told = [message["content"] for message in bench.server.asked[2].body["messages"] if message["role"] == "tool"]
    assert "longer than 400,000 characters" in told[1]
    assert "more than 20,000 characters" in told[2]
    assert max(len(json.dumps(asked.body)) for asked in bench.server.asked) < 400_000


def test_what_no_engine_can_keep_in_an_answer_is_no_obstacle(make: Make) -> None:
    bench = make()
    bench.play(orchestrator=[[QUERY], [submit(overall_notes="零 \u0000 半 \ud83d 完")]])
    run = bench.run()
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    assert bench.output(run)["recipes_json"]["overall_notes"].startswith("零")
