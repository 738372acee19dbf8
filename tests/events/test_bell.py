"""Notifications: heard promptly by other processes, never in the way of a commit, back after a lost connection."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from unittest import mock

import psycopg
import pytest

from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.postgres.notify import PostgresNotifier
from tests._support.waiting import eventually


@pytest.fixture
def two(postgres_url: str) -> Iterator[tuple[PostgresNotifier, PostgresNotifier]]:
    one, other = PostgresNotifier(postgres_url), PostgresNotifier(postgres_url)
    yield one, other
    one.close()
    other.close()


def passed(one: PostgresNotifier, other: PostgresNotifier) -> None:
    """Wait until a ring of the one has come to the other, and with it all that went before."""
    heard = threading.Event()
    other.listen("later", heard.set)
    one.notify("later")
    assert heard.wait(60)


def test_a_local_ring_reaches_its_listeners_and_survives_a_bad_one(caplog: pytest.LogCaptureFixture) -> None:
    notifier, rings = LocalNotifier(), []  # type: tuple[LocalNotifier, list[str]]

    def fail() -> None:
        raise ZeroDivisionError

    notifier.listen("a", fail)
    stop = notifier.listen("a", lambda: rings.append("a"))
    notifier.listen("b", lambda: rings.append("b"))
    with caplog.at_level(logging.CRITICAL):
        notifier.notify("a")
        stop()
        stop()
        notifier.notify("a")
    notifier.notify("b")
    notifier.notify("nobody")
    assert rings == ["a", "b"]
    notifier.close()
    notifier.notify("b")
    assert rings == ["a", "b"]


def test_another_process_hears_it(two: tuple[PostgresNotifier, PostgresNotifier]) -> None:
    one, other = two
    heard = threading.Event()
    other.listen("jobs", heard.set)
    assert heard.wait(60)  # connected now, and told to look at everything
    heard.clear()
    one.notify("jobs")
    assert heard.wait(60)


def test_who_listens_first_is_told_to_look_however_soon_the_connection_stands(
    two: tuple[PostgresNotifier, PostgresNotifier],
) -> None:
    one, _ = two
    heard, told = threading.Event(), threading.Event()
    start, ring_all = one._start, one._local.ring_all

    def ring() -> None:
        ring_all()
        told.set()

    def started() -> None:
        start()
        assert told.wait(60)

    with mock.patch.object(one._local, "ring_all", ring), mock.patch.object(one, "_start", started):
        one.listen("jobs", heard.set)
    assert heard.is_set()


def test_our_own_listeners_hear_it_at_once_and_only_once(two: tuple[PostgresNotifier, PostgresNotifier]) -> None:
    one, other = two
    rings: list[int] = []
    one.listen("jobs", lambda: rings.append(1))
    eventually(lambda: rings)  # connected now
    heard = threading.Event()
    other.listen("jobs", heard.set)
    assert heard.wait(60)
    rings.clear()
    heard.clear()
    one.notify("jobs")
    assert len(rings) == 1
    assert heard.wait(60)  # it went out, and before what follows
    passed(other, one)
    assert len(rings) == 1


def test_a_flood_of_rings_is_heard_as_a_few(two: tuple[PostgresNotifier, PostgresNotifier]) -> None:
    one, other = two
    rings: list[int] = []
    other.listen("jobs", lambda: rings.append(1))
    eventually(lambda: rings)  # connected now
    rings.clear()
    for _ in range(2_000):
        one.notify("jobs")
    eventually(lambda: rings)
    passed(one, other)
    assert len(rings) < 200


def test_it_comes_back_after_a_lost_connection(
    two: tuple[PostgresNotifier, PostgresNotifier], postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = two
    rings: list[int] = []
    other.listen("jobs", lambda: rings.append(1))
    one.notify("jobs")
    eventually(lambda: len(rings) > 0)
    with caplog.at_level(logging.CRITICAL), psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'codexmem bell'"
        )
        rings.clear()
        eventually(lambda: len(rings) > 0)  # connected again: look, something may have been missed
        rings.clear()
        one.notify("jobs")
        eventually(lambda: len(rings) > 0)


def test_ringing_without_a_server_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        notifier = PostgresNotifier("postgresql://nobody@127.0.0.1:1/nothing")
        rings: list[int] = []
        notifier.listen("jobs", lambda: rings.append(1))
        for _ in range(100):
            notifier.notify("jobs")
        assert len(rings) == 100
        notifier.close()
        notifier.notify("jobs")
        notifier.close()
