"""What a number of developers takes, from measured unit costs and assumptions: machines, storage, cells and money.

Nothing is measured here. `docs/scale-costs.json` holds what `just bench-costs` measured, and every assumption with its
source; copy it, change what is otherwise with you, and give it with `--inputs`. `just generated` makes the tables of
`docs/scale.md` from the kept one.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import report

ROOT = Path(__file__).parent.parent
COSTS = ROOT / "docs" / "scale-costs.json"
PAGES = {"en": ROOT / "docs" / "scale.md", "zh": ROOT / "docs" / "scale.zh.md"}
STEPS = (1, 20, 500, 10_000, 100_000, 1_000_000, 10_000_000)
DAY_S, MONTH_HOURS, MONTH_DAYS, GB, TB = 86_400, 730, 30.4, 1e9, 1e12


@dataclass(frozen=True)
class Plan:
    """For one number of developers; cores are those that must be there, machines' sizes are rounded up."""

    developers: int
    events_per_s: float
    peak_events_per_s: float
    server_cores: int
    worker_cores: int
    database_cores: int  # of primaries, all cells
    stored_bytes: float  # on one copy, after the first year
    log_bytes_per_day: float
    cells: int
    machines: int
    dollars: Mapping[str, float]  # for each developer and month

    @property
    def total(self) -> float:
        """All of it, for each developer and month."""
        return sum(self.dollars.values())


def plan(developers: int, measured: Mapping[str, Any], assumed: Mapping[str, float]) -> Plan:
    """One developer has a file and pays for nothing but a model, if he asks one."""
    costs = measured["costs"]
    events, memories, searches = (
        developers * assumed[f"{what}_per_day"] for what in ("events", "memories", "searches")
    )

    def cores(*parts: tuple[float, str, str]) -> float:
        """At the peak, with room left."""
        busy_s: float = sum(count * costs[name][whose] / 1000 for count, name, whose in parts)
        return busy_s / DAY_S * assumed["peak"] / assumed["utilisation"]

    server = cores((events, "event", "process_ms"), (searches, "search", "process_ms"))
    worker = cores((events, "extraction", "process_ms"), (memories, "vector", "process_ms"))
    database = cores(
        (events, "event", "postgres_ms"), (events, "extraction", "postgres_ms"), (memories, "memory", "postgres_ms"),
        (memories, "vector", "postgres_ms"), (searches, "search", "postgres_ms"),
    )  # fmt: skip
    memory_bytes = costs["memory"]["bytes"] + costs["vector"]["bytes"]
    stored = (
        memories * assumed["days_per_year"] * memory_bytes + events * assumed["capture_days"] * costs["event"]["bytes"]
    )
    log = (
        events * (costs["event"]["wal_bytes"] + costs["extraction"]["wal_bytes"])
        + memories * (costs["memory"]["wal_bytes"] + costs["vector"]["wal_bytes"])
        + searches * costs["search"]["wal_bytes"]
    )  # fmt: skip
    alone = developers == 1
    cells = 0 if alone else max(
        1, math.ceil(stored / (assumed["cell_tb"] * TB)), math.ceil(database / assumed["cell_cores"])
    )  # fmt: skip
    each = 0 if alone else max(2, min(int(assumed["cell_cores"]), math.ceil(database / cells)))
    standing = 0 if alone else max(2, math.ceil(server)) + max(2, math.ceil(worker))
    machine_cores = standing + each * cells * assumed["copies"]
    per_machine = assumed["machine_cores"]
    machines = 0 if alone else sum(
        max(2, math.ceil(need / per_machine)) for need in (server, worker)
    ) + int(cells * assumed["copies"])  # fmt: skip
    copies_gb = 0 if alone else stored * assumed["copies"] / assumed["disk_use"] / GB
    backups_gb = 0 if alone else (stored * assumed["full_backups"] + log * assumed["log_days"]) / GB
    asked = events * assumed["questions_per_event"] * MONTH_DAYS
    model = asked * (
        assumed["question_tokens"] * assumed["input_dollars"] + assumed["answer_tokens"] * assumed["output_dollars"]
    ) / 1e6  # fmt: skip
    monthly = {
        "machines": machine_cores * MONTH_HOURS * assumed["core_hour_dollars"],
        "disks": copies_gb * assumed["disk_gb_dollars"],
        "backups": backups_gb * assumed["object_gb_dollars"],
        "model": model,
    }
    return Plan(
        developers, events / DAY_S, events / DAY_S * assumed["peak"], 0 if alone else max(2, math.ceil(server)),
        0 if alone else max(2, math.ceil(worker)), each * cells, stored, log, cells, machines,
        {name: value / developers for name, value in monthly.items()},
    )  # fmt: skip


