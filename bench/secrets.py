"""How well secrets are masked: recall by provider and context, false alarms on ordinary lines, time on hostile texts.

Each figure stands beside that of Kingfisher on the same texts. A secret counts as found if no eight characters in a
row of its random part are left; a line counts as a false alarm if anything in it changes. Times are processor time of
this thread without the garbage collector, the best of several, because others may use the machine.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import ordinary_lines, report
from bench.hostile_texts import FAMILIES, SIZE, text_of
from codexmem.codecli.redactor import Patterns
from codexmem.kernel.model.redaction import SECRETS, redact
from tests.domain.secrets_made_up import CONTEXTS, LABEL_CONTEXTS, LABELLED, SHAPES, made

# How the standard library takes a pattern apart; it has no types and no promise.
constants, syntax = (importlib.import_module(f"re.{name}") for name in ("_constants", "_parser"))
RECALL, LABELLED_RECALL, FALSE_ALARMS, SLOWEST_MS, RATIO = 0.99, 0.90, 0.005, 50.0, 2.5
Masks = Callable[..., str]
# Patterns on which other engines take time that grows with the square of the text or faster.
BAD_PATTERNS = (r"(x+x+)+y", r"(a|aa)+$", r"(a*)*b", r"a.*b|a", r".{1,200}z", r"(.*a){20}", r"([a-z]+)*\d", r"^(a+)+$",
                r"\w+@\w+\.\w+", r"(?:.*){1,30}x")  # fmt: skip
PATTERN_UNITS = ("a", "x", "ab ", "aaaaa!", "中", "a\n", "a@", "0")


@dataclass
class Found:
    """What a scanner masked of the secrets it was shown."""

    shown: int = 0
    missed: Counter[tuple[str, str]] = field(default_factory=Counter)  # by format and context

    @property
    def recall(self) -> float:
        """The share that it found."""
        return 1 - sum(self.missed.values()) / max(1, self.shown)


def recall(masks: dict[str, Masks], seed: int, samples: int) -> dict[str, Found]:
    """Every provider's format in every context, so many times, by every scanner."""
    found = {name: Found() for name in masks}
    for _, shape in SHAPES:
        chance = random.Random(f"{seed} {shape}")
        for context, write in CONTEXTS.items():
            for _ in range(samples):
                secret = made(shape, chance)
                _show(masks, found, secret.is_left_in, write(secret.text), (_short(shape), context))
    return found


def labelled_recall(masks: dict[str, Masks], seed: int, samples: int) -> dict[str, Found]:
    """Keys without a form of their own, behind labels."""
    found = {name: Found() for name in masks}
    for label, shape in LABELLED:
        chance = random.Random(f"{seed} {label}")
        for context, write in LABEL_CONTEXTS.items():
            for _ in range(samples):
                secret = made(shape, chance)
                _show(masks, found, secret.is_left_in, write(label, secret.text), (label, context))
    return found


def _show(
    masks: dict[str, Masks], found: dict[str, Found], left: Callable[[str], bool], text: str, where: tuple[str, str]
) -> None:
    for name, mask in masks.items():
        found[name].shown += 1
        if left(mask(text)):
            found[name].missed[where] += 1


def _short(shape: str) -> str:
    return shape.replace("\n", " ")[:48]


def alarms(masks: dict[str, Masks], lines: Sequence[str]) -> dict[str, list[str]]:
    """The ordinary lines in which each scanner finds something."""
    return {name: [line for line in lines if mask(line) != line] for name, mask in masks.items()}


@dataclass
class Examples:
    """What was masked of the examples in somebody else's rules."""

    counted: int = 0
    masked: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # of rules that are not counted, by the reason


_NO_SECRET = re.compile(
    r"\b(?:id|domain|subdomain|url|host|email|username|org(?:anization)? name|account name|public|recipient|"
    r"publishable)\b",
    re.IGNORECASE,
)
_LABELS = re.compile("secret|private|access|key|token|passw|api", re.IGNORECASE)


def examples(masks: dict[str, Masks], folder: Path) -> Examples:
    """Kingfisher's rules as it writes them: those of a token with a fixed beginning, or with a label before the token.

    An example counts as masked if anything in it is. What is no secret, and what has neither, is counted apart.
    """
    import yaml  # type: ignore[import-untyped]

    found = Examples()
    for path in sorted(folder.rglob("*.yml")):
        for rule in yaml.safe_load(path.read_text("utf-8"))["rules"]:
            texts = [str(each) for each in rule.get("examples") or []]
            before, beginning = _form(rule["pattern"])
            if _NO_SECRET.search(rule["name"]):
                found.left_out["no secret"] += len(texts)
            elif not _LABELS.search(before) and (len(beginning) < 3 or beginning.startswith("http")):
                found.left_out["neither a beginning nor a label"] += len(texts)
            else:
                found.counted += len(texts)
                for name, mask in masks.items():
                    found.masked[name] += sum(mask(text) != text for text in texts)
                found.missed += [f"{rule['id']} {text!r}" for text in texts if masks["codexmem"](text) == text]
    return found


