"""Recipe: a field of an observation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests._support.model_server import ModelServer
from tests._support.waiting import eventually
from tests.recipes.copied import Copy, listed

pytestmark = pytest.mark.sqlite

RECIPE = "Add a field to an observation"
SAID = {
    "reason": "",
    "memories": [{"op": "add", "target": "", "kind": "decision", "title": "PORT = 8123", "text": "PORT = 8123",
                  "rests_on": [2], "reason": "", "outlook": "open it to others"}],
}  # fmt: skip


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """The package with `outlook`, what is likely to come next."""
    copy = Copy.below(tmp_path)
    copy.insert("kernel/model/attrs.py", 'learned or did, distilled."""\n\n    subtitle: str = ""\n',
                '    outlook: str = ""  # what is likely to come next\n')  # fmt: skip
    prompt = "kernel/llm/prompts/turns.py"
    copy.insert(
        prompt, "- reason: why it will be needed, at most 12 words.\n", "- outlook: what is likely to come next.\n"
    )
    copy.insert(prompt, '    "text": shared.text("one to three sentences"),\n',
                '    "outlook": shared.text("what is likely to come next"),\n')  # fmt: skip
    copy.insert("kernel/llm/structured.py", '    target: Label = ""\n', '    outlook: Sentence = ""\n')
    copy.insert("kernel/llm/material.py", '    title: str = ""\n    text: str = ""\n', '    outlook: str = ""\n')
    copy.insert("capture/author.py", "            by_person=by_person, reason=said.reason,", " outlook=said.outlook,")
    copy.insert(
        "capture/authoring.py", "            events=said.events,\n", "            outlook=stored_line(said.outlook),\n"
    )
    rows = "recall/wire/rows.py"
    copy.insert(rows, "    subtitle: str\n", "    outlook: str\n")
    copy.insert(rows, "            subtitle=observed.subtitle,\n", "            outlook=observed.outlook,\n")
    copy.insert("client/answers.py", "    title: str\n    subtitle: str\n", "    outlook: str\n")
    return copy


def told(copy: Copy) -> tuple[bool, str | None, str]:
    """Whether the model is asked for it, and what of it comes over HTTP and through the Python client."""
    with ModelServer(script=lambda _: json.dumps(SAID)) as model:
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "sk-test", "CODEXMEM_BATCH_WAIT_S": "0"}
        with copy.server(**settings) as server:
            server.post("/api/sessions/init", {"contentSessionId": "s", "project": "shop", "prompt": "find the port"})
            server.post("/api/sessions/observations", {
                "contentSessionId": "s", "tool_name": "Read", "tool_input": {"file_path": "/r/server.py"},
                "tool_response": "PORT = 8123", "cwd": "/r",
            })  # fmt: skip
            server.post("/api/sessions/complete", {"contentSessionId": "s"})
            listed = "/api/observations?project=shop"
            items = eventually(
                lambda: [item for item in server.request("GET", listed).json["items"] if item["type"] == "decision"]
            )
            asked = (
                "from codexmem.client import Client\n"
                f"with Client('http://127.0.0.1:{server.port}') as client:\n"
                f"    print(client.observation({items[0]['id']}).outlook)"
            )
            read = copy.output("-c", asked).strip()
    schema = model.asked[0].body["response_format"]["json_schema"]["schema"]
    wanted = schema["properties"]["memories"]["items"]["properties"]
    return "outlook" in wanted, items[0].get("outlook"), read


def test_the_model_writes_it_and_clients_get_it(copy: Copy) -> None:
    assert copy.changed == set(listed(RECIPE))
    assert told(copy) == (True, "open it to others", "open it to others")
