"""Memories as a working day makes them: the sizes, labels and repetition that the measurements share.

Seven concepts and six types are the vocabulary that observers of coding sessions really use; files and projects follow
the size of the store, so that a label means about as many memories in a small store as in a large one.
"""

from __future__ import annotations

import random

from codexmem.kernel.model.attrs import NoteAttrs, ObservationAttrs
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State

CONCEPTS = ("how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off")
TYPES = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
PROJECTS = 200
CHARACTERS = 600
_PROSE = """
the server keeps a lease for every running job and gives it back when the worker ends because two writers of one version
cannot both win so the second reads again before it saves 数据库 事务 提交 index page cursor project session port config
deploy token schema migration retry backoff timeout socket buffer queue handler memory facet label
"""
_WORDS = _PROSE.split()


def text(chance: random.Random, characters: int = CHARACTERS) -> str:
    """Prose of about this length."""
    return " ".join(chance.choices(_WORDS, k=max(1, characters // 6)))[:characters]


def project(number: int) -> str:
    """The name of a project."""
    return f"project-{number:03d}"


def file(number: int) -> str:
    """The path of a file."""
    return f"src/package_{number % 97}/module_{number}.py"


def observation(chance: random.Random, *, content: str, files: int = 1_000) -> MemoryDraft:
    """What a session distilled: two concepts, a type, two files."""
    attrs = ObservationAttrs(
        subtitle="seen while working",
        facts=(content[:60], content[60:120]),
        concepts=tuple(sorted(chance.sample(CONCEPTS, 2))),
        files_read=(file(chance.randrange(files)),),
        files_modified=(file(chance.randrange(files)),),
        prompt_number=chance.randrange(1, 40),
    )
    state = State(
        content=content, attrs=attrs, project=project(chance.randrange(PROJECTS)), type=chance.choice(TYPES),
        title=content[:60],
    )  # fmt: skip
    return MemoryDraft(Kind.OBSERVATION, state, Origin.MODEL, session=f"session-{chance.randrange(5_000)}")


def note(chance: random.Random, *, content: str, uri: str) -> MemoryDraft:
    """What somebody wrote down on purpose, under an address."""
    state = State(
        content=content, attrs=NoteAttrs(), project=project(chance.randrange(PROJECTS)), title=content[:40],
        uris=(uri,),
    )  # fmt: skip
    return MemoryDraft(Kind.NOTE, state, Origin.AGENT)
