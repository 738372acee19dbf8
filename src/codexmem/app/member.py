"""One of several servers behind a port, started by `http.group` and told over its line what to be.

Who asks it for figures is given those of all of them: each answers the others on a socket in the folder of the group.
"""

import gc
import logging
import os
import sys
import threading
from typing import TYPE_CHECKING

from codexmem.http import logs
from codexmem.http.group import Line
from codexmem.kernel.model.errors import CodexmemError
from codexmem.settings import load

if TYPE_CHECKING:
    from codexmem.app.server import App


def main() -> None:
    """Serve until the parent says to leave, or is gone."""
    gc.set_threshold(50_000, 20, 20)
    line = Line(int(sys.argv[1]))
    os.umask(0o077)
    try:
        settings = load(line.orders["flags"])
        logs.configure(settings.log_level, settings.log_format == "json")
        logging.getLogger("alembic").setLevel(logging.WARNING)
        from codexmem.app.server import App

        app = App(settings, work=line.orders["work"], line=line)
        threading.Thread(target=_leave_alone, args=(line, app), name="codexmem-line", daemon=True).start()
        app.run()
    except CodexmemError as error:
        line.failed(error)
        sys.exit(1)


def _leave_alone(line: Line, app: "App") -> None:
    line.wait_for_end()
    app.stop()


if __name__ == "__main__":
    main()
