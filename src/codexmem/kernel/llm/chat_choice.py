"""Which model converses, from what the settings say and what one batch may choose otherwise.

The key goes to the configured address alone: another server, even an allowed one, is spoken to without it.
"""

import threading

from codexmem.kernel.llm.chat import ChatModel
from codexmem.kernel.llm.chat_openai import OpenAIChat
from codexmem.kernel.llm.choice import ModelChoice
from codexmem.kernel.llm.openai_server import DEFAULT_BASE_URL

MOST = 8  # servers and models whose state is remembered at once


class ChatModels:
    """The models of one process; what was learned about a server is shared by all who ask it."""

    def __init__(self, wish: ModelChoice) -> None:
        self._wish = wish
        self._lock = threading.Lock()
        self._made: dict[tuple[str, str], OpenAIChat] = {}

    def get(self, model: str = "", base_url: str = "") -> ChatModel | None:
        """The model of this name there, by default the configured one; None if nothing is configured to ask."""
        wish = self._wish
        home = wish.base_url or (DEFAULT_BASE_URL if wish.api_key else "")
        # A batch keeps addresses without what may be secret in them, so the bare form of ours means ours.
        base = home if not base_url or _bare(base_url) == _bare(home) else base_url
        name = model or wish.model
        if wish.provider == "rules" or not base or not name:
            return None
        with self._lock:
            found = self._made.pop((name, base), None)
            if found is None:
                key = wish.api_key if base == home else ""
                found = OpenAIChat(name, base_url=base, api_key=key)
                if len(self._made) >= MOST:
                    del self._made[next(iter(self._made))]
            self._made[name, base] = found  # the one used last stands last
            return found


def _bare(address: str) -> str:
    scheme, _, rest = address.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path.partition('?')[0].partition('#')[0]}".rstrip("/")
