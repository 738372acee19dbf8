"""API keys and the local token: found by hash, shown once, gone when revoked."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import Identity, TenantRole
from codexmem.kernel.store.database import Database
from codexmem.operations import keys as module
from codexmem.operations.keys import Keys, LocalToken
from tests._support.clock import StepClock


@pytest.fixture
def log() -> list[NewEvent]:
    return []


@pytest.fixture
def clock() -> StepClock:
    return StepClock()


@pytest.fixture
def keys(database: Database, log: list[NewEvent], clock: StepClock) -> Keys:
    return Keys(database, log.append, clock)


def test_a_key_tells_its_tenant_until_it_is_revoked(keys: Keys, tenant: str, log: list[NewEvent]) -> None:
    made = keys.create(tenant, " ci ")
    assert made.secret.startswith("cmk_")
    assert len(made.secret) == 4 + 64
    assert keys.authenticate(made.secret) == Identity(tenant, "key:ci")
    assert [key.id for key in keys.list(tenant)] == [made.key.id]
    keys.revoke(tenant, made.key.id)
    assert keys.authenticate(made.secret) is None
    assert keys.list(tenant)[0].revoked_ms is not None
    with pytest.raises(NotFound):
        keys.revoke(tenant, made.key.id)
    assert [event.type for event in log] == [EventType.KEY_CREATED, EventType.KEY_REVOKED]
    assert made.secret not in str(log)


def test_only_the_hash_is_kept(keys: Keys, tenant: str, database: Database) -> None:
    made = keys.create(tenant, "ci")
    with database.reading() as tx:
        rows = tx.connection.exec_driver_sql("SELECT * FROM api_keys").fetchall()
    assert made.secret not in str(rows)
    assert made.secret.removeprefix("cmk_") not in str(rows)


def test_a_key_has_a_role_and_may_expire(keys: Keys, tenant: str, clock: StepClock) -> None:
    made = keys.create(tenant, "ci", role=TenantRole.READER, lifetime_ms=1_000)
    assert keys.authenticate(made.secret) == Identity(tenant, "key:ci", role=TenantRole.READER)
    clock.advance(1_000)
    fresh = Keys(keys._db, lambda _: None, clock)
    assert fresh.authenticate(made.secret) is None
    assert keys.create(tenant, "ci").key.role is TenantRole.ADMIN  # the label is free again


def test_two_valid_keys_never_have_one_label_unless_one_takes_the_others_place(
    keys: Keys, tenant: str, clock: StepClock, log: list[NewEvent]
) -> None:
    old = keys.create(tenant, "ci", role=TenantRole.WRITER, lifetime_ms=100_000)
    with pytest.raises(Conflict):
        keys.create(tenant, " ci ")
    clock.advance(60_000)
    new = keys.rotate(tenant, old.key.id, overlap_ms=5_000, by="cli:ann")
    assert (new.key.label, new.key.role) == ("ci", TenantRole.WRITER)
    assert new.key.expires_ms == pytest.approx(clock.now_ms() + 100_000, abs=10)
    assert (
        keys.authenticate(old.secret)
        == keys.authenticate(new.secret)
        == Identity(tenant, "key:ci", role=TenantRole.WRITER)
    )
    clock.advance(5_000)
    fresh = Keys(keys._db, lambda _: None, clock)
    assert (fresh.authenticate(old.secret), fresh.authenticate(new.secret) is not None) == (None, True)
    with pytest.raises(NotFound):
        keys.rotate(tenant, old.key.id, overlap_ms=0)
    assert log[-1].payload["replaces"] == old.key.id
    assert log[-1].payload["by"] == "cli:ann"


def test_a_store_that_may_only_be_read_takes_keys(
    keys: Keys, tenant: str, clock: StepClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = keys.create(tenant, "ci")

    def refuse(*_: object) -> None:
        raise RuntimeError("cannot execute UPDATE in a read-only transaction")

    fresh = Keys(keys._db, lambda _: None, clock)
    monkeypatch.setattr(fresh._table, "used", refuse)
    assert fresh.authenticate(made.secret) is not None


def test_when_a_key_was_used_is_noted_once_in_some_minutes(keys: Keys, tenant: str, clock: StepClock) -> None:
    made = keys.create(tenant, "ci")
    assert keys.list(tenant)[0].used_ms is None
    noted = []
    for _ in range(4):
        Keys(keys._db, lambda _: None, clock).authenticate(made.secret)
        noted.append(keys.list(tenant)[0].used_ms)
        clock.advance(120_000)
    assert noted[0] is not None
    assert noted[0] == noted[1] == noted[2]
    assert noted[3] == pytest.approx(noted[0] + 360_000, abs=20)


@pytest.mark.parametrize("bearer", [None, "", "x", "cmk_", "cmk_" + "0" * 64, "cmk_" + "A" * 64, "cmk_" + "0" * 65])
def test_what_nobody_gave_out_is_nobody(keys: Keys, bearer: str | None) -> None:
    assert keys.authenticate(bearer) is None


@pytest.mark.parametrize("label", ["", " ", "x" * 101, "a\nb", "a\0"])
def test_a_label_is_for_people(keys: Keys, tenant: str, label: str) -> None:
    with pytest.raises(InvalidArgument):
        keys.create(tenant, label)


def test_revoked_elsewhere_it_is_forgotten_within_seconds(
    keys: Keys, tenant: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(ids, "monotonic", lambda: now)
    made = keys.create(tenant, "ci")
    assert keys.authenticate(made.secret) is not None
    Keys(database, lambda _: None, SystemClock()).revoke(tenant, made.key.id)
    assert keys.authenticate(made.secret) is not None
    now += 5.1
    assert keys.authenticate(made.secret) is None


def test_what_is_remembered_is_bounded(keys: Keys, tenant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 3)
    for number in range(6):
        assert keys.authenticate(keys.create(tenant, f"k{number}").secret) is not None
    assert len(keys._remembered) == 3


def test_the_token_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "data" / "token"
    first = LocalToken(path)
    token = path.read_text().strip()
    assert len(token) == 68
    assert token.startswith("cmt_")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert first.authenticate(token) == Identity("local", "token")
    assert LocalToken(path).authenticate(token) is not None
    assert path.read_text().strip() == token
    assert [entry.name for entry in path.parent.iterdir()] == ["token"]
    for wrong in (None, "", token[:-1], token.upper() + "x", "é"):
        assert first.authenticate(wrong) is None


@pytest.mark.parametrize("spoil", ["open", "short", "link"])
def test_a_token_that_others_could_have_read_or_planted_is_refused(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "token"
    LocalToken(path)
    match spoil:
        case "open":
            path.chmod(0o644)
        case "short":
            path.write_text("abc")
        case _:
            path.rename(tmp_path / "other")
            path.symlink_to(tmp_path / "other")
    with pytest.raises(Unavailable, match="cannot be used"):
        LocalToken(path)
