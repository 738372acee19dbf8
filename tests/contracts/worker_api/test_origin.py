"""Who wrote it: decided by the interface and the credential, never by the body."""

from __future__ import annotations

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
