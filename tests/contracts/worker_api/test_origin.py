"""Who wrote it: decided by the interface and the credential, never by the body."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests._support.server import Server

PERSON = {"X-Codexmem-Person": "1"}
PAGE = {"Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize(
    "headers, origin", [({}, "agent"), (PERSON, "human"), (PAGE, "human")], ids=["program", "command", "page"]
)
def test_a_program_is_an_agent_and_a_person_at_a_terminal_or_in_the_browser_is_a_person(
    api: Server, headers: dict[str, str], origin: str
) -> None:
    body = {"text": f"kept by {sorted(headers)}", "project": "origins", "origin": "human"}
    saved = api.post("/api/memory/save", body, headers).json
    assert api.request("GET", f"/api/provenance/{saved['id']}").json["memory"]["origin"] == origin


def origin_of(server: Server, name: object) -> str:
    origin: str = server.request("GET", f"/api/provenance/{name}").json["memory"]["origin"]
    return origin


@pytest.mark.sqlite
def test_no_header_alone_makes_a_person(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        token = (tmp_path / "token").read_text().strip()
        assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
        nothing = {"Authorization": "", "Cookie": ""}
        agents = (
            PERSON | nothing, PAGE | nothing, PERSON | PAGE | nothing, {"Authorization": f"Bearer {token}"},
            PERSON | {"Authorization": f"Bearer {token[:-1]}x"},
            PAGE | {"Authorization": f"Bearer {token}", "Cookie": ""},
        )  # fmt: skip
        for number, headers in enumerate(agents):
            note = {"uri": f"core://owned-{number}", "content": "hello", "priority": 0}
            assert server.post("/api/notes", note, headers).status == 200
            assert origin_of(server, note["uri"]) == "agent", headers
        assert "[person]" not in server.request("GET", "/api/context?project=any").body.decode()


@pytest.mark.sqlite
def test_the_window_of_a_browser_is_given_a_session_by_which_its_page_is_a_person(tmp_path: Path) -> None:
    window = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    with Server(tmp_path) as server:
        given = server.request("GET", "/viewer", headers=window).headers["set-cookie"]
        cookie, *how = given.split("; ")
        assert how == ["Path=/", "HttpOnly", "SameSite=Strict"]
        page = PAGE | {"Cookie": f"other=1; {cookie}", "Authorization": ""}
        note = {"uri": "core://mine", "content": "from the page", "priority": 0}
        assert server.post("/api/notes", note, page).status == 200
        assert origin_of(server, note["uri"]) == "human"
        for other in ({}, window | {"Sec-Fetch-Mode": "cors"}):
            assert "set-cookie" not in server.request("GET", "/viewer", headers=other).headers


@pytest.mark.sqlite
def test_another_user_of_the_machine_is_told_the_way_out(tmp_path: Path) -> None:
    # To this server, whoever runs the tests is another user.
    with Server(tmp_path, constants={"codexmem.http.peer.OWNER": os.geteuid() + 1}) as server:
        for method, path in (("GET", "/api/context?project=any"), ("GET", "/viewer"), ("POST", "/api/notes"),
                             ("POST", "/mcp"), ("POST", "/rpc")):  # fmt: skip
            reply = server.request(method, path, {"uri": "core://owned", "content": "x"} if method == "POST" else None)
            assert reply.status == 403, path
            assert b"another user of this machine" in reply.body
            assert b"CODEXMEM_AUTH=token" in reply.body
        assert server.request("GET", "/api/health").status == 200


def test_below_an_agent_everybody_is_the_agent_and_belongs_to_its_session(api: Server) -> None:
    process = "box.4711.99"
    turn = {"contentSessionId": "origin-agent", "project": "origins", "platform": "codex", "prompt": "go",
            "process": process}  # fmt: skip
    number = api.post("/api/sessions/init", turn).json["sessionDbId"]
    below = {**PERSON, "X-Codexmem-Processes": f"box.5.5,{process},box.1.1"}
    saved = api.post("/api/memory/save", {"text": "from the agent's shell", "project": "origins"}, below).json
    told = api.request("GET", f"/api/provenance/{saved['id']}").json
    assert (told["memory"]["origin"], told["memory"]["source"]) == ("agent", f"session:{number}")
    note = {"uri": "origins://from-shell", "content": "x"}
    assert api.post("/api/notes", note, below).status == 200
    assert api.request("GET", "/api/provenance/origins://from-shell").json["session"]["key"] == "origin-agent"
    # Forgetting the session reaches what it wrote through either interface.
    assert api.post("/api/forget", {"session": "origin-agent"}).json["erased"] == 3
    assert api.request("GET", f"/api/provenance/{saved['id']}").status == 404


def test_what_agents_and_people_save_is_told_under_its_own_heading(api: Server) -> None:
    api.post("/api/memory/save", {"text": "an agent's finding", "project": "headings"})
    api.post("/api/memory/save", {"text": "a person's rule", "project": "headings"}, PERSON)
    text = api.request("GET", "/api/context?project=headings").body.decode()
    by_hand, by_agents = text.index("## Saved by hand"), text.index("## Saved by agents")
    assert by_hand < text.index("a person's rule") < by_agents < text.index("an agent's finding")
