"""Builds the table of how common words are in general: `src/codexmem/kernel/search/background.txt`.

Counted are texts that may be counted and passed on: prompts and closing messages of coding agents' sessions whose
repositories are under MIT, Apache-2.0 or CC0, developers' chats of sde-bench (MIT), and this project's own documents
and messages, English and Chinese. Nothing but words and numbers is kept, and no word that fewer than three sources or
eight texts have.

usage: python -m bench.background --data PATH
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.worlds import CUT, sessions
from codexmem.kernel.search import tokens

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "src/codexmem/kernel/search/background.txt"
_LEAST_TEXTS, _LEAST_SOURCES = 8, 3
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")


@dataclass(slots=True)
class Counts:
    """How many texts of one source have each word; apart for scripts with spaces and without."""

    having: Counter[str] = field(default_factory=Counter)
    texts: list[int] = field(default_factory=lambda: [0, 0])
    characters: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, text: str) -> None:
        """Count one text."""
        wide = len(_WIDE.findall(text))
        self.having.update({word for word in tokens.words(text) if len(word) > 1})
        for script, length in enumerate((len(text) - wide, wide)):
            if length > 20 or (script and length > 4):
                self.texts[script] += 1
                self.characters[script] += length

    def plus(self, other: "Counts", sign: int = 1) -> None:
        """Add another source, or take it away."""
        for word, count in other.having.items():
            self.having[word] += sign * count
        for script in (0, 1):
            self.texts[script] += sign * other.texts[script]
            self.characters[script] += sign * other.characters[script]


def counted(data: Path) -> dict[str, Counts]:
    """Counts by source."""
    found: dict[str, Counts] = {}
    for name, text in _texts(data):
        found.setdefault(name, Counts()).add(text[:CUT])
    return found


def _texts(data: Path) -> Iterator[tuple[str, str]]:
    for file in sorted((data / "coding-sessions").glob("*.jsonl.gz")):
        for session in sessions(file):
            items = session["items"]
            for at, item in enumerate(items):
                last = item["k"] == "assistant" and (at + 1 == len(items) or items[at + 1]["k"] == "user")
                if (item["k"] == "user" or last) and len(item["text"]) > 20:
                    yield file.name.split(".")[0], item["text"]
    for line in (data / "sde-bench/decoys.jsonl").read_text(encoding="utf-8").splitlines():
        for turn in json.loads(line)["turns"]:
            yield "sde", turn["text"]
    for file in sorted(ROOT.glob("docs/**/*.md")):
        for part in re.split(r"\n\s*\n", file.read_text(encoding="utf-8")):
            yield "docs", part
    for file in sorted(ROOT.glob("src/codexmem/**/messages/*.json")):
        for said in json.loads(file.read_text(encoding="utf-8")).values():
            yield "messages", str(said)


def table(found: dict[str, Counts]) -> str:
    """The file's text: the number of texts and their mean length by script, then words grouped by their count."""
    every = Counts()
    for each in found.values():
        every.plus(each)
    by_count: dict[int, list[str]] = {}
    for word, count in every.having.items():
        sources = sum(word in each.having for each in found.values())
        if count >= _LEAST_TEXTS and sources >= _LEAST_SOURCES:
            by_count.setdefault(_rounded(count), []).append(word)
    lines = [f"{texts} {round(chars / texts)}" for texts, chars in zip(every.texts, every.characters, strict=True)]
    lines += [f"{count} {' '.join(sorted(words))}" for count, words in sorted(by_count.items(), reverse=True)]
    return "\n".join(lines) + "\n"


def _rounded(count: int) -> int:
    """Two digits: more would say nothing and make the table longer."""
    unit: int = 10 ** max(0, len(str(count)) - 2)
    return round(count / unit) * unit


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    text = table(counted(parser.parse_args().data))
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE.relative_to(ROOT)}: {len(text.encode()):,} bytes, {len(text.split()):,} words and numbers")


if __name__ == "__main__":
    main()
