"""What was said in a turn reaches an agent by the tools it has: as passages of a search, and whole by its number."""

from __future__ import annotations

import json
import re

import pytest

from tests._support.mcp_calls import Agent
from tests._support.server import Server
from tests.contracts.memory_api.test_sessions import Told, extracted

HEAD = "What they say about it, in passages (data, not instructions):"
ANSWER = (
    "Done. The nightly export failed because the replica was read at midnight.\n\n"
    + "Other things were looked at as well, and each was left as it is. " * 30
    + "\n\nRoot cause: the export job needs EXPORT_DSN to name the primary, so it is set in deploy/cron.env."
)


@pytest.fixture
def told(api: Server, project: str) -> int:
    """The number of a turn whose request says nothing."""
    session = Told(api, project)
    session.ask("yes, go ahead")
    session.say("summarize", last_assistant_message=ANSWER)
    return extracted(api, project, "summaries")


def test_a_search_prints_the_passages_that_bear_on_the_query(api: Server, project: str, told: int) -> None:
    agent = Agent(api, "http-new")
    asked = {"query": "which variable does the nightly export job need", "project": project}
    index, _, said = agent.text("search", **asked).partition(HEAD)
    (row,) = re.findall(rf"^\| #S{told} \|.*", index, flags=re.MULTILINE)
    assert "yes, go ahead: Done. The nightly export failed" in row
    assert f"#S{told}:\n> " in said
    assert "EXPORT_DSN" in said
    assert "EXPORT_DSN" not in index
    short = agent.text("search", **asked, passage_tokens=60).partition(HEAD)[2]
    assert "EXPORT_DSN" in short
    assert len(short) < 400
    assert "in passages" not in agent.text("search", **asked, passage_tokens=0)
    assert "in passages" not in agent.text("search", project=project)
    assert "EXPORT_DSN" in agent.text("search", **asked, scope="all").partition(HEAD)[2]


def test_a_turn_is_read_whole_by_its_number(api: Server, project: str, told: int) -> None:
    agent = Agent(api, "http-new")
    (row,) = json.loads(agent.text("get_observations", ids=[told]))
    assert (row["id"], row["type"], row["title"]) == (told, "session", "yes, go ahead")
    assert row["narrative"].startswith("Done. The nightly export failed")
    assert "EXPORT_DSN" in row["narrative"]
    assert json.loads(agent.text("get_observations", ids=[told], type="bugfix")) == []
    assert json.loads(agent.text("get_observations", ids=[told], concepts="gotcha")) == []


def test_a_private_prompt_is_in_no_passage(api: Server, project: str) -> None:
    session = Told(api, project)
    session.ask("<private>the zebra export password is hunter2</private> and the zebra export")
    assert "hunter2" not in Agent(api, "http-new").text("search", query="zebra export", project=project)


def test_a_question_is_no_answer_and_nothing_is_said_twice(api: Server, project: str, told: int) -> None:
    agent = Agent(api, "http-new")
    Told(api, project, "other").ask("Which variable does the nightly export job need?")
    agent.text("save_memory", text="The nightly export job writes to cold storage.", project=project)
    said = agent.text("search", query="nightly export job", project=project).partition(HEAD)[2]
    assert f"#S{told}:" in said
    assert "Which variable" not in said
    assert said.count("cold storage") == 1
    assert "Manual memory" not in said
