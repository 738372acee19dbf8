"""A revoked key loses what it is reading, not only what it asks for next."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import pytest

from codexmem.http import long_replies
from tests._support import warm
from tests._support.server import Server, create_key, environment
from tests._support.sse import Stream

PROMISED_S = 5.0


def command(data_dir: Path, database_url: str, *arguments: str) -> str:
    done = subprocess.run(
        [warm.program("codexmem"), "--json", "key", *arguments, "--tenant", "revoking"], check=True,
        env=environment(data_dir, CODEXMEM_DATABASE_URL=database_url), capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def test_a_key_is_looked_at_again_within_what_is_promised() -> None:
    assert long_replies.RECHECK_S < PROMISED_S


@pytest.mark.postgresql
def test_an_open_stream_ends_soon_after_its_key_is_revoked(tmp_path: Path, postgres_url: str) -> None:
    living = create_key(tmp_path, postgres_url, "revoking")
    made = json.loads(command(tmp_path, postgres_url, "create", "--label", "leaving"))
    words_only = {"CODEXMEM_EMBEDDER": "none"}
    often = {"codexmem.http.long_replies.RECHECK_S": 0.2}
    with Server(tmp_path, database_url=postgres_url, key=living, settings=words_only, constants=often) as server:
        url = f"http://127.0.0.1:{server.port}"
        with Stream(url, key=made["secret"]) as stream, Stream(url, key=living) as other:
            assert stream.reply.status == other.reply.status == 200
            reader = threading.Thread(target=stream.drain)
            reader.start()
            command(tmp_path, postgres_url, "revoke", made["id"])
            reader.join(60)
            assert not reader.is_alive(), "the stream goes on"
            asked = {"Authorization": f"Bearer {made['secret']}"}
            assert server.request("GET", "/api/events", headers=asked).status == 401
            before = len(stream.messages)
            init = {"contentSessionId": "s", "project": "p", "prompt": "hello"}
            assert server.post("/api/sessions/init", init).status == 200
            assert other.named("session.status", 1, timeout_s=20)
            assert len(stream.messages) == before
