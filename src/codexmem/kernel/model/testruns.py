"""What a run of tests came to, from what runners print: how many passed and failed, and which failed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COUNT = r"(\d{1,7})"


@dataclass(frozen=True, slots=True)
class TestRun:
    """What a run of tests came to; a count is None where the runner printed none."""

    __test__ = False  # not for the collector of our own tests

    runner: str
    passed: int | None
    failed: int | None
    skipped: int
    failing: tuple[str, ...]

    @property
    def total(self) -> int | None:
        """Tests that ran."""
        return None if self.passed is None and self.failed is None else (self.passed or 0) + (self.failed or 0)


def read(runner: str, output: str) -> TestRun:
    """The counts and failing names that the output tells."""
    text = _ANSI.sub("", output[-_LOOK_AT:])
    passed = failed = None
    skipped = 0
    for pattern in _TOTALS:
        found = list(pattern.finditer(text))
        if not found:
            continue
        # Several totals are several packages or targets; other runners repeat only the last one.
        group = found if pattern.pattern in _SUMMED else found[-1:]
        counted = [each.groupdict() for each in group]
        passed = _sum(counted, "passed")
        failed = _sum(counted, "failed", "errors")
        skipped = _sum(counted, "skipped") or 0
        if (ran := _sum(counted, "ran")) is not None:
            passed = max(0, ran - (failed or 0) - skipped)
        break
    failing = tuple(dict.fromkeys(name for pattern in _FAILING for name in pattern.findall(text)))
    if passed is None and failed is None and failing:
        failed = len(failing)
    return TestRun(runner, passed, failed, skipped, failing[:10])


def _sum(counted: list[dict[str, str | None]], *names: str) -> int | None:
    given = [int(value) for each in counted for name in names if (value := each.get(name))]
    return sum(given) if given else None


_LOOK_AT = 60_000  # characters at the end, where totals are
_ANSI = re.compile(r"\x1b\[[0-9;]{0,12}[A-Za-z]")
_CARGO = rf"^test result: \w+\. (?P<passed>{_COUNT}) passed; (?P<failed>{_COUNT}) failed; (?P<skipped>{_COUNT}) ignored"
_MAVEN = (
    rf"^(?:\[\w+\] )?Tests run: (?P<ran>{_COUNT}), Failures: (?P<failed>{_COUNT}), Errors: (?P<errors>{_COUNT})"
    rf"(?:, Skipped: (?P<skipped>{_COUNT}))?$"
)
_PYTEST = (
    rf"^(?:=+ )?(?=\d+ (?:failed|passed|error|skipped))(?:(?P<failed>{_COUNT}) failed)?(?:, )?"
    rf"(?:(?P<passed>{_COUNT}) passed)?(?:, )?(?:(?P<skipped>{_COUNT}) skipped)?"
    r"(?:, \d+ (?:deselected|xfailed|xpassed|warnings?|rerun|subtests passed))*(?:, )?"
    rf"(?:(?P<errors>{_COUNT}) errors?)?.{{0,80}} in [\d.]{{1,10}}m?s"
)
_UNITTEST = (
    rf"^Ran (?P<ran>{_COUNT}) tests? in [\d.]{{1,10}}s\s{{1,10}}(?:OK|FAILED)(?: \((?:failures=(?P<failed>{_COUNT}))?"
    rf"(?:, )?(?:errors=(?P<errors>{_COUNT}))?(?:, )?(?:skipped=(?P<skipped>{_COUNT}))?)?"
)
_JEST = (
    rf"^[ \t]{{0,20}}Tests:?[ \t]{{1,20}}(?:(?P<failed>{_COUNT}) failed)?(?:,? ?\|? ?)"
    rf"(?:(?P<skipped>{_COUNT}) (?:skipped|todo))?(?:,? ?\|? ?)(?:(?P<passed>{_COUNT}) passed)?"
)
_MOCHA = (
    rf"^[ \t]{{0,20}}(?P<passed>{_COUNT}) passing.{{0,40}}(?:\s{{1,20}}(?P<skipped>{_COUNT}) pending)?"
    rf"(?:\s{{1,20}}(?P<failed>{_COUNT}) failing)?"
)
_RSPEC = rf"^(?P<ran>{_COUNT}) examples?, (?P<failed>{_COUNT}) failures?"
_PHPUNIT = (
    rf"^(?:OK \((?P<passed>{_COUNT}) tests?|Tests: (?P<ran>{_COUNT}), Assertions: \d+"
    rf"(?:, Errors: (?P<errors>{_COUNT}))?(?:, Failures: (?P<failed>{_COUNT}))?)"
)
_DOTNET = (
    rf"Failed:[ ]{{1,9}}(?P<failed>{_COUNT}), Passed:[ ]{{1,9}}(?P<passed>{_COUNT}), "
    rf"Skipped:[ ]{{1,9}}(?P<skipped>{_COUNT})"
)
_DENO = rf"^(?:ok|FAILED) \| (?P<passed>{_COUNT}) passed.{{0,40}} \| (?P<failed>{_COUNT}) failed"
_TAP = rf"^(?:#|\u2139) pass (?P<passed>{_COUNT})\s{{1,9}}(?:#|\u2139) fail (?P<failed>{_COUNT})"
_BUN = rf"^[ \t]{{0,20}}(?P<passed>{_COUNT}) pass\s{{1,9}}(?P<failed>{_COUNT}) fail"
_TOTALS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (_CARGO, _MAVEN, _PYTEST, _UNITTEST, _JEST, _MOCHA, _RSPEC, _PHPUNIT, _DOTNET, _DENO, _TAP, _BUN)
)
_SUMMED = frozenset({_CARGO, _DOTNET})
_FAILING = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) ([\w./\\\[\]:-]{3,200})(?: - |$)",  # pytest
        r"^(?:FAIL|ERROR): (\S{1,120} \(\S{1,200}\))",  # unittest
        r"^test (\S{1,200}) \.\.\. FAILED",  # cargo
        r"^[ \t]{0,20}--- FAIL: (\S{1,200})",  # go
        r"^[ \t]{0,20}\u25cf (\S.{1,160}? \u203a .{1,160})$",  # jest
        r"^[ \t]{0,20}(?:FAIL|\u276f|\u00d7)[ \t]{1,9}(\S{1,200}\.(?:test|spec)\.\w{1,9}(?: > .{1,160})?)",  # vitest
        r"^rspec (\./\S{1,200})",
    )
)
