"""A schema that changes under servers: programs of before go on where a step allows it, and are refused where not.

The next schemas are planted: a step that only adds, and one that takes away what programs of now use.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from codexmem.kernel.model.errors import NotReady, Unavailable
from codexmem.kernel.store import upgrade
from codexmem.kernel.store.opening import Upgraded, open_database, upgrade_telling
from tests._support import warm
from tests._support.postgres import PostgresServer
from tests._support.saving import Clients, stored
from tests._support.server import Server, create_key, environment

pytestmark = pytest.mark.postgresql
NOW = upgrade.newest()
ADDED, TAKEN = f"{int(NOW) + 1:04d}", f"{int(NOW) + 2:04d}"
STEPS = {
    ADDED: f"""
OLDEST_PROGRAM = "{NOW}"

def upgrade():
    op.add_column("memories", sa.Column("planted", sa.Text))
    with op.get_context().autocommit_block():
        op.create_index("memories_planted", "memories", ["tenant", "planted"], postgresql_concurrently=True)
""",
    TAKEN: f"""
OLDEST_PROGRAM = "{ADDED}"

def upgrade():
    op.drop_column("memories", "confidence")
""",
}

Next = Callable[[str, str], Upgraded]


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Next]:
    """`codexmem db upgrade` of a program that knows the schemas up to this one."""

    @contextmanager
    def newer(schema: str) -> Iterator[None]:
        folder = tmp_path / f"steps-{schema}"
        shutil.copytree(Path(upgrade.__file__).parent / "migrations", folder, dirs_exist_ok=True)
        before = NOW
        for revision, body in STEPS.items():
            if revision <= schema:
                head = (
                    f"import sqlalchemy as sa\nfrom alembic import op\nrevision, down_revision = {(revision, before)}\n"
                )
                (folder / "versions" / f"{revision}_planted.py").write_text(head + body)
                before = revision
        config = upgrade._config()
        config.set_main_option("script_location", str(folder))
        with monkeypatch.context() as patched:
            patched.setattr(upgrade, "_config", lambda: config)
            upgrade._scripts.cache_clear()
            try:
                yield
            finally:
                upgrade._scripts.cache_clear()

    def changed(url: str, schema: str) -> Upgraded:
        with newer(schema):
            assert upgrade.newest() == schema
            return upgrade_telling(url, wait_s=0.0)

    yield changed
    assert upgrade.newest() == NOW


@pytest.fixture
def url(postgres_server: PostgresServer, request: pytest.FixtureRequest) -> str:
    return postgres_server.create_store(f"rolling_{abs(hash(request.node.name))}")


def run(url: str, folder: Path, *arguments: str) -> tuple[int, str]:
    done = warm.run(arguments, env=environment(folder, CODEXMEM_DATABASE_URL=url, LANG="C.UTF-8"))
    return done.returncode, (done.stdout + done.stderr).decode()


def test_old_programs_serve_before_during_and_after_a_step_that_only_adds(
    url: str, change: Next, tmp_path: Path
) -> None:
    settings = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_TENANT_RATE": "0"}
    server = Server(tmp_path, database_url=url, key=create_key(tmp_path, url, "acme"), settings=settings)
    with server:
        with Clients(server, 3) as clients:
            clients.wait_for(20)
            assert change(url, ADDED)[:2] == (NOW, ADDED)
            clients.wait_for(20)
        assert clients.failed == []
        server.stop()
        server.start()  # an old program that comes back in the middle of a rollout
        assert server.post("/api/memory/save", {"text": "After.", "project": "group"}).status == 200
    held = stored(url)
    assert {text: held.get(text) for text in clients.acknowledged} == dict.fromkeys(clients.acknowledged, 1)
    code, said = run(url, tmp_path, "db", "status")
    assert (code, ADDED in said) == (0, True), said
    code, said = run(url, tmp_path, "db", "upgrade")  # of an old program: nothing to do, and no harm
    assert (code, ADDED in said) == (0, True), said


def test_a_step_that_takes_away_waits_for_programs_that_need_it_and_for_no_others(url: str, change: Next) -> None:
    change(url, ADDED)
    old = open_database(url)
    try:
        with old.dispatching():
            pass
        with pytest.raises(Unavailable) as refused:
            change(url, TAKEN)
        assert refused.value.details["reason"] == "store_in_use"
    finally:
        old.close()
    with psycopg.connect(url, application_name=f"codexmem {ADDED}"):
        assert change(url, TAKEN).after == TAKEN
    with pytest.raises(NotReady, match="newer codexmem"):
        open_database(url)


def test_a_program_that_does_not_know_what_is_being_taken_away_does_not_begin(url: str) -> None:
    """The store is marked before the first step runs, while its schema is still the old one."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"COMMENT ON TABLE alembic_version IS 'codexmem: oldest program {ADDED}'".encode())
    with pytest.raises(NotReady, match=f"programs of schema {ADDED}"):
        open_database(url)


def test_who_works_with_which_schema() -> None:
    assert upgrade.accepts(NOW, None)
    assert upgrade.accepts(NOW, NOW)
    assert upgrade.accepts(ADDED, NOW)
    assert not upgrade.accepts(ADDED, None)  # changed by a program that did not say
    assert not upgrade.accepts(ADDED, ADDED)
    assert not upgrade.accepts(NOW, ADDED)
    assert not upgrade.accepts("0001", "0001")  # ours needs what came since
    assert not upgrade.accepts(None, None)


def test_every_step_that_leaves_older_programs_connected_says_which() -> None:
    for step in upgrade._scripts().walk_revisions():
        oldest = getattr(step.module, "OLDEST_PROGRAM", step.revision)
        assert "0016" <= oldest <= step.revision or step.revision <= "0016", step.revision
