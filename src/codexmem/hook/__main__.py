"""`codexmem-hook <platform> <event>`: reads the agent's event, prints what the agent may be told, ends with 0."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run, and end the process at once: nothing is left to tidy up, and tidying up takes as long as the work."""
    work(sys.argv[1:] if arguments is None else arguments)
    os._exit(0)


def work(arguments: list[str]) -> None:
    """Do it, and be silent about whatever goes wrong: the agent must go on."""
    try:
        from codexmem.hook import program

        said = program.run(arguments)
        if said:
            program.tell(said)
    except BaseException:  # noqa: S110  (an interruption, too, is none of the agent's business)
        pass


if __name__ == "__main__":
    main()
