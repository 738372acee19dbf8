"""What lies on an agent's desk during one run: the knowledge base, the lessons, and the journal to write in."""

from collections.abc import Sequence
from typing import Protocol

from codexmem.lab.model import Evidence, Lesson


class KnowledgeBase(Protocol):
    """The knowledge base as one run sees it: what it was shown keeps its alias."""

    def query(self, namespace: str, text: str, mode: str, top_k: int) -> list[Evidence]:
        """The best pieces of a namespace; each has an alias, the same one whenever it is found again in this run."""
        ...

    def get(self, alias: str) -> Evidence | None:
        """A piece that this run was shown; None for an alias that it has not given."""
        ...

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, limit: int) -> tuple[int, Sequence[str]]:
        """How many pieces the run was shown, and the first aliases of them."""
        ...


class BankReader(Protocol):
    """The ReasoningBank as a run reads it."""

    def search(self, query: str, top_k: int, role: str | None = None, status: str = "active",
               type: str | None = None) -> list[Lesson]:  # fmt: skip
        """The lessons nearest to a query."""
        ...

    def get(self, mem_id: str) -> Lesson | None:
        """One lesson, whatever its status."""
        ...

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, limit: int, role: str | None = None) -> tuple[int, Sequence[Lesson]]:
        """How many active lessons there are, and the newest of them."""
        ...
