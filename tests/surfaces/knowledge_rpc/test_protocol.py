"""JSON-RPC in isolation: what methods raise, and what a deadline does."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument, NotReady, StorageFull, Unauthorized
from codexmem.knowledge import rpc


class Methods:
    """One method that does what it is told."""

    def __init__(self, effect: Any = None) -> None:
        self._effect = effect
        self.called: list[tuple[int, Any]] = []

    def __contains__(self, name: object) -> bool:
        return name == "act"

    def call(self, name: str, params: rpc.Params, *, until: float, place: int) -> Any:
        del name, until
        self.called.append((place, params))
        if isinstance(self._effect, Exception):
            raise self._effect
        return self._effect


def act(number: object = 1, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "act", "id": number, **more}


@pytest.mark.parametrize(
    "error, code",
    [
        (InvalidArgument("x"), -32602), (Conflict("x"), -32002), (NotReady("x"), -32007), (StorageFull("x"), -32008),
        (CodexmemError("secret"), -32603), (ValueError("secret"), -32603), (RecursionError("secret"), -32603),
    ],
)  # fmt: skip
def test_what_a_method_raises_is_answered(error: Exception, code: int) -> None:
    answer = rpc.answer(act(), Methods(error))
    assert answer["error"]["code"] == code
    assert "secret" not in str(answer)


def test_a_failing_notification_is_silent() -> None:
    assert rpc.answer({"jsonrpc": "2.0", "method": "act"}, Methods(ValueError("x"))) is None


def test_calls_after_the_deadline_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 1.0, 29.0, 31.0, 32.0])
    monkeypatch.setattr(ids, "monotonic", lambda: next(moments))
    methods = Methods({"done": True})
    answers = rpc.answer([act(number) for number in range(4)], methods)
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, None, -32010, -32010]
    assert [place for place, _ in methods.called] == [0, 1]


def test_params_may_be_left_out_or_be_either_kind() -> None:
    methods = Methods("ok")
    for params in ({}, {"params": {"a": 1}}, {"params": [1]}):
        assert rpc.answer(act(**params), methods)["result"] == "ok"
    assert [params for _, params in methods.called] == [{}, {"a": 1}, [1]]


def test_a_refusal_knows_no_id() -> None:
    answer = rpc.refusal(Unauthorized("a key is needed", hint="send one"))
    assert answer == {
        "jsonrpc": "2.0",
        "error": {"code": -32003, "message": "a key is needed", "data": {"code": "unauthorized", "hint": "send one"}},
        "id": None,
    }
