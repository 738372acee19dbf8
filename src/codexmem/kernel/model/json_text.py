"""Reading JSON that somebody else wrote: whatever is wrong with it is a ValueError, also nesting beyond what the
parser's stack can hold.
"""

import json
from typing import Any


def loads(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError if it is none or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
