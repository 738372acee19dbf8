"""What the text indexes of both engines share: scope tokens, the columns of `memory_texts`, and what is still missing.

A scope token stands for one value that a filter may ask for. It is indexed beside the words, so that an equality is an
intersection of posting lists; what is a range or a long list (dates, status, priority) is a column. Tokens are digests
that begin with `#`, which no word does, and include the tenant.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.store.database import ACTING
from codexmem.kernel.store.index import IndexedTokens, TextIndex
from codexmem.kernel.store.schema import memories, memory_texts


class WritableTextIndex(TextIndex, Protocol):
    """A text index that is looked after: caught up with rows that were written without it, its statistics folded."""

    def missing(self, *, limit: int, after: int = 0) -> list[int]:
        """Numbers above `after`, ascending, of memories whose present state is not indexed."""
        ...

    def put_past(self, memory: Memory, words: IndexedTokens, until_ms: int) -> None:
        """Index a former state, which held from the memory's `updated_ms` until then; nothing if it already is."""
        ...

    def drop_past(self, versions: Sequence[tuple[int, int]]) -> None:
        """Leave nothing behind of these former versions, each a number and a version."""
        ...

    def fold(self, limit: int) -> int:
        """Bring statistics up to date by so many changes at most; returns how many there were, 0 when it is done."""
        ...


def _token(tenant: str, *parts: str) -> str:
    # Lengths first, so that no two lists of parts read the same.
    spelled = "".join(f"{len(part)}:{part}" for part in (tenant, *parts))
    return "#" + hashlib.blake2b(spelled.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def scope_of(tenant: str, memory: Memory) -> list[str]:
    """The scope tokens of a memory's present state, those that every filter may need first."""
    kind, state = memory.kind.value, memory.state
    tokens = [_token(tenant, "kind", kind), _token(tenant, "project", kind, state.project)]
    if state.visibility is Visibility.EVERYONE:
        tokens.append(_token(tenant, "everyone", kind))
    if memory.session is not None:
        tokens.append(_token(tenant, "session", memory.session))
    return tokens + [_token(tenant, "facet", facet, value) for facet, value in sorted(state.facets())]


def narrow_scopes(tenant: str, wanted: Filter) -> list[list[str]]:
    """Groups of scope tokens, of each of which a memory that fits has at least one; kinds alone are left out."""
    groups: list[list[str]] = []
    if wanted.project is not None:
        groups.append(projects_scope(tenant, wanted, [wanted.project]))
    if wanted.session is not None:
        groups.append([_token(tenant, "session", wanted.session)])
    groups += [[_token(tenant, "facet", facet, value) for value in sorted(values)] for facet, values in wanted.facets]
    return groups


def projects_scope(tenant: str, wanted: Filter, projects: Iterable[str]) -> list[str]:
    """The tokens of these projects, of the wanted kinds."""
    return [_token(tenant, "project", kind.value, project) for project in projects for kind in sorted(wanted.kinds)]


def everyone_scope(tenant: str, wanted: Filter) -> list[str]:
    """The tokens of what everyone may see, of the wanted kinds."""
    return [_token(tenant, "everyone", kind.value) for kind in sorted(wanted.kinds)]


def kind_scope(tenant: str, wanted: Filter) -> list[str]:
    """The tokens of the wanted kinds."""
    return [_token(tenant, "kind", kind.value) for kind in sorted(wanted.kinds)]


def columns_of(memory: Memory, length: int) -> dict[str, object]:
    """A row of `memory_texts` but for its words and its end."""
    return {
        "seq": memory.seq, "version": memory.version, "kind": memory.kind.value, "status": memory.state.status.value,
        "priority": memory.state.priority, "created_ms": memory.created_ms, "from_ms": memory.updated_ms,
        "length": length,
    }  # fmt: skip


_t = memory_texts.c
is_present = _t.to_ms.is_(None)

# By number and not by absence alone: a memory that was written without its words has older ones.
missing = (
    sa.select(memories.c.seq)
    .where(
        memories.c.tenant == ACTING,
        memories.c.seq > bindparam("after"),
        ~sa.exists().where(
            _t.tenant == memories.c.tenant, _t.seq == memories.c.seq, _t.version == memories.c.version, is_present
        ),
    )
    .order_by(memories.c.seq)
    .limit(bindparam("limit"))
)
