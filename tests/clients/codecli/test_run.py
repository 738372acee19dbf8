"""One run with a memory: what goes in, what comes back, and that no memory can hold an agent up or make it fail."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from codexmem.client.starting import ServerLocation
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    Injection,
    Launch,
    PreflightCheck,
    PreparedAgent,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
    Wiring,
)
from codexmem.codecli.child.spawning import Connected, NotStarted
from codexmem.codecli.configuration import AuditConfig, Config, InjectConfig, MemoryConfig
from codexmem.codecli.memory_client import MemoryClient
from codexmem.codecli.observed import Observed
from codexmem.codecli.post_run import Worth
from codexmem.codecli.recall import Recalled
from codexmem.codecli.redactor import Redactor
from codexmem.codecli.run import AgentRun
from codexmem.codecli.run_context import Parts
from codexmem.codecli.trace import RunTracer
from codexmem.codecli.turns import RecentTurns
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict
from tests._support import model_server
from tests._support.model_server import DRIP_HEADERS, RESET, SILENCE, Reply
from tests._support.qa_endpoint import ITEM, QaEndpoint
from tests._support.wrapping import PlainAdapter

pytestmark = pytest.mark.process

POOL = ITEM | {
    "qa_id": "qa-pool", "question": "How large is the pool?", "answer": "Set pool_size to 20 in config/db.yaml.",
    "anchor": "[QA_REF qa-pool]", "score": 0.9, "status": "candidate", "unproven": True,
}  # fmt: skip
GOOD: dict[str, Any] = {
    "search": {"items": [ITEM, POOL], "count": 2}, "hit": {"accepted": 2}, "validate": {},
    "candidates": Reply(201, {"qa_id": "qa-new", "created": True}),
}  # fmt: skip
SAYS = "import sys; print('SAW', sys.argv[1]); print('I used [QA_REF qa-01]: 打标签'); print('oops', file=sys.stderr)"


@dataclass
class Watched:
    """What a watcher tells of an agent that prints `name arguments` lines."""

    decide: Callable[[ToolRequest], ToolDecision] | None = None

    def feed(self, piece: bytes) -> Iterable[Happening]:
        for line in piece.decode().splitlines(keepends=True):
            if line.startswith("TOOL "):
                request = ToolRequest("shell", command=line[5:].strip(), call_id="c1")
                yield ToolDecided(request, self.decide(request)) if self.decide else ToolStarted(request)
            elif line.startswith("OK"):
                yield ToolEnded("c1", ok=True, took_ms=5)
            else:
                yield AgentMessage(line)

    def close(self) -> Iterable[Happening]:
        return [TurnEnded(ok=True)]


@dataclass
class Told:
    """A run in this process, and all that came of it."""

    notes: list[str] = field(default_factory=list)
    trace: list[dict[str, Any]] = field(default_factory=list)
    run: AgentRun | None = None

    def go(self, agent: str, prompt: str | None = "如何部署？", *, url: str = "", timeout_ms: int = 2_000,
           **more: Any) -> int:  # fmt: skip
        """Run a program in Python; returns its code."""
        config = more.pop("config", Config(memory=MemoryConfig(on=bool(url), timeout_ms=timeout_ms)))
        argv = (sys.executable, "-S", "-c", textwrap.dedent(agent), *([prompt] if prompt is not None else []))
        place = ServerLocation(Path("/nonexistent"), 9, url, may_start=False)
        parts = Parts(
            config, "run-1", "shop", Launch(argv, {"PATH": os.environ["PATH"]}, str(Path.cwd())), PlainAdapter(),
            self.notes.append, Redactor(), RunTracer("run-1", lambda line: self.trace.append(json.loads(line))),
            memory=MemoryClient(place, timeout_ms) if url else None, connected=Connected((False, False, False)),
        )  # fmt: skip
        self.run = AgentRun(replace(parts, **more))
        return self.run.go().number


def writes(question: str, answer: str, *, top_score: float | None, strong_signal: bool) -> Worth:
    return Worth(
        question, answer, "summary", ("tag",), writes=True, metadata={"strong": strong_signal, "top": top_score}
    )


@pytest.mark.clause("001 §2.2", "/v1/qa/search, injection, the agent, then /v1/qa/hit and /v1/qa/candidates")
@pytest.mark.clause("001 §1.2.2", "stdout and stderr stream through while they are collected on the side")
def test_a_run_from_search_to_candidate(capfd: pytest.CaptureFixture[str]) -> None:
    told = Told()
    with QaEndpoint(GOOD) as endpoint:
        code = told.go(SAYS, url=endpoint.base, gatekeeper=writes)
        search, hit, candidate = endpoint.asked
    out, err = capfd.readouterr()
    assert (code, err, told.notes) == (0, "oops\n", [])
    assert "SAW <codexmem-context>" in out
    assert "[QA_REF qa-01]" in out
    assert [search.path, hit.path, candidate.path] == ["/v1/qa/search", "/v1/qa/hit", "/v1/qa/candidates"]
    assert search.body["project_id"] == "shop"
    assert "如何部署？" in search.body["query"]
    assert hit.body["references"] == [
        {
            "qa_id": "qa-01",
            "shown": True,
            "used": True,
            "message_id": "run-1",
            "context": "injected:system; used:anchor",
        },
        {"qa_id": "qa-pool", "shown": True, "used": False, "message_id": "run-1", "context": "injected:system"},
    ]
    assert candidate.body["question"] == "如何部署？"
    assert "打标签" in candidate.body["answer"]
    assert candidate.body["metadata"] == {
        "run_id": "run-1",
        "signal": "",
        "agent": Path(sys.executable).name,
        "strong": False,
        "top": 0.9,
    }
    assert candidate.body["source"] == "mem-codecli"
    names = [span["name"] for span in told.trace]
    assert names == ["memory.query", "memory.search", "memory.inject", "agent", "memory.hit", "gatekeeper",
                     "memory.candidate.kept", "memory.candidate", "afterwards", "run"]  # fmt: skip


FAULTS: dict[str, Any] = {
    "silent": SILENCE, "dripping": DRIP_HEADERS, "torn": RESET, "broken": Reply(500, {"error": "no"}),
    "garbage": Reply(200, b"<html>"), "wrong key": Reply(401, {"error": "who"}), "huge": model_server.huge(5),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_memory_that_fails_costs_its_time_and_one_note(fault: str, capfd: pytest.CaptureFixture[str]) -> None:
    told = Told()
    with QaEndpoint({"search": FAULTS[fault]}) as endpoint:
        code = told.go("import sys; print(sys.argv[1]); sys.exit(7)", url=endpoint.base, timeout_ms=300)
    assert (code, capfd.readouterr().out) == (7, "如何部署？\n")
    assert len(told.notes) == 1
    assert told.notes[0].startswith("without memory: ")
    assert ("not within 300 ms" in told.notes[0]) is (fault in {"silent", "dripping"})
    assert endpoint.count == 1


def test_a_memory_that_is_away(capfd: pytest.CaptureFixture[str]) -> None:
    told = Told()
    code = told.go("print(1)", url="http://127.0.0.1:1")
    assert (code, capfd.readouterr().out, len(told.notes)) == (0, "1\n", 1)


def test_a_memory_that_dies_while_the_agent_runs(capfd: pytest.CaptureFixture[str]) -> None:
    told = Told()
    with QaEndpoint(GOOD | {"hit": SILENCE}) as endpoint:
        code = told.go("import sys; sys.exit(3)", url=endpoint.base, timeout_ms=400, gatekeeper=writes)
    assert (code, len(told.notes)) == (3, 1)
    assert "not within 400 ms" in told.notes[0]


@pytest.mark.clause("001 §3.2.5", "--inject-mode system, user or both reaches the adapter")
@pytest.mark.parametrize("mode,times", [("system", 1), ("user", 1), ("both", 2)])
def test_the_mode_of_injection(mode: str, times: int, capfd: pytest.CaptureFixture[str]) -> None:
    told = Told()
    with QaEndpoint(GOOD) as endpoint:
        told.go("import sys; print(sys.argv[1])", url=endpoint.base, config=Config(inject=InjectConfig(mode=mode)))
        hit = endpoint.asked[1]
    assert capfd.readouterr().out.count("<codexmem-context>") == times
    assert hit.body["references"][0]["context"] == f"injected:{mode}"


def test_a_prompt_on_standard_input_gets_memory_before_it(capfd: pytest.CaptureFixture[str]) -> None:
    near, far = os.pipe()
    os.write(far, "如何部署商店？".encode())
    os.close(far)
    saved = os.dup(0)
    os.dup2(near, 0)
    os.close(near)
    told = Told()
    try:
        with QaEndpoint(GOOD) as endpoint:
            told.go("import sys; print('read', sys.stdin.read())", None, url=endpoint.base,
                    adapter=PlainAdapter(by_input=True))  # fmt: skip
            assert "如何部署商店？" in endpoint.asked[0].body["query"]
    finally:
        os.dup2(saved, 0)
        os.close(saved)
    out = capfd.readouterr().out
    assert out.startswith("read <codexmem-context>")
    assert out.endswith("</codexmem-context>\n\n如何部署商店？\n")


def test_a_check_that_went_well_speaks_for_what_was_used() -> None:
    told = Told()
    agent = "print('TOOL pytest -q'); print('OK'); print('done [QA_REF qa-pool]')"
    with QaEndpoint(GOOD) as endpoint:
        told.go(agent, url=endpoint.base, adapter=PlainAdapter(watcher=Watched), gatekeeper=writes)
        said = {asked.path.rpartition("/")[2]: asked.body for asked in endpoint.asked}
    assert said["validate"]["qa_id"] == "qa-pool"
    assert (said["validate"]["success"], said["validate"]["strong_signal"]) == (True, False)
    assert said["candidates"]["metadata"]["strong"] is True


@dataclass
class Denying:
    """A gate that refuses everything."""

    asked: list[str] = field(default_factory=list)
    ended_calls: list[tuple[str, bool, int | None]] = field(default_factory=list)

    def decide(self, request: ToolRequest) -> ToolDecision:
        self.asked.append(request.command)
        return ToolDecision(Verdict.DENY, "not here")

    def started(self, request: ToolRequest) -> None:
        raise AssertionError("it was refused")

    def ended(self, call_id: str, ok: bool, took_ms: int | None) -> None:
        self.ended_calls.append((call_id, ok, took_ms))


@dataclass
class AskingAdapter(PlainAdapter):
    """As the plain one, with requests in its output that are decided, and a word for the agent about it."""

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        prepared = super().prepare(launch, injection, wiring)
        return replace(prepared, stdout=Watched(wiring.decide if wiring.holds else None),
                       refusal=lambda request, decision: f"{request.tool}: {decision.reason}\n".encode())  # fmt: skip


def test_a_refusal_reaches_an_agent_that_reads_its_input(capfd: pytest.CaptureFixture[str]) -> None:
    told, gate = Told(), Denying()
    near, far = os.pipe()
    saved = os.dup(0)
    os.dup2(near, 0)
    os.close(near)
    try:
        agent = "import sys; print('TOOL rm -rf /', flush=True); print('heard', sys.stdin.readline()); print('OK')"
        told.go(agent, adapter=AskingAdapter(), gate=gate, config=Config(audit=AuditConfig(untold="note")))
    finally:
        os.close(far)
        os.dup2(saved, 0)
        os.close(saved)
    assert gate.asked == ["rm -rf /"]
    assert gate.ended_calls == [("c1", True, 5)]
    assert "heard shell: not here" in capfd.readouterr().out
    assert told.run is not None
    assert told.run.observed.decisions == {"deny": 1}


@dataclass
class Failing:
    """A watcher with a fault."""

    def feed(self, piece: bytes) -> Iterable[Happening]:
        raise RuntimeError("a fault")

    def close(self) -> Iterable[Happening]:
        raise RuntimeError("another")


def test_a_watcher_that_fails_is_told_once_and_the_output_passes(capfd: pytest.CaptureFixture[str]) -> None:
    told = Told()
    code = told.go("import os\nfor n in range(50): os.write(1, b'line\\n')", adapter=PlainAdapter(watcher=Failing))
    assert (code, capfd.readouterr().out) == (0, "line\n" * 50)
    assert len(told.notes) == 1
    assert "a fault" in told.notes[0]


@dataclass
class CheckedAdapter(PlainAdapter):
    """Wants something proven before the agent is started."""

    answer: str = "yes"

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        program = "import sys; print('hm'); print(sys.stdin.readline().strip(), '{}', flush=True); sys.stdin.read()"
        check = PreflightCheck(
            (sys.executable, "-S", "-c", program.format(self.answer)), (b"asked\n",),
            lambda line: (line == b"asked yes") if line.startswith(b"asked") else None, "unsafe",
        )  # fmt: skip
        return replace(super().prepare(launch, injection, wiring), check=check)


@pytest.mark.parametrize("answer,starts", [("yes", True), ("no", False)])
def test_an_agent_that_does_not_prove_what_it_must_is_not_started(
    answer: str, starts: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    told = Told()
    if starts:
        assert told.go("print('started')", adapter=CheckedAdapter(answer=answer)) == 0
    else:
        with pytest.raises(NotStarted, match="unsafe"):
            told.go("print('started')", adapter=CheckedAdapter(answer=answer))
    assert ("started" in capfd.readouterr().out) is starts


def test_secrets_do_not_reach_the_memory_or_the_disk(tmp_path: Path) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    told = Told()
    turns = RecentTurns(str(tmp_path), "shop", str(Path.cwd()), Redactor().text)
    with QaEndpoint(GOOD) as endpoint:
        told.go("print(1)", f"deploy with {secret}", url=endpoint.base, turns=turns)
        assert secret not in str([asked.body for asked in endpoint.asked])
    assert secret not in "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))
    assert turns.recent(2**62, 1) == []
    assert "deploy with" in next(tmp_path.rglob("*.jsonl")).read_text()


def test_a_question_that_was_looked_up_is_not_counted_twice() -> None:
    observed = Observed()
    observed.begin("q", Recalled("q"))
    observed.tell(UserPrompt("q"))
    observed.tell(AgentMessage("a"))
    observed.tell(TurnEnded(ok=True))
    observed.tell(UserPrompt("next"))
    observed.tell(AgentMessage("b"))
    assert [(turn.asked, turn.said.text()) for turn in observed.turns] == [("q", "a"), ("next", "b")]


@pytest.mark.parametrize(
    "command,checks",
    [
        ("pytest -q", True), ("cd x && cargo test", True), ("/bin/bash -lc 'npm run build'", True), ("make", True),
        ("go vet ./...", True), ("uv run pytest", True), ("A=1 .venv/bin/python -m pytest x", True),
        ("make test", True),
        ("echo pytesting", False), ("cat Makefile", False), ("ls", False), ("git commit -m 'make it'", False),
        ("git commit -m 'pytest now passes'", False), ("pip install pytest", False), ("rm -r x/make", False),
        ("sudo " * 2_000, False), ("a/" * 3_000, False), ("A=" * 3_000, False),
    ],
)  # fmt: skip
def test_commands_that_check_something(command: str, checks: bool) -> None:
    observed = Observed()
    observed.tell(ToolStarted(ToolRequest("shell", command=command, call_id="1")))
    observed.tell(ToolEnded("1", ok=True))
    assert (bool(observed.turns) and observed.turns[-1].checked is True) is checks
