"""Does the commit that decided a rule reach the first request? 28 decisions in a repository of 1,600 commits.

The tree is that of the library boltons, from its source distribution. Its history is generated from what the tree says
itself: entries of its changelog, docstrings of its functions, and the routine that every history has. Among that the
decisions of `sde-bench` are planted at random places, each with the later commit that broke it, and as harder noise the
rules of other tasks. The repository is imported by the command, and then a new session begins for each bug report:
what `codexmem-hook` prints at its start and at its first prompt is read. Strangers' prompts are put to the same store,
and should be given nothing. Neither the set nor the tree is kept here.
"""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench import effect, noise, report, told
from bench.product import EMBEDDERS, Product

PROJECT = "boltons"
COMMITS = 1_600
REACHED, FOREIGN = 25, 0.03  # what is promised: of 28, and at most this share
ENOUGH = 0.5  # of the commit's own wordings: below, it is named and not told
_SEED = 20260101
_BEGAN_S = 1_600_000_000
_APART_S = 90_000
_AUTHORS = (
    "Ada Byron",
    "Bo Lindqvist",
    "Chen Wei",
    "Dana Novak",
    "Emeka Obi",
    "Fatima Zahra",
    "Gil Peretz",
    "Hana Sato",
)
_BREAKS = "It did more than it had to."
_LINK = re.compile(r"\[(`?[^\]]+`?)\](?:\[[^\]]*\]|\([^)]*\))")
_ROUTINE = (
    "fix typo", "Fix typos in docstrings", "wip", "bump version to {n}.{m}.0", "chore: release {n}.{m}.0",
    "Merge branch 'master' into {stem}", "style: run formatter", "lint", "update changelog", "address review comments",
    "tests: more cases for {stem}", "docs: mention {name} in the overview", "Cleanup",
    "chore(deps): bump pytest from {n}.{m} to {n}.{k}",
    "ci: drop end-of-life interpreters", "test: cover {name}", "refactor: shorten {name}", "remove unused imports",
    "minor", "Update README", "flake8", "fix build", "{stem}: tweak", "oops", "more tests",
)  # fmt: skip
_CHANGES = (
    "fix: {name} {flaw}", "feat: let {name} {gain}", "perf: {name} {speed}", "{stem}: {gain} in {name}",
    "Make {name} {gain}", "fix({stem}): {name} {flaw}", "refactor({stem}): split {name}", "Rework {name} (#{pull})",
)  # fmt: skip
_FLAWS = ("fails on empty input", "drops the last item", "returns a generator twice", "mixes bytes and text",
          "ignores its keyword arguments", "raises on negative numbers", "leaks the open file",
          "loses the order")  # fmt: skip
_GAINS = ("accept any iterable", "work on mappings", "keep the order", "take a default", "be pickled", "be subclassed",
          "handle None", "report where it failed")  # fmt: skip
_SPEEDS = ("avoids a second pass", "caches the compiled pattern", "allocates less", "stops at the first match")
_REASONS = (
    "Reported by a downstream user.", "The old form confused new readers of the code.", "This was measured on 3.{n}.",
    "See the test for the exact cases.", "Behaviour for all other inputs is unchanged.", "It was never documented.",
    "A follow-up will remove the alias.", "We keep the name because others import it.",
)  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """A commit to be: message, and the files it changes."""

    message: str
    files: tuple[str, ...]
    author: str


@dataclass(frozen=True)
class HistoryTask:
    """A bug report, the rule it hinges on, and the commit that decided it."""

    key: str
    asked: str
    rule: str
    subject: str
    body: str
    module: str
    cause: str


@dataclass(frozen=True)
class Reached:
    """What one first request held."""

    task: str
    reached: bool  # it tells something that only this commit says
    told: bool  # … and at least half of it
    rule_words: float
    tokens: int
    found: int | None  # its place in a search for the bug report


