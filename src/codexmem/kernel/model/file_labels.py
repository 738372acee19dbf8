"""Under which labels a file can be found: its whole path, and the ends of it.

Somebody who looks for a file knows its name, or its name and a folder or two, seldom the whole path. A label is matched
from its beginning, so an end of the path lets a search begin at any of the last folders. Folders further up are found
only by those who begin at the root.
"""

import functools

ENDS = 4  # names at the end of a path, each of which may begin a label


@functools.lru_cache(maxsize=4096)
def file_labels(path: str) -> tuple[str, ...]:
    """The path as it is written, then its last name, its last two, and so on."""
    names = [name for name in path.replace("\\", "/").split("/") if name not in {"", "."}]
    ends = ("/".join(names[-count:]) for count in range(1, min(ENDS, len(names)) + 1))
    return tuple(dict.fromkeys((path, *ends)))


def label_beginnings(part: str) -> list[str]:
    """What a label may begin with if its file is meant by this part of a path; none for a part that names nothing."""
    written = part.strip()
    plain = written.replace("\\", "/").removeprefix("./")
    return [each for each in dict.fromkeys((written, plain, plain.lstrip("/"))) if each.strip("./\\")]
