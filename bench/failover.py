"""A primary that dies or freezes under load: clients recover by themselves, and nothing acknowledged is lost.

Two PostgreSQLs on loopback, the second a synchronous standby, and one server with the address of both. Eight clients
save over HTTP while the primary is killed with SIGKILL, all of its processes, and the standby promoted; a new standby
is made in the place of the dead one and followed synchronously again before the next kill. Now and then the primary
is frozen with SIGSTOP first: readiness must say so within 5 s and no request take over 10 s; then it is killed, which
is the fencing that an operator must see to, and the standby promoted. An external ledger says what was acknowledged.

With `--patroni` the database is the reference deployment of `deploy/patroni`: three nodes behind HAProxy, of which
Patroni promotes one when it has not heard of the primary for a while. Whoever was killed comes back by itself; who was
frozen goes on afterwards, and must not believe that it is still the primary.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from bench import report
from bench.kill import BATCH, READ_AT_ONCE, Clients, Figures, inspect
from bench.ledger import Entry, Ledger, digest
from bench.stores import folder
from bench.victim import Victim
from codexmem.kernel.store.opening import upgrade_store
from tests._support.patroni import Node, PatroniCluster
from tests._support.postgres import SUPERUSER, PostgresServer

READY_S, REQUEST_S = 5.0, 10.0
_PATIENCE_S = 60.0
_BETWEEN_S = (1.0, 3.0)
_SETTINGS = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_TENANT_RATE": "0"}
_NAME = "failover"


@dataclass
class Seen:
    """What the run has seen so far."""

    promoted_s: list[float] = field(default_factory=list)  # from the kill to the end of pg_promote
    recovered_s: list[float] = field(default_factory=list)  # from the kill to the next acknowledgement
    unready_s: list[float] = field(default_factory=list)  # from the freeze to a readiness that says so
    frozen: int = 0
    longest_s: float = 0.0


class Writers(Clients):
    """Clients that are timed, and that never pause."""

    def __init__(self, victim: Victim, ledger: Ledger, seed: int) -> None:
        self.longest_s = 0.0
        self.acknowledged: list[tuple[float, float]] = []  # when it was sent, and when the answer was read
        super().__init__(victim, ledger, seed)

    def _send(self, connection: Any, entry: Entry) -> bool:
        began = time.monotonic()
        try:
            return super()._send(connection, entry)
        finally:
            ended = time.monotonic()
            self.longest_s = max(self.longest_s, ended - began)
            if entry.id is not None:
                self.acknowledged.append((began, ended))


class Pair:
    """A primary and its standby, on two ports that stay."""

    def __init__(self, parent: Path | None, *, durable: bool) -> None:
        self.primary = PostgresServer(durable=durable, parent=parent).start()
        self.primary.create_store(_NAME)
        self.standby = self.primary.standby()
        self.follow_synchronously()

    def url(self) -> str:
        """The address of both, for whoever writes."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in sorted((self.primary.port, self.standby.port)))
        return f"postgresql://{SUPERUSER}@{hosts}/{_NAME}?target_session_attrs=read-write"

    def follow_synchronously(self) -> None:
        """From now on a commit is acknowledged only when the standby has it."""
        self._set("*")
        until(lambda: self._asked("SELECT sync_state FROM pg_stat_replication") == [("sync",)], "a synchronous standby")

    def fail_over(self) -> tuple[float, float]:
        """Kill the primary and promote the standby; when that was, and how long it took."""
        dead, began = self.primary, time.monotonic()
        dead.kill()
        self.standby.promote()
        took = time.monotonic() - began
        self.primary = self.standby
        self._set("")  # until there is a standby again; nothing is killed before that
        port = dead.port
        dead.close()
        self.standby = self.primary.standby(port)
        self.follow_synchronously()
        return began, took

    def freeze(self) -> None:
        """Stop the primary without ending it."""
        self.primary.freeze()

    def close(self) -> None:
        """Remove both."""
        for each in (self.primary, self.standby):
            each.close()

    def _set(self, standbys: str) -> None:
        with psycopg.connect(self.primary.url(), autocommit=True) as connection:
            # Its own transaction would wait for the standby that is named in it.
            connection.execute("SET synchronous_commit = local")
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{standbys}'".encode())
            connection.execute("SELECT pg_reload_conf()")

    def _asked(self, statement: str) -> list[Any]:
        with psycopg.connect(self.primary.url(), autocommit=True) as connection:
            return connection.execute(statement.encode()).fetchall()


