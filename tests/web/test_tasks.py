"""Ten things that people come to do: all of them can be done from the home page, none with more than four clicks."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests._support.model_server import ModelServer
from tests._support.server import Server
from tests.web import tasks
from tests.web.seeds import bank as bank_seeds
from tests.web.visiting import WHOLE

FEW_QUESTIONS = 12  # one key for each: more of them cost time and no click


@pytest.fixture(scope="module")
def place(built_web: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tasks.Place]:
    """A server of its own: whatever waits there is the tasks'."""
    with (
        ModelServer() as model,
        Server(tmp_path_factory.mktemp("tasks"), settings=tasks.settings(model)) as server,
        bank_seeds.bank(server, model) as bank,
    ):
        made = tasks.Place(server, bank, tasks.QUESTIONS if WHOLE else FEW_QUESTIONS)
        tasks.fill(made)
        yield made


@pytest.mark.parametrize("task", tasks.TASKS, ids=lambda task: task.letter)
def test_a_task_takes_at_most_four_clicks(browser: Browser, place: tasks.Place, task: tasks.Task) -> None:
    line, person = tasks.counted(browser, place, task)
    sys.stdout.write(f"{line}\n")
    assert person.clicks <= tasks.MOST_CLICKS, line
