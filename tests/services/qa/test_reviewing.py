"""People decide about items: approving, rejecting, merging, looking through them."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import Mode
from codexmem.kernel.model.memory import Counters, Status
from codexmem.qa.model.items import MERGED_INTO, attrs_of, linked
from codexmem.qa.model.validation import UnprocessableReport
from tests._support.asking import ME, PROJECT, Asked


def test_a_person_decides_at_once_and_it_counts_as_a_trial(here: Asked) -> None:
    qa_id = here.add("What is the default port?", "It is port 8080.")
    approved = here.qa.reviewing.approve(qa_id, PROJECT, ME)
    assert (approved.status, approved.memory.counters) == (Status.VALIDATED, Counters(valid=1))
    assert approved.confidence > 0.5
    rejected = here.qa.reviewing.reject(qa_id, None, ME)
    assert (rejected.status, rejected.memory.counters) == (Status.DEPRECATED, Counters(valid=1, invalid=1))
    for delta in here.real.history.deltas_of(f"qa:{qa_id}"):
        here.real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    assert here.memory(qa_id).state.status is Status.CANDIDATE


def test_merging_gives_the_questions_to_the_other_and_can_be_undone(here: Asked) -> None:
    one = here.add("What is the default port?", "It is port 8080.", tags=("net",))
    other = here.add("What is the default port?", "It is port 9090.", tags=("server",))
    third = here.add("Which TCP port listens?", "It is port 8080, see server.toml.")
    merged = here.qa.reviewing.merge(third, one, PROJECT, ME)
    assert merged.memory.id == one
    attrs = attrs_of(merged.memory)
    assert (attrs.phrasings, attrs.tags) == (("Which TCP port listens?",), ("net",))
    assert attrs.alternatives == ("It is port 8080, see server.toml.",)
    gone = here.item(third)
    assert gone.status is Status.DEPRECATED
    assert gone.merged_into is not None
    assert gone.merged_into.id == one
    # Merging what was disputed settles the dispute.
    settled = here.qa.reviewing.merge(other, one, PROJECT, ME)
    assert settled.contradicts == ()
    assert [item.memory.id for item in here.find("default port")] == [one]
    assert [item.memory.id for item in here.find("which TCP port listens")] == [one]
    for delta in here.real.history.deltas_of(f"qa:{one}"):
        here.real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    assert linked(here.memory(third), MERGED_INTO) == ()
    assert here.memory(third).state.status is Status.CANDIDATE
    assert [each.id for each in here.item(one).contradicts] == [other]


def test_what_cannot_be_merged_is_refused(here: Asked) -> None:
    one = here.add("What is the default port?", "It is port 8080.")
    elsewhere = here.add("What is the default port?", "It is port 8080.", project="elsewhere")
    with pytest.raises(UnprocessableReport, match="itself"):
        here.qa.reviewing.merge(one, one, None, ME)
    with pytest.raises(UnprocessableReport, match="two projects"):
        here.qa.reviewing.merge(one, elsewhere, None, ME)
    for first, second in ((one, "qa-x"), ("qa-x", one), (one, elsewhere)):
        with pytest.raises(NotFound):
            here.qa.reviewing.merge(first, second, PROJECT, ME)


def test_an_item_is_shown_with_what_asks_nearly_the_same_and_what_contradicts_it(here: Asked) -> None:
    one = here.add("What is the default port of the server?", "It is port 8080.")
    other = here.add("What is the default port of the server?", "It is port 9090.")
    near = here.add("How do I change the port of the server?", "Set the variable PORT and start it again.")
    looked = here.qa.reviewing.look(one, PROJECT)
    assert [item.memory.id for item in looked.contradictions] == [other]
    assert {item.memory.id for item in looked.similar} == {other, near}
    with pytest.raises(NotFound):
        here.qa.reviewing.look(one, "elsewhere")


def test_pages_go_through_everything_once_newest_first(here: Asked) -> None:
    items = [here.add(f"What is the port of service{number}?", f"It is port {number}.") for number in range(7)]
    here.add("What is the port of service1?", "It is port 1.", project="elsewhere")
    here.qa.reviewing.approve(items[3], PROJECT, ME)
    seen: list[str] = []
    after = None
    while True:
        page = here.qa.reviewing.page(status=None, project=PROJECT, limit=3, after=after)
        seen += [item.memory.id for item in page.items]
        if (after := page.after) is None:
            break
    assert seen == items[::-1]
    proven = here.qa.reviewing.page(status=Status.VALIDATED, project=None, limit=10, after=None)
    assert [item.memory.id for item in proven.items] == [items[3]]
