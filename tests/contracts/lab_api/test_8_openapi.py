"""The interface description of `/api/v1`: it is true of every answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.lab_fuzz import fuzzed_lab
from tests.contracts.lab_api import openapi


def test_every_path_says_what_it_answers() -> None:
    for path, operations in openapi.description()["paths"].items():
        for method, operation in operations.items():
            assert "$ref" in operation["responses"]["200"]["content"]["application/json"]["schema"], (method, path)


@pytest.mark.sqlite
@pytest.mark.clause("002 §1.4", "whatever is sent, right or wrong, no answer is a server error or not as described")
@pytest.mark.slow
def test_no_request_makes_the_server_fail(tmp_path: Path) -> None:
    with fuzzed_lab(tmp_path) as lab:
        sent = lab.send(examples=5)
    assert sent.operations == sum(map(len, openapi.description()["paths"].values()))
    assert not any(status >= 500 for status in sent.statuses)
    # It went beyond refusals: most operations were also answered.
    assert sum(count > 0 for count in sent.reached.values()) >= 36, sent
