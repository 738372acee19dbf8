"""Agents and a model for measuring the lab: small, deterministic, and every call of the model is counted outside.

`python -m bench.lab_program` is the codexmem command with one of these agents; LAB_AGENT names the function that makes
it, as `module:function`, so that another one can be measured in the same way.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.event import EventType
from codexmem.lab.model import RunOutput, RunTask
from codexmem.lab.service.journal import Journal

CONFIGURED = "http://127.0.0.1:9/v1"  # a batch is refused without a model; these agents never ask this one


class CountingModel:
    """A model over HTTP that takes its time and remembers every call, also of callers that died meanwhile."""

    def __init__(self, *, takes_s: float) -> None:
        self._takes_s = takes_s
        self._lock = threading.Lock()
        self.calls: Counter[tuple[str, str]] = Counter()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _endpoint(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Count first: whoever asks may be killed before the answer arrives."""
        with self._lock:
            self.calls[asked["run"], asked["key"]] += 1
        time.sleep(self._takes_s)
        return {"said": f"答案 {asked['key']}"}


def _endpoint(model: CountingModel) -> type[BaseHTTPRequestHandler]:
    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(model.answer(asked)).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                return  # the caller was killed

        def log_message(self, *_: object) -> None:
            return

    return Endpoint


class HttpSteps:
    """Asks the counting model so many times, each time as one step of the journal."""

    def __init__(self, url: str, steps: int) -> None:
        self._place = urlsplit(url).netloc
        self._steps = steps

    def answer(self, task: RunTask, journal: Journal) -> RunOutput:
        """Answer with what the model said."""
        said = [self._step(task, journal, f"model:{number}") for number in range(1, self._steps + 1)]
        return RunOutput({"recipes": [], "overall_notes": " ".join(said)})

    def _step(self, task: RunTask, journal: Journal, key: str) -> str:
        journal.check()
        result = journal.done(key)
        if result is None:
            journal.note(EventType.LLM_REQUEST, {"key": key, "model": "counting"})
            answer = self._ask({"run": task.run.id, "key": key})
            result = journal.record(key, answer, (EventType.LLM_RESPONSE, {"key": key, "content": answer["said"]}))
        return str(result["said"])

    def _ask(self, asked: dict[str, str]) -> dict[str, Any]:
        connection = http.client.HTTPConnection(self._place, timeout=10)
        try:
            connection.request("POST", "/", json.dumps(asked), {"Content-Type": "application/json"})
            found: dict[str, Any] = json.loads(connection.getresponse().read())
            return found
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f"the model does not answer: {error}") from error
        finally:
            connection.close()


class Waiting:
    """Waits so long, or until canceled, and asks nobody."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def answer(self, task: RunTask, journal: Journal) -> RunOutput:
        """Answer with nothing."""
        until = time.monotonic() + self._seconds
        while (left := until - time.monotonic()) > 0:
            journal.check()
            time.sleep(min(0.02, left))
        journal.check()
        return RunOutput({"recipes": [], "overall_notes": task.run.id})


def steps() -> HttpSteps:
    """The agent that asks the counting model."""
    return HttpSteps(os.environ["LAB_MODEL_URL"], int(os.environ["LAB_STEPS"]))


def waiting() -> Waiting:
    """The agent that waits."""
    return Waiting(float(os.environ["LAB_SECONDS"]))
