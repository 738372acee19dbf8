"""Contract 000 §4.4: our own errors are 500 and give nothing away."""

from __future__ import annotations

import pytest

from codexmem.recall.lookup import Lookup
from tests._support.recall_endpoint import Endpoint


@pytest.mark.clause("000 §4.4", "what we did not expect is 500, with the details in the log only")
def test_4_4_an_unexpected_failure(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Lookup, "find", broken)
    reply = endpoint.get("/api/search", query="x")
    assert (reply.status, reply.json["error"]) == (500, "internal error")
    assert b"secret" not in reply.body
    assert "secret detail" in caplog.text
