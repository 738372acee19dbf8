"""Which suites there are, where their files lie below the data folder, and how one is read."""

import hashlib
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.retrieval.corpus import Corpus, Task
from codexmem.kernel.model.errors import InvalidArgument, NotFound


@dataclass(frozen=True, slots=True)
class Suite:
    """One question set."""

    name: str
    module: str
    places: tuple[str, ...]  # files or folders below the data folder; the first is its own

    @property
    def tasks(self) -> Sequence[Task]:
        """How its questions are asked."""
        tasks: Sequence[Task] = self._reader().TASKS
        return tasks

    def present(self, folder: Path) -> bool:
        """Whether all it needs is there."""
        return all((folder / place).exists() for place in self.places)

    def read(self, folder: Path) -> list[Corpus]:
        """Its corpora; refuses files that are missing or not of its format."""
        for place in self.places:
            if not (folder / place).exists():
                raise NotFound(
                    f"{folder / place} is missing, which the suite {self.name} needs",
                    hint="docs/retrieval.md says where to get each set and how to lay out the folder",
                    details={"reason": "no_question_set", "path": str(folder / place), "suite": self.name},
                )
        try:
            corpora: list[Corpus] = self._reader().read(*(folder / place for place in self.places))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, OSError) as error:
            raise InvalidArgument(
                f"{folder / self.places[0]} is not in the format of {self.name}: {type(error).__name__}: {error}",
                hint="fetch the set again; its format is described in docs/retrieval.md",
                details={
                    "reason": "bad_question_set",
                    "path": str(folder / self.places[0]),
                    "suite": self.name,
                    "problem": f"{type(error).__name__}: {error}",
                },
            ) from error
        return corpora

    def fingerprint(self, folder: Path) -> str:
        """A short hash of the files that were read, so that two figures can be known to be about the same text."""
        found = hashlib.sha256()
        for place in self.places:
            path = folder / place
            for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
                found.update(hashlib.sha256(file.read_bytes()).digest())
        return found.hexdigest()[:16]

    def _reader(self) -> Any:
        return importlib.import_module(f"bench.retrieval.suites.{self.module}")


SUITES: tuple[Suite, ...] = (
    Suite("locomo", "locomo", ("locomo/locomo10.json",)),
    Suite("beam", "beam", ("beam-100k",)),
    Suite("beam-500k", "beam", ("beam-500k",)),
    Suite("longmemeval", "longmemeval", ("longmemeval-oracle/longmemeval_oracle.json",)),
    Suite("memdaily", "memdaily", ("memdaily-zh",)),
    Suite("probe", "probe", ("probe-zh-code/probe_zh_code.json", "memdaily-zh")),
)
BY_NAME = {suite.name: suite for suite in SUITES}
EVERY = "all"


def chosen(name: str, folder: Path) -> list[Suite]:
    """The suite of this name, or every suite whose files are there."""
    if name != EVERY:
        return [BY_NAME[name]]
    found = [suite for suite in SUITES if suite.present(folder)]
    if not found:
        raise NotFound(
            f"{folder} holds no question set",
            hint="docs/retrieval.md says where to get each set and how to lay out the folder",
            details={"reason": "no_question_sets", "path": str(folder)},
        )
    return found
