"""Names of classes: one name has one meaning, wherever a reader meets it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tests.architecture.tree import Module, Violation

_ANSWER = "the client's reading of the document that a route answers under the same name"
_PUBLISHED = "both are published: one in the interface description, the other as an answer of the client"

# What may be the name of several classes, and why.
SHARED: Mapping[str, str] = {
    "FoundObservation": _ANSWER,
    "FoundPrompt": _ANSWER,
    "FoundSummary": _ANSWER,
    "Observation": _ANSWER,
    "Projects": _ANSWER,
    "Saved": _ANSWER,
    "Forgotten": _PUBLISHED,
    "Row": _PUBLISHED,
}


def unique_classes(modules: Sequence[Module], shared: Mapping[str, str] = SHARED) -> Iterator[Violation]:
    """A public class at the top of a module has a name that no other has; a permission nobody needs is refused too."""
    homes: dict[str, list[tuple[Module, int]]] = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append((module, node.lineno))
    for name, places in homes.items():
        if len(places) > 1 and name not in shared:
            for module, line in places:
                others = ", ".join(other.name for other, _ in places if other is not module)
                yield module.breaks(line, "unique", f"class {name} is also in {others}: say what each of them is")
        elif len(places) == 1 and name in shared:
            module, line = places[0]
            yield module.breaks(line, "unique", f"class {name} is the only one of its name: take it off the list")
