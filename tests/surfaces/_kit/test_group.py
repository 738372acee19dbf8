"""The parent of several servers, where no server is needed to see what it does."""

from __future__ import annotations

from typing import NoReturn

import pytest

from codexmem.http import group
from codexmem.kernel.model.ids import monotonic


def test_a_server_that_cannot_be_started_now_is_tried_again_and_takes_nobody_with_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(module: str, files: object) -> NoReturn:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(group, "started", refused)
    made = group.ServerGroup("no.such.module", 2, [], {}, on_ready=lambda: None)
    made._fill()
    assert made._members == {}
    assert all(0 < due - monotonic() <= 5.0 for due in made._due.values())
    made._due = {1: monotonic() + 100.0, 2: 0.0}
    made._fill()  # one that has to wait does not keep the next from being tried
    assert made._due[2] > 0.0
    made._members[1] = group._Member(1, None, None, 0.0, ready=True)  # type: ignore[arg-type]
    made._to_replace.extend([1])
    made._replace()
    assert (made._fresh, list(made._to_replace), list(made._members)) == (None, [], [1])
    assert caplog.text.count("cannot be started: Resource temporarily unavailable") >= 2