def rate(value: float) -> str:
    """A number of events a second as people read it."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def size(value: float) -> str:
    """Bytes as people read them."""
    for unit, bytes_ in (("PB", 1e15), ("TB", TB), ("GB", GB), ("MB", 1e6), ("kB", 1e3)):
        if value >= bytes_:
            return f"{value / bytes_:.3g} {unit}"
    return f"{value:.0f} B"


def tables(inputs: Mapping[str, Any], language: str) -> dict[str, list[Sequence[str]]]:
    """The rows of the page's tables, by name; their heads stand in the page."""
    assumed = {name: each["value"] for name, each in inputs["assumed"].items()}
    plans = [plan(number, inputs["measured"], assumed) for number in STEPS]
    return {
        "costs": [
            (inputs["names"][name][language], f"{each['process_ms']:g}", f"{each['postgres_ms']:g}",
             *(f"{each[what]:,}" for what in ("bytes", "wal_bytes")))
            for name, each in inputs["measured"]["costs"].items()
        ],
        "plan": [
            (f"{each.developers:,}", f"{rate(each.events_per_s)} / {rate(each.peak_events_per_s)}",
             *(f"{count:,}" if each.cells else "-" for count in (
                 each.server_cores, each.worker_cores, each.database_cores, each.cells, each.machines)),
             size(each.stored_bytes), size(each.log_bytes_per_day))
            for each in plans
        ],
        "money": [
            (f"{each.developers:,}", *(f"${each.dollars[part]:.2f}" for part in ("machines", "disks", "backups")),
             f"${each.total - each.dollars['model']:.2f}", f"${each.dollars['model']:.2f}", f"${each.total:.2f}")
            for each in plans
        ],
        "inputs": [
            (each[language], f"{each['value']:g}", each["source" if language == "en" else "source_zh"])
            for each in inputs["assumed"].values()
        ],
    }  # fmt: skip


def filled(page: str, made: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The page with these rows below the heads that stand between its marks."""
    for name, rows in made.items():
        before, begin, rest = page.partition(f"<!-- {name}: begin -->\n")
        table, end, after = rest.partition(f"<!-- {name}: end -->")
        if not begin or not end:
            raise SystemExit(f"the page has no place for the table {name}")
        lines = [*table.splitlines()[:2], *(f"| {' | '.join(row)} |" for row in rows), ""]
        page = before + begin + "\n".join(lines) + end + after
    return page


def documents() -> dict[Path, str]:
    """What the page and its twin should be."""
    inputs = json.loads(COSTS.read_text())
    return {page: filled(page.read_text(), tables(inputs, language)) for language, page in PAGES.items()}


def main(argv: list[str] | None = None) -> int:
    """Print the plan."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--inputs", type=Path, default=COSTS, help="measured unit costs and assumptions")
    given = parser.parse_args(argv)
    inputs = json.loads(given.inputs.read_text())
    page = filled(PAGES["en"].read_text(), tables(inputs, "en"))
    text = "\n\n".join(
        page.partition(f"<!-- {name}: begin -->\n")[2].partition("<!--")[0].rstrip() for name in ("plan", "money")
    )
    return report.conclude("growth", inputs, text, kept=True, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
