"""Contract 001 §4.4: `soft` learns from an agent of which nothing is known but its text, and says why it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Call
from tests.contracts.codecli.wrapped import ON_SQLITE, Wrapped

pytestmark = ON_SQLITE

QUESTION = "How do we release the parser library?"
ANSWER = (
    "To release the parser library, follow these steps:\n1. Run `just check` and wait until it passes.\n2. Tag the "
    "commit with `git tag`.\n3. Push the tag with `git push --tags`.\nNote: never tag while a check fails, or the "
    "release breaks.\n"
)
PASSED = "============ 12 passed in 0.31s ============\n"
FAILED = "============ 2 failed, 10 passed in 0.31s ============\n"
ONCE = f"print({ANSWER!r})"


def answers_in(form: str, *texts: str) -> str:
    """An agent that says these, in this form."""
    if form == "text":
        return f"print({''.join(texts)!r})"
    lines = [json.dumps({"type": "message", "role": "assistant", "content": text}) for text in texts]
    return "\n".join(f"print({line if form == 'jsonl' else f'data: {line}{chr(10)}'!r})" for line in lines)


def learned(wrapped: Wrapped) -> list[dict[str, Any]]:
    return wrapped.found(QUESTION)


@pytest.mark.clause("001 §4.4", "soft: a test that passes in the output is a strong signal, one that fails is none")
@pytest.mark.parametrize("form", ["text", "jsonl", "sse"])
@pytest.mark.parametrize("outcome, kept", [(PASSED, 1), (FAILED, 0), (PASSED + FAILED, 0), ("All tests passed!\n", 0)],
                         ids=["passed", "failed", "failed later", "only claimed"])  # fmt: skip
def test_a_passing_test_in_the_output_teaches(form: str, outcome: str, kept: int, wrapped: Wrapped) -> None:
    wrapped.agent(answers_in(form, ANSWER, outcome))
    wrapped.options = ("--memory-on", "--stream-format", form)
    wrapped.pipe(b"", QUESTION)
    assert len(learned(wrapped)) == kept


@pytest.mark.clause("001 §4.4", "soft: without a strong signal the reason is told, and what to do")
@pytest.mark.clause("001 §4.4", "soft: the person's own `mem-codecli confirm` is a strong signal")
@pytest.mark.parametrize("way", ["pipe", "terminal"])
def test_a_person_confirms_afterwards(way: str, wrapped: Wrapped, call: Call) -> None:
    wrapped.agent(ONCE)
    wrapped.options = ("--memory-on", "--trace-json", "trace.jsonl")
    if way == "pipe":
        told = wrapped.pipe(b"", QUESTION).stderr.decode()
    else:
        with wrapped.screen(QUESTION) as screen:
            assert screen.wait() == 0
        told = screen.seen.decode()
    assert "no strong signal" in told
    assert "mem-codecli confirm" in told
    (judged,) = wrapped.trace("gatekeeper")
    assert judged["writes"] is False
    assert "no strong signal" in judged["reason"]
    assert learned(wrapped) == []
    said = call("confirm", "--json")
    assert said.code == 0, said.err
    (item,) = learned(wrapped)
    assert (item["qa_id"], item["question"], item["status"]) == (said.json["qa_id"], QUESTION, "validated")
    again = call("confirm")
    assert (again.code, "nothing waits" in again.err) == (3, True)


@pytest.mark.clause("001 §4.4", "soft: the person's confirmation in the next turn is a strong signal")
@pytest.mark.parametrize("way", ["pipe", "terminal"])
def test_a_person_confirms_in_the_next_turn(way: str, wrapped: Wrapped) -> None:
    wrapped.agent(f"""
        import sys
        for line in sys.stdin:
            if line.strip() == "bye":
                break
            print({ANSWER!r} if "release" in line else "Glad to hear. DONE", flush=True)
    """)
    if way == "pipe":
        with wrapped.started("chat") as running:
            assert running.stdin is not None
            assert running.stdout is not None
            running.stdin.write(f"{QUESTION}\n".encode())
            while b"release breaks" not in running.stdout.readline():
                pass
            running.stdin.write(b"thanks, that works\nbye\n")
            running.stdin.close()
            assert running.wait(30) == 0
    else:
        with wrapped.screen("chat") as screen:
            screen.type(f"{QUESTION}\r".encode())
            screen.until(b"release breaks")
            screen.type(b"thanks, that works\r")
            screen.until(b"DONE")
            screen.type(b"bye\r")
            assert screen.wait() == 0
    (item,) = learned(wrapped)
    assert item["answer"].startswith("To release the parser library")
    assert "Glad" not in item["answer"]


@pytest.mark.clause("001 §4.4", "soft: a confirmation that begins the next run is a strong signal for the last answer")
@pytest.mark.parametrize("said, kept", [
    ("That worked, thanks. What about the docs?", 1), ("可以了，谢谢。文档怎么办？", 1),
    ("that does not work, what now?", 0), ("Does that work on Windows?", 0), ("Fix the docs, please.", 0),
])  # fmt: skip
def test_a_person_confirms_in_the_next_run(said: str, kept: int, wrapped: Wrapped) -> None:
    wrapped.agent(ONCE)
    wrapped.pipe(b"", QUESTION)
    wrapped.agent("print('ok')")
    wrapped.pipe(b"", said)
    assert len(learned(wrapped)) == kept


@pytest.mark.clause("001 §4.4", "--explain tells what soft waits for")
def test_explain_tells_what_is_waited_for(wrapped: Wrapped) -> None:
    wrapped.agent(ONCE)
    done = wrapped.pipe(b"", QUESTION, options=("--memory-on", "--explain"))
    assert "strong signal" in done.stdout.decode()
