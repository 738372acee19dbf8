"""A memory worth looking at: a shop's developers, their agents and a small lab, in English and Chinese.

Everything is written through public endpoints: agents report by HTTP as hooks do, notes are written and changed,
candidates handed in, tools audited, a batch run, judged and learned from. The model is a script, so that pictures come
out alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codexmem.lab import lesson_extractor
from tests._support.lab_bank import Script, said_lessons, said_merging
from tests._support.model_server import Asked, ModelServer, Reply, memory_answer
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.stories import lab_cast
from tests.web.seeds import demo_texts as texts
from tests.web.seeds.audit import Wrapper

SHOP = "web-shop"
_TEACHER = Script(
    lambda _: said_lessons(*texts.LEARNED), lambda _: said_merging(*[("add", 0, "")] * len(texts.LEARNED))
)


def says(asked: Asked) -> Reply | str | None:
    """What the model answers: findings of the turn that is in the prompt, lessons, or what a role of the lab says."""
    form = asked.body.get("response_format", {}).get("json_schema", {}).get("name", "")
    if form in {lesson_extractor.EXTRACTION, lesson_extractor.CONSOLIDATION}:
        return _TEACHER(asked)
    if found := [each for each in texts.FINDINGS.values() if each["text"] in asked.prompt]:
        cited = sorted(asked.items)
        return json.dumps({"reason": "", "memories": [memory_answer(cited, **each)["memories"][0] for each in found]})
    return lab_cast.script(asked) if asked.body.get("tools") else None


@dataclass
class Demo:
    """Where the pictures' pages are found."""

    server: Server
    observation: str = ""
    session: int = 0
    qa: str = ""
    batch: str = ""
    run: str = ""
    lesson: str = ""
    delta: str = ""
    preset: str = ""
    trace: int = 0
    audit: str = ""
    stirs: int = 0

    def send(self, method: str, path: str, body: object = None) -> Any:
        """One request that must be taken."""
        reply = self.server.request(method, path, body)
        assert reply.status in {200, 201}, (path, reply.body)
        return reply.json

    def get(self, path: str) -> Any:
        """What the server says."""
        return self.send("GET", path)


def filled(server: Server, model: ModelServer, folder: Path) -> Demo:
    """Everything; takes some seconds."""
    model.script = says
    demo = Demo(server)
    _sessions(demo)
    _notes(demo)
    _questions(demo)
    _knowledge(demo)
    _audit(demo, folder)
    _lab(demo)
    for query, project in texts.SEARCHES:
        demo.get(f"/api/search?query={quote(query)}&project={quote(project)}&limit=6")
    eventually(lambda: demo.get("/api/ops/search-traces?limit=50")["count"] >= len(texts.SEARCHES))
    traces = f"/api/ops/search-traces?limit=1&query={quote(texts.SEARCHES[0][0])}"
    eventually(lambda: bool(demo.get(traces)["traces"]))  # they are written beside the searches
    demo.trace = demo.get(traces)["traces"][0]["id"]
    demo.send("POST", "/api/ops/backups", {})
    name = demo.get("/api/ops/backups")["backups"][0]["name"]
    demo.send("POST", f"/api/ops/backups/{name}/verify")
    demo.send("POST", "/api/ops/backups", {})
    # A server looks for contradictions ten minutes after a write: what pages show must not depend on its age.
    while demo.send("POST", "/api/review/scan", {})["more"]:
        pass
    return demo


def _sessions(demo: Demo) -> None:
    for number, turn in enumerate(texts.EVENTS):
        _turn(demo, turn, number)
    (first, *_) = demo.get(f"/api/memories/timeline?project={SHOP}&kind=observation")["items"]
    demo.observation = first["ref"].lstrip("#")


def _turn(demo: Demo, turn: texts.Turn, number: int) -> None:
    about = {
        "contentSessionId": turn.session, "project": turn.project, "platform": turn.platform,
        "cwd": f"/home/lin/{turn.project}",
    }  # fmt: skip
    session = demo.send("POST", "/api/sessions/init", {**about, "prompt": turn.prompt})["sessionDbId"]
    demo.server.request(
        "GET", f"/api/context?project={quote(turn.project)}&session={turn.session}&prompt={quote(turn.prompt)}"
    )
    for place, (tool, given, answer) in enumerate(turn.tools):
        said = {"tool_name": tool, "tool_input": given, "tool_response": answer}
        demo.send("POST", "/api/sessions/observations", {**about, **said, "tool_use_id": f"{number}-{place}"})
    before = _count(demo, turn.project, "summary")
    found = [each for mark, each in texts.FINDINGS.items() if any(mark in answer for _, _, answer in turn.tools)]
    words = "\n\n".join((turn.words, *(f"{each['title']}.\n{each['text']}" for each in found)))
    demo.send("POST", "/api/sessions/summarize", {**about, "last_assistant_message": words})
    eventually(lambda: _count(demo, turn.project, "summary") > before)
    titles = {each["title"] for each in found}
    eventually(lambda: titles <= _titles(demo, turn.project))
    if turn.ends:
        demo.send("POST", "/api/sessions/complete", about)
    if turn.shown:
        demo.session = session


def stirred(demo: Demo) -> None:
    """Something happens while somebody looks: an agent works on."""
    for turn in texts.EVENTS[1:4]:
        session = {"contentSessionId": f"{turn.session}-{demo.stirs}", "project": turn.project}
        demo.send("POST", "/api/sessions/init", {**session, "platform": turn.platform, "prompt": turn.prompt})
        for tool, given, answer in turn.tools:
            said = {"tool_name": tool, "tool_input": given, "tool_response": answer, "tool_use_id": f"{demo.stirs}"}
            demo.send("POST", "/api/sessions/observations", {**session, "platform": turn.platform, **said})
        demo.stirs += 1


