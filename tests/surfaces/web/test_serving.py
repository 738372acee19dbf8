"""How a build is served: the page fresh each time, its files for ever, and nothing else by whatever name."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.surfaces.web.made import PAGE, endpoint, make


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "secret.js").write_text("not for anybody")
    return endpoint(make(tmp_path / "dist"))


@pytest.mark.parametrize("path", ["/viewer", "/viewer?tab=traces", "/ui", "/ui/", "/ui/m/project/config", "/ui/assets"])
def test_every_address_of_the_application_answers_with_its_page(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert reply.headers["cache-control"] == "no-cache"
    assert "main-1.js" in reply.text


def test_each_page_has_a_nonce_of_its_own_that_its_policy_names(client: TestClient) -> None:
    seen = set()
    for _ in range(3):
        reply = client.get("/viewer")
        policy = reply.headers["content-security-policy"]
        nonces = set(re.findall(r'nonce="([0-9a-f]{32})"', reply.text))
        assert len(nonces) == 1
        assert f"style-src 'self' 'nonce-{next(iter(nonces))}';" in policy
        assert "{{nonce}}" not in reply.text
        seen |= nonces
    assert len(seen) == 3


def test_the_policy_lets_nothing_in(client: TestClient) -> None:
    policy = client.get("/viewer").headers["content-security-policy"]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert (parts["default-src"], parts["script-src"], parts["connect-src"]) == ("'none'", "'self'", "'self'")
    assert (parts["base-uri"], parts["form-action"], parts["frame-ancestors"]) == ("'none'",) * 3
    assert (parts["require-trusted-types-for"], parts["trusted-types"]) == ("'script'", "default")
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.parametrize("accepted, tag", [("", "en"), ("zh-TW,zh;q=0.8", "zh-CN"), ("en", "en")])
def test_the_page_says_its_language(client: TestClient, accepted: str, tag: str) -> None:
    assert f'<html lang="{tag}">' in client.get("/ui/system", headers={"Accept-Language": accepted}).text


def test_home_leads_to_the_application(client: TestClient) -> None:
    reply = client.get("/")
    assert (reply.status_code, reply.headers["location"]) == (307, "/ui")


def test_files_may_be_kept_for_ever(client: TestClient) -> None:
    reply = client.get("/ui/assets/main-1.js", headers={"Accept-Encoding": "identity"})
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert reply.content == b"export const it = 1;\n" * 100
    assert client.get("/ui/assets/mark-1.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize("accepted, packed", [("gzip, br", True), ("br;q=1, gzip;q=0.5", True), ("gzip;q=0", False),
                                              ("identity", False), ("x-gzip", False)])  # fmt: skip
def test_files_are_packed_for_those_who_take_it(client: TestClient, accepted: str, packed: bool) -> None:
    with client.stream("GET", "/ui/assets/main-1.js", headers={"Accept-Encoding": accepted}) as reply:
        raw = b"".join(reply.iter_raw())
    assert (reply.headers.get("content-encoding") == "gzip") is packed
    assert (gzip.decompress(raw) if packed else raw) == b"export const it = 1;\n" * 100
    assert reply.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("path", ["/", "/viewer", "/ui/system", "/ui/assets/main-1.js"])
def test_head_answers_like_get_without_a_body(client: TestClient, path: str) -> None:
    got, asked = client.get(path), client.head(path)
    assert asked.status_code == got.status_code
    assert asked.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize(
    "name",
    [
        "nothing.js", "../index.html", "..%2findex.html", "%2e%2e/secret.js", "..%2f..%2fsecret.js", "%2fetc%2fpasswd",
        "main-1.js%00", "main-1.js/", "./main-1.js", "sub/../main-1.js", "MAIN-1.JS", "..%5csecret.js",
        "%252e%252e/x.js",
    ],
)  # fmt: skip
def test_no_name_leads_out_of_the_build(client: TestClient, name: str) -> None:
    reply = client.get(f"/ui/assets/{name}")
    assert "not for anybody" not in reply.text
    assert "root:" not in reply.text
    # The client itself resolves plain dots before it asks; whatever arrives is a page, a known file or nothing.
    if reply.status_code == 200:
        assert reply.text.startswith("<!doctype html>") or reply.content == b"export const it = 1;\n" * 100
    else:
        assert reply.status_code in {400, 404}
        assert reply.headers["content-type"] == "application/json"


def test_only_the_kinds_of_files_that_a_build_has_are_given_out(tmp_path: Path) -> None:
    folder = make(tmp_path / "dist")
    (folder / "assets" / "notes.txt").write_text("left behind")
    (folder / "assets" / "folder.js").mkdir()
    client = endpoint(folder)
    for name in ("notes.txt", "folder.js"):
        assert client.get(f"/ui/assets/{name}").status_code == 404


def test_a_new_build_is_noticed_and_the_files_of_the_last_stay(tmp_path: Path) -> None:
    folder = make(tmp_path / "dist")
    client = endpoint(folder)
    assert client.get("/ui/assets/main-1.js").status_code == 200
    (folder / "assets" / "main-1.js").unlink()
    make(folder, page=PAGE.replace("main-1", "main-2"), assets={"main-2.js": b"2"}, moment=2)
    assert "main-2.js" in client.get("/viewer").text
    assert client.get("/ui/assets/main-2.js").content == b"2"
    # A page that was opened before may still ask for its parts.
    assert client.get("/ui/assets/main-1.js").status_code == 200


def test_while_a_build_is_written_the_one_before_stands(tmp_path: Path) -> None:
    folder = make(tmp_path / "dist")
    client = endpoint(folder)
    assert "main-1.js" in client.get("/viewer").text
    make(folder, page=PAGE.replace("main-1", "main-2"), moment=2)
    assert "main-1.js" in client.get("/viewer").text
    (folder / "index.html").unlink()
    assert "main-1.js" in client.get("/viewer").text
    make(folder, page=PAGE.replace("main-1", "main-2"), assets={"main-2.js": b"2"}, moment=3)
    assert "main-2.js" in client.get("/viewer").text


def test_the_plain_page_leads_to_the_application(client: TestClient) -> None:
    reply = client.get("/viewer?plain=1")
    assert '<a href="/viewer">' in reply.text
    assert "npm" not in reply.text
    assert "script-src 'sha256-" in reply.headers["content-security-policy"]
