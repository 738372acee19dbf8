"""Bells: heard promptly by other processes, never in the way of a commit, back after a lost connection."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from codexmem.store.bell import LocalBell
from codexmem.store.postgres.bell import PostgresBell
from tests.jobs.stores import wait_until


@pytest.fixture
def two(postgres_url: str) -> Iterator[tuple[PostgresBell, PostgresBell]]:
    one, other = PostgresBell(postgres_url), PostgresBell(postgres_url)
    yield one, other
    one.close()
    other.close()


def test_a_local_ring_reaches_its_listeners_and_survives_a_bad_one(caplog: pytest.LogCaptureFixture) -> None:
    bell, rings = LocalBell(), []  # type: tuple[LocalBell, list[str]]

    def fail() -> None:
        raise ZeroDivisionError

    bell.listen("a", fail)
    stop = bell.listen("a", lambda: rings.append("a"))
    bell.listen("b", lambda: rings.append("b"))
    with caplog.at_level(logging.CRITICAL):
        bell.ring("a")
        stop()
        stop()
        bell.ring("a")
    bell.ring("b")
    bell.ring("nobody")
    assert rings == ["a", "b"]
    bell.close()
    bell.ring("b")
    assert rings == ["a", "b"]


def test_another_process_hears_it_within_moments(two: tuple[PostgresBell, PostgresBell]) -> None:
    one, other = two
    heard = threading.Event()
    other.listen("jobs", heard.set)
    rings: list[str] = []
    other.listen("else", lambda: rings.append("else"))
    wait_until(lambda: rings == ["else"])  # connected now, and told to look at everything
    heard.clear()
    started = time.monotonic()
    one.ring("jobs")
    assert heard.wait(5)
    assert time.monotonic() - started < 1
    assert rings == ["else"]


def test_our_own_listeners_hear_it_at_once_and_only_once(two: tuple[PostgresBell, PostgresBell]) -> None:
    one, _ = two
    rings: list[float] = []
    one.listen("jobs", lambda: rings.append(time.monotonic()))
    time.sleep(0.3)
    rings.clear()
    one.ring("jobs")
    assert len(rings) == 1
    time.sleep(0.3)
    assert len(rings) == 1


def test_a_flood_of_rings_is_heard_as_a_few(two: tuple[PostgresBell, PostgresBell]) -> None:
    one, other = two
    rings: list[int] = []
    other.listen("jobs", lambda: rings.append(1))
    time.sleep(0.3)
    rings.clear()
    for _ in range(2_000):
        one.ring("jobs")
    wait_until(lambda: len(rings) > 0)
    time.sleep(0.2)
    assert len(rings) < 50


def test_it_comes_back_after_a_lost_connection(
    two: tuple[PostgresBell, PostgresBell], postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = two
    rings: list[int] = []
    other.listen("jobs", lambda: rings.append(1))
    one.ring("jobs")
    wait_until(lambda: len(rings) > 0)
    with caplog.at_level(logging.CRITICAL), psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'codexmem bell'"
        )
        rings.clear()
        wait_until(lambda: len(rings) > 0)  # connected again: look, something may have been missed
        rings.clear()
        one.ring("jobs")
        wait_until(lambda: len(rings) > 0)


def test_ringing_without_a_server_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        bell = PostgresBell("postgresql://nobody@127.0.0.1:1/nothing")
        rings: list[int] = []
        bell.listen("jobs", lambda: rings.append(1))
        started = time.monotonic()
        for _ in range(100):
            bell.ring("jobs")
        assert time.monotonic() - started < 1
        assert len(rings) == 100
        bell.close()
        bell.ring("jobs")
        bell.close()
