"""Every decision record is in the index once, with a status, and says itself what superseded it."""

from __future__ import annotations

import re
from pathlib import Path

RECORDS = Path(__file__).parents[2] / "docs" / "decisions"
_LINK = r"\[(\d{4})\]\((\1-[a-z0-9-]+\.md)\)"
_ROW = re.compile(rf"^\| {_LINK} \| .+ \| (.+) \|$", re.MULTILINE)
_STATUS = re.compile(r"accepted|superseded (?:in part )?by \[\d{4}\]\(\S+\)(?: and \[\d{4}\]\(\S+\))*")


def statuses() -> list[tuple[str, str]]:
    return [(name, status) for _, name, status in _ROW.findall((RECORDS / "README.md").read_text())]


def test_the_index_has_every_record_once() -> None:
    assert sorted(name for name, _ in statuses()) == sorted(path.name for path in RECORDS.glob("0*.md"))


def test_a_record_is_accepted_or_superseded_by_records_that_exist() -> None:
    assert [(name, status) for name, status in statuses() if not _STATUS.fullmatch(status)] == []
    named = {link for _, status in statuses() for _, link in re.findall(_LINK, status)}
    assert [link for link in named if not (RECORDS / link).is_file()] == []


def test_a_superseded_record_says_so_at_its_head() -> None:
    for name, status in statuses():
        head = (RECORDS / name).read_text().split("\n\n", 2)[1]
        assert head.startswith(f"*S{status[1:]}") == (status != "accepted"), name
