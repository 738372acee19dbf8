"""Clauses stand under their contract; `tests.generated` looks at the tests that show them."""

from __future__ import annotations

from tests.contracts import clauses


def test_clauses_stand_under_their_contract() -> None:
    for contract, of_contract in clauses.CONTRACTS.items():
        assert {clause.partition(" ")[0] for clause in of_contract} == {contract}