def _form(pattern: str) -> tuple[str, str]:
    """What a pattern wants before its group, and the literal characters with which the group begins."""
    flags = re.match(r"\s*\(\?([imsx]+)\)", pattern)
    bare = re.sub(r"\(\?[imsx]+\)", "", pattern).replace(r"\z", r"\Z").replace("[:alnum:]", "A-Za-z0-9")
    bare = re.sub(r"\(\?<([A-Z_]+)>", r"(?P<\1>", bare)
    said = functools.reduce(lambda flag, each: flag | re.RegexFlag[each.upper()], flags[1] if flags else "", re.NOFLAG)
    tree = syntax.parse(bare, said)
    before: list[str] = []
    group = _group(tree, before)
    beginning = ""
    for code, value in tree if group is None else group:
        if code is not constants.AT and code is not constants.LITERAL:
            break
        beginning += chr(value) if code is constants.LITERAL else ""
    return ("" if group is None else "".join(before)), beginning


def _group(tree: Any, before: list[str]) -> Any:
    for code, value in tree:
        if code is constants.SUBPATTERN:
            if value[0]:
                return value[3]
            if (found := _group(value[3], before)) is not None:
                return found
        elif code is constants.BRANCH:
            before += ["".join(chr(each) for kind, each in way if kind is constants.LITERAL) + " " for way in value[1]]
        elif code is constants.LITERAL:
            before.append(chr(value))
        else:
            before.append(" ")
    return None


@dataclass(frozen=True)
class Timed:
    """One hostile text."""

    family: str
    unit: str
    ms: float  # for SIZE characters
    ratio: float  # to half of them


def hostile(
    families: dict[str, list[str]], rounds: int, *, slowest_ms: float = SLOWEST_MS, steepest: float = RATIO
) -> list[Timed]:
    """Every unit of every family, repeated to SIZE characters; again what looks worse than these limits."""
    timed = []
    for family, units in families.items():
        run = functools.partial(redact, level="strict" if family == "personal" else SECRETS)
        timed += [_timed(family, unit, run, rounds, slowest_ms=slowest_ms, steepest=steepest) for unit in units]
    return timed


def hostile_patterns(rounds: int) -> list[Timed]:
    """The same for patterns that somebody configures."""
    made = [(written, Patterns([written]).redact) for written in BAD_PATTERNS]
    return [
        _timed("patterns", f"{written} on {unit!r}", run, rounds, text_of(unit))
        for written, run in made
        for unit in PATTERN_UNITS
    ]