def _count(demo: Demo, project: str, kind: str) -> int:
    return len(demo.get(f"/api/memories/timeline?project={quote(project)}&kind={kind}&limit=50")["items"])


def _titles(demo: Demo, project: str) -> set[str]:
    rows = demo.get(f"/api/memories/timeline?project={quote(project)}&kind=observation&limit=50")["items"]
    return {row["title"] for row in rows}


def _notes(demo: Demo) -> None:
    for uri, (first, *later), priority, when in texts.NOTES:
        note = {"uri": uri, "content": first, "priority": priority, "disclosure": when}
        demo.send("POST", "/api/notes", note)
        for content in later:
            demo.send("POST", "/api/notes/update", {"uri": uri, "content": content})
    demo.send("POST", "/api/notes/aliases", {"uri": "project://deploy/port", "alias": "project://port"})


def _questions(demo: Demo) -> None:
    for place, (question, answer, more) in enumerate(texts.QUESTIONS):
        body = {"project_id": SHOP, "question": question, "answer": answer, **more}
        made = demo.send("POST", "/v1/qa/candidates", body)["qa_id"]
        if place < 2:
            demo.send("POST", f"/v1/qa/items/{made}/approve", {"project_id": SHOP})
        references = [{"qa_id": made, "used": True, "message_id": f"{made}-{number}"} for number in range(place % 4)]
        demo.send("POST", "/v1/qa/hit", {"project_id": SHOP, "references": references})
        demo.qa = made
    tried = {"project_id": SHOP, "qa_id": demo.qa, "success": True, "signal_strength": "weak"}
    demo.send("POST", "/v1/qa/validate", tried)


def _knowledge(demo: Demo) -> None:
    def call(method: str, **params: object) -> Any:
        return demo.send("POST", "/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["result"]

    for content, summary, tags in texts.KNOWLEDGE:
        call("memory_add", content=content, summary=summary, tags=list(tags))
    folder = Path(call("memory_init_workspace", task_id="fix-login")["path"])
    for name, text in texts.WORKSPACE.items():
        (folder / name).write_text(text, encoding="utf-8")


def _audit(demo: Demo, folder: Path) -> None:
    wrapper = Wrapper(folder, SHOP, "run-shop-118")
    wrapper.run("just test", "c1", ok=True, took_ms=8_410)
    wrapper.run("git push origin main", "c2", ok=True, took_ms=1_904)
    wrapper.write("/etc/hosts")
    wrapper.run("rm -rf build", "c3", ok=False, took_ms=35)
    wrapper.fetch("https://example.org/install.sh")
    wrapper.run("psql -c 'select count(*) from orders'", "c4", ok=True, took_ms=212)
    wrapper.write(".env")
    wrapper.send(demo.server)
    demo.audit = str(demo.get("/v1/audit?limit=50")["items"][-1]["id"])


def _lab(demo: Demo) -> None:
    for namespace, pieces in texts.DOCUMENTS.items():
        parts = [
            {"chunk_id": f"{namespace}-{place}", "place": place, "title": title, "content": content}
            for place, (title, content) in enumerate(pieces, 1)
        ]
        demo.send("PUT", "/api/v1/kb/documents", {
            "namespace": namespace, "folder": "papers", "document": f"{namespace}.md", "source": f"{namespace}.md",
            "digest": namespace, "pieces": parts, "parts": len(parts),
        })  # fmt: skip
    ids = {
        name: demo.send("POST", "/api/v1/products", {"name": name})["product"]["product_id"] for name in texts.PRODUCTS
    }
    preset = {"name": "CO2 → gas", "product_ids": list(ids.values())[:4]}
    demo.preset = demo.send("POST", "/api/v1/product_presets", preset)["preset"]["preset_id"]
    demo.send("POST", "/api/v1/product_presets", {"name": "液相产物", "product_ids": list(ids.values())[3:]})
    *good, refused = texts.REQUESTS
    for request, n_runs, dry_run in good:
        _batch(demo, request, n_runs, dry_run)
    judged = {
        **texts.JUDGED,
        "products": [{"product_id": ids[name], "value": value} for name, value in texts.PRODUCTS.items()],
    }
    demo.send("PUT", f"/api/v1/runs/{demo.run}/feedback", judged)
    jobs = f"/api/v1/runs/{demo.run}/reasoningbank/jobs"
    eventually(lambda: demo.get(jobs)["jobs"][0]["status"] == "completed")
    demo.delta = demo.get(f"/api/v1/reasoningbank/deltas?run_id={demo.run}")["items"][0]["delta_id"]
    demo.lesson = demo.get("/api/v1/memories?limit=5")["items"][0]["mem_id"]
    # The last: a model that refuses its key is not asked again for a while.
    _batch(demo, *refused)


def _batch(demo: Demo, request: str, n_runs: int, dry_run: bool) -> None:
    body = {"user_request": request, "n_runs": n_runs, "recipes_per_run": 1, "dry_run": dry_run}
    made = demo.send("POST", "/api/v1/batches", body)
    batch = f"/api/v1/batches/{made['batch']['batch_id']}"
    eventually(lambda: demo.get(batch)["batch"]["ended_at"] is not None)
    if not dry_run and demo.get(batch)["batch"]["status"] == "completed":
        demo.batch, demo.run = made["batch"]["batch_id"], made["runs"][0]["run_id"]
