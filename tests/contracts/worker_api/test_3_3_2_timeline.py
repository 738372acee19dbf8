"""Contract 000 §3.3.2 and §2.4: GET /api/timeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.query import Seq
from codexmem.recall.timeline import KINDS
from tests._support.golden import same_as_golden
from tests._support.recall_endpoint import NOON, Endpoint

GOLDEN = Path(__file__).parent / "golden"


def day(endpoint: Endpoint) -> list[Memory]:
    """A day of work."""
    return [
        endpoint.ask("为什么登录会失败? " + "Please look at every place where the token is refreshed. " * 3, minute=-20,
                 number=2),
        endpoint.observe("Read the token code", "It refreshes twice. 刷新两次。", type="discovery", minute=-19,
                     files_read=("src/token.ts",)),
        endpoint.observe("Found the race", "Two tabs share a cookie.", type="discovery", minute=-19,
                     files_read=("src/token.ts",)),
        endpoint.observe("Lock around refresh", "A lock file.", type="bugfix", minute=-5,
                         files_modified=("src/lock.ts",)),
        endpoint.summarize("Fix the login", minute=0),
        endpoint.ask("", minute=5, number=3, private=True),
        endpoint.observe("Notes", "", type="change", minute=24 * 60),
    ]  # fmt: skip


def items(rows: Any) -> list[int]:
    return [item["id"] for item in rows["items"]]


@pytest.mark.clause("000 §3.3.2", "a window around an anchor, in the order of time")
def test_2_4_the_layout_around_an_anchor(endpoint: Endpoint) -> None:
    made = day(endpoint)
    same_as_golden(GOLDEN / "timeline_anchor.md", endpoint.text("/api/timeline", anchor=made[2].seq), made)
    text = endpoint.text("/api/timeline", anchor=f"#S{made[4].seq}", depth_before=1, depthAfter="1")
    same_as_golden(GOLDEN / "timeline_summary.md", text, made)


@pytest.mark.clause("000 §3.3.2", "without an anchor the best match of the query becomes it")
def test_2_4_a_query_chooses_the_anchor(endpoint: Endpoint) -> None:
    made = day(endpoint)
    text = endpoint.text("/api/timeline", query="lock refresh", depth_before=2, depth_after=2)
    same_as_golden(GOLDEN / "timeline_query.md", text, made)
    said = endpoint.text("/api/timeline", query="斑马 zebra")
    assert said == 'No observations found matching "斑马 zebra". Try a different search query.'


@pytest.mark.clause(
    "000 §2.4", "anchors: numbers, digits, summaries, prompts, ISO times and epochs; the anchor wins over a query"
)
def test_2_4_every_spelling_of_an_anchor(endpoint: Endpoint) -> None:
    made = day(endpoint)
    seqs = [memory.seq for memory in made]

    def around(anchor: Any, **more: Any) -> list[int]:
        return items(endpoint.rows("/api/timeline", anchor=anchor, depth_before=1, depth_after=1, **more))

    assert around(seqs[3]) == around(f"#{seqs[3]}") == around(f" {seqs[3]} ") == seqs[2:5]
    assert around(f"S{seqs[4]}") == around(f"#s{seqs[4]}") == seqs[3:6]
    assert around(f"P{seqs[0]}") == seqs[:2]
    assert around(seqs[3], query="Notes") == seqs[2:5]
    # The first at or after the time is the anchor.
    at = NOON - 5 * 60_000
    for spelling in (at, at - 1, str(at), at // 1000, "2026-02-18T15:55:00Z", "2026-02-18T23:55:00+08:00"):
        rows = endpoint.rows("/api/timeline", anchor=spelling, depth_before=1, depth_after=1)
        assert (rows["anchor"]["id"], items(rows)) == (seqs[3], seqs[2:5]), spelling
    assert around("2026-02-18") == seqs[:2]
    late = endpoint.rows("/api/timeline", anchor="2030-01-01T00:00:00", depth_before=2)
    assert (late["anchor"], items(late)) == (None, seqs[5:])


@pytest.mark.clause("000 §2.4", "ten records to each side unless told otherwise, inside the project")
def test_2_4_depth_and_project(endpoint: Endpoint) -> None:
    made = [endpoint.observe(f"m{number}", minute=number) for number in range(25)]
    other = endpoint.observe("elsewhere", minute=12, project="other")
    seqs = [memory.seq for memory in made]
    assert items(endpoint.rows("/api/timeline", anchor=seqs[12])) == seqs[2:23]
    assert items(endpoint.rows("/api/timeline", anchor=seqs[12], depth_before=0, depth_after=0)) == [seqs[12]]
    assert items(endpoint.rows("/api/timeline", anchor=seqs[12], project="demo", depth_before=0)) == seqs[12:23]
    assert items(endpoint.rows("/api/timeline", anchor=other.seq)) == [other.seq]
    around = items(endpoint.rows("/api/timeline", anchor="2026-02-18T16:12:00Z", depth_before=1, depth_after=2))
    assert around == [seqs[11], seqs[12], other.seq, seqs[13]]
    reply = endpoint.get("/api/timeline", anchor=seqs[12], project="other")
    assert (reply.status, reply.json["error"]) == (404, f"Observation #{seqs[12]} not found")


@pytest.mark.clause("000 §4.2", "what is missing or makes no sense is said")
def test_2_4_errors(endpoint: Endpoint) -> None:
    seqs = [memory.seq for memory in day(endpoint)]

    def error(**query: Any) -> tuple[int, str]:
        reply = endpoint.get("/api/timeline", **query)
        return reply.status, reply.json["error"]

    assert error() == (400, 'Error: Must provide either "anchor" or "query" parameter')
    assert error(query="  ") == (400, 'Error: Must provide either "anchor" or "query" parameter')
    assert error(anchor=10**8) == (404, "Observation #100000000 not found")
    assert error(anchor=seqs[4]) == (404, f"Observation #{seqs[4]} not found")
    assert error(anchor=f"S{seqs[1]}") == (404, f"Session #{seqs[1]} not found")
    assert error(anchor="P999999999999999999") == (404, "Prompt #999999999999999999 not found")
    for nonsense in ("someday", "-5", "12.5", "2026-13-45", "9" * 30, "S", "#"):
        assert error(anchor=nonsense) == (400, f"Invalid timestamp: {nonsense}")
    assert error(anchor=seqs[0], depth_before=-1)[0] == error(anchor=seqs[0], depth_after=101)[0] == 400
    endpoint.real.memories.delete(Seq(seqs[3]), KINDS, WriteContext("test"))
    assert error(anchor=seqs[3])[0] == 404


@pytest.mark.clause("000 §2.4", "an empty store has no records around a time")
def test_2_4_nothing_around(endpoint: Endpoint) -> None:
    assert (
        endpoint.text("/api/timeline", anchor="2026-02-18T16:00:00Z")
        == "No records found around 2026-02-18T16:00:00.000Z"
    )
