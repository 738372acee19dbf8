"""Names of tasks. A task's name is the name of a folder, so it is held to what every file system takes as one plain
name and nobody can read as a way out of where it lies.
"""

import re

from codexmem.domain.errors import InvalidArgument

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def task_name(text: str) -> str:
    """The name, if it is one; ASCII only, so that look-alikes of other scripts are other names to nobody."""
    if not _NAME.fullmatch(text):
        raise InvalidArgument(
            "task_id is not a plain name",
            hint="use 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', beginning with a letter or digit",
        )
    return text
