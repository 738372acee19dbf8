"""People sign in with a real issuer: in Chromium, and with the command on a machine without a browser."""

from __future__ import annotations

import json
import re
import socket
import stat
import subprocess
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from codexmem.app.core import Core, open_core
from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.model.visibility import as_server
from codexmem.kernel.store.database import acting_as
from codexmem.operations.people import GrantHolder
from codexmem.operations.people_store import MemberKind
from codexmem.settings import load
from tests._support import warm
from tests._support.postgres import PostgresServer
from tests._support.server import Server, environment
from tests._support.waiting import eventually
from tests.issuer.provider import OidcProvider, type_code

WORDS = {
    "asks": "This server requires an API key", "with": "Sign in with 127.0.0.1", "as": "Signed in as",
    "out": "Sign out",
}  # fmt: skip


@dataclass
class Team:
    """A server, the issuer that its people sign in with, and the store as an operator has it."""

    url: str
    issuer: OidcProvider
    core: Core

    def audit(self) -> list[dict[str, Any]]:
        """Every line of signing in and out, the first one first."""
        with acting_as("acme"), as_server(), self.core.db.reading() as tx:
            return [
                {"type": row[0], **row[1]} for row in tx.connection.exec_driver_sql(
                    "SELECT type, payload::jsonb FROM events WHERE starts_with(type, 'sign_in.') ORDER BY seq"
                )
            ]  # fmt: skip


