"""Queries of every sort against the text index: none may raise, whatever its punctuation, script or length.

The queries are drawn from what people and programs type (words, identifiers, paths, stack traces) and from what search
languages choke on (operators, quotes, unbalanced brackets, emoji, right-to-left text, NUL, halves of surrogate pairs),
each cut into terms and searched among some thousand texts with filters that vary.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from bench import report
from bench.stores import stores
from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.search import tokens
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database
from tests._support.texts import Texts, sentence

_OPERATORS = (
    *("AND", "OR", "NOT", "NEAR(", "NEAR/3", "*", "^", ":", "head:", "body :", "scope:", "{head}", "-", "+", "(", ")"),
    *("&", "|", "!", "<->", "<2>", ":*", ":A", "@@", "'", '"', "''", '""', "\\", "\\'", "$$", "$1", "%", "%s", "%(x)s"),
    *(";", "--", "/*", "*/", "::tsquery", "to_tsquery('", "');DROP TABLE memories;--", "?", ":q", "{}", "[", "]"),
)
_SCRIPTS = (  # the look-alikes among them are the point
    *("مرحبا بالعالم", "שלום עולם", "привет мир", "Γειά σου", "नमस्ते दुनिया", "안녕 세상"),  # noqa: RUF001
    *("สวัสดีชาวโลก", "こんにちは世界", "Ünïcödé", "İstanbul ıI", "\u202eabc\u202c", "a\u0301\u0328b"),  # noqa: RUF001
    *("ﷺ", "𝒻𝒶𝓃𝒸𝓎", "𠮷野家", "👩\u200d👩\u200d👧🏳️\u200d🌈❤️", "①②Ⅳ½", "ﬁﬂ"),  # noqa: RUF001
)
_ODD = ("\0", "\ud800", "\udfff x", "\ufeff", "\uffff", "\x1b[31m", "\r\n\t", "\u2028", "\u200b", "\U0010ffff")
_CODE = ("foo.bar()->baz[0]", "std::vector<int>&", "a && b || !c", "x = {'k': [1, 2]}", "https://x.org/a?b=c&d=%20#e",
         "C:\\Program Files\\x", "git rebase -i HEAD~3", "SELECT * FROM t WHERE a='b'", "$HOME/.config", "C++/C#/F#",
         'File "/a/b.py", line 3, in <module>', "E0599: no method named `x`", "1.2.3-rc.1+build")  # fmt: skip


def queries(chance: random.Random) -> Iterator[str]:
    """Without end, each of another sort than the last."""
    sorts = (
        lambda: sentence(chance, chance.randint(1, 8)),
        lambda: " ".join(chance.choice(_OPERATORS) for _ in range(chance.randint(1, 12))),
        lambda: "".join(chance.choice(_OPERATORS) + sentence(chance, 1) for _ in range(chance.randint(1, 6))),
        lambda: " ".join(chance.sample(_SCRIPTS, chance.randint(1, 4))) + sentence(chance, 1),
        lambda: chance.choice(_ODD).join(sentence(chance, 1) for _ in range(chance.randint(1, 4))),
        lambda: chance.choice(_CODE) + chance.choice(_OPERATORS) + chance.choice(_CODE),
        lambda: "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randint(1, 60))),
        lambda: "".join(chr(chance.randrange(0x20, 0x7F)) for _ in range(chance.randint(1, 60))),
        lambda: chance.choice(("", " ", "the", "的", "of the and", "a", "?")),
    )
    number = 0
    while True:
        number += 1
        # Long ones are rare among people, and cost as much as a hundred short ones.
        yield (sentence(chance, 1_500) + chance.choice(_ODD))[:10_000] if number % 100 == 0 else chance.choice(sorts)()


def filters(chance: random.Random) -> Filter:
    """Any combination of what can be asked for."""
    some = chance.random
    return Filter(
        frozenset(chance.sample(list(Kind), chance.randint(1, len(Kind)))) | {Kind.OBSERVATION},
        project=chance.choice(("p0", "p1", "none", "'; --", "项目")) if some() < 0.4 else None,
        statuses=frozenset(Status) if some() < 0.2 else Filter(frozenset(Kind)).statuses,
        facets=(("concept", frozenset({"gotcha", '"x" OR'})),) if some() < 0.2 else (),
        session=f"s{chance.randrange(4)}" if some() < 0.1 else None,
        created_from_ms=chance.randrange(10_000_000) if some() < 0.1 else None,
        priority_max=chance.randrange(11) if some() < 0.1 else None,
    )


def soak(engine: str, *, number: int, texts: int, seed: int) -> dict[str, Any]:
    """Fill a store, then ask it so many things."""
    chance = random.Random(seed)
    errors: list[str] = []
    found = 0
    with stores(engine, durable=False) as made:
        db = open_database(made.fresh())
        try:
            with acting_as(LOCAL):
                _fill(Texts(db), chance, texts)
                store = Texts(db)
                progress = report.Progress(engine)
                started = time.monotonic()
                for done, query in zip(range(number), queries(chance), strict=False):
                    wanted = filters(chance)
                    try:
                        terms = tokens.terms(query)
                        if done % 10:
                            found += bool(store.index.find(terms, wanted, limit=20))
                        else:
                            found += bool(store.index.find_past(terms, wanted, chance.randrange(10**7), limit=20))
                    except Exception as error:
                        errors.append(f"{query[:200]!r}: {type(error).__name__}: {str(error)[:200]}")
                    progress.tell(f"{done:,} of {number:,}, {len(errors)} errors")
                seconds = time.monotonic() - started
                progress.close()
        finally:
            db.close()
    return {"texts": texts, "queries": number, "found_something": found, "errors": len(errors),
            "seconds": round(seconds, 1), "per_second": round(number / seconds), "failures": errors[:20]}  # fmt: skip


def _fill(store: Texts, chance: random.Random, texts: int) -> None:
    for number in range(texts):
        memory = store.add(
            f"{sentence(chance, chance.randint(3, 60))} {chance.choice(_SCRIPTS)} {chance.choice(_CODE)}",
            sentence(chance, 3), project=f"p{number % 5}", session=f"s{number % 7}", priority=number % 11,
            concepts=("gotcha",) if number % 3 == 0 else (),
        )  # fmt: skip
        if number % 20 == 0:
            store.change(memory, content=sentence(chance, 20))
    store.fold(500)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = report.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--texts", type=int, default=3_000)
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    results = {
        engine: soak(engine, number=options.queries, texts=options.texts, seed=seed)
        for engine in report.chosen_engines(options.engine)
    }
    text = "\n".join(
        f"{engine}, seed {seed}\n"
        + report.lines({name: value for name, value in figures.items() if name != "failures"})
        + "".join(f"\n  {each}" for each in figures["failures"])
        for engine, figures in results.items()
    )
    kept = all(not figures["errors"] for figures in results.values())
    return report.conclude("queries", {"seed": seed, "engines": results}, text, kept=kept, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
