"""Are memories marked whose files have changed, and no others? Sessions at one release of a package, asked at the next.

Both releases are wheels that pip downloads (or that lie in `--data`), committed one after the other into a repository.
At the first, sessions read and edit files at random: every tool call goes through the hook's own code, capture and the
rules. Then the second is checked out, and what git itself says of each file is held against each memory's verdict. An
edit makes a file what it is in the second release, or something of its own, so that both ends are met.

What it costs is measured on the same store, which is small, so that a search is as quick as it gets: each query with
and without a look at the checkout, in turn.
"""

from __future__ import annotations

import random
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from bench import report
from bench.stores import folder, stores
from codexmem.capture.wire import ObservationRequest
from codexmem.hook.events import body_of
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.opening import open_database
from codexmem.recall.context import ContextRequest
from codexmem.recall.lookup import Lookup
from codexmem.recall.staleness import STALE, CheckoutFiles, Comparison, FileFreshness, Staleness
from codexmem.recall.wire import index_text
from codexmem.recall.wire.requests import SearchRequest
from tests._support import capturing
from tests._support.capturing import Capturing

PROJECT = "demo"
MARKED, FALSELY, COST = 0.99, 0.01, 1.10  # what is promised
_KINDS = (Kind.OBSERVATION, Kind.SUMMARY)
_EDITED = 0.3  # of the turns
_DROPPED = 0.1  # of the turns that read, that read only files which the next release has elsewhere or nowhere
_TEXTS = (".py", ".txt", ".html", ".js", ".css", ".po", "LICENSE", "METADATA")
_LANDED = 0.3  # of the edits, that are what the next release has
_GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/local/bin:/usr/bin:/bin"}
_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")


@dataclass(frozen=True)
class Tree:
    """A repository with two releases in it."""

    path: Path

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *_WHO, *words], cwd=self.path, env=_GIT, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def blobs(self, release: str) -> dict[str, str]:
        """What git keeps of each file in a release."""
        lines = self.git("-c", "core.quotePath=false", "ls-tree", "-r", release).splitlines()
        return {path: about.split()[2] for about, _, path in (line.partition("\t") for line in lines)}

    def commit(self, wheels: Sequence[Path], release: str) -> None:
        """The contents of these wheels, and nothing else, as a commit."""
        for name in self.git("ls-files").splitlines():
            (self.path / name).unlink()
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(self.path)
        self.git("add", "-A")
        self.git("commit", "-qm", release)
        self.git("tag", release)