@pytest.fixture(scope="module")
def team(
    built_web: Path, postgres_server: PostgresServer, own_store: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("sign-in")
    store = postgres_server.url(own_store)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Another site than the issuer's, as browsers see it.
    with OidcProvider(folder, f"http://localhost:{port}/sign-in/callback") as issuer:
        issuer.put({"ann": ["eng"], "bob": []})
        settings = issuer.settings | {"CODEXMEM_OIDC_TENANT": "acme", "CODEXMEM_EMBEDDER": "none"}
        core = open_core(load({"database_url": store, "data_dir": str(folder / "operator")}, settings, folder))
        core.keys.people.add_group("acme", "backend", by="test")
        core.keys.people.grant("acme", GrantHolder("backend", is_group=True), None, TenantRole.READER, by="test")
        server = Server(
            folder, database_url=store, settings=settings,
            constants={"codexmem.operations.http.sign_in.INTERVAL_S": 1},
        )  # fmt: skip
        server.start(port)
        try:
            yield Team(f"http://localhost:{port}", issuer, core)
        finally:
            server.stop()
            core.close()


def at_the_issuer(page: Page, login: str) -> None:
    """What a person does there: says who he is, and agrees."""
    page.locator("input[name=login]").fill(login)
    page.locator("input[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_a_person_signs_in_with_a_browser_and_is_out_when_he_is_shut_out(team: Team, browser: Browser) -> None:
    context = browser.new_context(base_url=team.url, locale="en-US")
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto("/ui/settings")
    expect(page.get_by_role("heading", level=1)).to_have_text(WORDS["asks"])
    page.get_by_role("link", name=WORDS["with"]).click()
    at_the_issuer(page, "ann")
    page.wait_for_url("**/ui/settings")
    expect(page.get_by_text(f"{WORDS['as']} ann")).to_be_visible()
    (cookie,) = [each for each in context.cookies() if each["domain"] == "localhost"]
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("codexmem-session", True, "Strict")
    assert cookie["value"].startswith("cms_")
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name=WORDS["out"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(WORDS["asks"])
    assert [each["type"] for each in team.audit()] == ["sign_in.accepted", "sign_in.ended"]
    # What he had is worth nothing any more, in whatever hands it is.
    context.add_cookies([{"name": cookie["name"], "value": cookie["value"], "url": team.url}])
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(WORDS["asks"])

    page.get_by_role("link", name=WORDS["with"]).click()
    page.wait_for_url("**/ui/settings")  # the issuer remembers him
    expect(page.get_by_text(f"{WORDS['as']} ann")).to_be_visible()
    team.core.keys.people.disable("acme", "ann", by="test")
    # The page does nothing: its stream of events ends, and it is not let in again.
    expect(page.get_by_role("heading", level=1)).to_have_text(WORDS["asks"])
    page.get_by_role("link", name=WORDS["with"]).click()
    expect(page.get_by_text("you are shut out of this server")).to_be_visible()
    assert team.audit()[-1]["reason"] == "disabled"
    team.core.keys.people.enable("acme", "ann", by="test")
    context.close()


def codexmem(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return warm.run(["--json", *arguments], env=environment(folder))


def test_a_machine_gets_a_key_of_its_own_and_gives_it_back(team: Team, tmp_path: Path) -> None:
    env, file = environment(tmp_path), tmp_path / "config" / "codexmem" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('log_level = "info"\n')
    file.chmod(0o644)
    with subprocess.Popen(
        [warm.program("codexmem"), "login", team.url], env=env, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        shown = process.stderr.readline() + process.stderr.readline()
        (page,) = re.findall(r"(http://127\S+user_code=[A-Z-]+)", shown)
        assert "Sign-in Success" in type_code(page, "ann")
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "ann\n"), said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    written = tomllib.loads(file.read_text())
    assert (written["url"], written["log_level"]) == (team.url, "info")
    assert written["api_key"].startswith("cmk_")
    assert written["api_key"] not in out + said

    told = json.loads(codexmem(tmp_path, "whoami").stdout)
    assert (told["member"], told["tenant"], told["by"], told["role"]) == ("ann", "acme", "key", "reader")
    assert told["expires_ms"] - time.time() * 1000 == pytest.approx(30 * 86_400_000, abs=600_000)
    accepted = team.audit()[-1]
    (key,) = [each for each in team.core.keys.list("acme") if each.revoked_ms is None]
    assert (accepted["type"], accepted["way"], accepted["key"]) == ("sign_in.accepted", "device", key.id)
    assert (accepted["address"], accepted["by"], accepted["groups"]) == ("127.0.0.1", "member:ann", ["backend"])

    team.core.keys.people.disable("acme", "ann", by="test")
    eventually(lambda: codexmem(tmp_path, "whoami").returncode != 0)
    team.core.keys.people.enable("acme", "ann", by="test")
    assert json.loads(codexmem(tmp_path, "logout").stdout) == {"ended": True, "removed": True}
    assert "api_key" not in tomllib.loads(file.read_text())
    assert team.core.keys.authenticate(written["api_key"]) is None
    assert team.audit()[-1] | {"type": "sign_in.ended"} == team.audit()[-1]


def test_who_is_shut_out_is_out_within_five_seconds(team: Team) -> None:
    people = team.core.keys.people
    people.add_member("acme", "zoe", MemberKind.PERSON, by="test")
    bearer = {"Authorization": f"Bearer {team.core.keys.create('acme', 'laptop', member='zoe').secret}"}

    def status() -> int:
        return httpx.get(f"{team.url}/api/whoami", headers=bearer).status_code

    assert status() == 200
    people.disable("acme", "zoe", by="test")
    began = time.monotonic()
    eventually(lambda: status() == 401)
    assert time.monotonic() - began < 5


def test_a_machine_of_somebody_without_a_group_gets_nothing(team: Team, tmp_path: Path) -> None:
    with subprocess.Popen(
        [warm.program("codexmem"), "login", team.url, "--lang", "zh"], env=environment(tmp_path), text=True,
        stderr=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        (page,) = re.findall(r"(http://127\S+user_code=[A-Z-]+)", process.stderr.readline() + process.stderr.readline())
        assert "Sign-in Success" in type_code(page, "bob")
        out, said = process.communicate(timeout=60)
    assert (process.returncode != 0, out) == (True, "")
    assert "您在身份提供方的任何组都未对应到此服务器的组" in said
    assert "bob" not in [each.name for each in team.core.keys.people.members("acme")]
