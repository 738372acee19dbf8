"""Every clause of a contract has a test that mentions what the clause names, and the published table says so."""

from __future__ import annotations

import pytest

from tests.contracts import clauses

CLAUSES = {clause: demand for contract in clauses.CONTRACTS.values() for clause, demand in contract.items()}


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.slow
def test_a_clause_has_tests_that_mention_its_names(clause: str) -> None:
    sources = [each.source for each in clauses.shown() if each.clause == clause]
    assert sources, f"{clause} has no test: {CLAUSES[clause].demand}"
    names = (*CLAUSES[clause].names.split(), *CLAUSES[clause].messages)
    missing = [name for name in names if not any(name in source for source in sources)]
    assert not missing, f"the tests of {clause} never mention {missing}"


def test_markers_name_clauses_that_exist() -> None:
    assert {each.clause for each in clauses.shown()} <= CLAUSES.keys()


def test_clauses_stand_under_their_contract() -> None:
    for contract, of_contract in clauses.CONTRACTS.items():
        assert {clause.partition(" ")[0] for clause in of_contract} == {contract}


@pytest.mark.parametrize("contract", clauses.CONTRACTS)
def test_the_published_table_is_of_these_tests(contract: str) -> None:
    published = clauses.path_of(contract).read_text()
    for each in clauses.shown():
        if each.contract == contract:
            assert f"`{each.test}` | {each.statement} |" in published, f"run `just contract-table {contract}`"
    assert "FAILED" not in published
    assert "not run" not in published
