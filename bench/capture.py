"""How fast events are captured: the whole intake with its job, durable, beside nothing else.

Sixteen threads report as so many sessions do: a prompt, then tool events of 2 kB. No worker runs, so that the figure is
that of taking in, not of extracting; how it falls as the store grows is told by running it on and on.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable

from bench import report
from bench.stores import stores
from bench.writes import Contender, turn, wired
from codexmem.app import Core
from codexmem.kernel.model.capture import HookReport, Queued
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as

SESSIONS = 16
_WORDS = ("def", "return", "import", "error", "修复", "登录", "测试", "token", "expiry", "src/auth.py", "8123")


def reporter(core: Core, session: str, chance: random.Random) -> Callable[[], None]:
    """A session that reports one tool event at each call, and a prompt now and then."""
    numbers = itertools.count(1)
    output = " ".join(chance.choice(_WORDS) for _ in range(300))

    def send() -> None:
        number = next(numbers)
        if number % 20 == 1:
            core.intake.init(HookReport(session, project="bench", prompt=f"step {number}: go on 继续"))
        told = HookReport(
            session, project="bench", tool="Bash", input={"command": f"make {number}"}, response=output,
            call=f"call-{number}",
        )  # fmt: skip
        assert core.intake.observe(told) == Queued()

    return send


def main(argv: list[str] | None = None) -> int:
    """Measure and print."""
    parser = report.arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each round lasts")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(argv)
    seed = report.chosen_seed(given.seed)
    rates: dict[str, list[int]] = {}
    rows = []
    for engine in report.chosen_engines(given.engine):
        with stores(engine, durable=True) as made, wired(made) as core, acting_as(LOCAL):
            chance = random.Random(seed)
            writers = [reporter(core, f"session-{number}", chance) for number in range(SESSIONS)]
            rounds = [turn(Contender("intake", writers), given.seconds) for _ in range(given.rounds)]
        rates[engine] = [round(each.rate) for each in rounds]
        rows += [[engine, number, round(each.rate), each.cpu] for number, each in enumerate(rounds, 1)]
    text = report.table(["engine", "round", "events/s", "CPU"], rows)
    document = {"seed": seed, "events_per_s": rates}
    return report.conclude("capture", document, text, kept=all(map(all, rates.values())), as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