def read(data: Path) -> tuple[list[HistoryTask], list[dict[str, Any]]]:
    """The tasks whose rule a commit decided, and rules of other tasks."""
    rows = [json.loads(line) for line in (data / "sde-bench" / "tasks.jsonl").read_text().splitlines()]
    tasks = []
    for row in rows:
        if row["source"] == "history":
            # One task gives its rule without the wording of its commit.
            subject = row.get("decision_subject") or f"fix: {row['function']} in {row['module']}"
            body = row.get("decision_rationale") or row["policy"]
            cause = row.get("cause_subject") or f"perf: simplify {Path(row['module']).stem}"
            tasks.append(
                HistoryTask(row["task_id"], row["bug_report"], row["policy"], subject, body, row["module"], cause)
            )
    named = {task.key.split("-")[1] for task in tasks}
    # A twin, which decides the same rule, is no noise.
    others = [row for row in rows if row["source"] != "history" and row["task_id"].split("-")[1] not in named]
    return tasks, others


def source_tree(folder: Path, given: Path | None) -> Path:
    """The tree of the library: from the archive that is given, else from the index of packages."""
    if given is None:
        asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                 "--no-build-isolation", "--dest", str(folder), PROJECT]  # fmt: skip
        subprocess.run(asked, check=True, capture_output=True)
        given = next(folder.glob("*.tar.gz"))
    with tarfile.open(given) as archive:
        archive.extractall(folder / "tree", filter="data")
    return next((folder / "tree").iterdir())