def fetched(wanted: Sequence[str], into: Path) -> list[Path]:
    """Wheels of these releases."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(into)]
    subprocess.run([*command, *wanted], check=True, capture_output=True)
    return sorted(into.glob("*.whl"))


def _told(here: Capturing, tree: Tree, session: str, tool: str, given: dict[str, Any], call: str) -> None:
    """One tool call, as the hook sends it and the server takes it."""
    record = {
        "contentSessionId": session, "cwd": str(tree.path), "tool_name": tool, "tool_input": given,
        "tool_response": "ok", "tool_use_id": call, "project": PROJECT,
    }  # fmt: skip
    body = body_of("observation", record, ())
    assert body is not None
    here.intake.observe(ObservationRequest.model_validate({**body, "project": PROJECT}).to_report())


def work(here: Capturing, tree: Tree, turns: int, chance: random.Random) -> dict[str, str]:
    """Sessions of turns that read or edit files; the content that git saw of each file that a turn was about."""
    later = tree.blobs("after")
    files = [name for name in tree.blobs("before") if name.endswith(_TEXTS) and (tree.path / name).stat().st_size > 200]
    dropped = [name for name in files if name not in later]
    progress = report.Progress("sessions")
    contents: dict[str, str] = {}
    edited: set[str] = set()
    for number in range(turns):
        session = f"s{number // 8}"
        here.say(f"look into part {number} of {chance.choice(files)}", session=session)
        if chance.random() < _EDITED:
            # What an earlier turn read had another content: there would be two truths about one file.
            name = chance.choice([each for each in files if each not in contents])
            edited.add(name)
            path = tree.path / name
            if name in later and chance.random() < _LANDED:
                tree.git("checkout", "-q", "after", "--", name)
            else:
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"\n# step {number}\nSTEP_{number} = {number}\n")
            given = {
                "file_path": str(path),
                "old_string": "x",
                "new_string": f"# step {number}\nSTEP_{number} = {number}",
            }
            _told(here, tree, session, "Edit", given, f"e{number}")
            touched = [name]
        else:
            among = dropped if chance.random() < _DROPPED else files
            touched = chance.sample([each for each in among if each not in edited], chance.randint(1, 3))
            for place, name in enumerate(touched):
                given = {"file_path": str(tree.path / name)}
                if chance.random() < 0.3:
                    given |= {"offset": 10, "limit": 40}  # type: ignore[dict-item]
                _told(here, tree, session, "Read", given, f"r{number}-{place}")
        for name in touched:
            contents.setdefault(name, tree.git("hash-object", name))
        here.intake.summarize(HookReport(session, message=f"Part {number} is in {', '.join(touched)}."))
        here.run(all_of_them=True)
        progress.tell(f"{number + 1} of {turns} turns")
    progress.close()
    return contents


def truth(memory: Memory, tree: dict[str, str], seen: dict[str, str]) -> FileFreshness:
    """What git says became of the files of a memory: of those that were changed or, without any, read."""
    attrs = memory.state.attrs
    assert isinstance(attrs, ObservationAttrs | SummaryAttrs)
    files = attrs.files_modified or attrs.files_read
    if not files or any(name not in seen for name in files):
        return FileFreshness.UNKNOWN
    kept = frozenset(tree.values())
    states = {
        FileFreshness.UNCHANGED if tree.get(name) == seen[name]
        else FileFreshness.CHANGED if name in tree
        else FileFreshness.MOVED if seen[name] in kept
        else FileFreshness.GONE
        for name in files
    }  # fmt: skip
    if states == {FileFreshness.GONE}:
        return FileFreshness.GONE
    return (
        FileFreshness.CHANGED
        if states & {FileFreshness.CHANGED, FileFreshness.GONE}
        else max(states, key=list(FileFreshness).index)
    )


def judged(here: Capturing, tree: Tree, seen: dict[str, str]) -> Counter[tuple[FileFreshness, FileFreshness]]:
    """How many memories are what, by git and by us."""
    checkout = CheckoutFiles.around(str(tree.path), PROJECT, bounded=False)
    assert checkout is not None
    now = tree.blobs("after")
    memories = [memory for kind in _KINDS for memory in _all(here, kind)]
    return Counter((truth(memory, now, seen), checkout.verdict(memory).freshness) for memory in memories)


def _all(here: Capturing, kind: Kind) -> Iterator[Memory]:
    from codexmem.kernel.model.query import Filter, PageRequest

    after = None
    while True:
        page = here.base.memories.page(Filter(frozenset({kind}), project=PROJECT), PageRequest(500, after))
        yield from page.items
        if (after := page.after) is None:
            return


def cost(here: Capturing, tree: Tree, queries: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each query, alone and with a look at the checkout; and of the context for a prompt.

    SQLite works in this thread, so its time is counted in CPU, which other work on the machine does not change.
    """
    now = thread_time if here.db.engine.name == "sqlite" else perf_counter
    lookup = Lookup(here.base.memories, Labels(here.db), here.base.recall.search)
    staleness = Staleness()
    found: dict[str, list[float]] = {name: [] for name in ("search", "marked", "prompt", "compared")}

    def timed(name: str, query: str) -> None:
        began = now()
        if name in {"search", "marked"}:
            request = SearchRequest.model_validate({"query": query, "project": PROJECT})
            rows, passages = index_text.find(lookup, request, 1_500)
            compared = staleness.of(str(tree.path), PROJECT) if name == "marked" else Comparison()
            "\n\n".join((index_text.index(rows, query, compared.marks(rows.memories)), *passages))
        else:
            cwd = str(tree.path) if name == "compared" else ""
            here.context.preview(ContextRequest(PROJECT, query, cwd=cwd))
        found[name].append((now() - began) * 1000)

    for number, query in enumerate(queries):
        for name in found if number % 2 else reversed(found):
            timed(name, query)
    return found