class Managed:
    """The reference deployment, whose Patroni decides who is the primary."""

    def __init__(self, parent: Path | None) -> None:
        self._cluster = PatroniCluster(parent=parent)
        self._cluster.__enter__()
        self._url = self._cluster.create_database(_NAME)
        upgrade_store(self._url)
        self._primary = self._found()
        self._frozen = False

    def url(self) -> str:
        """HAProxy's address."""
        return self._url

    def freeze(self) -> None:
        """Stop the whole node without ending it: nobody there can give the place up."""
        self._cluster.freeze(self._primary)
        self._frozen = True

    def fail_over(self) -> tuple[float, float]:
        """Kill the primary, or leave it frozen, until another is it; then have three nodes again."""
        former, began = self._primary, time.monotonic()
        if not self._frozen:
            self._cluster.kill(former)
        until(lambda: self._cluster.primary() not in {None, former}, "another primary")
        took, self._primary = time.monotonic() - began, self._found()
        if self._frozen:
            self._cluster.thaw(former)
        else:
            self._cluster.start(former)
        self._frozen = False
        self._cluster.wait_for_standbys()
        return began, took

    def close(self) -> None:
        """Remove all of it."""
        self._cluster.__exit__()

    def _found(self) -> Node:
        found = self._cluster.primary()
        assert found is not None
        return found


