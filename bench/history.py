"""Random lives of memories against the plain model, for as long as one likes.

The gate plays the same few hundred sequences each time; here every chunk has a fresh seed, printed when it fails. This
tests what the service means, not what survives a power cut, so the stores lie on the fastest storage there is.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any

import hypothesis
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

from bench import report
from bench.stores import stores
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.opening import open_database
from tests._support.history_machine import machine_for

MachineFor = Callable[[Database, str], type[RuleBasedStateMachine]]
CHUNK = 250  # sequences per store and seed: small enough to repeat, large enough to amortise the store
TIMED_CHUNK = 25  # where a run ends at a time: those under way are played to their end


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """What one store and one seed gave."""

    seed: int
    sequences: int
    steps: int
    failure: str | None = None  # the sequence that reproduces it, shortened


def play(url: str, seed: int, sequences: int, steps: int, shrink: bool = True, make: MachineFor = machine_for) -> Chunk:
    """Play so many sequences on the store; the first disagreement ends the chunk."""
    db = open_database(url, pool_size=2)
    machine: Any = make(db, f"soak-{seed}")
    counts = {"sequences": 0, "checks": 0}

    class Counted(machine):  # type: ignore[misc]
        @invariant()
        def counted(self) -> None:
            counts["checks"] += 1

        def teardown(self) -> None:
            counts["sequences"] += 1
            super().teardown()

    seeded: type[RuleBasedStateMachine] = hypothesis.seed(seed)(Counted)
    phases = [hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrink else [])]
    settings = hypothesis.settings(
        max_examples=sequences, stateful_step_count=steps, derandomize=False, database=None, deadline=None,
        phases=phases, print_blob=False, suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    failure = None
    try:
        run_state_machine_as_test(seeded, settings=settings)
    except Exception as error:
        failure = "".join(traceback.format_exception(error))
    finally:
        db.close()
    # Every sequence is checked once before its first step.
    return Chunk(seed, counts["sequences"], counts["checks"] - counts["sequences"], failure)


def soak(
    engine: str,
    *,
    sequences: int,
    steps: int,
    seed: int,
    jobs: int,
    make: MachineFor = machine_for,
    label: str = "history",
    minutes: float | None = None,
) -> dict[str, Any]:
    """Play until the number is reached, the time is over or a counter-example is found."""
    seeds = random.Random(f"{engine} {seed}")
    progress = report.Progress(f"{label} {engine}")
    began = time.monotonic()
    until = began + minutes * 60 if minutes is not None else float("inf")
    chunk = CHUNK if minutes is None else TIMED_CHUNK
    done: list[Chunk] = []
    with stores(engine, durable=False) as made, _pool(jobs) as pool:
        running: dict[Future[Chunk], str] = {}
        asked = 0

        def goes_on() -> bool:
            return asked < sequences and time.monotonic() < until and not _failures(done)

        while goes_on() or running:
            while len(running) < jobs and goes_on():
                size = min(chunk, sequences - asked)
                asked += size
                url = made.fresh()
                running[pool.submit(play, url, seeds.randrange(1 << 32), size, steps, True, make)] = url
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                done.append(future.result())
                made.discard(running.pop(future))
            played = sum(chunk.sequences for chunk in done)
            progress.tell(f"{played:,} of {sequences:,} sequences, {time.monotonic() - began:.0f} s")
    progress.close()
    seconds = time.monotonic() - began
    played = sum(chunk.sequences for chunk in done)
    return {
        "sequences": played,
        "steps": sum(chunk.steps for chunk in done),
        "counter_examples": len(_failures(done)),
        "seconds": round(seconds, 1),
        "sequences_per_second": round(played / seconds, 1),
        "failures": [{"seed": chunk.seed, "sequence": chunk.failure} for chunk in _failures(done)],
    }


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))


def _failures(done: Sequence[Chunk]) -> list[Chunk]:
    return [chunk for chunk in done if chunk.failure is not None]


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    return run("history", __doc__, argv, machine_for)


def run(label: str, description: str | None, argv: Sequence[str] | None, make: MachineFor, *,
        sequences: int = 20_000, steps: int = 30) -> int:  # fmt: skip
    """Play on every engine that was asked for, and report."""
    parser = report.arguments(description)
    parser.add_argument("--sequences", type=int, default=sequences, help="per engine")
    parser.add_argument("--steps", type=int, default=steps, help="at most so many steps per sequence")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="processes that play at once")
    parser.add_argument("--minutes", type=float, help="per engine; begin nothing new after that")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {
        engine: soak(
            engine,
            sequences=options.sequences,
            steps=options.steps,
            seed=seed,
            jobs=options.jobs,
            make=make,
            label=label,
            minutes=options.minutes,
        )
        for engine in report.chosen_engines(options.engine)
    }
    text = "\n".join(
        f"{engine}, seed {seed}\n"
        + report.lines({name: value for name, value in figures.items() if name != "failures"})
        + "".join(f"\n  chunk seed {each['seed']}:\n{each['sequence']}" for each in figures["failures"])
        for engine, figures in results.items()
    )
    kept = all(not figures["failures"] and figures["sequences"] >= options.sequences for figures in results.values())
    return report.conclude(label, {"seed": seed, "engines": results}, text, kept=kept, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
