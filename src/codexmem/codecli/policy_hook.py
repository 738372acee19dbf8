"""The program that an agent runs before it uses a tool: asks the running `mem-codecli` and prints what that says.

    python -m codexmem.codecli.policy_hook SOCKET [AGENT]

The agent's event comes by standard input. Nothing is decided here: the wrapper knows the policy, can ask a person and
is the only writer of the audit log. If it cannot be asked, the tool is refused, by an exit status that every agent
understands. Loads next to nothing, because an agent waits for it.
"""

from __future__ import annotations

import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WAIT_S = 3_500.0  # less than the agent waits for us: one that gives up lets the tool through
INPUT_BYTES = 64 << 20
REFUSED = 2
_ANSWER_BYTES = 1 << 20
_GONE = (
    "mem-codecli cannot be asked about this tool ({}), so it is refused. Do not try it again; say that it was refused."
)


def main(arguments: Sequence[str]) -> int:
    """Ask; 0 if an answer was printed, or none was needed, else 2."""
    path, agent = [*arguments, "", ""][:2]
    try:
        event = sys.stdin.buffer.read(INPUT_BYTES + 1)
        if len(event) > INPUT_BYTES:
            raise ValueError("the agent's event is too large")
        answer = asked(path, agent, event)
    except Exception as error:  # whatever it is, it must not let a tool through
        sys.stderr.write(_GONE.format(f"{type(error).__name__}: {error}") + "\n")
        return REFUSED
    sys.stdout.write(answer)
    return 0


def asked(path: str, agent: str, event: bytes) -> str:
    """What the wrapper at the other end of the socket wants to have printed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(WAIT_S)
        connection.connect(path)
        connection.sendall(agent.encode("utf-8", "replace").replace(b"\n", b" ") + b"\n" + event)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
            if len(answer) > _ANSWER_BYTES:
                raise ValueError("the answer is too long")
    # An answer is a mark that it is whole, and a text; a wrapper that died while it answered gave none.
    if not answer.endswith(b"\0"):
        raise ConnectionError("no whole answer")
    return answer[:-1].decode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
