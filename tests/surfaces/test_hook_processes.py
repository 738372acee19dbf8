"""Which process a hook takes for its agent: never the terminal of a person who types the hook's command."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

SAYS = "from codexmem.hook import processes; print('agent:', processes.agent(), processes.ancestors()[1])"


def said(text: str) -> list[str]:
    """The agent's name, if there is one, and the name of the process above the shell."""
    return next(line for line in text.splitlines() if line.startswith("agent:")).split()[1:]


@pytest.mark.process
def test_above_the_shell_of_a_terminal_is_no_agent() -> None:
    child, terminal = pty.fork()
    if not child:
        os.execv("/bin/sh", ["sh", "-c", f'{sys.executable} -c "{SAYS}"; true'])
    text = b""
    try:
        while piece := os.read(terminal, 4096):
            text += piece
    except OSError:  # how a terminal ends
        pass
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    assert len(said(text.decode())) == 1
    command = ["sh", "-c", f'{sys.executable} -c "{SAYS}"; true']
    piped = subprocess.run(command, capture_output=True, text=True, check=True)  # as an agent starts its hooks
    agent, above = said(piped.stdout)
    assert agent == above
