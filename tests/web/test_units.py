"""What parts of the application decide by themselves, tested by its own tests."""

from __future__ import annotations

from tests.web import building


def test_the_applications_own_tests_pass(built_web: object) -> None:
    building.run_tool("vitest", "vitest.mjs", "run", "--reporter=dot")