def until(holds: Callable[[], bool], what: str, within_s: float = _PATIENCE_S) -> None:
    """Wait for it."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} was waited for in vain for {within_s:.0f} s")
        time.sleep(0.01)


def readiness(victim: Victim) -> int:
    """What the server itself says, however long it takes to."""
    connection = victim.connect(timeout=30)
    try:
        connection.request("GET", "/api/readiness")
        return connection.getresponse().status
    finally:
        connection.close()


class Soak:
    """One run."""

    def __init__(self, pair: Pair | Managed, victim: Victim, ledger: Ledger, seed: int) -> None:
        self._pair, self._victim, self._ledger = pair, victim, ledger
        self._chance = random.Random(f"failover {seed}")
        self.clients = Writers(victim, ledger, seed)
        self.seen = Seen()

    def run(self, *, failovers: int, seconds: float, freeze_every: int, progress: report.Progress) -> None:
        """So many failovers, or as many as the time allows."""
        began = time.monotonic()
        self.clients.resume()
        while len(self.seen.promoted_s) < failovers and time.monotonic() - began < seconds:
            self._write_on(self._chance.uniform(*_BETWEEN_S))
            if freeze_every and (len(self.seen.promoted_s) + 1) % freeze_every == 0:
                self._freeze()
            killed, took = self._pair.fail_over()
            self.seen.promoted_s.append(took)
            self.seen.recovered_s.append(self._next_acknowledgement(killed))
            self._ledger.sync()
            progress.tell(f"{len(self.seen.promoted_s)} failovers, {len(self._ledger.order):,} acknowledged")
        self._write_on(1.0)
        self.clients.drain()
        self._alive()

    def _write_on(self, seconds: float) -> None:
        before = len(self._ledger.order)
        until(lambda: len(self._ledger.order) > before or bool(self.clients.failures), "an acknowledgement")
        time.sleep(seconds)
        self._alive()

    def _freeze(self) -> None:
        began = time.monotonic()
        self._pair.freeze()
        until(lambda: readiness(self._victim) == 503, "a readiness that is false")
        self.seen.unready_s.append(time.monotonic() - began)
        time.sleep(max(0.0, REQUEST_S - (time.monotonic() - began)))  # long enough for a request to be too slow
        self.seen.frozen += 1

    def _next_acknowledgement(self, killed: float) -> float:
        """Seconds from the kill to the first acknowledgement of what was sent after it."""

        def ended() -> list[float]:
            return [ended for began, ended in list(self.clients.acknowledged) if began >= killed]

        until(lambda: bool(ended() or self.clients.failures), "an acknowledgement")
        self._alive()
        found = min(ended()) - killed
        self.clients.acknowledged.clear()
        return found

    def _alive(self) -> None:
        if self.clients.failures:
            raise self.clients.failures[0]


def read_back(victim: Victim, ledger: Ledger) -> list[str]:
    """What was acknowledged and is not there with its text."""
    missing: list[str] = []
    wanted = {entry.id: entry for entry in ledger.order if entry.id is not None}
    ids = list(wanted)
    for start in range(0, len(ids), READ_AT_ONCE):
        chunk = ids[start : start + READ_AT_ONCE]
        with closing(victim.connect(timeout=30)) as connection:  # one that waited for us may have been closed
            status, found = victim.post(connection, BATCH, {"ids": chunk})
        if status != 200:
            raise RuntimeError(f"reading back was answered {status}: {found}")
        there = {item["id"]: digest(item["narrative"]) for item in found}
        missing += [f"#{number} {wanted[number].key}" for number in chunk if there.get(number) != wanted[number].hash]
    return missing


def soak(
    *, failovers: int, seconds: float, freeze_every: int, seed: int, durable: bool = True, parent: Path | None = None,
    patroni: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """From two empty servers to the verdict."""
    began, progress = time.monotonic(), report.Progress("failover")
    with ExitStack() as stack:
        home = stack.enter_context(folder(durable=durable, parent=parent))
        pair = Managed(parent) if patroni else Pair(parent, durable=durable)
        stack.callback(pair.close)
        victim = Victim(home, pair.url(), environment=_SETTINGS)
        victim.secret = victim.command("key", "create", "--tenant", "soak", "--label", "soak")["secret"]
        ledger = Ledger(home / "ledger")
        stack.callback(ledger.close)
        victim.start()
        run = Soak(pair, victim, ledger, seed)
        try:
            run.run(failovers=failovers, seconds=seconds, freeze_every=freeze_every, progress=progress)
            lost = read_back(victim, ledger)
            figures = Figures()
            store = inspect(pair.url(), ledger, figures)
        finally:
            progress.close()
            run.clients.end()
            victim.stop()
    seen = run.seen
    return {
        "failovers": len(seen.promoted_s),
        "of_them_frozen_first": seen.frozen,
        "acknowledged": len(ledger.acknowledged),
        "unknown_resolved": ledger.resolved,
        "unknown_left": ledger.unknown,
        "refused": len(ledger.refused),
        "lost": len(lost),
        "duplicated": len(figures.duplicated) + len(ledger.contradictions),
        **store,
        "promoted_p50_s": round(report.percentile(seen.promoted_s, 0.5), 2),
        "promoted_max_s": round(max(seen.promoted_s), 2),
        "recovered_p50_s": round(report.percentile(seen.recovered_s, 0.5), 2),
        "recovered_max_s": round(max(seen.recovered_s), 2),
        "frozen_until_not_ready_max_s": round(max(seen.unready_s, default=0.0), 2),
        "longest_request_s": round(run.clients.longest_s, 2),
        "seconds": round(time.monotonic() - began, 1),
        "problems": [*lost, *figures.duplicated, *ledger.contradictions, *ledger.refused][:20],
    }


def kept(found: dict[str, Any]) -> bool:
    """Whether the promise was kept."""
    nothing = ("unknown_left", "refused", "lost", "duplicated", "memories_without_their_version")
    quick = found["frozen_until_not_ready_max_s"] <= READY_S and found["longest_request_s"] <= REQUEST_S
    return not any(found[name] for name in nothing) and quick


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--failovers", type=int, default=1000, help="at most so many")
    parser.add_argument("--minutes", type=float, default=10.0, help="and no new one after so long")
    parser.add_argument("--freeze-every", type=int, default=5, help="each so manieth primary is frozen first; 0: none")
    parser.add_argument("--dir", type=Path, default=None, help="where stores and ledger lie; must be a real disk")
    parser.add_argument("--patroni", action="store_true", help="the reference deployment, which promotes by itself")
    given = parser.parse_args(argv)
    seed = report.chosen_seed(given.seed)
    found = soak(
        failovers=given.failovers, seconds=60 * given.minutes, freeze_every=given.freeze_every, seed=seed,
        parent=given.dir, patroni=given.patroni,
    )  # fmt: skip
    text = f"seed {seed}\n{report.lines(found)}"
    return report.conclude("failover", {"seed": seed, **found}, text, kept=kept(found), as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
