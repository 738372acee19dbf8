"""Every field that a page shows, filled through the endpoints that everybody uses with hostile texts.

A round puts one payload into each field; in another round each field gets another one, and in a hundred rounds each
gets all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

from playwright.sync_api import BrowserContext, expect

from codexmem.audit import chain
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.gate import Gate
from codexmem.codecli.policy.deciding import Policy
from codexmem.kernel.model.tool_access import ToolRequest
from codexmem.lab.service.profiles import load
from tests._support.chat_server import Cast, Line
from tests._support.lab_bank import said_lessons
from tests._support.model_server import Asked, ModelServer, Reply, memory_answer, refused
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.web.payloads import PAYLOADS
from tests.web.watching import Watch

ROUNDS = len(PAYLOADS)
MARK = "hostile-round"  # stands in what the model is asked, and tells which round asks
REFUSED = "hostile-refused"
_PROFILE = load("c2xc")


@dataclass
class Planting:
    """One round: what was put where, and the addresses at which it is shown."""

    server: Server
    model: ModelServer
    folder: Path
    round: int
    spread: int = 1  # how far rounds lie apart in the list, so that a few of them reach all of it
    fields: set[str] = field(default_factory=set)
    pages: list[str] = field(default_factory=list)

    def of(self, name: str) -> str:
        """The payload that this field gets in this round."""
        self.fields.add(name)
        return PAYLOADS[(crc32(name.encode()) + self.round * self.spread) % ROUNDS]

    @property
    def slice(self) -> tuple[str, ...]:
        """The part of the list between this round and the next; long texts hold all of it."""
        first = self.round * self.spread
        return PAYLOADS[first : first + self.spread]

    def used(self) -> set[str]:
        """The payloads that this round has planted."""
        return {self.of(name) for name in self.fields} | set(self.slice)

    def shown(self, path: str, **query: str) -> None:
        """This address shows something of it."""
        asked = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        self.pages.append(f"{path}?{asked}" if asked else path)

    def send(self, method: str, path: str, body: object = None) -> Any:
        """One request that must be taken."""
        reply = self.server.request(method, path, body)
        assert reply.status in {200, 201}, (path, body, reply.body)
        return reply.json

    def plant(self) -> None:
        """All of it."""
        with self._speaking():
            self._captured()
            self._imported()
            self._notes()
            self._questions()
            self._audit()
            self._catalog()
            self._lab()
            self._searches()
            self._addresses()

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        before = self.model.script
        self.model.script = lambda asked: self._says(asked) or before(asked)
        try:
            yield
        finally:
            self.model.script = before

    def _says(self, asked: Asked) -> Reply | str | None:
        if REFUSED in asked.prompt:
            return refused(400, self.of("model refusal"))
        form = asked.body.get("response_format", {}).get("json_schema", {}).get("name", "")
        if "lesson" in form:
            return json.dumps(said_lessons((self.of("lesson title"), self.of("lesson learned"), "global")))
        if any(str(asked.body["messages"][0]["content"]).startswith(role.prompt) for role in _PROFILE.roles.values()):
            return self._cast()(asked)
        if asked.events and MARK in asked.prompt:
            said = {"title": self.of("authored title"), "text": self.of("authored text"),
                    "kind": self.of("authored kind"), "reason": self.of("authored reason")}  # fmt: skip
            return json.dumps(memory_answer(sorted(asked.items), **said))
        return None

    def _cast(self) -> Cast:
        recipe = {
            "M1": "Cu", "M2": "Mo", "atomic_ratio": "1:1",  # the profile takes nothing else there
            "small_molecule_modifier": self.of("recipe modifier"), "rationale": f"{self.of('recipe rationale')} [C1]",
        }  # fmt: skip
        first = [
            ("plan", {"think": self.of("run thought"), "subtasks": [self.of("run subtask")]}),
            ("kb_query", {"namespace": "kb_principles", "query": f"copper {self.of('run query')}", "top_k": 3}),
        ]
        last = [("submit", {"recipes": [recipe], "overall_notes": self.of("recipe notes")})]
        looks: Line = [("kb_query", {"namespace": "kb_principles", "query": "copper"})]
        asks = [("delegate", {"role": "mof_expert", "task": self.of("delegated task")})]
        return Cast(_PROFILE, {"orchestrator": [first, asks, last], "mof_expert": [looks, self.of("delegated answer")]})

    def _captured(self) -> None:
        """A session as a hook reports it, written down by a model that speaks in payloads."""
        project = f"{self.of('session project')} {self.round}"
        about = {
            "contentSessionId": f"{self.of('session name')} {self.round}", "project": project,
            "platform": self.of("agent")[:60], "cwd": self.of("directory"),
        }  # fmt: skip
        prompt = f"{MARK} {self.of('captured prompt')}"
        number = self.send("POST", "/api/sessions/init", {**about, "prompt": prompt})["sessionDbId"]
        tool = {
            "tool_name": self.of("tool"), "tool_input": {"command": f"{MARK} {self.of('tool input')}"},
            "tool_response": self.of("tool answer"), "tool_use_id": f"hostile-{self.round}",
        }  # fmt: skip
        self.send("POST", "/api/sessions/observations", {**about, **tool})
        rows = f"/api/memories/timeline?project={quote(project)}&kind=observation"
        eventually(lambda: bool(self.server.request("GET", rows).json["items"]))
        (made, *_) = self.server.request("GET", rows).json["items"]
        words = "\n".join((MARK, self.of("last words"), self.of("authored title"), self.of("authored text")))
        self.send("POST", "/api/sessions/summarize", {**about, "last_assistant_message": words})
        self.send("POST", "/api/sessions/complete", about)
        worse = {**about, "contentSessionId": f"refused-{self.round}"}
        self.send("POST", "/api/sessions/init", {**worse, "prompt": REFUSED})
        self.send("POST", "/api/sessions/observations", {**worse, **tool, "tool_use_id": f"refused-{self.round}"})
        self.send("POST", "/api/sessions/complete", worse)
        self.server.request("GET", f"/api/context?project={quote(project)}&prompt={quote(self.of('handed prompt'))}")
        self.shown("/ui/timeline", project=project)
        self.shown(f"/ui/sessions/{number}", events="1")
        self.shown(f"/ui/observations/{made['ref'].lstrip('#')}")

    def _imported(self) -> None:
        """Memories of each kind, field by field."""
        project = f"{self.of('imported project')} {self.round}"
        row = {"at_ms": 1_780_000_000_000 + self.round, "session": self.of("imported session"), "project": project}
        lists = {name: [self.of(name)] for name in ("facts", "concepts", "files_read", "files_modified")}
        texts = {name: self.of(f"imported {name}") for name in ("type", "title", "subtitle")}
        texts["text"] = "\n".join((self.of("imported text"), *self.slice))
        words = ("request", "investigated", "learned", "completed", "next_steps", "notes")
        rows = [
            {**row, "kind": "observation", "number": 1, **lists, **texts},
            {**row, "kind": "summary", "number": 2, **{name: self.of(f"imported {name}") for name in words}},
            {**row, "kind": "prompt", "number": 3, "text": self.of("imported prompt")},
        ]
        body = {"program": "claude-mem", "fingerprint": f"{self.round:016x}", "delta": None, "rows": rows}
        self.send("POST", "/api/import/batch", body)
        made = self.server.request("GET", f"/api/memories/timeline?project={quote(project)}").json["items"]
        self.shown("/ui/timeline", project=project, anchor=made[0]["ref"])
        for each in made:
            self.shown(f"/ui/observations/{each['ref'].lstrip('#SP')}")

    def _notes(self) -> None:
        """A note with two versions, another name, and an address that points to it."""
        folder = self.of("note address").replace("/", "∕").strip()
        uri, other = f"hostile://{folder}/{self.round}", f"hostile://{self.round}/{folder}"
        content = "\n\n".join((self.of("note content"), *self.slice))
        note = {"uri": uri, "content": content, "disclosure": self.of("note disclosure")}
        self.send("POST", "/api/notes", note)
        self.send("POST", "/api/notes/update", {"uri": uri, "content": f"# {self.of('note edit')}\n\n{uri}"})
        self.send("POST", "/api/notes/aliases", {"uri": uri, "alias": other})
        path = f"/ui/m/hostile/{quote(uri.partition('://')[2])}"
        for tab in ("content", "versions", "aliases", "relations"):
            self.shown(path, tab=tab, **({"diff": "1..2"} if tab == "versions" else {}))
        self.shown("/ui/memories", domain="hostile", why=uri)

    def _questions(self) -> None:
        """A candidate, and one beside it."""
        project = f"{self.of('question project')} {self.round}"
        made: dict[str, Any] = {}
        for place in ("", "other "):
            asked = {
                "project_id": project, "question": f"{self.of(f'{place}question')} which port is it {self.round}?",
                "answer": self.of(f"{place}answer"), "summary": self.of("summary"), "author": self.of("author"),
                "source": self.of("source"), "tags": [self.of("tag")],
            }  # fmt: skip
            made = self.send("POST", "/v1/qa/candidates", asked)
        self.shown("/ui/qa", project=project, sel=made["qa_id"])

    def _audit(self) -> None:
        """What a wrapper's own gate wrote about an agent's wishes."""
        log = AuditLog(self.folder / f"audit-{self.round}", sync=lambda _: None)
        project = self.of("audit project")
        gate = Gate(
            Policy.parse(["Bash"], ["Write"]), "auto", None, log, run_id=self.of("audit run"), project_id=project
        )
        agent = self.of("audit agent")
        gate.decide(ToolRequest("Bash", command=self.of("audit command"), agent=agent, call_id=self.of("audit call")))
        gate.decide(ToolRequest("Write", paths=(self.of("audit path"),), agent=agent))
        gate.decide(ToolRequest(self.of("audit tool"), arguments={self.of("audit name"): self.of("audit value")}))
        rows = list(log.rows())
        told = self.send("POST", "/v1/audit", {"log": chain.seal(b"log", log.key())[:32], "rows": rows})
        assert told["accepted"] == len(rows)
        for each in self.server.request("GET", f"/v1/audit?project_id={quote(project)}&limit=3").json["items"]:
            self.shown("/ui/audit", project=project, sel=str(each["id"]))

    def _catalog(self) -> None:
        name = f"{self.of('product')} {self.round}"
        self._product = self.send("POST", "/api/v1/products", {"name": name})["product"]["product_id"]
        preset = {"name": f"{self.of('preset')} {self.round}", "product_ids": [self._product]}
        made = self.send("POST", "/api/v1/product_presets", preset)["preset"]["preset_id"]
        self.shown("/ui/catalog/presets", sel=made)

    def _lab(self) -> None:
        """A run with evidence, judged and learned from; and one that a model refused."""
        document = {
            "namespace": "kb_principles", "folder": "hostile", "document": f"{self.of('document')} {self.round}",
            "source": self.of("document source"), "digest": str(self.round), "parts": 1,
            "pieces": [{"chunk_id": f"hostile-{self.round}", "place": 1, "title": self.of("piece title"),
                        "content": f"copper {self.of('piece')}"}],
        }  # fmt: skip
        self.send("PUT", "/api/v1/kb/documents", document)
        run = self._ended(f"{self.of('request')} copper")
        judged = {
            "score": 5.0, "pros": self.of("pros"), "cons": self.of("cons"), "other": self.of("other words"),
            "products": [{"product_id": self._product, "value": 1.5}],
        }  # fmt: skip
        self.send("PUT", f"/api/v1/runs/{run}/feedback", judged)
        jobs = f"/api/v1/runs/{run}/reasoningbank/jobs"
        eventually(lambda: self.server.request("GET", jobs).json["jobs"][0]["status"] in {"completed", "failed"})
        for tab in ("trace", "output", "evidence", "feedback", "learning"):
            self.shown(f"/ui/runs/{run}", tab=tab)
        self.shown(f"/ui/runs/{run}", tab="evidence", alias="C1")
        self.shown(f"/ui/runs/{self._ended(f'{REFUSED} {self.round}', 'failed')}")
        written = self.send("POST", "/api/v1/memories", {"content": self.of("lesson")})
        self.shown(f"/ui/rb/{written['memory']['mem_id']}")
        deltas = self.server.request("GET", f"/api/v1/reasoningbank/deltas?run_id={run}").json["items"]
        for each in deltas:
            self.shown(f"/ui/rb/deltas/{each['delta_id']}")

    def _ended(self, request: str, how: str = "completed") -> str:
        body = {"user_request": request, "n_runs": 1, "recipes_per_run": 1}
        made = self.send("POST", "/api/v1/batches", body)
        batch = f"/api/v1/batches/{made['batch']['batch_id']}"
        eventually(lambda: self.server.request("GET", batch).json["batch"]["ended_at"] is not None)
        (ended,) = self.server.request("GET", f"/api/v1/runs?batch_id={made['batch']['batch_id']}").json["items"]
        assert ended["status"] == how, ended
        self.shown(f"/ui/batches/{made['batch']['batch_id']}")
        run_id: str = made["runs"][0]["run_id"]
        return run_id

    def _searches(self) -> None:
        query, project = self.of("search"), self.of("search project")
        self.server.request("GET", f"/api/search?query={quote(query)}&project={quote(project)}&limit=5")
        newest = "/api/ops/search-traces?limit=1"
        eventually(lambda: self.server.request("GET", newest).json["traces"][0]["query"] == query)
        self.shown("/viewer", tab="traces", sel=str(self.server.request("GET", newest).json["traces"][0]["id"]))

    def _addresses(self) -> None:
        """Addresses are made by anybody too: what stands in them is shown again, or told in an error."""
        said = self.of("address")
        self.shown("/viewer", tab="traces", query=said, project=said)
        self.shown("/ui/timeline", q=said, project=said, anchor=said)
        self.shown("/ui/memories", q=said, domain=said, new=said)
        self.shown("/ui/qa", q=said, project=said, sel=said)
        self.shown("/ui/audit", tool=said, project=said, sel=said)
        self.shown("/ui/rb", q=said, role=said)
        self.shown("/ui/batches", q=said)
        for start in ("/ui/observations/", "/ui/sessions/", "/ui/m/", "/ui/runs/", "/ui/batches/", "/ui/rb/", "/ui/"):
            self.pages.append(f"{start}{quote(said, safe='')}")


LISTS = (
    "/ui", "/viewer", "/viewer?tab=traces", "/viewer?tab=timings", "/viewer?tab=failures", "/ui/timeline",
    "/ui/sessions", "/ui/memories", "/ui/qa", "/ui/batches", "/ui/rb", "/ui/rb/jobs", "/ui/rb/deltas",
    "/ui/catalog/products", "/ui/catalog/presets", "/ui/system", "/ui/audit", "/ui/settings",
)  # fmt: skip


def visited(context: BrowserContext, watch: Watch, addresses: Iterable[str]) -> None:
    """Each address, once everything that it asked for is shown."""
    page = context.new_page()
    for address in addresses:
        page.goto(address)
        page.get_by_role("heading", level=1).wait_for()
        # What is on its way is shown as a skeleton; a panel that stays busy fails here.
        expect(page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)
        watch.look(page)
    page.close()
