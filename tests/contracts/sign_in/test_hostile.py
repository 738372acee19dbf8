"""Signing in with an issuer that signs what no issuer should, and with answers that were tampered with on their way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from starlette.types import ASGIApp

from codexmem.app import SURFACES, Services
from codexmem.app.core import Core, open_core
from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.model import ids
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.model.visibility import as_server
from codexmem.kernel.services.status import ServerStatus
from codexmem.kernel.store.database import acting_as
from codexmem.operations import keys as key_module
from codexmem.operations.people import GrantHolder
from codexmem.operations.sign_in import page_after
from codexmem.settings import load
from tests.issuer.hostile import CLIENT, HostileIssuer, SigningKey
from tests.surfaces._kit import asgi

ARRIVING = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"))
OWN_PAGE = ("sec-fetch-site", "same-origin")
ATTEMPT, SESSION = "codexmem-session-attempt", "codexmem-session"


@dataclass
class Attempt:
    """What a browser that is on its way back knows."""

    cookie: str
    state: str
    nonce: str
    asked: dict[str, str]


@dataclass
class Team:
    """A server whose people sign in with the issuer."""

    app: ASGIApp
    core: Core
    issuer: HostileIssuer

    def begin(self, next: str = "/ui/notes") -> Attempt:
        answer = asgi.call(self.app, "GET", "/sign-in", query=f"next={quote(next, safe='')}".encode())
        assert answer.status == 303, answer.body
        place = urlsplit(answer.header("location") or "")
        assert f"{place.scheme}://{place.netloc}" == self.issuer.url
        asked = {name: values[0] for name, values in parse_qs(place.query).items()}
        (cookie,) = [value for name, value in answer.headers if name == "set-cookie"]
        assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
        return Attempt(cookie.split(";")[0].partition("=")[2], asked["state"], asked["nonce"], asked)

    def end(self, attempt: Attempt, **other: str) -> asgi.Answer:
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in {
            "code": "c", "state": attempt.state, **other}.items() if value)  # fmt: skip
        headers = (*ARRIVING, ("cookie", f"{ATTEMPT}={attempt.cookie}"))
        return asgi.call(self.app, "GET", "/sign-in/callback", headers=headers, query=query.encode())

    def named(self, **claims: Any) -> asgi.Answer:
        """The answer to whoever the issuer names."""
        attempt = self.begin()
        self.issuer.token = self.issuer.key.signed(self.issuer.claims(attempt.nonce, **claims))
        return self.end(attempt)

    def signed_in(self, **claims: Any) -> str:
        """The session of whoever the issuer names."""
        return session_of(self.named(**claims))

    def audit(self) -> list[tuple[Any, ...]]:
        with acting_as("acme"), as_server(), self.core.db.reading() as tx:
            return [tuple(row) for row in tx.connection.exec_driver_sql(
                "SELECT type, subject, payload::jsonb FROM events WHERE starts_with(type, 'sign_in.') ORDER BY seq"
            )]  # fmt: skip

    def whoami(self, session: str) -> asgi.Answer:
        return asgi.call(
            self.app, "GET", "/api/whoami", headers=(OWN_PAGE, ("cookie", f"other=1; {SESSION}={session}"))
        )


def session_of(answer: asgi.Answer) -> str:
    cookies = [value for name, value in answer.headers if name == "set-cookie"]
    assert answer.status == 200, answer.body
    assert {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"} <= set(cookies[0].split("; "))
    assert cookies[1].startswith(f"{ATTEMPT}=; ")
    return cookies[0].split(";")[0].removeprefix(f"{SESSION}=")


def refuses(answer: asgi.Answer, why: str) -> None:
    assert (answer.status, why in answer.body.decode()) == (403, True), answer.body


@pytest.fixture
def team(
    own_store: str, address: Callable[[str], str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Team]:
    monkeypatch.setattr(key_module, "_REMEMBER_SECONDS", 0.0)
    with HostileIssuer() as issuer:
        environ = {
            "CODEXMEM_EMBEDDER": "none", "CODEXMEM_OIDC_ISSUER": issuer.url, "CODEXMEM_OIDC_CLIENT_ID": CLIENT,
            "CODEXMEM_OIDC_TENANT": "acme", "CODEXMEM_OIDC_GROUPS": "eng=backend, lead=leads, lead=backend",
            "CODEXMEM_OIDC_JOIN": "on", "CODEXMEM_PUBLIC_URL": f"http://{asgi.HOST}",
        }  # fmt: skip
        core = open_core(load({"database_url": address(own_store), "data_dir": str(tmp_path)}, environ, tmp_path))
        services = Services(ServerStatus(version="test", clock=SystemClock()))
        services.opened(core)
        guard = GuardSettings(core.keys.authenticate, acting_as, session_cookie=SESSION)
        people = core.keys.people
        for group in {"backend", "leads"} - set(people.groups("acme")):
            people.add_group("acme", group, by="test")
        people.grant("acme", GrantHolder("backend", is_group=True), "shop", TenantRole.WRITER, by="test")
        yield Team(build_asgi(SURFACES, services, guard, version="test"), core, issuer)
        core.close()


def test_who_signs_in_has_what_his_groups_have_until_he_leaves(team: Team) -> None:
    attempt = team.begin()
    assert (attempt.asked["code_challenge_method"], attempt.asked["response_type"]) == ("S256", "code")
    assert attempt.asked["redirect_uri"] == f"http://{asgi.HOST}/sign-in/callback"
    team.issuer.token = team.issuer.key.signed(team.issuer.claims(attempt.nonce, groups=None))
    team.issuer.userinfo = {"sub": "ann-1", "groups": ["eng", "other"]}  # where many issuers keep them
    answer = team.end(attempt)
    assert b'content="0;url=/ui/notes"' in answer.body
    assert "cma_" not in str(team.issuer.forms) + answer.body.decode()
    assert len(team.issuer.forms[0]["code_verifier"]) == 64
    session = session_of(answer)
    told = team.whoami(session).json
    assert (told["by"], told["tenant"], told["actor"]) == ("session", "acme", f"browser of {told['member']}")
    assert told["projects"] == [{"project": "shop", "role": "writer"}]
    assert told["everywhere"] is None
    # The same person again, with other groups: known by what the issuer calls him, whatever he is named.
    again = team.whoami(team.signed_in(groups=["lead"], preferred_username="another name")).json
    assert again["member"] == told["member"]
    assert told["member"] in team.core.keys.people.groups("acme")["leads"]
    assert team.whoami(team.signed_in(groups=[])).json["projects"] == []
    assert team.whoami(session).json["projects"] == []
    # Signing out ends this session and no other, and nobody can bring it as a key.
    other = team.signed_in()
    assert team.core.keys.list("acme") == []
    bearer = (("authorization", f"Bearer {session}"),)
    assert asgi.call(team.app, "GET", "/api/whoami", headers=bearer).status == 401
    out = asgi.call(
        team.app, "POST", "/api/sign-in/out", headers=(OWN_PAGE, asgi.JSON, ("cookie", f"{SESSION}={session}")),
        body=b"{}",
    )  # fmt: skip
    assert out.json == {"ended": True}
    assert "Max-Age=0" in (out.header("set-cookie") or "")
    assert [team.whoami(each).status for each in (session, other)] == [401, 200]
    assert team.audit()[-1][0] == "sign_in.ended"
    accepted = [row for row in team.audit() if row[0] == "sign_in.accepted"][-1][2]
    assert accepted | {"address": "127.0.0.1", "way": "browser", "subject_id": "ann-1"} == accepted
    assert accepted["key"].startswith("ses_")
    assert accepted["by"] == f"member:{told['member']}"


def test_who_is_shut_out_or_removed_is_out_everywhere_and_stays_so(team: Team) -> None:
    people, session = team.core.keys.people, team.signed_in(sub="bob-1", preferred_username="bob")
    assert team.whoami(session).json["member"] == "bob"
    people.disable("acme", "bob", by="test")
    assert team.whoami(session).status == 401
    refuses(team.named(sub="bob-1"), "shut out")
    people.enable("acme", "bob", by="test")
    assert team.whoami(session).status == 200
    people.remove_member("acme", "bob", by="test")
    assert team.whoami(session).status == 401
    refuses(team.named(sub="bob-1"), "you were removed")
    # Somebody else of the same name is somebody else.
    people.add_member("acme", "bob", people.members("acme")[0].kind, by="test")
    assert team.whoami(team.signed_in(sub="bob-2", preferred_username="bob")).json["member"] == "bob 2"
    people.link("acme", "bob", team.issuer.url, "bob-1", by="test")
    assert team.whoami(team.signed_in(sub="bob-1")).json["member"] == "bob"
    assert [row[2]["reason"] for row in team.audit() if row[1] == "subject:bob-1"] == ["disabled", "removed"]


def test_a_window_is_told_in_its_language(team: Team) -> None:
    answer = asgi.call(team.app, "GET", "/sign-in/callback", headers=(*ARRIVING, ("accept-language", "zh-CN,zh")))
    assert (answer.status, "这次登录不是由此浏览器发起的" in answer.body.decode()) == (403, True)
    assert '<html lang="zh-CN">' in answer.body.decode()


def test_a_stranger_without_a_group_is_refused(team: Team) -> None:
    for groups in ([], ["nothing"], "nothing", {"eng": 1}, [{"eng": 1}]):
        refuses(team.named(sub="eve", preferred_username="eve", groups=groups), "none of your groups")
    assert "eve" not in [each.name for each in team.core.keys.people.members("acme")]


Token = Callable[[HostileIssuer, str], str]
FORGED: dict[str, Token] = {
    "another audience": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, aud="other")),
    "several audiences": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, aud=[CLIENT, "other"])),
    "made for another client": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, azp="other")),
    "another issuer": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, iss="http://127.0.0.1:1")),
    "expired": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, exp=int(time.time()) - 120)),
    "never expires": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, exp=None)),
    "from the future": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, iat=int(time.time()) + 900)),
    "nobody": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, sub=None)),
    "an empty name": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, sub="")),
    "another attempt": lambda issuer, nonce: issuer.key.signed(issuer.claims("0" * 64)),
    "no attempt": lambda issuer, nonce: issuer.key.signed(issuer.claims(nonce, nonce=None)),
    "not signed": lambda issuer, nonce: issuer.key.unsigned(issuer.claims(nonce)),
    "the public key as a secret": lambda issuer, nonce: issuer.key.with_secret(
        issuer.claims(nonce), issuer.key.public_text
    ),
    "no secret": lambda issuer, nonce: issuer.key.with_secret(issuer.claims(nonce), b""),
    "another's key under its name": lambda issuer, nonce: SigningKey("first").signed(issuer.claims(nonce)),
    "another's key": lambda issuer, nonce: SigningKey("second").signed(issuer.claims(nonce)),
    "changed after it was signed": lambda issuer, nonce: ".".join(
        (issuer.key.signed(issuer.claims(nonce)).split(".")[0], issuer.key.unsigned(issuer.claims(nonce, sub="root"))
         .split(".")[1], issuer.key.signed(issuer.claims(nonce)).split(".")[2])
    ),
    "garbage": lambda issuer, nonce: "a.b.c",
    "nothing": lambda issuer, nonce: "",
}  # fmt: skip


def test_forged_tokens_open_nothing(team: Team) -> None:
    members, before = team.core.keys.people.members("acme"), len(team.audit())
    for name, token in FORGED.items():
        attempt = team.begin()
        team.issuer.token = token(team.issuer, attempt.nonce)
        answer = team.end(attempt)
        assert answer.status == 403, (name, answer.body)
        assert not [value for key, value in answer.headers if key == "set-cookie"], name
    assert team.core.keys.people.members("acme") == members
    assert [row[2]["reason"] for row in team.audit()[before:]] == ["token"] * len(FORGED)
    assert team.issuer.asked_for_keys == 1  # also those that name unknown keys


def test_an_answer_that_was_tampered_with_opens_nothing(team: Team) -> None:
    victim, attacker = team.begin(), team.begin()
    team.issuer.token = team.issuer.key.signed(team.issuer.claims(attacker.nonce))
    # The attacker's code and state, in the victim's browser, and the attacker's code in the victim's attempt.
    assert team.end(Attempt(victim.cookie, attacker.state, "", {})).status == 403
    assert team.end(victim).status == 403
    for other in ({"state": ""}, {"state": "0" * 64}, {"error": "access_denied"}, {"code": ""},
                  {"iss": "http://127.0.0.1:1"}):  # fmt: skip
        assert team.end(attacker, **other).status == 403, other
    for cookie in ("", "cma_" + "0" * 64, attacker.cookie.upper(), attacker.state):
        assert team.end(Attempt(cookie, attacker.state, "", {})).status == 403
    team.end(attacker)
    used = team.end(attacker)  # although this issuer takes a code twice
    assert (used.status, b"was used before" in used.body) == (403, True)


def test_only_a_window_arrives_and_a_session_needs_our_own_page(team: Team) -> None:
    session, cookie = team.signed_in(), SESSION
    other_windows: tuple[asgi.Pairs, ...] = (
        ARRIVING[:1], ARRIVING[:2], (*ARRIVING[:2], ("sec-fetch-dest", "iframe"))
    )  # fmt: skip
    for headers in other_windows:
        refused = asgi.call(team.app, "GET", "/sign-in/callback", headers=headers)
        assert (refused.status, b"other sites" in refused.body) == (403, True)
    assert asgi.call(team.app, "GET", "/sign-in", headers=ARRIVING).status == 403
    carried = ("cookie", f"{cookie}={session}")
    other_pages: tuple[asgi.Pairs, ...] = (
        (carried,), (carried, ("sec-fetch-site", "cross-site")), (*ARRIVING, carried),
        (OWN_PAGE, carried, ("cookie", f"{cookie}=cms_{'0' * 64}")), (OWN_PAGE, ("cookie", f"codexmem={session}")),
    )  # fmt: skip
    for headers in other_pages:
        assert asgi.call(team.app, "GET", "/api/whoami", headers=headers).status in {401, 403}, headers
    typed = (("sec-fetch-site", "none"), carried)
    assert asgi.call(team.app, "GET", "/api/whoami", headers=typed).status == 200
    assert asgi.call(team.app, "POST", "/api/sign-in/out", headers=(*typed, asgi.JSON), body=b"{}").status == 401


@pytest.mark.parametrize("next", [
    "https://evil.test", "//evil.test", "/ui//evil.test", "/ui/\\evil.test", "/uix", "javascript:alert(1)",
    "/api/stats",
    '/ui/"><script>', "/ui/\r\nSet-Cookie: a=b", "/sign-in", "", "/ui@evil.test", "/ui.evil.test",
])  # fmt: skip
def test_a_browser_is_led_to_our_own_pages_only(next: str) -> None:
    assert page_after(next) == "/ui"


def test_a_key_that_the_issuer_changed_is_fetched_once(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.signed_in()
    assert team.issuer.asked_for_keys == 1
    team.issuer.key = SigningKey("second")
    team.issuer.published = [team.issuer.key]
    refuses(team.named(), "signing key")  # it was asked a moment ago
    issuer = team.core.operations.sign_in._issuer
    assert issuer is not None
    monkeypatch.setattr(issuer._signing_keys(), "cooldown_duration", 0.0)
    team.signed_in()
    team.signed_in()
    assert team.issuer.asked_for_keys == 2


def test_an_issuer_that_says_it_is_another_is_not_asked(team: Team) -> None:
    team.issuer.description = lambda url: {"issuer": "http://127.0.0.1:1"}
    answer = asgi.call(team.app, "GET", "/sign-in")
    assert (answer.status, b"another issuer" in answer.body) == (503, True)
    team.issuer.description = lambda url: {"authorization_endpoint": "http://evil.test/auth"}
    assert asgi.call(team.app, "GET", "/sign-in").status == 503


def test_refusals_that_anybody_can_cause_do_not_fill_the_audit(team: Team) -> None:
    before = len(team.audit())
    for _ in range(80):
        assert asgi.call(team.app, "GET", "/sign-in/callback", query=b"code=x&state=y").status == 403
    assert len(team.audit()) == before + 60
    monotonic = ids.monotonic()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ids, "monotonic", lambda: monotonic + 61)
        asgi.call(team.app, "GET", "/sign-in/callback", query=b"code=x&state=y")
    assert team.audit()[-1][2]["untold"] == 20