def names_and_docs(tree: Path) -> list[tuple[str, str, str]]:
    """Each function and class of the library: its file, its name and what its docstring says."""
    return [
        (str(path.relative_to(tree)), node.name, text)
        for path in sorted(tree.glob("boltons/*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node))
    ]


def changelog(tree: Path) -> list[str]:
    """The entries of the changelog, without their links."""
    lines = (tree / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if (tree / "CHANGELOG.md").exists() else []
    return [_LINK.sub(r"\1", line[2:].strip()) for line in lines if line.startswith(("- ", "* "))]


def history_of(tree: Path, tasks: Sequence[HistoryTask], others: Sequence[dict[str, Any]], commits: int, seed: int
               ) -> list[Planted]:  # fmt: skip
    """So many commits, the decisions at random places among them and what broke each after it."""
    chance = random.Random(seed)
    material, entries = names_and_docs(tree), changelog(tree)
    chance.shuffle(entries)
    planted = 2 * len(tasks) + len(others)
    past = [_ordinary(chance, material, entries) for _ in range(commits - planted)]
    for row in others:
        subject = f"fix: settle how {row.get('function') or Path(row['module']).stem} behaves"
        past.insert(chance.randrange(len(past)), _by(chance, f"{subject}\n\n{row['policy']}", row["module"]))
    for task in tasks:
        at = chance.randrange(len(past) - 1)
        past.insert(at, _by(chance, f"{task.subject}\n\n{task.body}", task.module))
        past.insert(chance.randrange(at + 1, len(past)), _by(chance, f"{task.cause}\n\n{_BREAKS}", task.module))
    return past


def _ordinary(chance: random.Random, material: Sequence[tuple[str, str, str]], entries: list[str]) -> Planted:
    file, name, doc = chance.choice(material)
    words = {"name": name, "stem": Path(file).stem, "flaw": chance.choice(_FLAWS), "gain": chance.choice(_GAINS),
             "speed": chance.choice(_SPEEDS), "pull": chance.randrange(10, 900), "n": chance.randrange(1, 30),
             "m": chance.randrange(0, 9), "k": chance.randrange(10, 20)}  # fmt: skip
    kind = chance.random()
    if kind < 0.4:
        return _by(chance, chance.choice(_ROUTINE).format(**words), file)
    if kind < 0.55 and entries:
        first, _, rest = entries.pop().partition("; ")
        return _by(chance, f"{first}\n\n{rest}" if rest else first, file)
    subject = chance.choice(_CHANGES).format(**words)
    if kind < 0.65:
        return _by(chance, subject, file)
    said = [part for part in told.sentences(doc) if len(part) > 30 and not part.startswith((">>>", ":", "."))]
    start = chance.randrange(max(1, len(said) - 2))
    reasons = chance.sample([each.format(**words) for each in _REASONS], 2)
    body = " ".join([*said[start : start + chance.randrange(1, 5)], *reasons])
    return _by(chance, f"{subject}\n\n{body}\n\nSigned-off-by: {chance.choice(_AUTHORS)} <dev@example.org>", file)


def _by(chance: random.Random, message: str, file: str) -> Planted:
    return Planted(message, (file,), chance.choice(_AUTHORS))


def build(folder: Path, tree: Path, past: Sequence[Planted]) -> None:
    """Make the repository."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=b"".join(_stream(tree, past)), check=True)


def _stream(tree: Path, past: Sequence[Planted]) -> Iterator[bytes]:
    files = [(str(path.relative_to(tree)), path.read_bytes()) for path in sorted(tree.rglob("*")) if path.is_file()]
    yield _commit("Initial import", "Ada Byron", 0)
    for name, content in files:
        yield b"M 100644 inline %b\ndata %d\n%b\n" % (name.encode(), len(content), content)
    for number, each in enumerate(past, 1):
        yield _commit(each.message, each.author, number)
        for name in each.files:
            content = f"# {number}\n".encode()
            yield b"M 100644 inline %b\ndata %d\n%b\n" % (name.encode(), len(content), content)


def _commit(message: str, author: str, number: int) -> bytes:
    at, said = _BEGAN_S + number * _APART_S, message.encode()
    who = f"{author} <dev@example.org> {at} +0000".encode()
    return b"commit refs/heads/main\nauthor %b\ncommitter %b\ndata %d\n%b\n" % (who, who, len(said), said)


def own_wordings(tasks: Sequence[HistoryTask], past: Sequence[Planted]) -> dict[str, set[told.Shingle]]:
    """For each task what its commit's body says and nothing else does: no other commit and no bug report."""
    counted: Counter[told.Shingle] = Counter()
    for text in (*(each.message for each in past), *(task.asked for task in tasks)):
        counted.update(set(told.shingles(text)))
    return {task.key: {part for part in told.shingles(task.body) if counted[part] == 1} for task in tasks}


def judge(task: HistoryTask, request: str, own: set[told.Shingle], found: int | None) -> Reached:
    """What a first request tells of the deciding commit."""
    said = len(own & set(told.shingles(request))) / max(1, len(own))
    rule = told.rare_words(task.rule, task.asked)
    return Reached(task.key, said > 0, said >= ENOUGH, told.share_said(rule, request), told.tokens(request), found)


def ask(product: Product, tasks: Sequence[HistoryTask], own: dict[str, set[told.Shingle]]) -> Iterator[Reached]:
    """A new session for each bug report, of the same store each time."""
    for task in tasks:
        listed = [each["title"] for each in product.search(PROJECT, task.asked)]
        found = next((at for at, title in enumerate(listed, 1) if title == task.subject[: len(title)]), None)
        session = f"asks-{task.key}"
        start = product.at_start(PROJECT, session)
        prompt = product.at_prompt(PROJECT, session, task.asked)
        product.forget(session)
        yield judge(task, f"{start}\n{prompt}", own[task.key], found)


def strangers(product: Product, data: Path, sample: int | None) -> list[tuple[str, str, bool]]:
    """Who asked what, and whether it was given anything."""
    seen: list[tuple[str, str, bool]] = []
    for query in noise.strangers(data, PROJECT, sample):
        given = product.at_prompt(PROJECT, "stranger", query.text)
        product.forget("stranger")
        seen.append((query.asker, query.text, bool(given)))
    return seen


def import_history(product: Product) -> dict[str, Any]:
    """What the command says of it."""
    asked = [sys.executable, "-m", "codexmem.cli", "--json", "import", "git", product.checkout(PROJECT)]
    done = subprocess.run(asked, env=product.environment, capture_output=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def figures(seen: Sequence[Reached], foreign: Sequence[tuple[str, str, bool]], imported: int, commits: int
            ) -> dict[str, float]:  # fmt: skip
    """What is promised, and around it."""
    counted = [given for asker, _, given in foreign if asker in (noise.STRANGERS[0], noise.STRANGERS[2])]
    return {
        "commits": commits,
        "imported": imported,
        "tasks": len(seen),
        "reached": sum(each.reached for each in seen),
        "told": sum(each.told for each in seen),
        "rule_words": round(fmean(each.rule_words for each in seen), 3),
        "found_first": sum(each.found == 1 for each in seen),
        "tokens": median(each.tokens for each in seen),
        "foreign_prompts": len(counted),
        "foreign_given": round(sum(counted) / max(1, len(counted)), 4),
        "strangers": len(foreign),
        "strangers_given": round(sum(given for *_, given in foreign) / max(1, len(foreign)), 4),
    }


def measure(data: Path, embedder: str, sample: int | None, commits: int, archive: Path | None, seed: int
            ) -> dict[str, Any]:  # fmt: skip
    """One store: imported, asked, and asked by strangers."""
    tasks, others = read(data)
    with tempfile.TemporaryDirectory() as folder, Product.opened(embedder) as product:
        tree = source_tree(Path(folder), archive)
        past = history_of(tree, tasks, others, commits, seed)
        build(Path(product.checkout(PROJECT)), tree, past)
        began = time.monotonic()
        imported = import_history(product)
        effect.progress(f"{embedder}: {imported['rows']:,} commits read in {time.monotonic() - began:,.0f} s")
        now_ms = int(time.time() * 1000)
        # An installation that has seen no session says who writes its memories, to whoever comes first.
        product.report("session-init", "elsewhere", "earlier", now_ms - 86_400_000, "0", prompt="begin")
        product.report("session-complete", "elsewhere", "earlier", now_ms - 86_399_000, "end")
        product.settle()
        seen = list(ask(product, tasks[:sample], own_wordings(tasks, past)))
        effect.progress(f"{embedder}: bug reports are asked after {time.monotonic() - began:,.0f} s")
        foreign = strangers(product, data, sample)
    made = figures(seen, foreign, sum(imported["imported"].values()), imported["rows"])
    return {"figures": made, "tasks": [asdict(each) for each in seen],
            "given": [text for _, text, given in foreign if given]}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = effect.arguments(__doc__, writes=False)
    parser.set_defaults(embedder=None)
    parser.add_argument("--commits", type=int, default=COMMITS, help="length of the history; default: 1600")
    parser.add_argument("--archive", type=Path, default=None, help="source distribution of boltons; else downloaded")
    parser.add_argument("--seed", type=int, default=_SEED, help="of the generated history")
    options = parser.parse_args(argv)
    data, began = effect.data_of(options), time.monotonic()
    document = {
        each: measure(data, each, options.sample, options.commits, options.archive, options.seed)
        for each in ([options.embedder] if options.embedder else EMBEDDERS)
    }
    lines: list[str] = []
    kept = True
    for embedder, found in document.items():
        made = found["figures"]
        kept &= made["reached"] >= REACHED * made["tasks"] / 28 and made["foreign_given"] <= FOREIGN
        lines += [f"embedder {embedder}", report.lines(made)]
        lost = [each for each in found["tasks"] if not each["reached"]]
        lines += [f"  not reached: {each['task']}, found at {each['found']}" for each in lost]
        lines += [f"  given to a stranger: {text[:100]!r}" for text in found["given"]]
    lines.append(f"  {time.monotonic() - began:,.0f} s")
    return report.conclude("git history", document, "\n".join(lines), kept=kept, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