def measure(engine: str, tree: Tree, options: Any, seed: int) -> tuple[dict[str, Any], bool]:
    """The figures on one engine."""
    chance = random.Random(seed)
    tree.git("checkout", "-qf", "before")
    with stores(engine, durable=False) as made:
        db = open_database(made.fresh())
        try:
            with acting_as("local"):
                here = capturing.build(db)
                seen = work(here, tree, options.turns, chance)
                tree.git("checkout", "-qf", "after")
                counted = judged(here, tree, seen)
                named = sorted(seen)
                queries = [f"part of {chance.choice(named)} {number}" for number in range(options.queries)]
                times = cost(here, tree, queries)
        finally:
            db.close()
    changed = {pair: count for pair, count in counted.items() if pair[0] in {FileFreshness.CHANGED, FileFreshness.GONE}}
    same = {pair: count for pair, count in counted.items() if pair[0] in {FileFreshness.UNCHANGED, FileFreshness.MOVED}}
    gone = sum(count for pair, count in counted.items() if pair[0] is FileFreshness.GONE)
    withheld = counted[FileFreshness.GONE, FileFreshness.GONE]
    marked = sum(count for pair, count in changed.items() if pair[1] in STALE) / max(1, sum(changed.values()))
    falsely = sum(count for pair, count in same.items() if pair[1] in STALE) / max(1, sum(same.values()))
    extra = median(with_ - bare for with_, bare in zip(times["marked"], times["search"], strict=True))
    ratio = 1 + extra / median(times["search"])
    moved = sum(count for pair, count in counted.items() if pair[0] is FileFreshness.MOVED)
    figures = {
        "memories": counted.total(), "changed": sum(changed.values()), "marked": marked,
        "of_them_nearby": sum(count for pair, count in changed.items() if pair[1] is FileFreshness.NEARBY),
        "unchanged": sum(same.values()), "falsely_marked": falsely, "gone": gone, "withheld": withheld,
        "moved": moved, "found_again": counted[FileFreshness.MOVED, FileFreshness.MOVED],
        "without_files": sum(count for pair, count in counted.items() if pair[0] is FileFreshness.UNKNOWN),
        "search_ms": median(times["search"]), "with_marks_ms": median(times["marked"]), "times": ratio,
        "prompt_ms": median(times["prompt"]), "prompt_compared_ms": median(times["compared"]),
    }  # fmt: skip
    return figures, marked >= MARKED and falsely <= FALSELY and ratio <= COST and withheld == gone


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--before", nargs="+", default=["django==3.2", "boltons==21.0.0"])
    parser.add_argument("--after", nargs="+", default=["django==4.2", "boltons==24.0.0"])
    parser.add_argument("--data", type=Path, help="a folder with wheels in before/ and after/, instead of downloading")
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    figures: dict[str, Any] = {}
    good = True
    with folder(durable=False) as home:
        tree = Tree(home / PROJECT)
        tree.path.mkdir()
        tree.git("init", "-q", "-b", "main")
        for release, wanted in (("before", options.before), ("after", options.after)):
            place = options.data / release if options.data else home / release
            wheels = sorted(place.glob("*.whl")) if options.data else fetched(wanted, place)
            tree.commit(wheels, release)
        for engine in report.chosen_engines(options.engine):
            figures[engine], kept = measure(engine, tree, options, seed)
            good = good and kept
    text = f"seed {seed}, {options.turns} turns\n" + "\n".join(
        f"{engine}\n{report.lines(found)}" for engine, found in figures.items()
    )
    return report.conclude("staleness", {"seed": seed, "turns": options.turns, **figures}, text, kept=good,
                           as_json=options.json)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
