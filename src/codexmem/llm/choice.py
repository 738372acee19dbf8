"""Which distiller, from what the settings say.

Without a key and without an address of one's own there is nobody to ask: rules answer. A server at home needs no key.
The key goes to the configured address alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.domain.breaker import Breaker
from codexmem.domain.errors import InvalidArgument
from codexmem.llm.distil import Distiller
from codexmem.llm.openai import DEADLINE_S, DEFAULT_BASE_URL, OpenAIModel

NAMES = ("openai", "rules")


@dataclass(frozen=True, slots=True)
class Wish:
    """The settings that bear on the choice."""

    provider: str = "openai"
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    deadline_s: float = DEADLINE_S

    def __repr__(self) -> str:
        return f"Wish({self.provider!r}, model={self.model!r})"  # never the key


def choose(wish: Wish, may_spend: Callable[[int], bool] = lambda _: True, *, breaker: Breaker | None = None
           ) -> Distiller:  # fmt: skip
    """The distiller; `may_spend` is asked before each call whether that many tokens fit the budget."""
    return Distiller(model_of(wish, breaker=breaker), may_spend=may_spend)


def model_of(wish: Wish, *, breaker: Breaker | None = None) -> OpenAIModel | None:
    """The model that answers prompts; None where rules answer everything."""
    if wish.provider not in NAMES:
        raise InvalidArgument(f"{wish.provider!r} is no provider", hint=f"CODEXMEM_PROVIDER is {' or '.join(NAMES)}")
    if wish.provider == "rules" or not (wish.api_key or wish.base_url):
        return None
    if not wish.model:
        raise InvalidArgument("no model is named", hint="set CODEXMEM_OPENAI_MODEL, or CODEXMEM_PROVIDER=rules")
    return OpenAIModel(
        wish.model, base_url=wish.base_url or DEFAULT_BASE_URL, api_key=wish.api_key, deadline_s=wish.deadline_s,
        breaker=breaker,
    )  # fmt: skip
