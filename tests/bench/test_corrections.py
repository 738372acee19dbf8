"""A fix is right if the rule was told, a wrong one is corrected once, and a run that failed counts nowhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from bench import agent_runs, corrections, delivery, told
from bench.agent_runs import DecidingModel, DrivenAgent, Endpoint, RunFailed, Turn
from bench.corrections import ARMS, Trial, Trials
from bench.delivery import Chat, Task
from bench.product import Product
from codexmem.kernel.model.privacy import CONTEXT_TAG
from tests._support.scripted_model import Asked, Call, Say, Step
from tests.agents.installation import Installation

CHAT = Chat("t-0", (("Finance wants a grace of 25 units before the rounding, since the meters drift.", "Noted."),))
OTHER = Chat("d", (("How does the barrel list balance itself when it grows so large?", "By splitting in halves."),))
TASK = Task("t", "A customer was billed too much.", "grace of 25 units before rounding", (CHAT,))
OWN = delivery.own_words([CHAT, OTHER], [TASK.asked])
WORDS = "Grace is given to units; see rule 25 on rounding."  # of the rule, said by somebody else


def test_half_of_the_rule_s_words_are_enough() -> None:
    assert corrections.rule_words(TASK, CHAT.text)
    assert corrections.rule_words(TASK, "25 units")
    assert not corrections.rule_words(TASK, "25 of them")
    assert not corrections.rule_words(TASK, "")
    assert not corrections.rule_words(TASK, corrections.GUESS)


def test_a_rule_that_its_chat_does_not_say_is_never_told() -> None:
    silent = Task("t", TASK.asked, TASK.rule, (Chat("t-0", (("Hello.", "Hello."),)),))
    assert not corrections.rule_words(silent, "anything")


def test_words_that_meet_by_chance_tell_nothing() -> None:
    assert corrections.rule_words(TASK, WORDS)
    assert not corrections.tells(TASK, WORDS, OWN)
    assert corrections.tells(TASK, CHAT.text, OWN)


def test_words_that_the_agent_always_says_do_not_count() -> None:
    part = "… the rounding, since the meters drift"  # of the chat, with one of the rule's four words
    assert not corrections.tells(TASK, part, OWN)
    assert corrections.tells(TASK, f"{WORDS}\n{part}", OWN)
    assert not corrections.tells(TASK, f"{WORDS}\n{part}", OWN, bare=WORDS)
    assert not corrections.tells(TASK, CHAT.text, OWN, bare=CHAT.text)


def test_a_placebo_is_as_large_and_says_nothing_of_the_deciding_chat() -> None:
    memories = [("t-0", "the rule " * 50), *((f"d{at}", f"memory {at} " * 20) for at in range(20))]
    made = corrections.placebo(memories, "t-0", 100, "t")
    assert "rule" not in made
    assert 90 <= told.tokens(made) <= 101
    assert made == corrections.placebo(memories, "t-0", 100, "t")
    assert made != corrections.placebo(memories, "t-0", 100, "u")
    assert corrections.placebo(memories, "t-0", 0, "t") == ""


def trials(**right: Sequence[bool | None]) -> list[Trial]:
    return [
        Trial(arm, f"{at}", each or False, right_after=True, tokens=10 * at, failed="" if each is not None else "ended")
        for arm, seen in right.items()
        for at, each in enumerate(seen)
    ]


def test_a_run_that_failed_is_neither_right_nor_corrected() -> None:
    made = corrections.figures(trials(none=[False, False, None], prompt=[True, False, None, True], start=[None]))
    assert made["none"] | {"words_alone": 0} == {
        "runs": 3, "failed": 1, "right_at_once": 0, "corrections": 2, "still_wrong": 0, "corrections_per_task": 1.0,
        "tokens": 5, "words_alone": 0,
    }  # fmt: skip
    assert (made["prompt"]["corrections"], made["prompt"]["right_at_once"], made["prompt"]["tokens"]) == (1, 2, 10)
    assert (made["start"]["corrections_per_task"], made["start"]["failed"]) == (None, 1)
    assert "-" in corrections.table(made)


def test_of_a_real_model_only_what_it_wrote_is_known() -> None:
    made = corrections.figures(trials(prompt=[True], tool=[True]), seen=False)
    assert (made["prompt"]["tokens"], made["tool"]["tokens"], made["prompt"]["words_alone"]) == (0, None, None)


@pytest.mark.parametrize(
    "prompt, placebo, kept",
    [
        ([True, True], [False, False], True),
        ([False, False], [False, False], False),
        ([True, True], [True, True], False),
        ([True, None], [False, False], False),
    ],
)
def test_the_promise_is_fewer_corrections_and_no_failure(
    prompt: list[bool | None], placebo: list[bool | None], kept: bool
) -> None:
    others = {arm.name: [False, False] for arm in ARMS}
    made = corrections.figures(trials(**others | {"prompt": prompt, "placebo": placebo}))
    assert corrections.is_kept(made) == kept


def test_a_correction_that_did_not_help_breaks_the_promise() -> None:
    good = trials(none=[False], start=[False], prompt=[True], tool=[False], placebo=[False])
    assert corrections.is_kept(corrections.figures(good))
    assert not corrections.is_kept(corrections.figures([*good, Trial("none", "x")]))


# What a model is sent.


def test_instructions_messages_and_results_are_read_and_nothing_else() -> None:
    responses = {
        "instructions": "be good", "model": "seven", "tools": [{"name": "t", "description": "a tool"}],
        "input": [
            {"type": "additional_tools", "tools": [{"name": "x", "description": "another tool"}]},
            {"type": "message", "role": "user", "id": "msg_25", "content": [{"type": "input_text", "text": "a &lt;b"}]},
            {"type": "function_call", "name": "f", "call_id": "call_25", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_25", "output": "found"},
        ],
    }  # fmt: skip
    assert agent_runs.request_text(responses).split("\n") == ["be good", "a <b", "{}", "found"]
    assert agent_runs.last_result(responses) == "found"
    chat = {"messages": [{"role": "system", "content": "sys"}, {"role": "tool", "content": "one"},
                         {"role": "tool", "content": [{"type": "text", "text": "two"}]}]}  # fmt: skip
    assert agent_runs.request_text(chat).split("\n") == ["sys", "one", "two"]
    assert agent_runs.last_result(chat) == "two"
    assert agent_runs.last_result({"messages": []}) == ""


def test_what_was_handed_over_is_in_its_mark() -> None:
    block = f"<{CONTEXT_TAG}>\na\n</{CONTEXT_TAG}>"
    assert agent_runs.handed_over(f"x {block} y {block} z") == f"{block}\n{block}"
    assert agent_runs.handed_over("nothing") == ""


def test_only_lines_that_are_new_were_written(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
        (folder / "a.py").write_text("one\ntwo\n")
    (after / "a.py").write_text("one\nthree\n")
    (after / ".git").mkdir()
    (after / ".git" / "config").write_text("hidden\n")
    (after / "b.bin").write_bytes(b"\xff\xfe\x00")
    assert agent_runs.written(after, before) == "three"
    assert agent_runs.written(after) == "one\nthree"


def asked(results: int, *texts: str) -> Asked:
    said = [{"role": "user", "content": text} for text in texts]
    done = [{"role": "tool", "content": "r"}] * results
    tools = [{"function": {"name": name}} for name in ("search", "write")]
    return Asked("/v1/chat/completions", {"messages": [*said, *done], "tools": tools})


def steps(right: bool) -> Sequence[Step]:
    return Call("write", {"right": right}), Say("done")


def test_the_first_request_after_looking_decides() -> None:
    model = DecidingModel()
    model.begin(lambda text: "rule" in text, steps, [Call("search", {})])
    assert model._step(asked(0, "rule")) == Call("search", {})
    assert model.decided is None
    assert model._step(asked(1, "nothing")) == Call("write", {"right": False})
    assert model._step(asked(1, "rule")) == Call("write", {"right": False})
    assert model._step(asked(2, "rule")) == Say("done")
    # Another turn of the same session has the results of the first.
    model.begin(lambda text: "rule" in text, steps)
    assert model._step(asked(2, "rule")) == Call("write", {"right": True})
    assert model._step(asked(3, "rule")) == Say("done")
    assert model._step(asked(4, "rule")) == Say("Done.")


# Agents.


class ScriptAgent(DrivenAgent):
    """A shell script in place of an agent."""

    name = title = "script"
    program = "script"
    words = ("/bin/sh",)
    script = ""

    def configure(self) -> None: ...
    def switch_off_hooks(self) -> None: ...
    def variables(self) -> dict[str, str]:
        return {}

    def command(self, prompt: str, session: str) -> list[str]:
        return ["/bin/sh", "-c", self.script, prompt, session]

    def read(self, events: Sequence[Mapping[str, Any]]) -> Turn:
        return Turn(*(str(events[-1][name]) if events else "" for name in ("session", "said")))

    def search(self, query: str) -> tuple[Step, ...]:
        return (Call("search", {"query": query}),)

    def write(self, name: str, text: str) -> tuple[Step, ...]:
        return (Call("write", {"name": name, "text": text}),)


@pytest.fixture
def agent(tmp_path: Path) -> ScriptAgent:
    return ScriptAgent(cast("Installation", None), tmp_path, delivery.PROJECT, Endpoint("", "scripted"))


def test_an_agent_is_run_to_its_end(agent: ScriptAgent) -> None:
    agent.script = """echo words; echo '{"session": "'$1'", "said": "'$0'"}'"""
    assert agent.turn("hello", 10, "s") == Turn("s", "hello")
    with pytest.raises(RunFailed, match="named no session"):
        agent.turn("hello", 10)
    agent.script = "echo broken >&2; exit 3"
    with pytest.raises(RunFailed, match="ended with 3: broken"):
        agent.turn("hello", 10)


def test_an_agent_that_does_not_end_is_ended_with_what_it_started(agent: ScriptAgent) -> None:
    agent.script = "sleep 60 & echo $! > child; wait"
    began = time.monotonic()
    with pytest.raises(RunFailed, match="not done within 1 s"):
        agent.turn("hello", 1)
    assert time.monotonic() - began < 10
    child = Path("/proc") / (agent.person.repository / "child").read_text().strip() / "stat"
    until = time.monotonic() + 5
    while child.exists() and child.read_text().split()[2] != "Z":
        assert time.monotonic() < until
        time.sleep(0.02)


class PlayedAgent(ScriptAgent):
    """Asks the model itself, and is handed over what the test says."""

    model: DecidingModel
    given: Callable[[Mapping[str, object]], str] = staticmethod(lambda _: "")
    found: str = ""
    prompts: list[str]

    def prepare(self, *, installed: bool, hooks: bool = True, checkout: Path | None = None) -> None:
        self.setting: dict[str, object] = {"installed": installed, "hooks": hooks}
        for path in self.person.repository.glob("fix_*"):
            path.unlink()

    def turn(self, prompt: str, timeout_s: float, session: str = "", **environment: str) -> Turn:
        self.prompts.append(prompt)
        said = [self.given(self.setting | environment), prompt]
        results: list[dict[str, str]] = []
        while True:
            messages = [{"role": "user", "content": text} for text in said] + results
            step = self.model._step(Asked("/v1/chat/completions", {"messages": messages}))
            if isinstance(step, Say):
                return Turn("its-session", step.text)
            if "name" in step.arguments:
                (self.person.repository / step.arguments["name"]).write_text(step.arguments["text"])
            results.append({"role": "tool", "content": self.found if "query" in step.arguments else "written"})


class StoreOfRuns:
    """Remembers a session of each run until it is forgotten."""

    def __init__(self) -> None:
        self.sessions = ["t-0", "d"]
        self.forgotten: list[str] = []

    def stored(self, project: str) -> list[dict[str, str]]:
        return [{"content_session_id": "t-0", "text": CHAT.text}, {"content_session_id": "d", "text": OTHER.text}]

    def settle(self) -> None: ...

    def get(self, path: str, **_: Any) -> dict[str, Any]:
        return {"items": [{"content_session_id": each} for each in self.sessions]}

    def forget(self, session: str) -> None:
        self.forgotten.append(session)
        self.sessions = [each for each in self.sessions if each != session]


def played(tmp_path: Path, given: Callable[[Mapping[str, object]], str], found: str = "") -> tuple[
    list[Trial], PlayedAgent
]:  # fmt: skip
    agent = PlayedAgent(cast("Installation", None), tmp_path, delivery.PROJECT, Endpoint("", "scripted"))
    agent.model, agent.found, agent.prompts = DecidingModel(), found, []
    agent.given = given
    store = cast("Product", StoreOfRuns())
    runs = Trials(store, agent, agent.model, [CHAT, OTHER], [TASK], checkout=None, timeout_s=1)
    return list(runs.of(TASK)), agent


def as_the_product(setting: Mapping[str, object]) -> str:
    if not (setting["installed"] and setting["hooks"]):
        return ""
    text = "a digest" if "CODEXMEM_PROMPT_CONTEXT" in setting else CHAT.text
    return f"<{CONTEXT_TAG}>\n{text}\n</{CONTEXT_TAG}>"


def test_the_rule_spares_the_correction(tmp_path: Path) -> None:
    made, agent = played(tmp_path, as_the_product, found=CHAT.text)
    seen = {trial.arm: (trial.right, trial.right_after, trial.failed) for trial in made}
    wrong, right = (False, True, ""), (True, True, "")
    assert seen == {"none": wrong, "start": wrong, "prompt": right, "tool": right, "placebo": wrong}
    assert agent.prompts.count(corrections.correction(TASK)) == 3
    tokens = {trial.arm: trial.tokens for trial in made}
    assert tokens["none"] == 0 < tokens["start"] < tokens["prompt"]
    assert tokens["tool"] > 0
    assert 0 < tokens["placebo"] <= tokens["prompt"]


def test_hooks_that_hand_nothing_over_are_a_failure_and_leave_no_size_for_the_placebo(tmp_path: Path) -> None:
    made, _ = played(tmp_path, lambda _: "")
    assert [trial.arm for trial in made if trial.failed] == ["start", "prompt", "placebo"]


def test_what_a_run_left_in_the_store_is_forgotten(agent: ScriptAgent) -> None:
    store = StoreOfRuns()
    runs = Trials(cast("Product", store), agent, None, [CHAT, OTHER], [TASK], checkout=None, timeout_s=1)
    store.sessions.append("its-session")
    runs._clean()
    assert (store.sessions, store.forgotten) == (["t-0", "d"], ["its-session"])
    store.sessions.append("stays")
    store.forget = lambda session: None  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="cannot be brought back"):
        runs._clean()
