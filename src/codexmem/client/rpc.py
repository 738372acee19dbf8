"""JSON-RPC over stdio: each line is passed on to the running server, each answer back, one after the other.

The server reads the messages; here nothing is judged, so that one code path serves both ways in. Only where there is no
answer does the bridge make one, in the words of the protocol. Nothing but the protocol is ever written to the output.
"""

from __future__ import annotations

import http.client
import json
from typing import Any, BinaryIO

from codexmem.client import starting
from codexmem.client.delivery import Delivery
from codexmem.client.starting import ServerLocation
from codexmem.kernel.model import json_text
from codexmem.kernel.model.errors import CodexmemError

PATH = "/rpc"
TIMEOUT_S = 300.0  # a restore may take long
MAX_LINE = 8 << 20
_PARSE, _INVALID, _INTERNAL = -32700, -32600, -32603


class RpcBridge:
    """Between a pair of streams and the server."""

    def __init__(self, place: ServerLocation) -> None:
        self._place = place
        self._delivery = Delivery(place, TIMEOUT_S)

    def run(self, source: BinaryIO, target: BinaryIO) -> None:
        """Pass messages in order until the source ends."""
        while line := source.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                while (rest := source.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
                answer: Any = _error(None, _INVALID, f"Invalid Request: a line has at most {MAX_LINE:,} bytes")
            elif not line.strip():
                continue
            else:
                answer = self._answered(line.strip())
            if answer is not None:
                target.write(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
                target.flush()

    def _answered(self, line: bytes) -> Any:
        try:
            status, _, body = self._delivery.post(PATH, line, self._headers)
            if status == 204:
                return None
            answer = json_text.loads(body)
            if isinstance(answer, list) or "jsonrpc" in answer:
                return _own(answer, line)
            reason = f"the codexmem server answered {status} without a message"
        except CodexmemError as error:
            reason = error.message if error.hint is None else f"{error.message}; {error.hint}"
        except (OSError, http.client.HTTPException, ValueError, TypeError) as error:
            reason = (
                f"the codexmem server went away while it answered ({type(error).__name__}); "
                "if this was to change something, look whether it was changed"
            )
        return _undelivered(line, reason)

    def _headers(self) -> dict[str, str]:
        return {"Content-Type": "application/json", **starting.headers(self._place)}


def _own(answer: Any, line: bytes) -> Any:
    """A refusal that was made before the message was read does not know whose it is."""
    if isinstance(answer, dict) and "error" in answer and answer.get("id") is None:
        message = _read(line)
        if isinstance(message, dict) and _is_id(message.get("id")):
            return {**answer, "id": message["id"]}
    return answer


def _undelivered(line: bytes, reason: str) -> Any:
    """What the client is told instead of an answer; of notifications, nothing."""
    message = _read(line)
    if message is None:
        return _error(None, _PARSE, "Parse error: this line is not JSON")
    if isinstance(message, list):
        return [_error(each["id"], _INTERNAL, reason) for each in message if _awaits(each)] or None
    return _error(message["id"], _INTERNAL, reason) if _awaits(message) else None


def _awaits(message: Any) -> bool:
    return isinstance(message, dict) and "id" in message and _is_id(message["id"])


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _read(line: bytes) -> Any:
    try:
        return json_text.loads(line)
    except ValueError:
        return None


def _error(number: Any, code: int, text: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": text}, "id": number}
