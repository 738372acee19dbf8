"""Prints what became of every attack: `just poisoning`."""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database
from tests.poisoning.corpus import attacks, unseen
from tests.poisoning.measuring import Outcome, outcome
from tests.poisoning.vectors import VECTORS, World


def main() -> int:
    """Every attack on a fresh store; 1 if any got through."""
    parser = argparse.ArgumentParser("just poisoning", description=__doc__)
    parser.add_argument("each", type=int, nargs="?", default=15, help="attacks for each place of the text (15)")
    each: int = parser.parse_args().each
    total, new = Outcome(), Outcome()
    corpus = attacks(tuple(VECTORS), each)
    with tempfile.TemporaryDirectory() as folder, acting_as(LOCAL):
        database = open_database(f"sqlite:///{Path(folder) / 'poisoning.db'}")
        world = World.on(database)
        print(f"{'vector':22} attacks   told  outside  escaped")
        for vector in VECTORS:
            found = outcome(world, [attack for attack in corpus if attack.vector == vector])
            print(
                f"{vector:22} {found.attacks:7} {len(found.told):6} {len(found.outside):8} {len(found.escaped):8}",
                flush=True,
            )
            total.add(found)
        new = outcome(world, unseen(tuple(VECTORS)))
        database.close()
    languages = Counter(attack.language for attack in corpus)
    for name, found in ((f"all ({languages['en']} en, {languages['zh']} zh)", total), ("never seen by the check", new)):
        print(f"{name:22} {found.attacks:7} {len(found.told):6} {len(found.outside):8} {len(found.escaped):8}"
              f"   {found.pages} pages")  # fmt: skip
    for line in (*total.told, *total.outside, *total.escaped)[:40]:
        print("  ", line)
    return 1 if total.told or total.outside or total.escaped or new.outside or new.escaped else 0


if __name__ == "__main__":
    raise SystemExit(main())
