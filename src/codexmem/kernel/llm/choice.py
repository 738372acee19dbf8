"""Which model, from what the settings say.

`domain.writer` decides whether a model is asked. A server at home needs no key; the key goes to the configured address
alone.
"""

from dataclasses import dataclass

from codexmem.kernel.llm.openai import DEADLINE_S, DEFAULT_BASE_URL, OpenAIModel
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.writer import MODEL, RULES, MemoryWriter, writer_of

NAMES = (MODEL, RULES)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The settings that bear on the choice."""

    provider: str = "openai"
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    deadline_s: float = DEADLINE_S

    @property
    def writer(self) -> MemoryWriter:
        """Who writes, by these settings."""
        return writer_of(self.provider, model=self.model, base_url=self.base_url, api_key=self.api_key)

    def __repr__(self) -> str:
        return f"ModelChoice({self.provider!r}, model={self.model!r})"  # never the key


def model_of(wish: ModelChoice, *, breaker: Breaker | None = None) -> OpenAIModel | None:
    """The model that answers prompts; None where rules answer everything."""
    if wish.provider not in NAMES:
        raise InvalidArgument(f"{wish.provider!r} is not a provider", hint=f"CODEXMEM_PROVIDER is {' or '.join(NAMES)}")
    if wish.writer.provider == RULES:
        return None
    if not wish.model:
        raise InvalidArgument("no model is named", hint="set CODEXMEM_OPENAI_MODEL, or CODEXMEM_PROVIDER=rules")
    return OpenAIModel(
        wish.model, base_url=wish.base_url or DEFAULT_BASE_URL, api_key=wish.api_key, deadline_s=wish.deadline_s,
        breaker=breaker,
    )  # fmt: skip