def _timed(family: str, unit: str, run: Callable[[str], Any], rounds: int, text: str | None = None, *,
           slowest_ms: float = SLOWEST_MS, steepest: float = RATIO) -> Timed:  # fmt: skip
    whole = text_of(unit) if text is None else text
    best, half = 1e9, 1e9
    # Once more if it looks bad, because others use the machine too: only what stays bad is.
    for count in range(rounds * 12):
        best, half = min(best, _ms(run, whole)), min(half, _ms(run, whole[: SIZE // 2]))
        if count + 1 >= rounds and best <= slowest_ms and (best < 4 or best / half <= steepest):
            break
    return Timed(family, unit, best, best / half if best >= 4 else 1.0)


def _ms(run: Callable[[str], Any], text: str) -> float:
    gc.disable()  # it would go through the memory of the whole process, as often as chance has it
    try:
        began = time.thread_time()
        run(text)
        return (time.thread_time() - began) * 1000
    finally:
        gc.enable()


class Oracle:
    """Kingfisher with its rules as they come."""

    def __init__(self) -> None:
        from kingfisher_sdk import Scanner

        self._scanner = Scanner()

    def __call__(self, text: str) -> str:
        """The text without what it reports."""
        text = text.replace("\0", "")
        for found in self._scanner.scan(text):
            text = text.replace(found.secret, "[found]") if found.visible and found.secret else text
        return text


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--samples", type=int, default=5, help="secrets of each format in each context")
    parser.add_argument("--lines", type=int, default=50_000, help="ordinary lines; a fifth of them are logs")
    parser.add_argument("--rounds", type=int, default=3, help="how often each hostile text is timed at least")
    parser.add_argument("--misses", type=int, default=40, help="how many misses and false alarms are listed")
    parser.add_argument("--without-oracle", action="store_true", help="do not run Kingfisher")
    parser.add_argument(
        "--examples", type=Path, metavar="FOLDER", help="rules of Kingfisher, to measure on their examples"
    )
    options = parser.parse_args(argv)
    seed = options.seed if options.seed is not None else 20261115
    masks: dict[str, Masks] = {"codexmem": redact}
    if not options.without_oracle:
        masks["Kingfisher"] = Oracle()
    return _measured(options, seed, masks)


def _measured(options: argparse.Namespace, seed: int, masks: dict[str, Masks]) -> int:
    by_format = recall(masks, seed, options.samples)
    by_label = labelled_recall(masks, seed, options.samples)
    lines, given = ordinary_lines.code(options.lines * 4 // 5, seed)
    logs = ordinary_lines.logs(options.lines // 5, seed)
    in_code, in_logs = alarms(masks, lines), alarms(masks, logs)
    alarmed = {name: [*in_code[name], *in_logs[name]] for name in masks}
    count = len(lines) + len(logs)
    timed = [*hostile(FAMILIES, options.rounds), *hostile_patterns(options.rounds)]
    slowest, steepest = max(timed, key=lambda each: each.ms), max(timed, key=lambda each: each.ratio)
    mine = by_format["codexmem"]
    kept = (
        mine.recall >= RECALL
        and by_label["codexmem"].recall >= LABELLED_RECALL
        and len(alarmed["codexmem"]) <= FALSE_ALARMS * count
        and slowest.ms <= SLOWEST_MS
        and steepest.ratio <= RATIO
    )
    figures = {
        "seed": seed,
        "formats": len(SHAPES),
        "providers": len({kind for kind, _ in SHAPES}),
        "contexts": len(CONTEXTS),
        "recall": {name: each.recall for name, each in by_format.items()},
        "labelled_recall": {name: each.recall for name, each in by_label.items()},
        "only": _only(by_format),
        "lines": {**given, "logs": len(logs)},
        "false_alarms": {name: len(each) for name, each in alarmed.items()},
        "hostile": {"texts": len(timed), "slowest_ms": slowest.ms, "steepest": steepest.ratio},
    }
    text = _text(figures, by_format, by_label, alarmed, timed, count, options.misses)
    if options.examples:
        theirs = examples(masks, options.examples)
        figures["examples"] = {"counted": theirs.counted, "masked": theirs.masked, "left_out": theirs.left_out}
        shares = ", ".join(f"{name} {count / max(1, theirs.counted):.2%}" for name, count in theirs.masked.items())
        said = ", ".join(f"{count} {reason}" for reason, count in theirs.left_out.items())
        text += f"\nexamples of Kingfisher's rules: {theirs.counted} counted, {shares}; left out: {said}\n"
        text += "".join(f"  {each[:110]}\n" for each in theirs.missed[: options.misses])
    return report.conclude("secrets", figures, text, kept=kept, as_json=options.json)


def _only(found: dict[str, Found]) -> dict[str, int]:
    """In how many formats and contexts only one of the two found everything."""
    names = list(found)
    if len(names) < 2:
        return {}
    ours, theirs = (set(found[name].missed) for name in names)
    return {names[0]: len(theirs - ours), names[1]: len(ours - theirs)}


def _text(
    figures: dict[str, Any],
    by_format: dict[str, Found],
    by_label: dict[str, Found],
    alarmed: dict[str, list[str]],
    timed: list[Timed],
    count: int,
    most: int,
) -> str:
    names = list(by_format)
    rows = [
        [f"recall, {figures['formats']} formats of {figures['providers']} providers in {figures['contexts']} contexts",
         *(f"{by_format[name].recall:.2%}" for name in names)],
        [f"recall, {len(LABELLED)} labelled keys in {len(LABEL_CONTEXTS)} contexts",
         *(f"{by_label[name].recall:.2%}" for name in names)],
        [f"false alarms, {count:,} lines",
         *(f"{len(alarmed[name])} ({len(alarmed[name]) / count:.3%})" for name in names)],
    ]  # fmt: skip
    parts = [f"seed {figures['seed']}; lines: {report.shown(figures['lines'])}", report.table(["", *names], rows)]
    if figures["only"]:
        parts.append(f"  cells of format and context in which only one found all: {report.shown(figures['only'])}")
    families = [
        [family, len(mine), max(each.ms for each in mine), max(each.ratio for each in mine), _worst(mine)]
        for family in dict.fromkeys(each.family for each in timed)
        if (mine := [each for each in timed if each.family == family])
    ]
    parts.append(report.table(["hostile, 64 KB", "texts", "slowest ms", "steepest", "slowest"], families))
    missed = [f"    {form} in {context}: {number}" for (form, context), number in by_format[names[0]].missed.items()]
    missed += [f"    {label} in {context}: {number}" for (label, context), number in by_label[names[0]].missed.items()]
    parts.append("  missed by us:\n" + "\n".join(missed[:most] or ["    nothing"]))
    ours = [f"    {redact(line).strip()[:110]}" for line in alarmed[names[0]][:most]]
    parts.append("  false alarms of ours:\n" + "\n".join(ours or ["    none"]))
    return "\n".join(parts)


def _worst(timed: list[Timed]) -> str:
    return repr(max(timed, key=lambda each: each.ms).unit)[:40]


if __name__ == "__main__":
    sys.exit(main())
